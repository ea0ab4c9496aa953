"""Vectors in compiled code, where one line of numpy would cost seconds of compilation."""

from typing import Any

import numba
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True, inline="always")
def copy_to(out: NDArray[Any], values: Any) -> None:
    """Write a vector, or a tuple, into a vector of its length.

    ``out[:] = values`` is the same, but numba compiles the text of its error with it, two seconds in each process.
    """
    for k in range(out.size):
        out[k] = values[k]
