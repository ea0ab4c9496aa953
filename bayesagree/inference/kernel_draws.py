"""Random draws that several models share: categories, and Dirichlet vectors on the log scale."""

from itertools import accumulate

import numpy as np

from bayesagree._types import Array, Floats, Integers, Rng


def categories(rng: Rng, probability: Array, each: int = 1) -> Integers:
    """Draw categories by rows of probabilities, shape (..., row, category), `each` of a row side by side.

    Rows need not sum to one. By the inverse cumulative distribution.
    """
    below = [*accumulate(np.moveaxis(probability, -1, 0)[..., None])]
    level = rng.random((*probability.shape[:-1], each)) * below[-1]
    drawn = np.zeros(level.shape, np.int64)
    for one in below[:-1]:
        drawn += one < level
    return drawn.reshape(*probability.shape[:-2], -1)


def log_dirichlets(rng: Rng, shape: Floats) -> Floats:
    """Log of one Dirichlet vector per row of shapes, (..., category); of small ones shares would underflow to zero."""
    log_gamma = np.log(rng.standard_gamma(shape + 1)) - rng.standard_exponential(shape.shape) / shape
    # Along short rows the largest takes five times as long.
    log_gamma -= np.moveaxis(log_gamma, -1, 0).copy().max(axis=0)[..., None]
    return log_gamma - np.log(np.einsum("...k->...", np.exp(log_gamma)))[..., None]
