"""Blind scores of every method: order, consensus, posterior draws, and refusals."""

import numpy as np
import pytest
from _errors_of_draws import SIGMAS
from blind._crowds import METRICS, simulated
from sklearn.naive_bayes import CategoricalNB

from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.blind.combiners import FITS, one_hot
from bayesagree.blind.scores import (
    BLIND,
    METHODS,
    WITH_CROWD,
    blind_posterior,
    blind_scores,
    make_pseudo_gold,
    mean_scores,
)
from bayesagree.blind.systems import Systems
from bayesagree.errors import InputError
from bayesagree.metrics.hard_labels import hard_label_scores


def of_crowd(method, crowd):
    """Only some methods take a crowd."""
    return {"crowd": crowd} if method in WITH_CROWD else {}


@pytest.mark.parametrize(
    ("method", "leave_one_out"),
    [pytest.param(m, False, marks=pytest.mark.long if m == "adaboost" else ()) for m in METHODS]
    + [(m, True) for m in (*BLIND, "naive_bayes") if m != "dawid_skene"]
    + [pytest.param("dawid_skene", True, marks=pytest.mark.slow)],
)
def test_order_of_systems_and_items_changes_nothing(method, leave_one_out):
    systems, crowd, _ = simulated(n_items=60, missing=0.2)
    rng = np.random.default_rng(6)
    models, items = rng.permutation(4), rng.permutation(60)
    shuffled = Predictions.from_labels(
        {systems.models[m]: [None if k < 0 else k for k in systems.hard_labels()[m, items]] for m in models},
        items=items.tolist(), labels=[0, 1],
    )  # fmt: skip
    options = {"method": method, "leave_one_out": leave_one_out, "sets": 30, "random_seed": 7} | of_crowd(method, crowd)
    a, b = blind_scores(systems, **options), blind_scores(shuffled, **options)
    assert a.model.values.tolist() == systems.models.tolist()
    np.testing.assert_array_equal(a.values, b.sel(model=a.model).values)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("round_robin", "sampling")])
def test_consensus_ranks_systems_of_independent_errors_as_the_truth_does(method, n_labels):
    systems, crowd, truth = simulated(n_labels=n_labels, accuracies=(0.5, 0.6, 0.7, 0.8, 0.9))
    if method == "calibrated_majority" and n_labels > 2:
        with pytest.raises(InputError, match="needs two labels"):
            blind_scores(systems, method=method, crowd=crowd)
        return
    for metric in ("accuracy", "recall")[: 1 if method == "adaboost" else 2]:
        scores = blind_scores(systems, method=method, metric=metric, sets=40, random_seed=8, **of_crowd(method, crowd))
        actual = hard_label_scores(systems, truth, metric=metric)
        assert np.corrcoef(scores, actual)[0, 1] > 0.95


def test_posterior_draws_follow_the_score():
    systems, crowd, _ = simulated(missing=0.1)
    for method in ("majority", "round_robin", "sampling", "naive_bayes"):
        how = of_crowd(method, crowd) | {"method": method, "random_seed": 2}
        tree = blind_posterior(systems, metrics=METRICS, draws=250, **how)
        for metric in METRICS:
            draws = tree["posterior"][metric].values.reshape(1000, 4)
            score = blind_scores(systems, metric=metric, **how).values
            # The bootstrap mean of a ratio is biased by O(1/n).
            assert (np.abs(draws.mean(axis=0) - score) < SIGMAS * draws.std(axis=0) / np.sqrt(1000) + 2 / 300).all()


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_draws_of_sampling_spread_as_its_score_does(leave_one_out):
    """One gold set a draw made them three times as wide, and all systems tied."""
    options = {"method": "sampling", "leave_one_out": leave_one_out}
    scores, widths = [], []
    for random_seed in range(24):
        systems, _, _ = simulated(n_items=200, accuracies=(0.6, 0.7, 0.8, 0.85, 0.9), random_seed=random_seed)
        scores.append(blind_scores(systems, **options, sets=200, random_seed=1).values)
        if random_seed < 4:
            tree = blind_posterior(systems, **options, metrics=("accuracy",), draws=100, random_seed=1)
            widths.append(tree["posterior"]["accuracy"].std(("chain", "draw")).values)
    ratio = np.mean(widths, axis=0) / np.std(scores, axis=0, ddof=1)
    # So many data sets know a standard deviation to 15 %, five systems share them.
    assert (np.abs(np.log(ratio)) < SIGMAS * 0.15).all()


