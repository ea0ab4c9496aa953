"""Random draws that several models share: categories, and Dirichlet vectors on the log scale."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng


def categories(rng: Rng, probability: NDArray[Any]) -> NDArray[np.int64]:
    """One category per row of probabilities, shape (..., category), by the inverse cumulative distribution.

    Rows need not sum to one.
    """
    cumulative = np.cumsum(probability, axis=-1)
    drawn = (cumulative < rng.random((*probability.shape[:-1], 1)) * cumulative[..., -1:]).sum(axis=-1)
    return np.minimum(drawn, probability.shape[-1] - 1)


def log_dirichlets(rng: Rng, shape: Floats) -> Floats:
    """Log of one Dirichlet vector per row of shapes, (..., category); of small ones shares would underflow to zero."""
    log_gamma = np.log(rng.standard_gamma(shape + 1)) - rng.standard_exponential(shape.shape) / shape
    log_gamma -= log_gamma.max(axis=-1, keepdims=True)
    return log_gamma - np.log(np.exp(log_gamma).sum(axis=-1, keepdims=True))
