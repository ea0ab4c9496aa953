"""What every posterior hands to certainty and metrics: the best labels of each draw, block of items by block."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray


class DrawBlock(NamedTuple):
    """Draws for a few neighbouring items.

    All rank metrics need only the best labels of each draw, so that (draw x item x label) never exists.

    Attributes
    ----------
    items
        Which items, as positions.
    top_label
        The `rank` best labels of each draw, best first, shape (item, sample, rank); sample = chain * draws + draw.
    """

    items: slice
    top_label: NDArray[Any]


def label_dtype(n_labels: int) -> DTypeLike:
    """Return the smallest integer type that holds a label's position."""
    return np.int16 if n_labels <= np.iinfo(np.int16).max else np.int32
