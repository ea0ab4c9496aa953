"""`conformalize`: golden values, a plain twin, invariants, bad input, files."""

import json
import warnings

import _conformal as cases
import numpy as np
import pytest
import xarray as xr
from _paths import ROOT
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

import bayesagree as ba
from bayesagree import InputError, Labels, Predictions, conformalize
from bayesagree.conformal import ConformalSets
from bayesagree.conformal.scores import SCORES
from bayesagree.conformal.sets import WeightedScores

GOLDEN = json.loads((ROOT / "tests" / "golden" / "conformal.json").read_text())


def sets_of(plausibility, conformity, **options):
    predictions = Predictions.from_scores({"A": np.asarray(conformity, dtype=float)})
    return conformalize(cases.shares_of(plausibility), predictions, coverage=0.5, **options)


def p_at(sets, at):
    """Ask for the p-values of some conformities through the public interface, one item for each."""
    at = np.asarray(at, dtype=float)
    scores = np.full((at.size, sets.categories.size), -99.0)
    scores[:, 0] = at
    asked = Predictions.from_scores({"A": scores})
    return type(sets)(sets.calibration, lambda e: e).p_values(asked).values[0, :, 0]


def test_p_values_of_the_exact_form():
    golden = GOLDEN["exact"]
    exact = sets_of(golden["plausibility"], golden["conformity"])
    np.testing.assert_allclose(p_at(exact, golden["at"]), golden["p_value"], atol=1e-6)
    voted = sets_of(golden["plausibility"], golden["conformity"], method="majority")
    np.testing.assert_allclose(p_at(voted, golden["majority_at"]), golden["majority_p_value"], atol=1e-6)


def test_ranks_of_the_reference():
    golden = GOLDEN["ranks"]
    sets = sets_of(np.eye(3)[golden["labels"]], golden["calibration"], score=lambda e: e)
    n = len(golden["labels"])
    for scores, ranks in zip(golden["new"], golden["ranks"]):
        np.testing.assert_allclose(p_at(sets, scores), (1 + np.array(ranks)) / (n + 1))


def test_sets_of_the_example_of_mapie():
    """The docstring of its classifier: nine points on a line, naive Bayes, 80 %."""
    points, said = np.arange(9.0)[:, None], np.array([0, 0, 1, 0, 1, 2, 1, 2, 2])
    p = GaussianNB().fit(points, said).predict_proba(points)
    predictions = Predictions.from_scores({"A": p}, labels=[0, 1, 2], probabilities=True)
    sets = conformalize(Labels.from_matrix(said[:, None]), predictions, coverage=0.8).predict_set(predictions)
    published = ["0", "0", "01", "01", "1", "12", "12", "2", "2"]
    assert ["".join(map(str, np.flatnonzero(row))) for row in sets.values[0]] == published


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 10_000), st.sampled_from([0.05, 0.1, 0.2, 0.5]))
def test_the_threshold_is_that_of_its_plain_twin(n, n_labels, random_seed, alpha):
    rng = np.random.default_rng(random_seed)
    score = rng.integers(0, 12, (n, n_labels)) / 4.0  # many ties
    weight = rng.multinomial(3, np.full(n_labels, 1 / n_labels), n) / 3
    assert WeightedScores.of(score, weight, n).threshold(alpha) == cases.plain_threshold(score, weight, n, alpha)


@pytest.mark.parametrize("method", ["exact", "majority"])
@pytest.mark.parametrize("score", [*SCORES, np.sqrt])
def test_sets_are_the_labels_with_a_p_value_above_alpha(method, score):
    truth, predictions = cases.items(60)
    sets = conformalize(truth, predictions, coverage=0.8, method=method, score=score)
    np.testing.assert_array_equal(sets.p_values(predictions) > 0.2 + 1e-9, sets.predict_set(predictions))


def test_the_order_of_items_and_labels_changes_nothing():
    truth, predictions = cases.items(100)
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(100), rng.permutation(4)
    moved = truth[rows, columns]
    for score in SCORES:
        one = conformalize(truth, predictions, score=score)
        other = conformalize(moved, predictions, score=score)
        np.testing.assert_allclose(one.threshold, other.threshold, rtol=1e-12)
        found = other.predict_set(predictions).sel(category=one.categories)
        np.testing.assert_array_equal(one.predict_set(predictions), found)


def test_labels_their_shares_and_their_posterior_agree():
    rng = np.random.default_rng(5)
    truth, predictions = cases.items(60)
    counts = rng.multinomial(5, truth.values / truth.values.sum(axis=1, keepdims=True))
    votes = Labels.from_counts(counts)
    of_votes = conformalize(votes, predictions)
    of_shares = conformalize(cases.shares_of(counts / 5), predictions)
    assert of_votes.threshold.equals(of_shares.threshold)
    tree = ba.dirichlet(votes, prior=0.5, draws=500, random_seed=1)
    of_posterior = conformalize(tree, predictions)
    closed = cases.shares_of((counts + 0.5) / 7)
    np.testing.assert_allclose(of_posterior.threshold, conformalize(closed, predictions).threshold)
    # Without the closed form the mean of the draws stands for it.
    drawn = xr.DataTree.from_dict({"posterior": tree["posterior"].to_dataset()})
    p, q = conformalize(drawn, predictions).p_values(predictions), of_posterior.p_values(predictions)
    assert float(np.abs(p - q).max()) < 0.05


