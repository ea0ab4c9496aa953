"""A function of labels, ratings or rankings refuses everything else by name."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.annotations.labels import Labels
from bayesagree.annotations.rankings import Rankings
from bayesagree.annotations.ratings import Ratings
from bayesagree.errors import InputError

_WAYS_OUT = {
    (Ratings, Labels): "recode(ratings, threshold) makes labels of them",
    (Labels, Ratings): "Ratings.from_matrix and from_long read numbers on a scale",
    (Labels, Rankings): "Rankings.from_blocks reads which labels come first",
    (Ratings, Rankings): "Rankings.from_blocks reads which labels come first",
    (Rankings, Labels): "Labels.from_long reads one label of each annotator",
    (Rankings, Ratings): "Ratings.from_long reads numbers on a scale",
}


def expect[A: (Labels, Ratings, Rankings)](given: Any, kind: type[A]) -> None:
    """Refuse another kind of annotations, and arrays, tables and lists, which no function takes for annotations.

    Raises
    ------
    InputError
        Naming what was given and how to make what is needed of it.

    Examples
    --------
    >>> expect(np.ones((2, 2)), Labels)
    Traceback (most recent call last):
    bayesagree.errors.InputError: expected Labels, got ndarray; make them with Labels.from_matrix or Labels.from_long
    """
    if isinstance(given, kind):
        return
    for other in (Labels, Ratings, Rankings):
        if isinstance(given, other):
            raise InputError(f"expected {kind.__name__}, got {other.__name__}; {_WAYS_OUT[other, kind]}")
    if isinstance(given, np.ndarray | pd.DataFrame | pd.Series | xr.DataArray | list | tuple | dict):
        first = "from_blocks" if kind is Rankings else "from_matrix"
        name = kind.__name__
        raise InputError(
            f"expected {name}, got {type(given).__name__}; make them with {name}.{first} or {name}.from_long"
        )
