"""Steps of Gibbs samplers whose chains move side by side: the chain is an axis of every array."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesagree._types import Array, Floats, Integers, Rng
from bayesagree.inference.cells import cell_sums, row_shares
from bayesagree.inference.kernel_draws import log_dirichlets

# Least logarithm of a mean that is drawn, and of shapes the least that are far from it.
LEAST, LARGE = -300.0, 0.1


def slice_step(rng: Rng, density: Callable[[Floats], Floats], at: Floats, width: Any) -> Floats:
    """Move each number by slice sampling: an interval of this width, shrunk (Neal, 2003)."""
    level = density(at) - rng.standard_exponential(at.shape)
    low = at - width * rng.random(at.shape)
    high, found, left = low + width, at, np.ones(at.shape, bool)
    while left.any():
        tried = low + (high - low) * rng.random(at.shape)
        kept = left & (density(tried) > level)
        found, left = np.where(kept, tried, found), left & ~kept
        low = np.where(tried < at, tried, low)
        high = np.where(tried >= at, tried, high)
    return found


class Counts(NamedTuple):
    """Numbers of draws from Dirichlet vectors: `times` of them had more than `r` draws of the place `at` of a table."""

    at: Integers
    r: Integers
    times: Integers

    @classmethod
    def of(cls, at: Integers, n: Array, places: int) -> "Counts":
        """Count from the number n of draws of each vector at a place."""
        some = np.flatnonzero(n)
        n, most, at = n.ravel()[some].astype(int), int(n.max(initial=0)), at.ravel()[some]
        # Places that have draws: of a thousand labels hardly any confusion has one.
        met = np.bincount(at, minlength=places) > 0
        known, place = np.flatnonzero(met), (np.cumsum(met) - 1)[at]
        number = cell_sums((known.size, most), place, n - 1)
        above = np.cumsum(number[:, ::-1], axis=1)[:, ::-1]
        row, r = np.nonzero(above)
        return cls(known[row], r, above[row, r])

    def log_density(self, shape: Floats, group: Integers) -> Floats:
        """Return the log of a (a + 1) ... (a + n - 1) of all vectors, added up by the group of each place."""
        return np.bincount(group[self.at], self.times * np.log(shape.ravel()[self.at] + self.r), group[-1] + 1)


def mean(rng: Rng, shape: Any) -> Floats:
    """Draw a Dirichlet vector of each row of shapes, none of its numbers so small that it could not come back."""
    if shape.min() < LARGE:
        return np.exp(np.maximum(log_dirichlets(rng, shape), LEAST))
    return row_shares(rng.standard_gamma(shape))
