"""The catalogue of data sets: their names, and loading one by its name.

`sets.csv` has a row for each: name, folder, the function that reads it, its arguments, and one line about it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pandas as pd

from bayesagree.annotations import Annotations
from bayesagree.annotations.predictions import Predictions
from bayesagree.datasets import _readers
from bayesagree.datasets._files import SOURCES, table_rows
from bayesagree.errors import InputError

SETS = {row["name"]: row for row in table_rows("sets.csv")}


@dataclass(frozen=True, eq=False)
class Dataset:
    """One public data set.

    Attributes
    ----------
    name, title
        Its name in `available` and one line about it.
    annotations
        Labels, ratings or rankings.
    predictions
        Predictions of models on the same items, or None.
    gold
        The true label or value of the items that have one (index item), or None. Evaluate against it to learn how
        good a method is; it is not needed for anything else.
    extra
        What else the set has, by name: features of annotators or items, risk levels, published scores.
    licence, citation, source
        What its licence allows, who to cite, and where its files come from.
    """

    name: str
    title: str
    annotations: Annotations
    predictions: Predictions | None
    gold: pd.Series | None
    extra: Mapping[str, Any]
    licence: str
    citation: str
    source: str


def load(name: str) -> Dataset:
    """Load a public data set by its name.

    Parameters
    ----------
    name
        A name that `available` lists, such as ``"cifar10h"`` or ``"crowd-gold/bluebird"``.

    Raises
    ------
    InputError
        There is no set of that name; the message lists similar ones.
    FileNotFoundError
        A file of the set is not there; the message names its source and the folder to put it in.

    Examples
    --------
    >>> load("bluebirds")
    Traceback (most recent call last):
    bayesagree.errors.InputError: there is no data set 'bluebirds'; similar: crowd-gold/bluebird
    """
    entry = SETS.get(name)
    if entry is None:
        similar = get_close_matches(name, SETS, 3, 0.5) + [n for n in SETS if n.startswith(f"{name}/")]
        hint = f"similar: {', '.join(similar[:12])}" if similar else "see bayesagree.datasets.available()"
        raise InputError(f"there is no data set {name!r}; {hint}")
    source = SOURCES[entry["folder"]]
    content: _readers.Content = getattr(_readers, entry["reader"])(*entry["argument"].split())
    return Dataset(name, entry["title"], *content, source["licence"], source["citation"], source["url"])


def available() -> dict[str, str]:
    """List the data sets: name and one line about each.

    Examples
    --------
    >>> available()["derm-ddx"]
    'rankings: 1947 skin cases, 419 conditions, risk levels'
    """
    return {name: entry["title"] for name, entry in SETS.items()}