def test_groups_have_thresholds_of_their_own():
    truth, predictions = cases.items(120)
    group = {i: "ab"[i % 2] for i in range(120)}
    sets = conformalize(truth, predictions, by=group)
    assert sets.threshold.dims == ("model", "group")
    odd = truth[1::2]
    alone = conformalize(odd, predictions)
    assert float(sets.threshold.sel(group="b")[0]) == float(alone.threshold[0])
    found = sets.predict_set(predictions, by=group).sel(item=odd["item"])
    np.testing.assert_array_equal(found, alone.predict_set(predictions).sel(item=odd["item"]))
    np.testing.assert_array_equal(
        sets.p_values(predictions, by=group) > 0.1 + 1e-9, sets.predict_set(predictions, by=group)
    )


def test_new_groups_get_full_sets_and_are_named():
    truth, predictions = cases.items(40)
    sets = conformalize(truth, predictions, by=dict.fromkeys(range(40), "a"))
    with pytest.warns(UserWarning, match="never saw the groups 'b'"):
        found = sets.predict_set(predictions, by={i: "ab"[i == 7] for i in range(40)})
    assert bool(found.sel(item=7).all())


def test_sets_are_kept_in_files(tmp_path):
    truth, predictions = cases.items(40)
    sets = conformalize(truth, predictions, score="aps", by=xr.DataArray(np.arange(40) % 2, {"item": np.arange(40)}))
    ba.write_result(sets.calibration, tmp_path / "sets.nc")
    read = ConformalSets(ba.read_result(tmp_path / "sets.nc"), "aps")
    by = {i: i % 2 for i in range(40)}
    assert read.p_values(predictions, by=by).equals(sets.p_values(predictions, by=by))
    assert (read.coverage, read.score, read.grouped) == (0.9, "aps", True)


def test_scores_that_cannot_be_compared():
    truth, predictions = cases.items(20)
    logits = Predictions.from_scores({"A": 5 * np.log(predictions.scores[0])})
    with pytest.raises(InputError, match=r"model 'A', item 0: scores sum to .* apply a softmax"):
        conformalize(truth, logits)
    assert conformalize(truth, logits, score="margin").coverage == 0.9
    hard = Predictions.from_labels({"A": [0] * 20}, labels=[0, 1, 2, 3])
    with pytest.raises(InputError, match="hard labels"):
        conformalize(truth, hard)


def test_fewer_items_than_one_over_alpha_have_full_sets():
    truth, predictions = cases.items(8)
    with pytest.warns(UserWarning, match=r"8 calibration items are fewer than .* = 9"):
        sets = conformalize(truth, predictions)
    assert bool(sets.predict_set(predictions).all())
    assert float(sets.threshold[0]) == -np.inf
    truth, predictions = cases.items(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conformalize(truth, predictions)


def test_labels_that_calibration_never_saw():
    truth, predictions = cases.items(30)
    values = truth.values.copy()
    values[:, 2] = 0
    values /= values.sum(axis=1, keepdims=True)
    with pytest.warns(UserWarning, match="never saw the labels 2"):
        sets = conformalize(cases.shares_of(values), predictions)
    more = Predictions.from_scores({"A": np.full((5, 5), 0.2)})
    with pytest.raises(InputError, match="unknown 4"):
        sets.predict_set(more)
    with pytest.raises(InputError, match="model 'B' was not calibrated"):
        sets.predict_set(Predictions.from_scores({"B": np.full((5, 4), 0.25)}))


def test_broken_truths_are_refused():
    truth, predictions = cases.items(20)
    with pytest.raises(InputError, match=r"plausibilities of item 0 sum to 2"):
        conformalize(truth * 2, predictions)
    with pytest.raises(InputError, match=r"plausibilities of item 0 sum to 1.0001"):
        conformalize(truth * 1.0001, predictions)
    with pytest.raises(InputError, match="item 3 has no plausibility"):
        conformalize(truth.where(truth["item"] != 3), predictions)
    extra = cases.items(25)[0]
    with pytest.raises(InputError, match="items of the predictions are not the same set: missing 20"):
        conformalize(extra, predictions)
    votes = Labels.from_counts(np.ones((20, 4)))
    with pytest.raises(InputError, match="without top_labels="):
        tree = ba.dirichlet(votes, top_labels=1, draws=2, random_seed=1)
        del tree["posterior_parameters"]
        conformalize(tree, predictions)


def test_items_without_annotations_are_named():
    _, predictions = cases.items(20)
    counts = np.ones((20, 4))
    counts[4] = 0
    with pytest.warns(UserWarning, match="1 items have no votes, and their shares are NaN: 4"):
        sets = conformalize(Labels.from_counts(counts), predictions)
    assert sets.calibration["derived"]["n_items"].item() == 19


def test_unknown_options_are_refused():
    truth, predictions = cases.items(20)
    for option, match in (
        ({"coverage": 1}, "coverage=1 must lie between 0 and 1"),
        ({"score": lambda e: e[:, 0]}, "must return one number for each"),
        ({"score": lambda e: e * np.nan}, "NaN: 80"),
        ({"by": {0: "a"}}, "by= names no group for the items 1, 2"),
        ({"by": {i: i + 0.5 for i in range(20)}}, "cut them into groups first"),
        ({"by": truth}, "by= has dims"),
    ):
        with pytest.raises(InputError, match=match):
            conformalize(truth, predictions, **option)
    sets = conformalize(truth, predictions)
    with pytest.raises(InputError, match="not calibrated by group"):
        sets.predict_set(predictions, by=dict.fromkeys(range(20), "a"))
    grouped = conformalize(truth, predictions, by=dict.fromkeys(range(20), "a"))
    with pytest.raises(InputError, match="pass by="):
        grouped.p_values(predictions)
