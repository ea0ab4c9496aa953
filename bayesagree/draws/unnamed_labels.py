"""Compiled split of the mass of the labels that nobody named: all plausibilities, or the best labels of a draw."""

import math

import numba
import numpy as np

from bayesagree._numerics.draws import insert_best, normalise_logs
from bayesagree._numerics.gamma import gamma_variate, log_gamma_draw


@numba.njit(cache=True, nogil=True)
def top_labels(theta, named, unnamed, shape, rng, out):
    """Find each draw's best labels, shape (sample, rank), without drawing every unnamed label.

    The mass of the unnamed labels splits as a symmetric Dirichlet, largest-biased part first: V ~ Beta(a + 1, (labels
    left) a) of what remains, until what remains cannot reach the list. `shape` 0 splits it equally. `unnamed` is
    reordered.
    """
    n, depth = named.size, out.shape[1]
    values = np.empty(depth)
    for s in range(theta.shape[0]):
        labels = out[s]
        values[:] = -math.inf
        for k in range(n):
            insert_best(values, labels, theta[s, k], named[k])
        mass, left = theta[s, n], unnamed.size
        while left > 0 and mass > values[depth - 1]:
            pick = int(rng.random() * left)
            left -= 1
            unnamed[pick], unnamed[left] = unnamed[left], unnamed[pick]
            part = 1.0 / (left + 1)
            if shape > 0.0 and left > 0:
                this, others = gamma_variate(rng, shape + 1.0), gamma_variate(rng, left * shape)
                part = this / (this + others)
            if shape == 0.0 and mass * part <= values[depth - 1]:
                break
            insert_best(values, labels, mass * part, unnamed[left])
            mass *= 1.0 - part


@numba.njit(cache=True, nogil=True)
def spread(theta, named, unnamed, shape, rng, out):
    """Write full plausibilities, shape (sample, label): named labels, and the unnamed mass as a Dirichlet(shape)."""
    n = named.size
    part = np.empty(unnamed.size)
    for s in range(theta.shape[0]):
        for k in range(n):
            out[s, named[k]] = theta[s, k]
        for u in range(unnamed.size):
            part[u] = log_gamma_draw(rng, shape)
        normalise_logs(part)
        for u in range(unnamed.size):
            out[s, unnamed[u]] = theta[s, n] * part[u]
