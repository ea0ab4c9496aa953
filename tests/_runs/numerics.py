# ruff: noqa: E501
"""Runs of kernels called alone, whose numbers go into results."""

import numpy as np

from _runs.recipe import add
from bayesagree._inference import streams
from bayesagree._numerics import (
    beta,
    codes,
    dirichlet_argmax,
    draws,
    elementary,
    gamma,
    intervals,
    multiset_kernels,
    multisets,
    ranks,
)  # fmt: skip
from bayesagree._numerics.hamiltonian import Chain, Normals

SHAPES = [(0.02, 0.7), (0.4, 3.1), (2.3, 1.1), (7.5, 0.6), (31.0, 44.0), (400.0, 3.0), (1.0, 1.0)]
POINTS = (1e-9, 0.03, 0.31, 0.5, 0.77, 0.998)


def rng():
    """Generate the same numbers in every run."""
    return np.random.default_rng(17)


def tails():
    """Both tails of Beta distributions, alone and with their slopes."""
    found = []
    for a, b in SHAPES:
        shared = beta.of_shapes(a, b)
        for x in POINTS:
            slopes = beta.tails_with_slopes(a, b, x, shared)
            found.append([*np.log(np.maximum(np.abs(beta.tails(a, b, x, _log_beta(a, b))), 1e-300)), *np.ravel(slopes)])
    return list(np.array(found))


def _log_beta(a, b):
    from scipy import special

    return float(special.betaln(a, b))


add("tails", tails)()
add("digamma", lambda: [beta.digamma(x) for x in (1e-3, 0.2, 1.0, 2.7, 5.9, 6.1, 40.0, 1e5)])()
grid = np.concatenate([-(10.0 ** np.linspace(-8, 2.7, 40)), 10.0 ** np.linspace(-8, 2.5, 40)])
add("exp", lambda: [np.log(x) for x in map(float, map(elementary.exp, grid))])()
add("log", lambda: [float(elementary.log(x)) for x in 10.0 ** np.linspace(-300, 300, 60)])()
add("gamma_constants", lambda: [gamma.gamma_constants(s) for s in (0.4, 1.0, 3.7, 50.0)])()
for name in ("gamma_variate", "log_gamma_draw"):
    add(name, lambda name=name: [[getattr(gamma, name)(r, s) for _ in range(30)] for r in [rng()]
                                 for s in (0.05, 0.6, 1.0, 2.2, 40.0)])()  # fmt: skip
add(
    "log_rising",
    lambda: [gamma.log_rising(a, n) for a in (0.01, 0.7, 3.0, 90.0) for n in (0, 1, 2, 7, 15, 16, 40, 300)],
)()
add("categories", lambda: draws.categories(rng(), np.random.default_rng(1).random((40, 5))))()
add("log_gammas", lambda: draws.log_gammas(rng(), np.array([0.01, 0.3, 1.0, 2.5, 30.0] * 3)))()
add("log_dirichlets", lambda: draws.log_dirichlets(rng(), np.array([[0.01, 0.3, 1.0], [2.5, 30.0, 0.2]])))()
add("draw_category", lambda: [[draws.draw_category(r, w, w.sum()) for _ in range(50)] for r in [rng()]
                              for w in (np.array([0.2, 1.7, 0.4, 0.0, 0.9]), np.array([1.0]))])()  # fmt: skip
add("log_dirichlet_draw", lambda: [draws.log_dirichlet_draw(r, np.array(s)) for r in [rng()] for s in
                                   ([0.01, 0.02, 3.0], [2.0, 5.0], [0.7] * 6)])()  # fmt: skip
rows = np.random.default_rng(2).integers(0, 9, (12, 7)).astype(float)


def normalised(values):
    """Give normalised weights and the log of their sum."""
    values = values.copy()
    return [draws.normalise_logs(values), values]


for values in ([-3.0, 0.2, -700.0, 1.5], [-np.inf, -2.0], [-np.inf, -np.inf]):
    add("normalise_logs", normalised, np.array(values))()


def best():
    """Give the places of the best three of each row."""
    out = np.zeros((12, 3), np.int64)
    draws.best_of_rows(rows, out)
    return out


