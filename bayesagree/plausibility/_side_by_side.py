"""Steps of Gibbs samplers whose chains move side by side: the chain is an axis of every array."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng


def choose(rng: Rng, weight: NDArray[Any]) -> NDArray[np.int16]:
    """Draw a label by its weight along the first axis, (label, ...)."""
    left, found = rng.random(weight.shape[1:]) * weight.sum(axis=0), np.zeros(weight.shape[1:], np.int16)
    for one in weight[:-1]:
        left -= one
        found += left >= 0
    return found


def slice_step(rng: Rng, density: Callable[[Floats], Floats], at: Floats, width: float) -> Floats:
    """Move each number by slice sampling: an interval of this width, shrunk (Neal, 2003)."""
    level = density(at) - rng.standard_exponential(at.shape)
    low = at - width * rng.random(at.shape)
    high, found, left = low + width, at, np.ones(at.shape, bool)
    while left.any():
        tried = low + (high - low) * rng.random(at.shape)
        kept = left & (density(tried) > level)
        found, left = np.where(kept, tried, found), left & ~kept
        low, high = np.where(tried < at, tried, low), np.where(tried >= at, tried, high)
    return found