def test_a_threshold_is_tuned_for_accuracy():
    systems, crowd, _ = simulated(accuracies=(0.5, 0.6, 0.7))
    known = Systems.of(systems, crowd, None, 3)
    for_accuracy, for_recall = (make_pseudo_gold(known, "calibrated_majority", calibrate_for=metric, random_seed=3)
                                for metric in ("accuracy", "recall"))  # fmt: skip
    right = [(gold.sets[0] == known.crowd)[known.crowd >= 0].mean() for gold in (for_accuracy, for_recall)]
    assert right[0] > right[1]
    assert for_recall.sets.sum() > for_accuracy.sets.sum()
    how = {"method": "calibrated_majority", "crowd": crowd, "random_seed": 3}
    tree = blind_posterior(systems, **how, metrics=("accuracy", "recall"), draws=3, chains=1, items="fixed")
    assert tree.attrs["sampler"] == "exact"
    for metric in ("accuracy", "recall"):  # of fixed items and one consensus all draws are the score
        score = blind_scores(systems, metric=metric, **how).values
        np.testing.assert_allclose(tree["posterior"][metric][0], np.tile(score, (3, 1)))


def test_a_mean_over_sets_leaves_out_those_without_a_score():
    right, none = np.diag([2.0, 1.0]), np.diag([3.0, 0.0])  # of the second no item is given the positive label
    counts = np.stack([[[right], [none]], [[none], [none]], [[right], [right]]])
    np.testing.assert_array_equal(mean_scores(counts, "precision", 1)[:, 0], [1.0, np.nan, 1.0])


def test_errors():
    systems = simulated(n_items=20)[0]
    alone = Predictions.from_labels({"a": [0, 1]})
    with pytest.raises(InputError, match="there is one system"):
        blind_scores(alone)
    with pytest.raises(InputError, match="only the label"):
        blind_scores(Predictions.from_labels({"a": [1, 1], "b": [1, 1]}))
    with pytest.raises(InputError, match="learns from crowd labels"):
        blind_scores(systems, method="glm")
    with pytest.raises(InputError, match="crowd= is not used by method='majority', but by calibrated_majority"):
        blind_scores(systems, method="majority", crowd=Labels.from_matrix([[0], [1]]))
    with pytest.raises(InputError, match="crowd uses labels that the predictions do not have: 'x'"):
        blind_scores(systems, method="direct", crowd=Labels.from_matrix([["x"]] * 20))
    with pytest.raises(InputError, match="labelled none of the predicted items"):
        blind_scores(systems, method="direct", crowd=Labels.from_matrix([[0], [1]], items=["p", "q"]))
    few = Labels.from_matrix([[0], [1]], labels=[0, 1])
    with pytest.raises(InputError, match="2 items have both crowd and system labels"):
        blind_scores(systems, method="svm", crowd=few)


def test_naive_bayes_is_that_of_categories_with_one_pseudo_count():
    """Nine labels to one: the prior outweighs two systems of three."""
    rng = np.random.default_rng(3)
    truth = (rng.random(300) < 0.1).astype(int)
    given = [np.where(rng.random(300) < 0.75, truth, 1 - truth) for _ in range(3)]
    systems = Systems.of(Predictions.from_labels(dict(zip("ABC", given)), labels=[0, 1]), None, None, 1)
    known = CategoricalNB(alpha=1).fit(np.transpose(given), truth)
    found = FITS["naive_bayes"](one_hot(systems), truth)(one_hot(systems))
    assert found.tolist() == known.predict(np.transpose(given)).tolist()
    assert 0 < found.sum() < 300
