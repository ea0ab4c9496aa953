"""Random draws that several models share: categories, Dirichlet vectors, slice sampling, and lists of the best."""

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.inference.gamma import log_gamma_draw


def categories(rng: Rng, probability: NDArray[Any]) -> NDArray[np.int64]:
    """One category per row of probabilities, shape (..., category), by the inverse cumulative distribution.

    Rows need not sum to one.
    """
    cumulative = np.cumsum(probability, axis=-1)
    drawn = (cumulative < rng.random((*probability.shape[:-1], 1)) * cumulative[..., -1:]).sum(axis=-1)
    return np.minimum(drawn, probability.shape[-1] - 1)


def log_gammas(rng: Rng, shape: Floats) -> Floats:
    """Log of one Gamma(shape, 1) variable for each shape; small shapes would underflow to zero if not for the log."""
    log_gamma = np.log(rng.standard_gamma(shape + 1))
    log_gamma -= rng.standard_exponential(shape.shape) / shape
    return log_gamma


def log_dirichlets(rng: Rng, shape: Floats) -> Floats:
    """Log of one Dirichlet vector per row of shapes, (..., category)."""
    log_gamma = log_gammas(rng, shape)
    log_gamma -= log_gamma.max(axis=-1, keepdims=True)
    return log_gamma - np.log(np.exp(log_gamma).sum(axis=-1, keepdims=True))


@numba.njit(cache=True, nogil=True)
def normalise_logs(log_weight: Floats) -> float:
    """Turn log weights into probabilities in place; return the log of their sum, -inf where all are zero."""
    largest, total = -math.inf, 0.0
    for value in log_weight:
        largest = max(largest, value)
    if largest == -math.inf:
        return largest
    for k in range(log_weight.size):
        log_weight[k] = math.exp(log_weight[k] - largest)
        total += log_weight[k]
    for k in range(log_weight.size):
        log_weight[k] /= total
    return largest + math.log(total)


@numba.njit(cache=True, nogil=True)
def log_dirichlet_draw(rng: Rng, shape: NDArray[np.floating[Any]]) -> Floats:
    """Draw log p, p ~ Dirichlet(shape), shape (category,)."""
    log_gamma = np.empty(shape.size)
    for k in range(shape.size):
        log_gamma[k] = log_gamma_draw(rng, shape[k])
    return log_gamma - normalise_logs(log_gamma.copy())


# Inlined: a compiled function that is handed another one as an argument cannot be cached on disk.
@numba.njit(cache=True, nogil=True, inline="always")
def slice_step(rng: Rng, log_density: Any, x: float, width: float, given: Any) -> float:
    """Draw the successor of x under ``log_density(x, *given)`` by stepping out and shrinking (Neal 2003, figures 3, 5).

    Any `width` is valid; one near the density's own takes the fewest evaluations.
    """
    level = log_density(x, *given) - rng.standard_exponential()
    low = x - width * rng.random()
    high = low + width
    while log_density(low, *given) > level:
        low -= width
    while log_density(high, *given) > level:
        high += width
    while True:
        proposal = low + rng.random() * (high - low)
        if log_density(proposal, *given) > level:
            return proposal
        if proposal < x:
            low = proposal
        else:
            high = proposal


@numba.njit(cache=True, nogil=True, inline="always")
def insert_best(values: Floats, labels: NDArray[Any], value: float, label: int) -> None:
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
