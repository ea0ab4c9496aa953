"""Joint maximum likelihood of Phi and all item means."""

import numpy as np
import pytest
from _phi import levels
from scipy.optimize import minimize
from scipy.special import betainc

from bayesagree import simulate
from bayesagree.agreement._exact.compression import NODES, compressed
from bayesagree.agreement._exact.maximum_likelihood import phi_maximum_likelihood
from bayesagree.agreement._exact.posterior import phi_of
from bayesagree.agreement._exact.problem import prepare


def test_maximum_likelihood_of_unanimous_items_is_one():
    like = prepare(levels([[1] * 5] * 10, 2), likelihood="squeezed").like
    assert phi_maximum_likelihood(like) == 1.0


def test_maximum_likelihood_is_that_of_an_optimiser_over_all_means():
    rows = [[0, 1, 1, 2], [2, 4, 4, 3], [3, 3, 1, 2]]

    def loss(x):
        precision, mu = np.exp(x[0]), 1 / (1 + np.exp(-x[1:]))
        below = betainc(mu[:, None] * precision, (1 - mu[:, None]) * precision, np.arange(1, 5) / 5)
        cells = np.diff(below, prepend=0, append=1)
        return -sum(np.log(cell[row]).sum() for cell, row in zip(cells, rows))

    options = {"xatol": 1e-8, "fatol": 1e-12, "maxiter": 4000}
    best = minimize(loss, [1.0, -1.0, 1.0, 0.0], method="Nelder-Mead", options=options)
    found = phi_maximum_likelihood(prepare(levels(rows, 5)).like)
    # Each mean is the top of a parabola through three nodes, which moves Phi by 3e-4 here.
    assert found == pytest.approx(float(phi_of(np.exp(best.x[0]))), abs=1e-3)


@pytest.mark.parametrize("phi", [-0.3, 0.4, 0.95])
def test_maximum_likelihood_of_compressed_items_is_that_of_all(phi):
    like = prepare(simulate.ratings(n_items=2000, ratings_per_item=4, phi=phi, n_levels=None, seed=4).ratings).like
    few = compressed(like, NODES)
    assert few.weight.size < 0.6 * like.weight.size
    assert phi_maximum_likelihood(few) == pytest.approx(phi_maximum_likelihood(like), abs=1e-6)
