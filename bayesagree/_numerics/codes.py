"""Codes: the distinct ones of a bounded range, by a table instead of a sort; a random word for each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

type Words = NDArray[np.uint64]

# A table of so many entries for each code, or more, would take longer than a sort.
SPARSE = 4


def distinct(code: NDArray[Any], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct codes, ascending, and the place of each code among them; codes are 0, ..., n - 1."""
    if n > SPARSE * code.size:
        return np.unique(code, return_inverse=True)
    met = np.zeros(n, bool)
    met[code] = True
    place = np.cumsum(met)
    place -= 1
    return np.flatnonzero(met), place[code]


def words(code: Any) -> Any:
    """Return the random word of a code, or of each (the output function of SplitMix64); 0 for -1, a missing one."""
    z = (np.uint64(code) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
