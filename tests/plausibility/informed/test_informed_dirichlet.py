"""The public contract of `informed_dirichlet`: names, shapes, alignment, invariances, clear answers at the edges."""

import numpy as np
import pytest

from bayesagree import Labels, Predictions, evaluate, informed_dirichlet
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.evaluation.scoring import items_to_score
from bayesagree.inference.posterior import Request
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.posterior import InformedDirichlet


@pytest.fixture(scope="module")
def test_set():
    return labelled_test_set(n_items=60, per_item=3, n_labels=3, spread=0.5, random_seed=1)


def small(labels, predictions, **options):
    return informed_dirichlet(labels, predictions, **({"draws": 40, "chains": 2, "random_seed": 1} | options))


def test_items_without_votes_are_part_of_the_result(test_set):
    labels = test_set.labels
    voted = labels.select(labels.item_index < 20)
    tree = small(voted, test_set.predictions)
    assert tree["posterior"]["item"].values.tolist() == labels.items.tolist()
    assert tree["constant_data"]["n_votes"].values.tolist() == [3] * 20 + [0] * 40
    spread = tree["posterior"]["plausibility"].std(("chain", "draw")).mean("category")
    assert spread[20:].mean() > spread[:20].mean()


def test_same_seed_same_draws_in_any_row_and_item_order(test_set):
    labels, predictions = test_set.labels, test_set.predictions
    first = small(labels, predictions)["posterior"]["plausibility"]
    turned = Predictions.from_scores(
        {m: s[::-1] for m, s in zip(predictions.models, predictions.scores)},
        items=predictions.items[::-1], labels=predictions.categories,
    )  # fmt: skip
    assert (small(labels, turned)["posterior"]["plausibility"] == first).all()


def test_labels_in_another_order_move_nothing_but_rounding(test_set):
    counts, predictions = test_set.labels.counts(), test_set.predictions
    turn = [2, 0, 1]
    turned = Predictions.from_scores(dict(zip(predictions.models, predictions.scores[:, :, turn])), labels=turn)
    one = InformedProblem.of(Labels.from_counts(counts), predictions)
    other = InformedProblem.of(Labels.from_counts(counts[:, turn], labels=turn), turned)
    np.testing.assert_allclose(other.near_mode(other.counts), one.near_mode(one.counts), atol=2e-3)


def test_who_voted_and_in_which_order_changes_nothing(test_set):
    votes = [np.repeat(np.arange(row.size), row) for row in test_set.labels.counts()]
    rng = np.random.default_rng(2)
    one, other = (
        Labels.from_matrix(np.array(v), labels=[0, 1, 2]) for v in (votes, [rng.permutation(v) for v in votes])
    )
    first, second = (small(labels, test_set.predictions)["posterior"]["plausibility"] for labels in (one, other))
    assert (first == second).all()


def test_excluded_models_do_not_count(test_set):
    labels, predictions = test_set.labels, test_set.predictions
    names = dict(items=predictions.items, labels=predictions.categories)
    two = Predictions.from_scores(dict(zip(predictions.models[:2], predictions.scores[:2])), **names)
    without = small(labels, predictions, exclude="C")["posterior"]["plausibility"]
    assert (without == small(labels, two)["posterior"]["plausibility"]).all()
    assert InformedProblem.of(labels, predictions, exclude=["A", "B", "C"]).covariates.names == ()


@pytest.mark.parametrize(
    ("counts", "scores"),
    [
        ([[3, 0]], [[0.9, 0.1]]),  # one item
        ([[3], [2]], [[1.0], [1.0]]),  # one label
        ([[3, 0], [2, 0], [3, 0]], [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]),  # one label used
        ([[3, 0], [0, 0], [0, 0]], [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]),  # a constant model, hardly any votes
        ([[90, 40], [1000, 2000]], [[1.0, 0.0], [0.0, 1.0]]),  # many votes, certain predictions
    ],
)
def test_edges_have_a_clear_answer(counts, scores):
    labels = Labels.from_counts(counts)
    tree = small(labels, Predictions.from_scores({"A": scores}))
    values = tree["posterior"]["plausibility"].values
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values.sum(axis=-1), 1, rtol=1e-12)


def test_progress_counts_parameters_and_items_under_both_truths():
    given, done = labelled_test_set(n_items=70, random_seed=1), []
    how = {"draws": 60, "chains": 2}
    evaluate(given.labels, given.predictions, exclude=[], **how, random_seed=1, progress=done.append)
    assert sum(done) == 2 * 60 + 2 * 70
    assert sum(done) == items_to_score(InformedDirichlet(), given.labels, given.predictions, (1.0,), Request(**how))


def test_items_of_many_labels_are_drawn_one_by_one():
    """Of a hundred labels four thousand draws of one item are as many as are made at once."""
    votes = np.zeros((3, 101), int)
    votes[[0, 1, 2], [0, 50, 100]] = 3
    labels = Labels.from_counts(votes)
    models = Predictions.from_labels({"A": [0, 50, 7]}, labels=labels.categories.tolist())
    drawn = informed_dirichlet(labels, models, random_seed=1)["posterior"]["plausibility"]
    assert drawn.shape == (4, 1000, 3, 101)
    np.testing.assert_allclose(drawn.sum("category"), 1, rtol=1e-12)
    assert drawn.mean(("chain", "draw")).argmax("category").values.tolist() == [0, 50, 100]
