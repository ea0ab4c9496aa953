"""Names of the array types that signatures repeat."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]
type Codes = NDArray[np.int32]
"""Positions of names."""
type Places = NDArray[np.intp]
"""Positions of rows."""
type Rng = np.random.Generator
type Advance = Callable[[int], None]
"""A progress bar: it takes how much more is done."""
