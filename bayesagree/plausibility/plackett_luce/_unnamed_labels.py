"""Compiled split of the mass of the labels that nobody named: all plausibilities, or the best labels of a draw."""

import math

import numba
import numpy as np

from bayesagree.plausibility.plackett_luce._gibbs_kernels import draw_gamma


@numba.njit(cache=True, nogil=True)
def insert_label(value, label, count, values, labels):
    """Insert a label into a list sorted from the largest value; equal values keep their order. Returns the length."""
    depth = values.size
    if count == depth and value <= values[depth - 1]:
        return count
    at = min(count, depth - 1)
    while at > 0 and values[at - 1] < value:
        values[at], labels[at] = values[at - 1], labels[at - 1]
        at -= 1
    values[at], labels[at] = value, label
    return min(count + 1, depth)


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
        found = 0
        for k in range(n):
            found = insert_label(theta[s, k], named[k], found, values, labels)
        mass, left = theta[s, n], unnamed.size
        while left > 0 and (found < depth or mass > values[depth - 1]):
            pick = int(rng.random() * left)
            left -= 1
            unnamed[pick], unnamed[left] = unnamed[left], unnamed[pick]
            part = 1.0 / (left + 1)
            if shape > 0.0 and left > 0:
                this, others = rng.standard_gamma(shape + 1.0), draw_gamma(left * shape, rng)
                part = this / (this + others)
            if shape == 0.0 and found == depth and mass * part <= values[depth - 1]:
                break
            found = insert_label(mass * part, unnamed[left], found, values, labels)
            mass *= 1.0 - part


@numba.njit(cache=True, nogil=True)
def spread(theta, named, unnamed, shape, rng, out):
    """Write full plausibilities, shape (sample, label): named labels, and the unnamed mass as a Dirichlet(shape)."""
    n = named.size
    log_part = np.empty(unnamed.size)
    for s in range(theta.shape[0]):
        for k in range(n):
            out[s, named[k]] = theta[s, k]
        for u in range(unnamed.size):
            log_part[u] = math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape
        if unnamed.size:
            part = np.exp(log_part - log_part.max())
            part *= theta[s, n] / part.sum()
            for u in range(unnamed.size):
                out[s, unnamed[u]] = part[u]
