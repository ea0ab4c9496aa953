"""Evaluations in which the true label of some items is known."""

import numpy as np
import pytest

import bayesagree as ba
from bayesagree.evaluation.gold import vote_against_gold
from bayesagree.inference.intervals import hdi
from bayesagree.inference.results import settings_of

N = 200


def wrong_crowd(rng: np.random.Generator) -> tuple[ba.Labels, ba.Predictions, dict[int, int]]:
    """Simulate a crowd of five that takes label 2 for 1, a model equal to gold, a copy of the vote, one of .8."""
    gold = rng.integers(3, size=N)
    shown = np.where((gold == 2) & (rng.random(N) < 0.7), 1, gold)
    counts = rng.multinomial(5, np.eye(3)[shown] * 0.7 + 0.1)
    models = {
        "gold": gold,
        "vote": (counts + 0.01 * rng.random(counts.shape)).argmax(axis=1),
        "other": np.where(rng.random(N) < 0.8, gold, (gold + 1) % 3),
    }
    return ba.Labels.from_counts(counts), ba.Predictions.from_labels(models, labels=[0, 1, 2]), dict(enumerate(gold))


def quarter(gold: dict[int, int], rng: np.random.Generator) -> dict[int, int]:
    return {int(i): int(gold[i]) for i in rng.permutation(N)[: N // 4]}


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(1)
    labels, models, gold = wrong_crowd(rng)
    return labels, models, gold, quarter(gold, rng)


@pytest.fixture(scope="module")
def result(case):
    labels, models, _, some = case
    return ba.evaluate(labels, models, gold=some, draws=250, random_seed=1, metrics=("accuracy", "f1_macro"))


def test_votes_alone_prefer_their_copy_and_gold_the_model_equal_to_it(case, result):
    alone = result["annotations_only"]["accuracy"].mean(("chain", "draw"))
    assert float(alone.sel(model="vote")) > float(alone.sel(model="gold"))
    assert float(ba.pairwise(result, "accuracy")["prob_better"].sel(model="gold", other_model="vote")) > 0.99
    made = settings_of(result)
    assert made["n_gold"] == N // 4
    assert made["vote_beats_gold"] > 0.99
    assert made["vote_agrees"] < 0.85
    assert made["target"].startswith("score against gold")


def test_scores_on_gold_items_are_known_and_all_items_are_both_parts(case, result):
    _, models, gold, some = case
    at = list(some)
    known = result["gold_items"]["accuracy"]
    right = (models.hard_labels()[:, at] == [gold[i] for i in at]).mean(axis=1)
    assert np.ptp(known.values, axis=(0, 1)).max() == 0
    np.testing.assert_allclose(known.values[0, 0], right)
    both = 0.25 * known + 0.75 * result["other_items"]["accuracy"]
    np.testing.assert_allclose(both.values, result["posterior"]["accuracy"].values, atol=1e-12)


def test_gold_of_all_items_gives_the_ordinary_score(case):
    labels, models, gold, _ = case
    tree = ba.evaluate(labels, models, gold=gold, draws=50, random_seed=1)
    right = (models.hard_labels() == list(gold.values())).mean(axis=1)
    np.testing.assert_allclose(tree["posterior"]["accuracy"].values - right, 0, atol=1e-12)
    assert "other_items" not in tree
    assert (tree["certainty"]["annotation_certainty"].values == 1).all()


@pytest.mark.long
def test_intervals_of_the_other_items_hold_their_score():
    held = []
    for random_seed in range(12):
        rng = np.random.default_rng(100 + random_seed)
        labels, models, gold = wrong_crowd(rng)
        some = quarter(gold, rng)
        # No model is always right, so that no model gives the truth away.
        codes = models.hard_labels()
        models = ba.Predictions.from_labels({"vote": codes[1], "other": codes[2]}, labels=[0, 1, 2])
        drawn = ba.evaluate(labels, models, gold=some, draws=100, random_seed=random_seed)["other_items"]["accuracy"]
        others = np.setdiff1d(np.arange(N), list(some))
        right = (models.hard_labels()[:, others] == [gold[i] for i in others]).mean(axis=1)
        for j in range(2):
            lower, upper = hdi(drawn.values[..., j].ravel(), 0.95)
            held.append(lower <= right[j] <= upper)
    assert np.mean(held) > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 12)


def test_how_probably_the_vote_beats_gold():
    """Simulated: in draws of the truth the vote is right more often than gold, and a tie of the two counts half."""
    counts, gold = np.array([[5, 1], [2, 4], [3, 3], [1, 3], [6, 0]]), {0: "no", 1: "no", 2: "yes", 4: "no"}
    labels = ba.Labels.from_counts(counts, labels=["no", "yes"])
    found = vote_against_gold(labels, gold, random_seed=1)
    rng = np.random.default_rng(2)
    # By hand: the vote is no, yes, either, no; gold is no, no, yes, no.
    yes = rng.beta(counts[:, 1] + 0.5, counts[:, 0] + 0.5, (200_000, 5)) > 0.5
    lead = np.where(yes[:, 1], 1.0, -1.0) + np.where(yes[:, 2], -0.5, 0.5)
    expected = (lead > 0).mean() + (lead == 0).mean() / 2
    assert 0.5 < expected < 0.95
    assert found["vote_beats_gold"] == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(4000))
    assert (found["n_gold"], found["vote_agrees"]) == (4, (1 + 0 + 0.5 + 1) / 4)
