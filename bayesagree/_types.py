"""Names of the array types that signatures repeat."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]
type Integers = NDArray[np.int64]
# Positions of names.
type Codes = NDArray[np.int32]
# Positions of rows.
type Places = NDArray[np.intp]
type Rng = np.random.Generator
# A progress bar: it takes how much more is done.
type Advance = Callable[[int], None]
