"""Counts of rows by several codes, and values as shares of their sum."""

from typing import Any

import numpy as np

from bayesagree._types import Array


def cell_sums(shape: Any, *codes: Array, weight: Any = None) -> Array:
    """Count the rows with each combination of codes, or add up their weights, by shape."""
    cell = np.int64(0)
    for size, code in zip(shape, codes):
        cell = cell * size + code
    return np.bincount(np.ravel(cell), weight, np.prod(shape)).reshape(shape)


def row_shares(weight: Array) -> Array:
    """Divide the values along the last axis by their sum."""
    return weight / weight.sum(axis=-1, keepdims=True)
