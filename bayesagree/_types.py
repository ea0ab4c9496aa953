"""Names of the types that signatures repeat, of the dims of draws, and a progress bar that shows nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
# Positions of names.
Codes = NDArray[np.int32]
# Positions of rows.
Places = NDArray[np.intp]
Rng = np.random.Generator
# What all random streams of a call come from.
Root = np.random.SeedSequence
# A progress bar: it takes how much more is done.
Advance = Callable[[int], None]
# Arrays that belong together, such as both ends of intervals.
Pair = tuple[Floats, Floats]
Triple = tuple[Floats, Floats, Floats]
# Values by name: a row of a table, the variables of a group, the arguments of a call.
Named = dict[str, Any]
# Dims of the draws of a result.
SAMPLE = ("chain", "draw")


def silent(done: int) -> None:
    """Show no progress."""
