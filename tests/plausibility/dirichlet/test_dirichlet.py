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

from bayesagree import Labels, dirichlet, label_certainty
from bayesagree._inference.streams import block_generators
from bayesagree._numerics.dirichlet_argmax import argmax_probabilities, argmax_tables
from bayesagree._numerics.draws import log_gammas
from bayesagree.draws.blocks import AT_ONCE, best_labels
from bayesagree.plausibility.dirichlet import _draws
from bayesagree.plausibility.dirichlet._kernels import (
    LARGEST_SUM,
    LEAST_SUM,
    best_label_draws,
    chances_up_to,
    top_label_draws,
)

MODEL = json.loads((ROOT / "models" / "dirichlet.json").read_text())
COUNTS = hnp.arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 6)), elements=st.integers(0, 9)).filter(
    np.any
)


def test_reference_posterior_exact():
    tree = dirichlet(Labels.from_counts(MODEL["data"]["counts"]), prior=1.0, draws=1, chains=1, seed=0)
    certainty = label_certainty(tree, exact=True)
    np.testing.assert_allclose(certainty, MODEL["posterior"]["prob_largest"], atol=1e-12)


@pytest.fixture(params=[0, 10**9], ids=["compiled", "numpy"])
def engine(request, monkeypatch):
    """Both engines of the draws, whatever the size of the problem."""
    monkeypatch.setattr(_draws, "FEW", request.param)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_reference_posterior_by_draws(seed):
    labels = Labels.from_counts(MODEL["data"]["counts"])
    full = dirichlet(labels, prior=1.0, draws=20_000, chains=1, seed=seed)["posterior"]["plausibility"].values[0]
    mean, variance = np.array(MODEL["posterior"]["mean"]), np.array(MODEL["posterior"]["variance"])
    assert_mean(full, mean)
    assert_mean((full - mean) ** 2, variance)
    np.testing.assert_allclose(full.sum(axis=-1), 1, rtol=1e-12)
    top = dirichlet(labels, prior=1.0, draws=20_000, chains=1, seed=seed, top_labels=2)
    assert_share(label_certainty(top), MODEL["posterior"]["prob_largest"], 20_000)


def top_labels(seed, named, shape, rest, n_labels, out):
    """Draw the best labels of one item by gamma variables."""
    stream = block_generators(seed, 1)[0]
    top_label_draws(stream, np.array([0, len(named)]), np.array(named, np.int32), shape, rest, n_labels, out)


def best_label(seed, named, shape, rest, n_labels, out):
    """Draw the best label of one item by the chances of each."""
    given = np.array([0, len(named)]), np.array(named, np.int32), shape, rest, n_labels
    best_label_draws(block_generators(seed, 1)[0], *given, argmax_tables(), out)


@settings(deadline=None)
@given(
    st.floats(LEAST_SUM, LARGEST_SUM),
    hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(0.0, 8.0)),
    st.integers(1, 400),
)
def test_chances_of_the_best_label_are_exact(total, log_share, n_unnamed):
    """Shapes far apart and near each other, as many unnamed as leave something to the named, at both ends of sums."""
    share = np.exp(log_share - log_share.max())
    rest = 0.3 * total / n_unnamed
    shape = 0.7 * total * share / share.sum()
    table, log_weight, rows = argmax_tables()
    # By hand, from a table of one row more: the kernel interpolates.
    at = np.arange(-1, table.shape[1] - 1) / rows
    unnamed = np.stack([sp.interpolate.CubicSpline(at, one)(np.sqrt(rest)) for one in table])
    room = np.empty_like(log_weight), np.empty_like(log_weight), np.empty((shape.size, log_weight.size))
    up_to = np.empty(shape.size + 1)
    chances_up_to(shape, n_unnamed, unnamed, (table, log_weight, rows), room, up_to)
    exact = argmax_probabilities(np.append(shape, np.full(n_unnamed, rest))[None])[0]
    np.testing.assert_allclose(up_to, np.append(np.cumsum(exact[: shape.size]), 1), atol=2e-8)


