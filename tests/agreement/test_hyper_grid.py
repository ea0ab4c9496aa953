"""Hierarchical item means: density of (m, s) against adaptive quadrature, and grids that refine."""

import itertools

import numpy as np
import pytest
from _phi import levels
from scipy.integrate import quad
from scipy.stats import beta as beta_distribution

from bayesagree import simulate
from bayesagree.agreement._exact.hyper_grid import HierarchicalMeans
from bayesagree.agreement._exact.item_means import beta_shapes
from bayesagree.agreement._exact.problem import prepare


@pytest.mark.parametrize(("m", "s"), [(0.5, 0.05), (0.3, 0.4), (0.7, 0.8), (0.2, 0.005)])
def test_hierarchical_evidence_is_its_integral(m, s):
    shapes = tuple(float(v) for v in beta_shapes(np.array(m), np.array(s)))
    for row in ([0, 1, 1], [2, 4, 4, 3], [0]):
        means = prepare(levels([row], 5)).means
        assert isinstance(means, HierarchicalMeans)
        found = means.log_density(3.0, np.array([m]), np.array([s]), 0)[0, 0]

        def integrand(mu, row=row):
            cells = np.diff(beta_distribution.cdf(np.arange(6) / 5, 3 * mu, 3 * (1 - mu)))
            return np.prod(cells[row]) * beta_distribution.pdf(mu, *shapes)

        ends = beta_distribution.ppf([1e-13, 0.5, 1 - 1e-13], *shapes)
        parts = [quad(integrand, a, b, limit=300, epsabs=0, epsrel=1e-10)[0] for a, b in itertools.pairwise(ends)]
        assert found == pytest.approx(np.log(sum(parts)), abs=1e-7)


@pytest.mark.parametrize("ends", [(0.0, 0.0), (0.1, 0.3)])
def test_priors_of_all_widths_share_one_table(ends):
    """The compiled sums against nodes and likelihoods of each prior alone; narrow priors lie between the nodes."""
    given = simulate.ratings(n_items=9, ratings_per_item=4, phi=0.4, n_levels=5, seed=3).ratings
    means, (m, s) = prepare(given).means, (np.array([0.02, 0.37, 0.5, 0.9]), np.array([0.002, 0.05, 0.3, 0.95]))
    assert isinstance(means, HierarchicalMeans)
    means = means.with_ends(ends)
    for precision in (0.3, 3.0, 40.0):
        found = means.log_density(precision, m, s, 0)
        alone = np.array([[means.like.weight @ means.pattern_evidence(precision, (a, b)) for b in s] for a in m])
        live = alone > alone.max() - 20  # elsewhere it is a matter of where each cuts the tails of a prior
        assert live.sum() > 3
        assert found[live] == pytest.approx(alone[live], abs=1e-6)


def test_few_items_with_many_ratings():
    """Their item-mean prior has a funnel for posterior, far narrower in m at small s than at large."""
    given = simulate.ratings(
        n_items=14, ratings_per_item=100, phi=0.77, n_levels=11, item_mean=(30, 20), seed=1
    ).ratings
    means = prepare(given).means
    coarse, fine = (means.log_evidence(6.0, level) for level in (0, 3))
    assert abs(coarse - fine) < 1e-6
