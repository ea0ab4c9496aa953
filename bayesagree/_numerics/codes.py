"""Distinct codes of a bounded range, by a table instead of a sort."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SPARSE = 4
"""A table of so many entries for each code, or more, would take longer than a sort."""


def distinct(code: NDArray[Any], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct codes, ascending, and the place of each code among them; codes are 0, ..., n - 1."""
    if n > SPARSE * code.size:
        return np.unique(code, return_inverse=True)
    met = np.zeros(n, bool)
    met[code] = True
    place = np.cumsum(met)
    place -= 1
    return np.flatnonzero(met), place[code]
