"""Tables of an evaluation hold what `compare` and `pairwise` say."""

import numpy as np
import pytest
import xarray as xr

from bayesagree import Labels, Predictions, Rankings, compare, evaluate, pairwise
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.evaluation import tables
from bayesagree.evaluation.gold import gold_notes


@pytest.fixture(scope="module")
def tree():
    given = labelled_test_set(n_items=30, random_seed=1)
    metrics = ("accuracy", "set_2_accuracy")
    return evaluate(
        given.labels, given.predictions, plausibility="dirichlet", reliability=[1, 3], metrics=metrics, draws=50,
        random_seed=1,
    )  # fmt: skip


def test_scores_and_intervals_are_those_of_compare(tree):
    found, rows = tables.score_intervals(tree), tables.score_table(tree)
    assert len(rows) == 2 * 2 * 3
    for (metric, level), part in rows.groupby(["metric", "reliability"]):
        known = compare(tree, metric, reliability=level)
        here = found.sel(metric=metric, reliability=level, model=known.index.tolist())
        for name in ("score", "lower", "upper"):
            np.testing.assert_allclose(here[name], known[name])
            np.testing.assert_allclose(part[name], known[name])
        assert part["score"].is_monotonic_decreasing


def test_pairs_are_those_of_pairwise(tree):
    pairs = tables.pair_table(tree)
    assert len(pairs) == 2 * 2 * 6
    for row in pairs.to_dict("records"):
        known = pairwise(tree, row["metric"], reliability=row["reliability"])
        known = known.sel(model=row["model"], other_model=row["other_model"])
        assert all(row[name] == float(known[name]) for name in ("prob_better", "difference", "lower", "upper"))


def test_a_model_without_a_score_is_neither_better_nor_worse():
    draws = xr.DataArray(np.full((1, 20, 2), 0.5), dims=("chain", "draw", "model"), coords={"model": ["a", "b"]})
    draws[:, :, 1] = np.nan
    table, pairs = compare(draws), pairwise(draws)
    assert table["score"].isna().tolist() == [False, True]
    assert np.isnan(table["prob_better"]).all() and np.isnan(pairs["prob_better"]).all()


VOTES = Labels.from_matrix([["no", "no"], ["yes", "no"], ["no", "no"]], labels=["no", "yes", "perhaps"])


@pytest.mark.parametrize(
    ("annotations", "models", "missing", "notes"),
    [
        (VOTES, None, "error", []),
        (Labels.from_counts([[1, 0], [0, 1]]), None, "error", ["No item has two annotations: how far annotators disa"]),
        (VOTES, {"A": ["no", "perhaps", "no"], "B": ["no", "no", "no"]}, "error", []),
        (
            VOTES,
            {"A": ["perhaps", None, "no"], "B": [None, None, "no"]},
            "wrong",
            ["3 missing predictions count as wrong."],
        ),
        (
            VOTES,
            {"A": ["perhaps", None, "no"], "B": [None, None, "no"]},
            "skip",
            ["2 of 3 items are left out: a model pr"],
        ),
        (
            VOTES,
            {"A": ["no", "perhaps", "no"], "B": ["no", "perhaps", "no"]},
            "error",
            ["A and B predict the same label"],
        ),
        (
            VOTES,
            {"A": ["no", "yes", "no"]},
            "error",
            ["Labels that nobody gave and no model predicts: 'perhaps'. They c"],
        ),
    ],
)
def test_a_reader_is_told_what_is_not_expected(annotations, models, missing, notes):
    given = models and Predictions.from_labels(models, labels=["no", "yes", "perhaps"])
    found = tables.given_notes(annotations, given, missing)
    assert len(found) == len(notes)
    assert all(here.startswith(note) for here, note in zip(found, notes))


def test_annotations_beside_items_that_only_models_know_are_left_out_together():
    """Items of either side count once; of the first three pairs of equal models a sentence each."""
    some = Predictions.from_labels({"A": ["no", "perhaps"]}, items=[0, 5], labels=["no", "yes", "perhaps"])
    assert tables.given_notes(VOTES, some, "skip") == ["2 of 4 items are left out: a model predicts nothing for them."]
    alike = Predictions.from_labels({name: ["no", "perhaps", "no"] for name in "ABCD"})
    notes = tables.given_notes(VOTES, alike, "error")
    assert [note.split(" predict")[0] for note in notes if "same label" in note] == ["A and B", "A and C", "A and D"]
    ranked = Rankings.from_blocks([[[["no"], ["yes"]]] * 2] * 3, labels=["no", "yes", "perhaps"])
    assert tables.given_notes(ranked, None, "error") == [] and len(tables.given_notes(ranked, alike, "error")) == 4


def test_notes_name_the_weight_of_the_prior_and_where_gold_contradicts_the_votes():
    assert tables.prior_notes(None) == tables.prior_notes(0.0899) == []
    assert tables.prior_notes(0.25)[0].startswith("Votes are few: the prior has 25 % of the weight in an average item")
    assert len(tables.prior_notes(0.09)) == 1
    made = {"n_gold": 40, "vote_agrees": 0.65, "vote_beats_gold": 0.95}
    assert "their majority vote is gold on 65 % of the 40 items with gold" in gold_notes(made)[0]
    assert gold_notes(made | {"vote_beats_gold": 0.949}) == gold_notes({}) == []
