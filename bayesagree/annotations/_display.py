"""Short displays of containers: one line of text, and a small table in notebooks."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import pandas as pd

from bayesagree.errors import WAYS, InputError


class Displayed(ABC):
    """Containers that describe themselves: `overview` is what both displays show."""

    def __new__(cls, *given: Any, **fields: Any) -> Self:
        """Refuse a table or an array in place of the fields: a constructor by name reads those."""
        if len(given) == 1 and not fields:
            kind = type(given[0]).__name__
            raise InputError(f"{cls.__name__}(...) does not read a {kind}; {WAYS[cls.__name__]}")
        return super().__new__(cls)

    @abstractmethod
    def overview(self) -> dict[str, Any]:
        """Sizes and names by what they are."""

    def __repr__(self) -> str:
        known = self.overview().items()
        text = ", ".join(
            f"{value} {name}" if isinstance(value, int) else f"{name} {value}" for name, value in known
        )
        return f"{type(self).__name__}({text})"

    def _repr_html_(self) -> str:
        return pd.Series(self.overview(), name=type(self).__name__).map(str).to_frame().to_html(justify="left")


def per_item(counts: Any) -> str:
    """Least, median and largest number of annotations per item."""
    low, middle, high = np.min(counts), np.median(counts), np.max(counts)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}, median {middle:g}"
