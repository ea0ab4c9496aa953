"""Names of the array types that signatures repeat."""

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]
type Codes = NDArray[np.int32]
"""Positions of names."""
type Rng = np.random.Generator
