"""Figures of designs and of more votes show the numbers that they are given."""

import pandas as pd
import pytest
import xarray as xr

from bayesagree import InputError, plots

DESIGNS = xr.Dataset(
    {
        "width": (("items", "annotators"), [[0.4, 0.3], [0.2, 0.15]]),
        "width_lower": (("items", "annotators"), [[0.38, 0.28], [0.19, 0.14]]),
        "width_upper": (("items", "annotators"), [[0.42, 0.32], [0.21, 0.16]]),
        "cost": (("items", "annotators"), [[150.0, 900.0], [600.0, 1000.0]]),
    },
    {"items": [50, 200], "annotators": [3, 5]},
    {"metric": "fleiss_kappa", "target": 0.25},
)


def test_designs_have_a_line_for_each_number_of_items():
    panel = plots.plot_designs(DESIGNS, today=(3, 0.5))
    assert panel.containers[1].lines[0].get_ydata().tolist() == [0.2, 0.15]
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["today", "wanted", "50 items", "200 items"]


def test_the_frontier_leaves_out_designs_that_cost_more_for_less():
    panel = plots.plot_cost_frontier(DESIGNS)
    assert [text.get_text() for text in panel.texts] == ["50 x 3", "200 x 3", "200 x 5"]  # 50 x 5 costs 900 for .3


def test_the_fewest_votes_that_are_enough_are_marked():
    votes = pd.DataFrame({"votes": [0, 1, 2, 3], "prob_right": [0.7, 0.85, 0.95, 0.97]})
    votes.attrs["models"] = ["A", "B"]
    panel = plots.plot_value_of_votes(votes, enough=0.95)
    assert [text.get_text() for text in panel.get_legend().get_texts()] == ["2 votes"]
    assert plots.plot_value_of_votes(votes, enough=0.99).get_legend() is None
    with pytest.raises(InputError, match="enough=95"):
        plots.plot_value_of_votes(votes, enough=95)
