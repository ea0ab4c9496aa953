"""Draws of item means and of their prior, against adaptive quadrature."""

import itertools

import numpy as np
import pytest
from _errors_of_draws import assert_mean
from _phi import levels
from scipy.integrate import quad
from scipy.special import betainc
from scipy.stats import beta as beta_distribution

from bayesagree.agreement._exact.draws import draw_item_means
from bayesagree.agreement._exact.item_means import beta_shapes
from bayesagree.agreement._exact.problem import prepare


@pytest.mark.parametrize("hyper", [None, (0.3, 0.6), (0.5, 0.95), (0.8, 0.1)], ids=str)
def test_item_means_are_drawn_from_their_posterior(hyper):
    """Mean and square of mu given the precision and (m, s) of 100 items with the same ratings, 400 draws of each."""
    row, precision = [0, 1, 1], 1.5
    a, b = (1.0, 1.0) if hyper is None else (float(v) for v in beta_shapes(*map(np.array, hyper)))

    def moment(power):
        def integrand(mu):
            below = betainc(mu * precision, (1 - mu) * precision, np.arange(1, 5) / 5)
            likelihood = np.prod(np.diff(below, prepend=0, append=1)[row])
            return mu**power * likelihood * beta_distribution.pdf(mu, a, b)

        ends = beta_distribution.ppf([1e-10, 0.01, 0.1, 0.5, 0.9, 0.99, 1 - 1e-10], a, b)
        return sum(quad(integrand, *side, limit=200)[0] for side in itertools.pairwise(ends))

    problem = prepare(levels([row] * 100, 5), item_mean="flat" if hyper is None else "hierarchical")
    given = None if hyper is None else tuple(np.full(400, v) for v in hyper)
    y = np.full(400, np.log(precision))
    drawn = draw_item_means(
        problem.means, problem.patterns, y, given, np.zeros((y.size, 2)), np.random.default_rng(1)
    ).ravel()
    for power in (1, 2):
        assert_mean(drawn**power, moment(power) / moment(0))
