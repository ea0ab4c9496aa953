"""Tables of an evaluation hold what `compare` says, best model first."""

import numpy as np
import pytest
import xarray as xr

from bayesagree import Labels, Predictions, compare, evaluate
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.evaluation import tables


@pytest.fixture(scope="module")
def tree():
    given = labelled_test_set(n_items=30, seed=1)
    metrics = ("top_1_accuracy", "set_2_accuracy")
    return evaluate(given.labels, given.predictions, reliability=[1, 3], metrics=metrics, draws=50, seed=1)


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


def test_pairs_are_ordered_pairs(tree):
    known = compare(tree, metric="top_1_accuracy", reliability=3)
    table = tables.pair_table(known)
    assert len(table) == 3 * 2
    for row in table.to_dict("records"):
        pair = known.sel(model=row["model"], other_model=row["other_model"])
        assert row["difference"] == float(pair["difference"])
        assert row["lower"] <= row["difference"] <= row["upper"]


def test_few_votes_are_noted_from_ten_an_item_on():
    assert tables.prior_notes(None) == tables.prior_notes(1 / 12) == []
    [sentence] = tables.prior_notes(1 / 11)
    assert "the prior has 9 % of the weight" in sentence
    assert "--plausibility informed_dirichlet" in sentence


def test_notes_of_single_annotations_and_of_missing_predictions():
    models = Predictions.from_labels({"A": ["no", None, "no"], "B": ["no", "no", "no"]}, labels=["no", "yes"])
    single = "No item has two annotations: how far annotators disagree is not known from them."
    for counts, said in (([[1, 0], [0, 1], [1, 0]], True), ([[1, 0], [0, 1], [1, 1]], False)):
        votes = Labels.from_counts(counts, labels=["no", "yes"])
        assert tables.given_notes(votes, None, "error") == [single] * said
        left_out = "1 of 3 items are left out: a model predicts nothing for them."
        assert tables.given_notes(votes, models, "skip") == [single] * said + [left_out]
