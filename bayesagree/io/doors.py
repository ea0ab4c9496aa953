"""Annotations and predictions as users have them: containers, tables in memory, or paths."""

from pathlib import Path
from typing import Any

import numpy as np

from bayesagree.annotations import Annotators, Comparisons, Labels, Predictions, Rankings, Ratings
from bayesagree.annotations.missing_predictions import scored_items
from bayesagree.errors import InputError, require, shorten, warn


def as_annotations(
    given: Any, kinds: tuple[type, ...] = (Labels, Ratings, Rankings), name: str = "annotations", **how: Any
) -> Any:
    """Return annotations as they are, and those of a table or a file as `read_annotations` reads them.

    Parameters
    ----------
    given
        A container; or a data frame (pandas, polars, pyarrow), or the path of a file.
    kinds
        Containers that the caller takes.
    name
        Of the argument, for the error that refuses anything else.
    how
        Arguments of `read_annotations` that the caller has, such as the scale of ratings; None for none.

    Examples
    --------
    >>> import pandas as pd
    >>> as_annotations(pd.DataFrame({"item": [1, 1], "annotator": ["a", "b"], "label": ["x", "y"]})).n_annotations
    2
    """
    passed = {key: value for key, value in how.items() if value is not None}
    if is_data(given):
        from bayesagree.io.exports import read_annotations

        if len(kinds) == 1 and kinds[0] in (Ratings, Comparisons):
            passed["kind"] = kinds[0].kind  # pyright: ignore[reportAttributeAccessIssue]
        try:
            given = read_annotations(given, **passed)
        except InputError as error:
            way_out = f"; read_annotations takes these options, and {name}= its result" * ("=" in str(error))
            raise InputError(f"{error}{way_out}") from error
    elif passed and isinstance(given, kinds):
        raise InputError(
            f"{next(iter(passed))}= reads a table or a file; {name}= is {type(given).__name__} already"
        )
    require(given, kinds, name)
    return given


def as_predictions(
    given: Any,
    annotations: Any = None,
    name: str = "predictions",
    *,
    may_lack: bool = False,
    runs: bool = False,
) -> Any:
    """Return predictions as they are, and those of a table or a file as `read_predictions` reads them.

    Parameters
    ----------
    given
        As in `as_annotations`; None stays None.
    annotations
        Those that are scored with: of ratings models predict numbers, and of two labels one probability is that of the
        last.
    name
        Of the argument.
    may_lack
        Whether the caller knows what to do with items that a model has no scores for.
    runs
        Whether the caller knows what to do with several runs of a model; others get their mean.

    Examples
    --------
    >>> import pandas as pd
    >>> as_predictions(pd.DataFrame({"item": [1, 2], "A": ["x", "y"], "B": ["x", "x"]})).models.tolist()
    ['A', 'B']
    """
    if is_data(given):
        from bayesagree.io.predictions import read_outputs

        names = annotations.categories.tolist() if isinstance(annotations, Labels) else None
        given = read_outputs(given, numbers=isinstance(annotations, Ratings), two=names)
    if given is not None:
        require(given, Predictions, name)
        if not runs:
            given = given.pooled()
        if not may_lack and given.scores is not None and np.isnan(given.scores).any():
            scored_items(given, "error")  # refuses them
        if (
            isinstance(annotations, Labels | Rankings | Ratings)
            and not np.isin(given.items, annotations.items).any()
        ):
            raise InputError(
                f"no item of the predictions, {shorten(given.items)}, is one of the annotations', "
                f"{shorten(annotations.items)}: name items alike"
            )
        if isinstance(annotations, Ratings) and given.numbers is not None:
            points, scale = given.points(), annotations.scale
            if (far := np.abs(points - np.mean(scale)) > np.ptp(scale)).any():
                who = shorten(given.models[far.any(axis=1)])
                warn(
                    f"{who}: predictions such as {points[far][0]:g} are far from the scale of ratings, {scale}"
                )
    return given


def as_truth(given: Any) -> Any:
    """Return a posterior or a point estimate as it is, and labels of a table or a file as `as_annotations`."""
    return as_annotations(given, name="truth") if is_data(given) else given


def as_annotators(given: Any) -> Any:
    """Return features of annotators, or their groups, as they are, and those of a table or a file."""
    if not is_data(given):
        return given
    from bayesagree.io.tables import read_table

    return Annotators.from_table(read_table(given) if isinstance(given, str | Path) else given)


def is_data(given: Any) -> bool:
    """Return whether this is a path or a table in memory."""
    return isinstance(given, str | Path) or hasattr(given, "columns") or hasattr(given, "column_names")
