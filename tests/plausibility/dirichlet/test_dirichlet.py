import json

import numpy as np
import pytest
import scipy as sp
from _errors_of_draws import assert_mean, assert_share
from _paths import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special

from bayesagree import Labels, dirichlet
from bayesagree.inference.blocks import AT_ONCE, best_labels
from bayesagree.inference.dirichlet_argmax import argmax_probabilities
from bayesagree.inference.kernel_draws import log_dirichlets
from bayesagree.inference.posterior import Request
from bayesagree.plausibility import Dirichlet
from bayesagree.plausibility.certainty import label_certainty

MODEL = json.loads((ROOT / "models" / "dirichlet.json").read_text())
COUNTS = hnp.arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(0, 9)).filter(
    np.any
)


def test_reference_posterior_exact():
    tree = dirichlet(Labels.from_counts(MODEL["data"]["counts"]), prior=1.0, draws=1, chains=1, random_seed=0)
    certainty = label_certainty(tree, exact=True)
    np.testing.assert_allclose(certainty, MODEL["posterior"]["prob_largest"], atol=1e-12)


@pytest.mark.parametrize("random_seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_reference_posterior_by_draws(random_seed):
    labels = Labels.from_counts(MODEL["data"]["counts"])
    full = dirichlet(labels, prior=1.0, draws=20_000, chains=1, random_seed=random_seed)["posterior"][
        "plausibility"
    ].values[0]
    mean, variance = np.array(MODEL["posterior"]["mean"]), np.array(MODEL["posterior"]["variance"])
    assert_mean(full, mean)
    assert_mean((full - mean) ** 2, variance)
    np.testing.assert_allclose(full.sum(axis=-1), 1, rtol=1e-12)
    top = dirichlet(labels, prior=1.0, draws=20_000, chains=1, random_seed=random_seed, top_labels=2)
    assert_share(label_certainty(top), MODEL["posterior"]["prob_largest"], 20_000)


# Shapes of the named labels, that of the others, number of labels: small ones, large ones, both, and many labels.
SHAPES = [
    ([0.7, 2.3], 0.3, 7), ([0.4, 0.2, 0.1, 0.1, 0.05], 0.01, 9), ([0.05, 30.0, 31.0, 1.0], 0.5, 5), ([], 0.01, 60),
    ([0.2] * 5, 0.0, 5), ([5.0, 5.0, 4.5], 1e-3, 40), ([0.3, 0.3, 1.5], 0.05, 60), ([2.0], 1.5, 40),
]  # fmt: skip


def best_drawn(alpha, rng, n, depth):
    """Draw the best labels of one item with these shapes, (sample, rank)."""
    drawer = Dirichlet().drawer(alpha[None], Request(n, 1, top_labels=depth))
    return drawer(slice(0, 1), rng).top_label[0].astype(int)


@pytest.mark.parametrize(("shape", "rest", "n_labels"), SHAPES)
def test_best_labels_have_the_law_of_full_draws(shape, rest, n_labels):
    """Against every gamma drawn and the exact chances: each rank by itself, and the best two together."""
    n, rng = 40_000, np.random.default_rng(6)
    named, alpha = np.arange(len(shape)) * (n_labels - 1) // max(len(shape) - 1, 1), np.full(n_labels, rest)
    alpha[named] = shape
    out, best = (best_drawn(alpha, rng, n, depth) for depth in (3, 1))
    assert (np.diff(np.sort(out, axis=1), axis=1) > 0).all()
    twin = np.argsort(-log_dirichlets(rng, np.broadcast_to(alpha, (n, n_labels))), axis=1)[:, :3]
    exact = argmax_probabilities(alpha[None])[0]
    pairs = [(best[:, 0], exact), (out[:, 0], exact), *((out[:, r], twin[:, r]) for r in (1, 2))]
    pairs.append(tuple(t[:, :2] @ [n_labels, 1] for t in (out, twin)))
    for ours, theirs in pairs:
        share = np.bincount(ours, minlength=n_labels**2) / n
        other = np.append(exact, np.zeros(n_labels**2 - n_labels)) if theirs is exact else None
        other = np.bincount(theirs, minlength=n_labels**2) / n if other is None else other
        error = np.sqrt((share * (1 - share) + (theirs is not exact) * other * (1 - other)) / n)
        likely = share + other > 20 / n
        assert (np.abs(share - other)[likely] <= 4.5 * error[likely] + 1e-12).all()


def test_one_of_many_unnamed_labels_may_be_far_out_in_its_tail():
    """A label of worth Gamma(8) against 2000 of worth Exp(1), whose largest is as large: half the draws."""
    n_labels, draws = 2001, 800
    expected, _ = sp.integrate.quad(lambda x: sp.stats.gamma.pdf(x, 8) * np.exp(-n_labels * np.exp(-x)), 0, 60)
    out = best_drawn(np.where(np.arange(n_labels) == 7, 8.0, 1.0), np.random.default_rng(1), draws, 2)
    share = (out[:, 0] == 7).mean()
    assert abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / draws)


