"""Tables of an evaluation hold what `compare` says, best model first."""

import numpy as np
import pytest
import xarray as xr

from bayesagree import compare, evaluate
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.evaluation import tables


@pytest.fixture(scope="module")
def tree():
    given = labelled_test_set(n_items=30, random_seed=1)
    metrics = ("top_1_accuracy", "set_2_accuracy")
    return evaluate(given.labels, given.predictions, reliability=[1, 3], metrics=metrics, draws=50, random_seed=1)


def test_scores_and_intervals_are_those_of_compare(tree):
    found = tables.score_intervals(tree)
    for (metric, level), one in tables.comparisons(tree).items():
        here = found.sel(metric=metric, reliability=level, model=one["model"])
        for name, other in {"score": "score", "lower": "score_lower", "upper": "score_upper"}.items():
            np.testing.assert_allclose(here[name], one[other])
        assert (np.diff(one["score"]) <= 0).all()


def test_rows_stand_best_first_and_name_the_probability_against_the_next(tree):
    table = tables.score_table(tables.comparisons(tree))
    assert len(table) == 2 * 2 * 3
    for (metric, level), part in table.groupby(["metric", "reliability"]):
        known = compare(tree, metric=metric, reliability=level)
        assert part["mean"].is_monotonic_decreasing
        a, b, c = part["model"]
        expected = [float(known["prob_better"].sel(model=x, other_model=y)) for x, y in ((a, b), (b, c))]
        np.testing.assert_allclose(part["better_than_next"], [*expected, np.nan])
        np.testing.assert_allclose(
            part["best_with_probability"], known["rank_probability"].sel(model=[a, b, c], rank=1)
        )


def test_a_score_whose_best_value_is_one_is_ordered_by_its_distance_to_one():
    names = ["A", "B", "C"]
    given = xr.Dataset({"score": ("model", [0.4, 1.7, 0.9])}, {"model": names, "other_model": names}, {"best": 1.0})
    assert tables.best_first(given)["model"].values.tolist() == ["C", "A", "B"]
