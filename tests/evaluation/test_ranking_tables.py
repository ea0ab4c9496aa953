"""Tables of a ranking study: numbers of the tree, counted and averaged by hand."""

import numpy as np
import pytest

from bayesagree import InputError, Rankings
from bayesagree.datasets.simulate import noisy_models, rankings
from bayesagree.evaluation import ranking_tables
from bayesagree.evaluation.rankings import OPEN, certainty_correlation, ranking_study


@pytest.fixture(scope="module")
def given():
    return rankings(n_items=8, seed=1).rankings


@pytest.fixture(scope="module")
def tree(given):
    models = noisy_models(given, n_models=2, seed=1)
    return ranking_study(
        given, models, prirn_reliability=(2, 5), plackett_luce_reliability=(1, 2), draws=100, chains=2, seed=1
    )


def test_sizes_of_the_annotations(given, tree):
    found = ranking_tables.annotation_summary(tree)
    assert found["n_items"] == 8
    assert found["n_rankings"] == given.n_annotations
    assert found["rankings_per_item"] == given.n_annotations / 8
    assert found["labels_per_ranking"] == pytest.approx(given.label_index.size / given.n_annotations)


def test_certainty_of_the_settings(tree):
    table = ranking_tables.setting_table(tree)
    assert table["setting"].tolist() == ["prirn 2", "prirn 5", "plackett_luce 1", "plackett_luce 2"]
    certainty = tree["certainty"].to_dataset()
    np.testing.assert_allclose(table["top_2"], certainty["top_2"].mean("item"))
    np.testing.assert_allclose(table[f"share_below_{OPEN}"], (certainty["top_1"] < OPEN).mean("item"))
    agreement = tree["annotation"]["agreement"].values
    known = np.isfinite(agreement)
    expected = np.corrcoef(certainty["top_1"].values[3][known], agreement[known])[0, 1]
    assert table["correlation_with_agreement"][3] == pytest.approx(expected)
    assert "risk_certainty" not in table


def test_the_nearest_setting_has_the_largest_correlation(tree):
    table = ranking_tables.nearest_settings(tree)
    correlation = certainty_correlation(tree).values
    assert table["setting"].tolist() == ["plackett_luce 1", "plackett_luce 2"]
    for i, row in zip((2, 3), table.to_dict("records")):
        assert row["correlation"] == correlation[i, :2].max()
        assert row["prirn"] == f"prirn {(2, 5)[correlation[i, :2].argmax()]}"


def test_unsettled_items_are_those_of_the_last_two_reliabilities(tree):
    table = ranking_tables.unsettled_items(tree).set_index("aggregation")
    assert table.loc["prirn", ["from", "to"]].tolist() == [2, 5]
    assert table.loc["plackett_luce", "tied"] == int(tree["annotation"]["tied_plackett_luce"].sum())
    rise = np.diff(tree["certainty"]["top_1"].values[:2], axis=0)[0]
    assert table.loc["prirn", "flat"] <= int((rise < table.loc["prirn", "rise"]).sum())


def test_scores_say_where_the_order_differs(tree):
    table = ranking_tables.model_scores(tree)
    models = tree["posterior"]["model"].values.astype(str).tolist()
    for metric, part in table.groupby("metric"):
        np.testing.assert_allclose(part[models], tree["posterior"][metric].mean(("chain", "draw")))
        first = part[models].to_numpy()[0].argsort()
        swapped = [bool((row.argsort() != first).any()) for row in part[models].to_numpy()]
        assert part["order_differs"].tolist() == swapped


def test_the_view_of_an_item(given, tree):
    least = int(tree["certainty"]["top_1"].mean("setting").values.argmin())
    view = ranking_tables.item_view(given, tree)
    assert view.item == given.items.tolist()[least]
    assert view.rankings == given.of_item(least)
    assert (np.diff(view.labels["irn"]) <= 0).all()
    assert view.labels["prirn_top"].sum() == pytest.approx(1, abs=0.1)
    assert ranking_tables.item_view(given, tree, "3").item == 3
    with pytest.raises(InputError, match="no such item"):
        ranking_tables.item_view(given, tree, "none")


def test_rankings_of_an_item_are_those_that_were_given():
    blocks = [[[["a"], ["b", "c"]], [["b"]]], [[["c"], ["a"]]]]
    built = Rankings.from_blocks(blocks, labels=["a", "b", "c"])
    assert [built.of_item(i) for i in range(2)] == blocks
