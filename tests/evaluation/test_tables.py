"""Tables of an evaluation hold what `compare` and `pairwise` say."""

import json

import numpy as np
import pytest
import xarray as xr

from bayesagree import InputError, Labels, Predictions, Rankings, compare, evaluate, pairwise
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.evaluation import tables
from bayesagree.evaluation._truths import scores_by_group
from bayesagree.evaluation.gold import gold_notes, scored_gold, vote_against_gold


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
    assert table["warning"].tolist() == ["", "score does not exist in some draws"]


def test_a_score_that_some_draws_lack_has_no_half_of_an_interval():
    """Kappa of a model that says "no" to all, where in some draws the truth is "no" throughout: 0 to NaN once."""
    draws = np.linspace(0.3, 0.5, 40).reshape(1, 20, 2)
    draws[0, ::2, 1] = np.nan
    scores = xr.DataArray(draws, dims=("chain", "draw", "model"), coords={"model": ["a", "b"]}, name="kappa")
    row = compare(xr.DataTree.from_dict({"posterior": scores.to_dataset()})).loc["b"]
    ends = ["lower", "upper", "difference", "difference_lower", "difference_upper"]
    assert row[["score", *ends]].isna().all() and row["warning"] == "kappa does not exist in some draws"


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


def scores_of(values, **attrs):
    names = {"model": [f"m{j}" for j in range(np.shape(values)[-1])]}
    drawn = xr.DataArray(np.asarray(values)[None], names, ("chain", "draw", "model"), "accuracy", attrs)
    return drawn.to_dataset()


def test_intervals_hold_both_truths_and_means_are_of_the_first():
    """Draws 0, .01, ..., 1 of one model, squared, and a constant of the other; under the second truth .5 higher."""
    ramp = np.linspace(0, 1, 101) ** 2
    first = scores_of(np.column_stack([ramp, np.full(101, 0.25)]))
    both = xr.DataTree.from_dict({"/posterior": first, "/without_unsure": first + 0.5})
    both.attrs["settings"] = json.dumps({"left_out": ["m1"], "unsure": ["m0"]})
    found = tables.score_intervals(both, ci_prob=0.5).isel(metric=0, reliability=0)
    assert found["score"].values == pytest.approx([ramp.mean(), 0.25])
    lower, upper = found["lower"].values, found["upper"].values
    assert (lower[1], upper[1]) == (0.25, 0.75)
    one = tables.score_intervals(xr.DataTree.from_dict({"/posterior": first}), ci_prob=0.5).isel(
        metric=0, reliability=0
    )
    assert (lower[0], upper[0]) == pytest.approx((float(one["lower"][0]), float(one["upper"][0]) + 0.5))
    table = compare(both, ci_prob=0.5)
    assert table.loc["m0", ["score", "lower", "upper"]].tolist() == pytest.approx([ramp.mean(), lower[0], upper[0]])
    assert table.loc["m1", "warning"] == "not independent of these annotations: no truth learns from it"
    words = "too few annotations to tell whether it depends on them; by a truth that ignores it 0.835 ["
    assert table.loc["m0", "warning"].startswith(words)
    pair = pairwise(both).sel(model="m0", other_model="m1")
    gap = ramp - 0.25
    assert float(pair["prob_better"]) == pytest.approx((gap > 0).mean() + (np.abs(gap) < 1e-12).mean() / 2)


def test_scores_that_no_draw_has_have_no_interval():
    values = np.column_stack([np.linspace(0, 1, 11), np.full(11, np.nan)])
    values[3, 0] = np.nan
    found = tables.score_intervals(xr.DataTree.from_dict({"/posterior": scores_of(values)})).isel(
        metric=0, reliability=0
    )
    assert np.isnan(found["lower"].values).tolist() == np.isnan(found["score"].values).tolist() == [False, True]
    assert found["upper"].values[0] == 1


@pytest.mark.parametrize(("higher", "worst"), [(1, [0.625, 0.25, 0.125]), (0, [0.25, 0.125, 0.625])])
def test_groups_that_tie_for_the_worst_score_share_a_draw(higher, worst):
    """Four draws of three groups by hand; under scores of which lower is better the worst is the highest."""
    values = np.array([[0.1, 0.2, 0.3], [0.2, 0.2, 0.5], [0.4, 0.3, 0.3], [0.1, 0.1, 0.1]])
    values[3] = [0.1, 0.2, 0.2] if higher else [0.3, 0.1, 0.2]
    values[2] = [0.4, 0.3, 0.3] if higher else [0.2, 0.3, 0.3]
    drawn = xr.DataArray(
        values[None, ..., None], {"truth": [*"abc"], "model": ["A"]}, ("chain", "draw", "truth", "model"), "accuracy",
        {"higher_is_better": higher},
    ).to_dataset()  # fmt: skip
    found = scores_by_group({"posterior": drawn}, np.full((3, 2), 10))
    assert found["worst_served"]["accuracy"].sel(model="A").values.tolist() == worst
    apart = found["differences"]["accuracy"].isel(chain=0, model=0)
    np.testing.assert_allclose(apart, values[:, :, None] - values[:, None, :])
    with pytest.warns(UserWarning, match="9.5 votes per group and item: scores against the truth of a group come out"):
        scores_by_group({"posterior": drawn}, np.array([[10, 9], [0, 0], [0, 0]]))


def test_gold_of_items_that_nobody_scores_or_annotates():
    models = Predictions.from_labels({"A": ["no", "yes", "no"]}, labels=["no", "yes", "perhaps"])
    scored = models.on_items(np.array([0, 1]))
    assert scored_gold({1: "yes", 2: "no"}, models, scored) == {1: "yes"}
    with pytest.raises(InputError, match="gold= names no item that is scored; leave it out, or give the label of some"):
        scored_gold({2: "no"}, models, scored)
    assert vote_against_gold(VOTES.select(VOTES.item_index < 2), {2: "no"}, random_seed=1) == {"n_gold": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"gold": {0: "no"}, "another_annotator": True},
            "another_annotator=True is a score against the annotators' own",
        ),
        ({"predictions": None}, "pass the predictions of the models; only batches hold their own"),
    ],
)
def test_arguments_that_do_not_go_together(options, message):
    models = Predictions.from_labels({"A": ["no", "yes", "no"]}, labels=["no", "yes", "perhaps"])
    with pytest.raises(InputError, match=message):
        evaluate(VOTES, **({"predictions": models} | options))
