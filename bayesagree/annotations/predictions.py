"""`Predictions` of models: a score for every label, one hard label or a number per item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Array, Booleans, Codes, Floats
from bayesagree.annotations import _model_outputs as outputs
from bayesagree.annotations._columns import (
    cell_place,
    coded,
    coded_labels,
    column,
    encode,
    float_column,
    names_array,
    pandas_frame,
    require_present,
)
from bayesagree.annotations._container import Categorical
from bayesagree.annotations._display import Displayed
from bayesagree.annotations._model_outputs import Output, level_widths
from bayesagree.annotations._words import guessed_columns
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.annotations.runs import Runs, one_row_a_run
from bayesagree.errors import InputError, require, shorten


@dataclass(frozen=True, eq=False, repr=False)
class Predictions(Categorical, Displayed):
    """Predictions of one or several models on the same items.

    Attributes
    ----------
    models, items, categories
        Names on each axis.
    scores
        Score of every label, higher is better, shape (model, item, category), NaN for an item that a model predicts
        nothing for; None for hard labels.
    label_index
        Position of the predicted label, -1 where a model gave none, shape (model, item); None for scores.
    numbers, levels
        Predicted numbers, samples or quantiles in rising order, NaN where a model gave none, shape (model, item,
        level), and their levels between 0 and 1, shape (level,); None for labels.
    runs
        Which model each row is a run of, where models answered several times; every run is then a row of `models`.
    """

    models: Array
    items: Array
    categories: Array
    scores: NDArray[np.floating[Any]] | None
    label_index: Codes | None
    numbers: Floats | None = None
    levels: Floats | None = None
    runs: Runs | None = None

    def overview(self) -> dict[str, Any]:
        """Sizes and names by what they are."""
        found: dict[str, Any] = {"models": shorten(self.model_names)}
        found |= ({} if self.runs is None else {"runs": self.models.size}) | {"items": self.items.size}
        if self.numbers is not None:
            return found | {"predicted": "numbers", "values per item": self.numbers.shape[2]}
        found |= {"categories": shorten(self.categories), "predicted": "scores"}
        if self.label_index is None:
            return found
        return found | {"predicted": "labels", "missing": int((self.label_index < 0).sum())}

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        *,
        items: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        probabilities: bool = False,
        name: str = "model",
    ) -> Self:
        """Read one (item, category) array or data frame per model, or the table of one model.

        Parameters
        ----------
        scores
            Model name to its scores, or the scores of one model, such as those of ``predict_proba``. The columns of a
            data frame are the labels, its index or its column ``item`` names the items; models are aligned by name. Of
            two labels one probability per item is enough, a vector or a series: that of the last, positive one.
        items, labels
            Names where the scores carry none, by default 0, 1, ...; else the order of those that they carry.
        name
            Name of the model, where one model's scores are given alone.
        probabilities
            Declare the scores to be probabilities: each row must then sum to one within 1e-3.

        Raises
        ------
        InputError
            No model, arrays of different shapes, a score that is not finite, a row that does not sum to one.

        Examples
        --------
        >>> predictions = Predictions.from_scores({"A": [[0.7, 0.3]]}, labels=["no", "yes"], probabilities=True)
        >>> predictions.top_labels(1).tolist()
        [[[0]]]
        """
        models, scores = _by_model(scores, name)
        read = [outputs.scores_of(model, given, items, labels) for model, given in scores.items()]
        array, (_, items_, labels_) = outputs.stacked(models, read, "item", "label"), read[0]
        outputs.check_scores(array, models, items_, labels_, probabilities)
        return cls(models, items_, labels_, array, None)

    @classmethod
    def from_labels(
        cls,
        predicted: Any,
        *,
        items: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        name: str = "model",
    ) -> Self:
        """Read one hard label per item and model: an array (item,), or a series whose index names the items.

        The columns of a data frame are models, its index or its column ``item`` names the items; one series or list
        alone is of the model `name`. None and NaN mean that the model gave no label for the item.

        Examples
        --------
        >>> Predictions.from_labels({"A": ["x", None], "B": ["x", "y"]}).label_index.tolist()
        [[0, -1], [0, 1]]
        """
        if hasattr(predicted, "columns"):
            table = outputs.by_item(predicted)
            predicted = {c: table[c] for c in table.columns}
        models, predicted = _by_model(predicted, name)
        read = [Output.of(vector, items, None, model) for model, vector in predicted.items()]
        table = outputs.stacked(models, read, "item")[:, :, 0]
        place = cell_place(model=models, item=read[0].items)
        codes, known = encode(table.ravel(), "label", labels, place)
        return cls(models, read[0].items, known, None, codes.reshape(table.shape))

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any], *, items: Sequence[Any] | None = None) -> Self:
        """Read numbers in the units of ratings: one per item and model, or a predictive distribution of each item.

        Parameters
        ----------
        numbers
            Model name to an array (item,) or a series whose index names the items; to samples of the predictive
            distribution, shape (item, sample); or to its quantiles, a pandas frame (index items) whose columns are
            levels between 0 and 1. NaN: the model predicts nothing for the item.
        items
            Names where the numbers carry none; by default 0, 1, ...

        Raises
        ------
        InputError
            No model, an infinite number, quantiles that fall, distributions with different levels.

        Examples
        --------
        >>> predictions = Predictions.from_numbers({"A": [3.5, 2.0], "B": [[3.0, 5.0], [1.0, 2.0]]})
        >>> predictions.points().tolist()
        [[3.5, 2.0], [4.0, 1.5]]
        """
        require(numbers, Mapping, "numbers")
        models, _ = _by_model(numbers, "")
        read, levels = zip(*(outputs.numbers_of(model, given, items) for model, given in numbers.items()))
        most = max(levels, key=len)
        for model, own in zip(numbers, levels):
            if own.size > 1 and not np.array_equal(own, most):
                raise InputError(
                    f"model {model!r} has {own.size} samples or quantiles per item, and another model has other ones "
                    f"({most.size}); give all models the same number of samples or the same levels"
                )
        same = [one._replace(cells=np.broadcast_to(one.cells, (one.items.size, most.size))) for one in read]
        array = outputs.stacked(models, same, "item")
        return cls(models, read[0].items, THRESHOLD_LABELS, None, None, array, most)

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        model: str = "model",
        item: str = "item",
        label: str = "label",
        score: str | None = None,
        run: str | None = None,
        labels: Sequence[Any] | None = None,
        probabilities: bool = False,
    ) -> Self:
        """Read a table with one row per (model, item, label) and its score, or per (model, item) without one.

        Parameters
        ----------
        frame
            pandas, polars or pyarrow table.
        model, item, label, score
            Names of its columns; ``score=None`` reads hard labels.
        run
            Column of the runs of models that answered an item several times. None: the column ``run``, ``trial``,
            ``epoch``, ``replicate`` or ``seed`` that tells such rows apart.
        labels
            All possible labels, in their order; by default the declared categories of a categorical column, else
            the distinct values, sorted.
        probabilities
            As in `from_scores`.

        Raises
        ------
        InputError
            A repeated row, or a score that is missing for some (model, item, label), with its names.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"model": list("AAB"), "item": [1, 2, 1], "label": ["x", "y", "y"]})
        >>> Predictions.from_long(table).label_index.tolist()
        [[0, 1], [1, -1]]
        """
        table = pandas_frame(frame)
        model, item, label = guessed_columns(table.columns, model=model, item=item, label=label)
        table, of_runs = one_row_a_run(table, run, model, item, (model, item, label, score))
        model_codes, models = coded(table, model, "model")
        runs = None if of_runs is None else Runs.of(models, of_runs)
        item_codes, items = coded(table, item, "item")
        label_codes, known, _ = coded_labels(column(table, label, "label"), labels)
        if score is None:
            hard = outputs.in_cells((model_codes, item_codes), label_codes, (models, items), -1)
            return cls(models, items, known, None, hard, runs=runs)
        require_present(label_codes < 0, "label")
        axes, given = (models, items, known), float_column(table, score, "score")
        array = outputs.in_cells((model_codes, item_codes, label_codes), given, axes, np.nan)
        outputs.check_scores(array, *axes, probabilities)
        return cls(*axes, array, None, runs=runs)

    @property
    def model_names(self) -> Array:
        """Names of the models, each once, however often it ran."""
        return self.models if self.runs is None else self.runs.rows(self.models)

    def pooled(self) -> Self:
        """Return one prediction for each model that answered several times: the mean of its runs.

        Of hard labels the share of each, (runs that gave it + 1 / K) / (runs + 1), of K labels.
        """
        if self.runs is None:
            return self
        new: dict[str, Any] = {"models": self.model_names, "runs": None}
        if self.numbers is not None:
            return replace(self, numbers=self.runs.mean(self.numbers, axis=0), **new)
        scores, n_labels = self.scores, self.categories.size
        if scores is None:
            given = (self.hard_labels()[:, :, None] == np.arange(n_labels)).astype(float)
            size = np.bincount(self.runs.models_of(self.models.size))[:, None, None]
            counts = self.runs.mean(given, axis=0) * size
            answered = counts.sum(axis=2, keepdims=True)
            scores = np.where(answered > 0, (counts + 1 / n_labels) / (answered + 1), np.nan)
        else:
            scores = self.runs.mean(scores.astype(float), axis=0)
        return replace(self, scores=scores, label_index=None, **new)

    def on_items(self, items: Array) -> Self:
        """Return the predictions for these items and no others; what is predicted beyond them has no part."""
        kept = np.isin(self.items, items)
        return self if kept.all() else self.take(np.flatnonzero(kept), self.items[kept])

    def take(self, rows: NDArray[np.integer[Any]], items: Array) -> Self:
        """Return the predictions at some positions of the items, shape (item,), under the names `items`."""
        parts = {name: getattr(self, name) for name in ("scores", "label_index", "numbers")}
        return replace(self, items=items, **{k: part[:, rows] for k, part in parts.items() if part is not None})

    def aligned(self, items: Array, labels: Array) -> Self:
        """Return the same predictions in the order of the given items and labels.

        Raises
        ------
        InputError
            Items that only one side has (the first five are listed), or labels that the annotations lack. Labels
            that no prediction mentions are allowed for hard labels only.
        """
        if np.array_equal(items, self.items) and np.array_equal(labels, self.categories):
            return self
        item_order = outputs.positions(items, self.items, "the predictions", "item")
        if self.numbers is not None:
            return self.take(item_order, items)
        known, own = {str(label): label for label in labels.tolist()}, self.categories.tolist()
        # 0 in one file is "0" in the other.
        if not {*known.values()} & {*own} and {*map(str, own)} <= known.keys():
            named = names_array([known[str(label)] for label in own], "label")
            return replace(self, categories=named).aligned(items, labels)
        if self.scores is not None:
            label_order = outputs.positions(labels, self.categories, "the predictions", "label")
            scores = self.scores[:, item_order][:, :, label_order]
            return replace(self, items=items, categories=labels, scores=scores)
        target, _ = encode(self.categories, "label", labels, lambda at: "the predictions")
        hard = np.append(target, -1)[self.hard_labels()[:, item_order]].astype(np.int32)
        return replace(self, items=items, categories=labels, label_index=hard)

    def points(self) -> Floats:
        """Return the mean of each predicted number, shape (model, item)."""
        if self.numbers is None or self.levels is None:
            raise InputError("these predictions are labels; Predictions.from_numbers reads numbers")
        return self.numbers @ level_widths(self.levels)

    def lacking(self) -> Booleans:
        """Return where a model predicts nothing, shape (model, item)."""
        return self.hard_labels() < 0 if self.numbers is None else np.isnan(self.numbers[:, :, 0])

    def hard_labels(self) -> Codes:
        """Return the predicted label of each item, -1 where there is none, shape (model, item).

        The label with the highest score; among equal scores the first in label order.
        """
        return self.top_labels(1)[:, :, 0].astype(np.int32) if self.label_index is None else self.label_index

    def top_labels(self, depth: int) -> NDArray[np.integer[Any]]:
        """Return the `depth` best labels of each item, best first, shape (model, item, depth).

        Equal scores stand in label order: put the labels in the order in which ties should fall.

        Raises
        ------
        InputError
            More than one label of hard labels, or more labels than there are.
        """
        if self.numbers is not None:
            raise InputError(
                'these predictions are numbers, which have no labels; use metrics=["mae"] or its kin'
            )
        n = self.categories.size
        if not 1 <= depth <= (1 if self.scores is None else n):
            raise InputError(
                f"top {depth} of {n} labels does not exist; use 1 to {n}, of hard labels 1: Predictions.from_scores "
                "reads scores"
            )
        dtype = np.int16 if n <= np.iinfo(np.int16).max else np.int32
        if self.scores is None:
            return self.hard_labels()[:, :, None].astype(dtype)
        order = self.scores.argmax(-1, keepdims=True) if depth == 1 else np.argsort(-self.scores, kind="stable")
        return np.where(np.isnan(self.scores[:, :, :1]), -1, order[:, :, :depth]).astype(dtype)


def _by_model(given: Any, name: str) -> tuple[Array, Mapping[str, Any]]:
    """Return names of models and what is given of each; a table or list alone is one model."""
    found = given if isinstance(given, Mapping) else {name: given}
    if len(found) == 0:
        raise InputError("there is no model: pass {name: predictions}")
    return names_array(list(found), "model"), found