@pytest.mark.parametrize("top_labels", [None, 1, 2])
def test_the_draws_of_an_item_do_not_depend_on_other_items(top_labels):
    """Items behind and beside it, and how many: the engine was chosen by the size of the problem."""
    counts = np.random.default_rng(2).integers(0, 5, (150, 4))
    other = counts.copy()
    other[[3, 70]] = [[9, 0, 0, 0], [0, 0, 0, 9]]
    how = {"draws": 20, "random_seed": 3, "top_labels": top_labels, "prior": 0.5}
    trees = [dirichlet(Labels.from_counts(c), **how)["posterior"].to_dataset() for c in (counts, counts[:100], other)]
    whole, part, changed = (next(iter(tree.values())).values for tree in trees)
    np.testing.assert_array_equal(whole[:, :, :100], part)
    same = np.delete(np.arange(150), [3, 70])
    np.testing.assert_array_equal(whole[:, :, same], changed[:, :, same])


def test_tiny_shapes_do_not_tie():
    """At shape 1e-6 a gamma underflows to zero; the first label must not win because it is first."""
    labels = Labels.from_counts([[1, 0, 0, 0]])
    tree = dirichlet(labels, reliability=0, prior=1e-6, draws=20_000, chains=1, random_seed=3, top_labels=1)
    assert_share(label_certainty(tree), np.full((1, 4), 0.25), 20_000)


@pytest.mark.parametrize(
    "shape", [[1e9, 1e9 + 1e5, 1.0], [1e-6, 2e-6, 1e-6], [1e5, 1e5 - 500], [0.5] * 2000, [10.01] + [0.01] * 418]
)
def test_exact_certainty_at_the_edges(shape):
    probability = argmax_probabilities(np.array([shape]))[0]
    assert abs(probability.sum() - 1) < 1e-7
    if len(shape) == 2:  # both normal at 1e5: Pr(X > Y) to the order of the skewness, 1 / sqrt(shape)
        gap = (shape[0] - shape[1]) / np.sqrt(sum(shape))
        np.testing.assert_allclose(probability[0], special.ndtr(gap), atol=1e-3)
    if len(shape) == 3 and shape[0] < 1:  # as shapes vanish, the largest is label k with probability a_k / sum
        np.testing.assert_allclose(probability, [0.25, 0.5, 0.25], atol=1e-5)


@pytest.mark.filterwarnings("ignore:.* is the only label:UserWarning")
@given(COUNTS, st.randoms(use_true_random=False), st.sampled_from([0.1, 1.0, 7.0]))
@settings(max_examples=50, deadline=None)
def test_label_and_item_order_change_nothing(counts, random, reliability):
    labels = random.sample(range(counts.shape[1]), counts.shape[1])
    items = random.sample(range(counts.shape[0]), counts.shape[0])

    def certainty(table):
        tree = dirichlet(Labels.from_counts(table), reliability=reliability, draws=1, chains=1, random_seed=0)
        return label_certainty(tree, exact=True).values

    np.testing.assert_allclose(certainty(counts[items][:, labels]), certainty(counts)[items][:, labels], atol=1e-10)


def test_same_draws_on_any_number_of_threads(monkeypatch):
    labels = Labels.from_counts(np.random.default_rng(0).integers(0, 4, (300, 5)))
    trees = []
    for threads in (1, 2):
        monkeypatch.setattr("bayesagree.inference.streams.n_threads", lambda n=threads: n)
        trees.append(dirichlet(labels, draws=20, random_seed=11, top_labels=2)["posterior"]["top_label"].values)
    np.testing.assert_array_equal(*trees)


def test_one_prior_per_label_is_not_lumped():
    labels = Labels.from_counts([[0, 0, 0], [1, 0, 0]])
    prior = [0.5, 1.0, 2.5]
    tree = dirichlet(labels, prior=prior, draws=20_000, chains=1, random_seed=8)
    shapes = np.array([prior, [1.5, 1.0, 2.5]])
    assert_mean(tree["posterior"]["plausibility"].values[0], shapes / shapes.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("n_items", [50, AT_ONCE // 140 + 1])
@pytest.mark.parametrize("depth", [1, 3, 7])
def test_the_best_labels_are_those_of_a_stable_sort(depth, n_items):
    """Few distinct values, so that most draws have ties: equal plausibilities stand in label order."""
    plausibility = np.random.default_rng(3).integers(0, 4, (n_items, 20, 7)) / 4
    sorted_labels = np.argsort(-plausibility, axis=-1, kind="stable")[:, :, :depth]
    np.testing.assert_array_equal(best_labels(plausibility, depth), sorted_labels)
