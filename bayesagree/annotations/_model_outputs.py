"""Outputs of one model as users hold them, read with the names of their items and labels, and checked."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from bayesagree._types import Array, Codes, Floats, Places
from bayesagree.annotations._columns import (
    cell_place,
    float_values,
    matrix_axes,
    names_array,
    objects,
    pandas_frame,
)
from bayesagree.annotations._words import spelling_key
from bayesagree.errors import InputError, place_of, refuse, say, shorten


class Output(NamedTuple):
    """What one model says: cells (item, column), such as one column for each label, with their names."""

    cells: Array
    items: Array
    columns: Array

    @classmethod
    def of(cls, given: Any, items: Any, labels: Any, model: Any, role: str = "label") -> Self:
        """Read a vector, a matrix, a series or a data frame; `items` and `labels` are as in `matrix_axes`."""
        if isinstance(given, pd.Series):
            given, labels = given.to_frame(), None
        elif hasattr(given, "columns"):
            given = by_item(given)
        elif np.ndim(given) == 1:
            given, labels = objects(list(given))[:, None], None
        return cls(*matrix_axes(given, items, labels, role, f"{place_of(model=model)}: "))

    def numbers(self, model: Any, role: str) -> Self:
        """Return the same with cells that are numbers."""
        if self.cells.dtype.kind == "f":
            return self
        columns: Any = {"sample" if role == "number" else "label": self.columns}
        place = cell_place(model=objects([model]), item=self.items, **columns)
        cells = float_values(self.cells.ravel(), place, role)
        return self._replace(cells=cells.reshape(self.cells.shape))


def by_item(table: Any) -> pd.DataFrame:
    """Return a table with its items as index: its column `item`, else the index it has."""
    frame = pandas_frame(table)
    return frame.set_index("item") if "item" in frame.columns else frame


def stacked(models: Array, outputs: Sequence[Output], *roles: str) -> Array:
    """Return the cells of all models as one array (model, item, column), in the order of the first by these axes."""
    found = []
    for model, one in zip(models, outputs):
        parts = zip(outputs[0][1:], one[1:], roles)
        found.append(one.cells[np.ix_(*(positions(a, b, place_of(model=model), role) for a, b, role in parts))])
    return np.stack(found)


def scores_of(model: Any, given: Any, items: Any, labels: Any) -> Output:
    """Read scores of one model: one column for each label, or one probability of the positive of two labels."""
    output = Output.of(given, items, labels, model).numbers(model, "score")
    if np.ndim(given) != 1:
        return output
    names, positive = [0, 1] if labels is None else list(labels), output.cells
    if len(names) != 2 or ((positive < 0) | (positive > 1)).any():
        raise InputError(
            f"model {model!r}: a single score per item is the probability of the positive label of two, between 0 and "
            f"1 (there are {len(names)} labels); give other scores as one column for each label, and read labels that "
            f"are no answers as missing: {say('na_values')}"
        )
    both = np.concatenate([1 - positive, positive], axis=1)
    return output._replace(cells=both, columns=names_array(names, "label"))


def numbers_of(model: Any, given: Any, items: Any) -> tuple[Output, Floats]:
    """Read numbers of one model: one per item, or samples or quantiles of each as one row, and their levels.

    Numbers rise along the levels, which lie between 0 and 1.
    """
    values, known, columns = output = Output.of(given, items, None, model, "sample").numbers(model, "number")
    place = cell_place(model=objects([model]), item=known)
    refuse(np.isinf(values).any(axis=1), lambda item: f"{place(item)}: a number is infinite; correct it")
    levels = (np.arange(columns.size) + 0.5) / columns.size
    if columns.dtype.kind == "f" and ((columns > 0) & (columns < 1)).all():
        order = np.argsort(columns)
        values, levels = values[:, order], columns[order]
        falls = (np.diff(values, axis=1) < 0).any(axis=1)
        refuse(falls, lambda item: f"{place(item)}: the quantiles fall where their levels rise; correct them")
    values = np.sort(values, axis=1)
    values[np.isnan(values).any(axis=1)] = np.nan
    return output._replace(cells=values), levels


def level_widths(levels: Floats) -> Floats:
    """Return the probability that each quantile stands for: up to the middle between its level and the next."""
    return np.diff(np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2, [1.0]]))


def in_cells(codes: tuple[Codes, ...], values: Array, axes: Sequence[Array], empty: Any) -> Array:
    """Return an array with values in the cells of these codes; refuse two values for one of them."""
    cell = np.ravel_multi_index(codes, shape := tuple(axis.size for axis in axes))
    place = cell_place(**dict(zip(("model", "item", "label"), axes)))
    refuse(
        pd.Index(cell).duplicated(),
        lambda row: f"predictions for {place(cell[row])} are given twice; keep one row",
    )
    array = np.full(shape, empty, values.dtype)
    array.ravel()[cell] = values
    return array


def check_scores(scores: Array, models: Array, items: Array, labels: Array, probabilities: bool) -> None:
    """Refuse scores that are not finite, or are no probabilities where they are declared to be.

    An item of which a model has no score at all is missing.
    """
    lacks = np.isnan(scores).all(axis=-1, keepdims=True)
    lacks &= ~lacks.all(axis=1, keepdims=True)  # a model without any score is none
    bad, place = ~np.isfinite(scores) & ~lacks, cell_place(model=models, item=items, label=labels)
    refuse(
        bad,
        lambda cell: (
            f"{place(cell)}: score {scores.flat[cell]} is missing or not finite ({bad.sum()} such scores in all); give "
            "every model a score for every item and label; for one row per item leave the column of scores out, so "
            "that its label is the prediction"
        ),
    )
    if probabilities:
        why = "they are declared probabilities"
        require_probabilities(scores, models, items, why, ", or pass probabilities=False")


def require_probabilities(scores: Array, models: Array, items: Array, why: str, more: str = "") -> None:
    """Refuse scores (model, item, label) that are negative or do not sum to one within 1e-3; missing ones pass."""
    sums = scores.sum(axis=-1)
    off, place = (np.abs(sums - 1) > 1e-3) | (scores.min(axis=-1) < 0), cell_place(model=models, item=items)
    way_out = "apply a softmax" if (scores < 0).any() else "divide those of each item by their sum"
    refuse(
        off,
        lambda cell: (
            f"{place(cell)}: scores sum to {sums.flat[cell]:g} or are negative ({off.sum()} such items in all), and "
            f"{why}; {way_out}{more}"
        ),
    )


def positions(wanted: Array, given: Array, whose: str, role: str) -> Places:
    """Return where each wanted name stands among the given ones, which must be the same set."""
    place, back = pd.Index(given).get_indexer(pd.Index(wanted)), pd.Index(wanted).get_indexer(pd.Index(given))
    missing, extra = wanted[place < 0], given[back < 0]
    if missing.size or extra.size:
        way_out = f", and {say('na_values', missing.tolist())} reads labels that are no answers as missing"
        hint = way_out if role == "label" and missing.size and not extra.size else ""
        said = {spelling_key(str(name)): name for name in extra.tolist()}
        alike = [(name, said[key]) for name in missing.tolist() if (key := spelling_key(str(name))) in said]
        if alike:
            hint = f"; {shorten(alike)} differ in spelling, Unicode form or type alone: write them alike"
        raise InputError(
            f"the {role}s of {whose} are not the same set: missing {shorten(missing) if missing.size else 'none'}; "
            f"unknown {shorten(extra) if extra.size else 'none'}; both sides must name the same {role}s{hint}"
        )
    return place
