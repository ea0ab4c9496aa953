"""Words: a sum of random 64-bit numbers, one for each code, stands for a multiset of codes.

Two of a million distinct multisets share their sum with probability below 1e-7.
"""

from typing import Any

import numpy as np


def words(code: Any) -> Any:
    """Return the random word of each code (the output function of SplitMix64); 0 for -1, a missing one."""
    z = (np.uint64(code) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
