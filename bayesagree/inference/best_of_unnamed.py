"""The best labels of draws in which labels that nobody named share a mass, compiled."""

import math

import numba
import numpy as np

from bayesagree._types import Array, Floats


@numba.njit(cache=True, nogil=True, inline="always")
def insert_best(values: Floats, labels: Array, value: float, label: int) -> None:
    """Insert a value into the descending list of the best ones; equal values keep their order of arrival.

    The list starts full of -inf.
    """
    place = values.size - 1
    if not value > values[place]:
        return
    while place > 0 and value > values[place - 1]:
        values[place] = values[place - 1]
        labels[place] = labels[place - 1]
        place -= 1
    values[place] = value
    labels[place] = label


@numba.njit(cache=True, nogil=True)
def top_labels(theta, named, unnamed, shape, rng, out):
    """Find each draw's best labels, shape (sample, rank), without drawing every unnamed label.

    The mass of the unnamed labels splits as a symmetric Dirichlet, largest-biased part first: V ~ Beta(a + 1, (labels
    left) a) of what remains, until what remains cannot reach the list. `unnamed` is reordered.
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
            part = 1.0
            if left > 0:
                this, others = rng.standard_gamma(shape + 1.0), rng.standard_gamma(left * shape)
                part = this / (this + others)
            insert_best(values, labels, mass * part, unnamed[left])
            mass *= 1.0 - part
