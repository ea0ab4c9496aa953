"""Content of a data set, as a reader returns it, and the small steps that several readers share."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from bayesagree.annotations import Annotations
from bayesagree.annotations.predictions import Predictions


class Content(NamedTuple):
    """The data of one set, without its description."""

    annotations: Annotations
    predictions: Predictions | None = None
    gold: pd.Series | None = None
    extra: Mapping[str, Any] = {}


def by_item(rows: Any, value: str, item: str = "item", name: str | None = None) -> pd.Series:
    """Return the one value of each item, index item."""
    once = rows.drop_duplicates(item)
    return pd.Series(once[value].to_numpy(), index=pd.Index(once[item]), name=name or value)


def features(rows: pd.DataFrame, annotator: str, columns: list[str]) -> pd.DataFrame:
    """Return the features of each annotator, index annotator."""
    once = rows.drop_duplicates(annotator)
    return pd.DataFrame(once[columns]).set_axis(pd.Index(once[annotator], name="annotator"), axis=0)
