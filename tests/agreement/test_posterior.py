"""Posterior of Phi: brute force, accuracy over the whole range, symmetry."""

import numpy as np
import pytest
from _phi import brute_force, levels, posterior_of
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree import simulate
from bayesagree.agreement._phi.posterior import pattern_evidence, phi_of, precision_of
from bayesagree.agreement._phi.problem import prepare


@pytest.mark.parametrize(("precision", "phi"), [(2, 0), (4, 0.5), (6, 0.75)])
def test_phi_of_precision(precision, phi):
    assert phi_of(precision) == pytest.approx(phi, abs=1e-15)
    assert precision_of(phi) == pytest.approx(precision, abs=1e-12)


def test_posterior_of_a_small_problem_is_its_integral():
    """Three items on five levels, flat means: the mean of Phi from scipy alone."""
    rows = [[0, 1, 1], [2, 4, 4], [3, 3, 2]]
    precision = np.exp(np.linspace(np.log(1e-3), np.log(100), 24))
    phi, mass = 1 - 2 ** (1 - precision / 2), precision * 2 ** (-precision / 2)
    mass = mass * [np.prod([brute_force(row, 5, p) for row in rows]) for p in precision]
    found = posterior_of(levels(rows, 5), item_mean="flat").summary()
    assert found.mean == pytest.approx(mass @ phi / mass.sum(), abs=0.01 * found.sd)


EXTREMES = [
    (phi, raters, n_levels)
    for phi in (-0.95, -0.5, 0.0, 0.9, 0.999)
    for raters, n_levels in ((2, 5), (7, 101), (3, None))
] + [(0.4, 1, 5), (0.2, 5, 2)]
MANY_RATERS = [
    pytest.param(0.6, 1000, 5, "flat", marks=pytest.mark.long),
    pytest.param(0.6, 1000, 5, "hierarchical", marks=pytest.mark.long),
    pytest.param(0.9, 300, 101, "flat", marks=pytest.mark.long),
    pytest.param(0.9, 300, 101, "hierarchical", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(
    ("phi", "raters", "n_levels", "item_mean"),
    [(*case, kind) for case in EXTREMES for kind in ("flat", "hierarchical")] + MANY_RATERS,
)
def test_reaches_its_accuracy_over_the_whole_range(phi, raters, n_levels, item_mean):
    items = 12 if raters > 100 else 40
    problem = simulate.ratings(n_items=items, ratings_per_item=raters, phi=phi, n_levels=n_levels, random_seed=4)
    posterior = posterior_of(problem.ratings, item_mean=item_mean)
    assert posterior.log_evidence_error < 0.03
    assert posterior.k_hat < 0.7
    summary = posterior.summary()
    assert summary.lower <= summary.mean <= summary.upper
    if raters > 1 and n_levels != 2 and item_mean == "hierarchical":
        assert abs(summary.mean - phi) < 5 * summary.sd + 1e-3


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_reversing_items_changes_nothing(random_seed):
    """Any items where the means are flat; all of them under one prior and its mirror image."""
    rng = np.random.default_rng(random_seed)
    x = rng.integers(0, 5, (8, 4)).astype(float)
    flipped = np.where((rng.random(8) < 0.5)[:, None], 4 - x, x)
    y = np.log([0.2, 2.0, 12.0])

    def evidence(x, hyper=None, **options):
        problem = prepare(levels(x, 5), **options)
        return problem.like.weight @ pattern_evidence(problem, y, hyper)

    a, b = (evidence(v, item_mean="flat") for v in (x, flipped))
    assert a == pytest.approx(b, abs=1e-9)
    m, s = np.array([0.2, 0.5, 0.9]), np.array([0.01, 0.3, 0.9])
    a, b = (evidence(v, np.stack([share, s], axis=1)) for v, share in ((x, m), (4 - x, 1 - m)))
    assert a == pytest.approx(b, abs=1e-6)
