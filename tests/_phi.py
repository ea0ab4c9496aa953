"""Ratings and brute force for the tests of Phi."""

import numpy as np
from scipy.integrate import quad
from scipy.special import betainc

from bayesagree.agreement._phi.posterior import joint_posterior
from bayesagree.agreement._phi.problem import prepare
from bayesagree.annotations import Ratings


def posterior_of(ratings, likelihood="binned", **options):
    return joint_posterior(prepare(ratings, likelihood=likelihood, **options)).phi


def levels(matrix, n_levels):
    return Ratings.from_matrix(np.asarray(matrix, dtype=float), scale=(0, n_levels - 1), step=1)


def brute_force(row, n_levels, precision):
    """Integrate one item's mean out under the flat prior: adaptive quadrature and scipy's incomplete beta function."""
    edges = np.arange(1, n_levels) / n_levels

    def integrand(mu):
        below = betainc(mu * precision, (1 - mu) * precision, edges)
        return np.prod(np.diff(below, prepend=0, append=1)[row])

    points = np.linspace(0.02, 0.98, 25)
    return quad(integrand, 1e-12, 1 - 1e-12, points=points, limit=400, epsabs=0, epsrel=1e-9)[0]
