"""Best labels of draws: published numbers, exact means, ties, risk; partial rankings with ties."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from metrics._truths import estimate
from scipy import special

from bayesagree import InputError, Labels, Predictions, Rankings, compare, dirichlet, score
from bayesagree.metrics import accuracy_given_risk
from bayesagree.plausibility.votes import shared_wins
from studies.partial_rankings import annotator_overlap, partial_average_overlap
from studies.top_k import expected_top_k_accuracy

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "stutz.json").read_text())


def keys(order):
    """Scores that put the labels in a given order."""
    return -np.argsort(order).astype(float)


@pytest.mark.parametrize("case", GOLDEN["average_overlap"]["cases"])
def test_golden_average_overlap(case):
    truth, given = (
        estimate([special.softmax(keys(case["truth"]))]),
        Predictions.from_scores({"A": keys(case["predicted"])[None]}),
    )
    assert score(truth, given, f"average_overlap_{case['depth']}").item() == pytest.approx(case["value"])


@pytest.mark.parametrize("case", GOLDEN["partial_average_overlap"]["cases"])
def test_golden_partial_average_overlap(case):
    key = np.full(4, -10.0)
    for place, block in enumerate(case["predicted"]):
        key[block] = -place
    rankings = Rankings.from_blocks([[case["annotated"]]], labels=4)
    for name in ("plain", "normalised"):
        value = partial_average_overlap(
            rankings, Predictions.from_scores({"A": key[None]}), k=case["depth"], normalise=name == "normalised"
        )
        assert float(value.squeeze()) == pytest.approx(case[name], abs=1e-7)


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(0)
    labels = Labels.from_counts(rng.integers(0, 4, (80, 6)))
    predictions = Predictions.from_scores({"A": rng.normal(size=(80, 6)), "B": rng.normal(size=(80, 6))})
    return labels, predictions


def test_mean_over_draws_equals_the_sum_of_exact_certainties(crowd):
    labels, predictions = crowd
    tree = dirichlet(labels, draws=4000, random_seed=1, top_labels=1)
    for k in (1, 3, 6):
        draws = score(tree, predictions, f"top_{k}_accuracy")
        exact = expected_top_k_accuracy(tree, predictions, k=k)
        error = draws.std(("chain", "draw")) / np.sqrt(16_000)
        assert (np.abs(draws.mean(("chain", "draw")) - exact) <= 4.5 * error + 1e-12).all()


def test_tied_top_labels_count_in_shares():
    vote = shared_wins(Labels.from_counts([[2, 2, 1], [3, 0, 0]]))
    predictions = Predictions.from_labels({"A": [1, 0], "B": [2, 0], "C": [0, None]}, labels=[0, 1, 2])
    found = score(vote, predictions, "accuracy", missing="wrong")
    assert found.values.tolist() == [[[0.75, 0.5, 0.25]]]
    with pytest.raises(InputError, match="'C' has no prediction for 1 of 2 items: 1"):
        score(vote, predictions, "accuracy")


def test_accuracy_given_risk_of_a_known_truth_and_its_comparison():
    vote = shared_wins(Labels.from_counts([[4, 0, 0], [0, 4, 0], [0, 0, 4]]))
    values = vote.expand_dims(chain=1, draw=10).rename("plausibility")
    tree = xr.DataTree.from_dict({"posterior": values.to_dataset()})
    predictions = Predictions.from_labels({"A": [0, 1, 0], "B": [1, 1, 2]}, labels=[0, 1, 2])
    risk = {0: "low", 1: "high", 2: "high"}
    high, low = (accuracy_given_risk(tree, predictions, risk, level) for level in ("high", "low"))
    assert (np.unique(high[..., 0]).tolist(), np.unique(low[..., 0]).tolist()) == ([0.5], [1.0])
    assert compare(high)["prob_best"].to_dict() == {"B": 1.0, "A": 0.0}
    with pytest.raises(InputError, match="risk level 'none' is not one of"):
        accuracy_given_risk(tree, predictions, risk, "none")


@pytest.mark.filterwarnings("ignore:.*no item has risk level")
def test_accuracy_given_risk_by_hand():
    """Draw by draw: right among the items of the level in the draw."""
    votes = Labels.from_counts([[3, 1, 0], [1, 2, 1], [0, 1, 1]])
    tree, guess, risk = dirichlet(votes, draws=40, chains=1, random_seed=2), np.array([0, 2, 2]), {0: 0, 1: 2, 2: 2}
    top = tree["posterior"]["plausibility"].values[0].argmax(axis=2)
    high = top > 0
    with np.errstate(invalid="ignore"):
        expected = ((top == guess) * high).sum(axis=1) / high.sum(axis=1)
    models = Predictions.from_labels({"A": guess})  # which name no label 1
    found = accuracy_given_risk(tree, models, risk, 2)
    np.testing.assert_allclose(found[0, :, 0], expected, atol=1e-12)
    with pytest.raises(InputError, match="no risk level for label 2; every label needs one"):
        accuracy_given_risk(tree, models, {0: 0, 1: 2}, 2)


def test_partial_average_overlap_is_the_mean_over_annotators():
    rankings = Rankings.from_blocks([[[[0]], [[1]], [[2]]]], labels=3)
    scores = Predictions.from_scores({"A": [[3.0, 2.0, 1.0]]})
    each = [
        partial_average_overlap(Rankings.from_blocks([[[[label]]]], labels=3), scores, k=2).item() for label in range(3)
    ]
    assert len(set(each)) == 3
    assert partial_average_overlap(rankings, scores, k=2).item() == pytest.approx(np.mean(each))


def test_overlap_of_annotators_is_that_of_each_pair_as_a_model():
    blocks = [[[[0], [1, 2]], [[1, 0]], [[3], [0], [2]]], [[[0]], [[4, 1]]], [[[2]]]]
    rankings = Rankings.from_blocks(blocks, labels=5)
    with pytest.warns(UserWarning, match="1 items have one ranking"):
        found = annotator_overlap(rankings, k=3)
    for i, item in enumerate(blocks[:2]):
        pairs = []
        for a, b in itertools.combinations(item, 2):
            key = np.full(5, -10.0)
            for place, tied in enumerate(a):
                key[tied] = -place
            one = Rankings.from_blocks([[b]], labels=5)
            pairs.append(partial_average_overlap(one, Predictions.from_scores({"A": key[None]}), k=3).item())
        assert found.values[i] == pytest.approx(np.mean(pairs))
    assert np.isnan(found.values[2])


@pytest.mark.filterwarnings("ignore:cohen_kappa does not exist")
def test_one_score_is_compared_in_draws_where_every_model_has_it():
    votes = Labels.from_counts([[2, 1], [3, 1], [2, 1]])
    models = Predictions.from_labels({"A": [0, 0, 0], "B": [0, 1, 0]})
    kappa = score(dirichlet(votes, random_seed=1), models, "cohen_kappa")
    known = kappa.stack(sample=("chain", "draw")).dropna("sample").mean("sample")
    np.testing.assert_allclose(compare(kappa).loc[np.asarray(known["model"]), "score"], known, atol=1e-12)


def test_labels_that_tie_on_top_share_the_item_in_every_slice():
    """Equal slices have the accuracy of all items as their mean, whatever the order of the labels."""
    rng = np.random.default_rng(3)
    shares = rng.multinomial(4, [1 / 3] * 3, 40) / 4
    said = rng.dirichlet(np.ones(3), 40)
    for order in ([0, 1, 2], [2, 0, 1]):
        truth = estimate(shares[:, order])
        models = Predictions.from_scores({"A": said[:, order]}, probabilities=True)
        best = said.argmax(axis=1)
        tied = shares == shares.max(axis=1, keepdims=True)
        expected = (tied / tied.sum(axis=1, keepdims=True))[np.arange(40), best]
        assert score(truth, models, "accuracy").item() == pytest.approx(expected.mean())
        of = score(truth, models, "accuracy", by=["x", "y"] * 20).sel(side="slice").values.ravel()
        assert of.tolist() == pytest.approx([expected[::2].mean(), expected[1::2].mean()])
        with pytest.warns(UserWarning):  # there is no rest
            rest = score(truth, models, "accuracy", by=["x"] * 40).values.ravel()
        np.testing.assert_allclose(rest, [expected.mean(), np.nan, np.nan])