add("best_of_rows", best)()
for shape in ([[0.3, 0.3, 2.0], [1.0, 4.0, 4.0], [9.0, 0.1, 0.1]], [[1.0] * 5], [[60.0, 61.0, 3.0, 3.0]], [[2.0, 1.5]]):
    add("argmax_probabilities", dirichlet_argmax.argmax_probabilities, np.array(shape))()
add("distinct", codes.distinct, np.array([3, 1, 3, 0, 7, 1]), 9)()
add("distinct", codes.distinct, np.array([3, 1, 3000]), 9000)()
add("words", lambda: [int(w) % 1_000_003 for w in codes.words(np.arange(12, dtype=np.uint64))])()
sample = np.random.default_rng(4).gamma(2.0, size=(57, 3))
for prob in (0.2, 0.5, 0.95):
    add("hdi", intervals.hdi, sample[:, 0])(prob=prob)
    add("column_hdi", intervals.column_hdi, sample)(prob=prob)
    add("beta_hdi", intervals.beta_hdi, np.array([1.0, 0.7, 8.0]), np.array([2.0, 5.0, 3.5]))(prob=prob)
scores = np.random.default_rng(6).integers(0, 5, (31, 4)).astype(float)
add("rank_probabilities", ranks.rank_probabilities, scores)()
for prob in (0.4, 0.8, 0.95):
    add("rank_sets", ranks.rank_sets, ranks.rank_probabilities(scores))(prob=prob)


def found_multisets(search):
    """Find items with equal codes."""
    start = np.array([0, 2, 5, 7, 7, 9, 12, 14])
    code = np.array([1, 2, 0, 0, 3, 2, 1, 2, 1, 0, 3, 0, 4, 4])
    found = search(start, code, np.array([0, 0, 0, 0, 5, 0, 0], np.uint64))
    return [found[0], found[1], [int(k) % 1_000_003 for k in found[2]]]


for search in (multisets.multisets, multiset_kernels.search):
    add(f"multisets by {search.__name__}", found_multisets, search)()
add("run_starts", multisets.run_starts, np.array([0, 0, 1, 4, 4, 4, 5]))()


def density(x):
    """A skewed density of three numbers, and its slope."""
    scale = np.array([0.5, 1.0, 2.0])
    return -0.5 * float((x**2 / scale).sum()) - 0.02 * float((x**4).sum()), -x / scale - 0.08 * x**3


def chain(centre=None, **options):
    """Adapt and draw a chain of Hamiltonian Monte Carlo."""
    r = np.random.default_rng(5)
    units = np.array([[0.7, 0.1, 0.0], [0.0, 1.1, 0.2], [0.1, 0.0, 1.3]])
    made = Chain(density, np.array([0.3, -0.5, 1.0]), units, r, shortest=0.6, longest=1.9, centre=centre)
    drawn = made.adapt(12, **options)
    normals = Normals.of(drawn.reshape(2, 6, 3), units)
    return [drawn, made.step, made.run(4), made.run(3, thin=2), made.run(3, jumps=normals), normals.draw(r),
            normals.log_density(np.array([0.1, 0.2, -0.3])), made.move(), made.move(0.5)]  # fmt: skip


add("chain", chain)()
add("chain", chain)(acceptance=0.6)
add("chain", chain)(centre=np.array([0.1, 0.0, 0.2]))
add("item_blocks", lambda: [[b.start, b.stop] for n in (1, 64, 130) for b in streams.item_blocks(n)])()
add("block_generators", lambda: [g.random(2) for g in streams.block_generators(5, 3)])()
add("stream_apart", lambda: [np.random.default_rng(streams.stream_apart(s, p)).random(2) for s in (3, np.random.SeedSequence(4))
                             for p in streams.PURPOSES[:2]])()  # fmt: skip
add("seed_sequence", lambda: [np.random.default_rng(streams.seed_sequence(s)).random(2)
                              for s in (5, np.random.SeedSequence(2), np.random.default_rng(9))])()  # fmt: skip
add(
    "next_batch", lambda: [streams.next_batch(iter(range(50)), s, a) for s, a in ((0.01, 0.1), (0.2, 0.1), (1e-9, 0.5))]
)()
