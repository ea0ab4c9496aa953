"""Numbers that models predict: one per item, or samples or quantiles of a predictive distribution."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations._columns import cell_place, float_values, names_array
from bayesagree.errors import InputError, place_of, require


class Numbers(NamedTuple):
    """Numbers of one model: `values` (item, level) rise along `levels` (level,), which lie between 0 and 1."""

    values: Floats
    items: NDArray[Any]
    levels: Floats

    @classmethod
    def of(cls, given: Any, items: Sequence[Any] | None, model: Any) -> "Numbers":
        """Read a vector, or samples or quantiles of each item as one row."""
        named = isinstance(given, pd.DataFrame | pd.Series)
        table = np.asarray(given)
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or table.size == 0:
            raise InputError(
                f"model {model!r}: numbers have shape (item,) or (item, sample), not {np.shape(given)}"
            )
        names = given.index if named else range(len(table)) if items is None else items
        if len(names) != len(table):
            raise InputError(f"model {model!r}: {len(table)} numbers for {len(names)} items")
        known = names_array(names, "item")
        place = cell_place(known, np.arange(table.shape[1]), column_role="sample")
        values = float_values(table.ravel(), lambda k: f"model {model!r}, {place(k)}", "number").reshape(
            table.shape
        )
        if np.isinf(values).any():
            item = place_of(item=known[np.isinf(values).any(axis=1)][0])
            raise InputError(f"model {model!r}: {item} has an infinite number")
        levels = (np.arange(table.shape[1]) + 0.5) / table.shape[1]
        if isinstance(given, pd.DataFrame) and all(isinstance(c, float) and 0 < c < 1 for c in given.columns):
            levels = np.asarray(given.columns, np.float64)
            values, levels = values[:, np.argsort(levels)], np.sort(levels)
            if (np.diff(values, axis=1) < 0).any():
                at = int(np.argmax((np.diff(values, axis=1) < 0).any(axis=1)))
                raise InputError(
                    f"model {model!r}, {place_of(item=known[at])}: the quantiles fall where their levels rise"
                )
        values = np.sort(values, axis=1)
        values[np.isnan(values).any(axis=1)] = np.nan
        return cls(values, known, levels)


def numbers_of(given: Mapping[str, Any], items: Sequence[Any] | None) -> dict[str, Numbers]:
    """Read the numbers of every model; one number per item is a distribution with all of its mass there.

    Raises
    ------
    InputError
        No model, no numbers, or models whose distributions have other levels.
    """
    require(given, Mapping, "numbers")
    if len(given) == 0:
        raise InputError("there is no model: pass {name: numbers}")
    found = {str(model): Numbers.of(values, items, model) for model, values in given.items()}
    levels = max((one.levels for one in found.values()), key=len)
    for model, one in found.items():
        if one.levels.size == 1:
            values = np.repeat(one.values, levels.size, axis=1)
            found[model] = Numbers(values, one.items, levels)
        elif not np.array_equal(one.levels, levels):
            raise InputError(
                f"model {model!r} has {one.levels.size} samples or quantiles per item, and another model has other "
                f"ones ({levels.size}); give all models the same number of samples or the same levels"
            )
    return found


def level_widths(levels: Floats) -> Floats:
    """Return the probability that each quantile stands for: up to the middle between its level and the next."""
    ends = np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2, [1.0]])
    return np.diff(ends)
