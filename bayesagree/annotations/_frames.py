"""Containers as tables again: one row per annotation, or one column per annotator."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree.errors import InputError, SizeError, as_python

MOST_CELLS = 2**27
"""Cells of a wide table: one GiB of eight bytes each."""


def long_frame(container: Any, columns: dict[str, Any]) -> pd.DataFrame:
    """One row per annotation: item, annotator where they are known, and these columns."""
    names: dict[str, Any] = {"item": container.items[container.item_index]}
    if container.annotators_known:
        names["annotator"] = container.annotators[container.annotator_index]
    return pd.DataFrame(names | columns)


def wide_frame(container: Any, values: NDArray[Any], missing: Any) -> pd.DataFrame:
    """One row per item, one column per annotator; refuse what has no such table."""
    if not container.annotators_known:
        raise InputError("the annotators are unknown (counts): there is no column per annotator; use counts()")
    items, annotators = container.items, container.annotators
    if items.size * annotators.size > MOST_CELLS:
        raise SizeError(
            f"{items.size} items x {annotators.size} annotators are {items.size * annotators.size:,} cells; to_long() "
            "has a row per annotation"
        )
    item, annotator = container.item_index, container.annotator_index
    if container.has_repeats:
        row = int(np.flatnonzero((item[1:] == item[:-1]) & (annotator[1:] == annotator[:-1]))[0])
        who, what = as_python(annotators[annotator[row]]), as_python(items[item[row]])
        raise InputError(f"item {what!r}, annotator {who!r}: several annotations for one cell; use to_long()")
    cells = np.full((items.size, annotators.size), missing, dtype=object if missing is None else np.float64)
    cells[item, annotator] = values
    index, columns = pd.Index(items, name="item"), pd.Index(annotators, name="annotator")
    return pd.DataFrame(cells, index=index, columns=columns, dtype=cells.dtype)  # no guess of another kind of text