@pytest.mark.parametrize(
    ("n_labels", "seeds"),
    [
        (20, range(10)),
        pytest.param(20, range(10, 50), marks=pytest.mark.long),
        pytest.param(419, range(100, 110), marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("draw", [top_labels, best_label])
def test_exact_certainty_equals_monte_carlo(draw, n_labels, seeds):
    """MATHS 2.1: 10^6 draws, labels with P > 1e-4."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        k = rng.integers(2, n_labels + 1) if n_labels == 20 else n_labels
        named = rng.permutation(k)[: rng.integers(1, min(k, 6) + 1)]
        rest = rng.choice([0.01, 0.1, 0.5])
        shape = np.sort(rng.gamma(1.0, 4.0, named.size)) + rest
        alpha = np.full(k, rest)
        alpha[np.sort(named)] = shape
        out = np.empty((1, 1_000_000, 1), np.int16)
        draw(seed, np.sort(named), shape, rest, int(k), out)
        share = np.bincount(out[0, :, 0], minlength=k) / out.shape[1]
        exact = argmax_probabilities(alpha[None])[0]
        seen = exact > 1e-4
        error = np.sqrt(exact * (1 - exact) / out.shape[1])
        assert (np.abs(share - exact)[seen] <= 4.5 * error[seen]).all(), seed
        assert abs(exact.sum() - 1) < 1e-10


# Shapes of the named labels, that of the others, number of labels: small ones, large ones, and both.
SETTINGS = [
    ([0.7, 2.3], 0.3, 7),
    ([0.4, 0.2, 0.1, 0.1, 0.05], 0.01, 9),
    ([0.05, 30.0, 31.0, 1.0], 0.5, 5),
]
MORE_SETTINGS = [
    ([], 0.01, 6),
    ([1.0, 1.0, 1.0], 1.0, 6),
    ([0.2] * 5, 0.0, 5),
    ([5.0, 5.0, 4.5], 1e-3, 40),
    ([1e-3, 1e-3, 0.6], 1e-3, 12),
]


@pytest.mark.parametrize(
    ("shape", "rest", "n_labels", "n"),
    [
        *[(*one, 100_000) for one in SETTINGS],
        *[pytest.param(*one, 400_000, marks=pytest.mark.slow) for one in SETTINGS + MORE_SETTINGS],
    ],
)
def test_top_labels_have_the_law_of_full_draws(shape, rest, n_labels, n):
    """The kernels against NumPy, which draws every gamma: each rank by itself, and the best two together."""
    named, alpha = np.arange(len(shape)) * (n_labels - 1) // max(len(shape) - 1, 1), np.full(n_labels, rest)
    alpha[named] = shape
    out, best = np.empty((1, n, 3), np.int16), np.empty((1, n, 1), np.int16)
    top_labels(5, named, np.array(shape), rest, n_labels, out)
    best_label(7, named, np.array(shape), rest, n_labels, best)
    drawn = log_gammas(np.random.default_rng(6), np.broadcast_to(alpha, (n, n_labels)))
    twin = np.argsort(-drawn, axis=1)[:, :3]
    pairs = ((best[0, :, 0], twin[:, 0]), *((out[0, :, r], twin[:, r]) for r in range(3)))
    together = (t[:, :2].astype(int) @ [n_labels, 1] for t in (out[0], twin))
    for ours, theirs in (*pairs, tuple(together)):
        share, of_twin = (np.bincount(one, minlength=n_labels**2) / n for one in (ours, theirs))
        error = np.sqrt((share * (1 - share) + of_twin * (1 - of_twin)) / n)
        likely = share + of_twin > 20 / n
        assert (np.abs(share - of_twin)[likely] <= 4.5 * error[likely]).all()


def test_one_of_many_unnamed_labels_may_be_far_out_in_its_tail():
    """The bound at which a draw stops looking is that of the largest worth there can be, not of a likely one.

    A label of worth Gamma(10) against 20 000 of worth Exp(1), whose largest is as large: half the draws.
    """
    n_labels, draws = 20_001, 3000
    expected, _ = sp.integrate.quad(lambda x: sp.stats.gamma.pdf(x, 10) * np.exp(-n_labels * np.exp(-x)), 0, 60)
    named = np.array([0, 1]), np.array([7], np.int32), np.array([10.0])
    out = np.empty((1, draws, 1), np.int32)
    top_label_draws(block_generators(1, 1)[0], *named, 1.0, n_labels, out)
    share = (out == 7).mean()
    assert abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / draws)


@pytest.mark.usefixtures("engine")
def test_tiny_shapes_do_not_tie():
    """At shape 1e-6 a gamma underflows to zero; the first label must not win because it is first."""
    labels = Labels.from_counts([[1, 0, 0, 0]])
    tree = dirichlet(labels, reliability=0, prior=1e-6, draws=20_000, chains=1, seed=3, top_labels=1)
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


@given(COUNTS, st.randoms(use_true_random=False), st.sampled_from([0.1, 1.0, 7.0]))
@settings(max_examples=50, deadline=None)
def test_label_and_item_order_change_nothing(counts, random, reliability):
    labels = random.sample(range(counts.shape[1]), counts.shape[1])
    items = random.sample(range(counts.shape[0]), counts.shape[0])

    def certainty(table):
        tree = dirichlet(Labels.from_counts(table), reliability=reliability, draws=1, chains=1, seed=0)
        return label_certainty(tree, exact=True).values

    np.testing.assert_allclose(certainty(counts[items][:, labels]), certainty(counts)[items][:, labels], atol=1e-10)


def test_same_draws_on_any_number_of_threads(monkeypatch):
    labels = Labels.from_counts(np.random.default_rng(0).integers(0, 4, (300, 5)))
    trees = []
    for threads in (1, 2):
        monkeypatch.setattr("bayesagree._inference.streams.n_threads", lambda n=threads: n)
        trees.append(dirichlet(labels, draws=20, seed=11, top_labels=2)["posterior"]["top_label"].values)
    np.testing.assert_array_equal(*trees)


def test_one_prior_per_label_is_not_lumped():
    labels = Labels.from_counts([[0, 0, 0], [1, 0, 0]])
    prior = [0.5, 1.0, 2.5]
    tree = dirichlet(labels, prior=prior, draws=20_000, chains=1, seed=8)
    shapes = np.array([prior, [1.5, 1.0, 2.5]])
    assert_mean(tree["posterior"]["plausibility"].values[0], shapes / shapes.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("n_items", [50, AT_ONCE // 140 + 1])
@pytest.mark.parametrize("depth", [1, 3, 7])
def test_the_best_labels_are_those_of_a_stable_sort(depth, n_items):
    """Few distinct values, so that most draws have ties: equal plausibilities stand in label order."""
    plausibility = np.random.default_rng(3).integers(0, 4, (n_items, 20, 7)) / 4
    sorted_labels = np.argsort(-plausibility, axis=-1, kind="stable")[:, :, :depth]
    np.testing.assert_array_equal(best_labels(plausibility, depth), sorted_labels)
