"""What the models said: `Predictions`, a score for every label or one hard label per item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._columns import (
    Codes,
    column,
    eager_frame,
    encode,
    float_column,
    names_array,
    require_present,
    values_of,
)
from bayesagree.errors import InputError, plain, some


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of one or several models on the same items.

    Attributes
    ----------
    models, items, labels
        Names on each axis.
    scores
        Score of every label, higher is better, shape (model, item, label); None for hard labels.
    label_index
        Position of the predicted label, -1 where a model gave none, shape (model, item); None for scores.
    """

    models: NDArray[Any]
    items: NDArray[Any]
    labels: NDArray[Any]
    scores: NDArray[np.floating[Any]] | None
    label_index: Codes | None

    @classmethod
    def from_scores(
        cls,
        scores: Mapping[str, Any],
        *,
        items: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
        probabilities: bool = False,
    ) -> Self:
        """Read one (item, label) array or data frame (index items, columns labels) per model.

        Parameters
        ----------
        scores
            Model name to its scores. Frames carry their own item and label names and are aligned by name.
        items, labels
            Names for arrays; by default 0, 1, ...
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
        if not scores:
            raise InputError("there is no model: pass {name: scores}")
        frames = {str(m): _score_frame(s, items, labels, m) for m, s in scores.items()}
        first = next(iter(frames.values()))
        items_, labels_ = names_array(first.index, "item"), names_array(first.columns, "label")
        stack = []
        for model, frame in frames.items():
            _same_names(items_, frame.index, f"model {model!r}", "item")
            _same_names(labels_, frame.columns, f"model {model!r}", "label")
            stack.append(frame.reindex(index=first.index, columns=first.columns).to_numpy())
        models = names_array(list(frames), "model")
        array = np.stack(stack)
        array = array if array.dtype.kind == "f" else array.astype(np.float64)
        _check_scores(array, models, items_, labels_, probabilities)
        return cls(models, items_, labels_, array, None)

    @classmethod
    def from_labels(
        cls,
        predicted: Mapping[str, Any],
        *,
        items: Sequence[Any] | None = None,
        labels: Sequence[Any] | None = None,
    ) -> Self:
        """Read one hard label per item and model: an array (item,), or a series whose index names the items.

        None and NaN mean that the model gave no label for the item.

        Examples
        --------
        >>> Predictions.from_labels({"A": ["x", None], "B": ["x", "y"]}).label_index.tolist()
        [[0, -1], [0, 1]]
        """
        if not predicted:
            raise InputError("there is no model: pass {name: labels}")
        series = {str(m): _label_series(p, items, m) for m, p in predicted.items()}
        first = next(iter(series.values()))
        items_ = names_array(first.index, "item")
        for model, values in series.items():
            _same_names(items_, values.index, f"model {model!r}", "item")
        table = np.stack([s.reindex(first.index).to_numpy(dtype=object) for s in series.values()])
        known = None if labels is None else names_array(labels, "label")
        codes, known = encode(table.ravel(), "label", known)
        return cls(names_array(list(series), "model"), items_, known, None, codes.reshape(table.shape))

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        model: str = "model",
        item: str = "item",
        label: str = "label",
        score: str | None = None,
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
        labels
            All possible labels, in their order; by default the distinct values, sorted.
        probabilities
            As in `from_scores`.

        Raises
        ------
        InputError
            A repeated row, or a score that is missing for some (model, item, label), with its names.
        """
        table = eager_frame(frame)
        model_codes, models = encode(values_of(column(table, model, "model")), "model")
        item_codes, items = encode(values_of(column(table, item, "item")), "item")
        known = None if labels is None else names_array(labels, "label")
        label_codes, known = encode(values_of(column(table, label, "label")), "label", known)
        require_present(model_codes, "model")
        require_present(item_codes, "item")
        cell = model_codes.astype(np.int64) * items.size + item_codes
        if score is None:
            _once(cell, (models, items))
            hard = np.full(models.size * items.size, -1, np.int32)
            hard[cell] = label_codes
            return cls(models, items, known, None, hard.reshape(models.size, items.size))
        require_present(label_codes, "label")
        cell = cell * known.size + label_codes
        _once(cell, (models, items, known))
        array = np.full((models.size, items.size, known.size), np.nan)
        seen = np.zeros(array.size, bool)
        seen[cell] = True
        if not seen.all():
            m, i, k = np.unravel_index(int(np.flatnonzero(~seen)[0]), array.shape)
            raise InputError(
                f"model {plain(models[m])!r}, item {plain(items[i])!r}: no score for label {plain(known[k])!r} "
                f"({int((~seen).sum())} missing in all); give every model a score for every item and label"
            )
        array.ravel()[cell] = float_column(table, score, "score")
        _check_scores(array, models, items, known, probabilities)
        return cls(models, items, known, array, None)

    def aligned(self, items: NDArray[Any], labels: NDArray[Any]) -> Self:
        """Return the same predictions in the order of the given items and labels.

        Raises
        ------
        InputError
            Items that only one side has (the first five are listed), or labels that the annotations lack. Labels
            that no prediction mentions are allowed for hard labels only.
        """
        _same_names(items, self.items, "the predictions", "item")
        item_order = pd.Index(self.items).get_indexer(pd.Index(items))
        if self.scores is not None:
            _same_names(labels, self.labels, "the predictions", "label")
            label_order = pd.Index(self.labels).get_indexer(pd.Index(labels))
            scores = self.scores[:, item_order][:, :, label_order]
            return replace(self, items=items, labels=labels, scores=scores)
        target = pd.Index(labels).get_indexer(pd.Index(self.labels))
        if (target < 0).any():
            raise InputError(
                f"the predictions use labels that the annotations do not have: {some(self.labels[target < 0])}; "
                "list every possible label with labels=[...] when building the annotations"
            )
        hard = np.append(target, -1)[self.hard_labels()[:, item_order]].astype(np.int32)
        return replace(self, items=items, labels=labels, label_index=hard)

    def hard_labels(self) -> Codes:
        """Return the predicted label of each item, -1 where there is none, shape (model, item).

        The label with the highest score; among equal scores the first in label order.
        """
        return self.top_labels(1)[:, :, 0].astype(np.int32) if self.label_index is None else self.label_index

    def top_labels(self, depth: int) -> NDArray[np.int16]:
        """Return the `depth` best labels of each item, best first, shape (model, item, depth).

        Equal scores stand in label order: put the labels in the order in which ties should fall.

        Raises
        ------
        InputError
            Hard labels asked for more than their one label, or more than there are labels.
        """
        if depth < 1 or depth > self.labels.size:
            raise InputError(f"top {depth} of {self.labels.size} labels does not exist; use 1 to {self.labels.size}")
        if self.scores is None:
            if depth > 1:
                raise InputError(
                    f"top {depth} labels need scores, but these predictions are one hard label per item; "
                    "use depth 1 or Predictions.from_scores"
                )
            return self.hard_labels()[:, :, None].astype(np.int16)
        order = np.argsort(-self.scores, axis=-1, kind="stable")
        return order[:, :, :depth].astype(np.int16)


def _score_frame(scores: Any, items: Sequence[Any] | None, labels: Sequence[Any] | None, model: str) -> pd.DataFrame:
    if isinstance(scores, pd.DataFrame):
        return scores
    array = np.asarray(scores)
    if array.ndim != 2:
        raise InputError(f"model {model!r}: scores must have shape (item, label), got {array.shape}")
    rows = range(array.shape[0]) if items is None else items
    columns = range(array.shape[1]) if labels is None else labels
    if (len(rows), len(columns)) != array.shape:
        raise InputError(
            f"model {model!r}: scores have shape {array.shape}, but there are {len(rows)} item names and "
            f"{len(columns)} label names"
        )
    return pd.DataFrame(array, index=pd.Index(rows), columns=pd.Index(columns))


def _label_series(predicted: Any, items: Sequence[Any] | None, model: str) -> pd.Series:
    if isinstance(predicted, pd.Series):
        return predicted.astype(object)
    values = np.empty(len(predicted), dtype=object)
    values[:] = list(predicted)
    index = range(len(values)) if items is None else items
    if len(index) != len(values):
        raise InputError(f"model {model!r}: {len(values)} labels for {len(index)} items")
    return pd.Series(values, index=pd.Index(index))


def _same_names(known: NDArray[Any], given: Any, whose: str, role: str) -> None:
    given_index, known_index = pd.Index(given), pd.Index(known)
    missing, extra = known_index.difference(given_index), given_index.difference(known_index)
    if len(missing) or len(extra):
        raise InputError(
            f"the {role}s of {whose} are not the same set: "
            f"missing {some(missing) if len(missing) else 'none'}; unknown {some(extra) if len(extra) else 'none'}; "
            f"both sides must name the same {role}s"
        )


def _once(cell: NDArray[np.int64], axes: tuple[NDArray[Any], ...]) -> None:
    repeated = pd.Series(cell).duplicated().to_numpy()
    if repeated.any():
        place = np.unravel_index(int(cell[repeated][0]), tuple(a.size for a in axes))
        names = ", ".join(repr(plain(a[i])) for a, i in zip(axes, place))
        raise InputError(f"predictions for ({names}) are given twice; keep one row")


def _check_scores(
    scores: NDArray[Any], models: NDArray[Any], items: NDArray[Any], labels: NDArray[Any], probabilities: bool
) -> None:
    bad = np.argwhere(~np.isfinite(scores))
    if bad.size:
        m, i, k = bad[0]
        raise InputError(
            f"model {plain(models[m])!r}, item {plain(items[i])!r}, label {plain(labels[k])!r}: score "
            f"{scores[m, i, k]} is not finite ({len(bad)} such scores in all)"
        )
    if probabilities:
        sums = scores.sum(axis=-1)
        off = np.argwhere((np.abs(sums - 1) > 1e-3) | (scores.min(axis=-1) < 0))
        if off.size:
            m, i = off[0]
            raise InputError(
                f"model {plain(models[m])!r}, item {plain(items[i])!r}: the scores are declared probabilities but "
                f"sum to {sums[m, i]:g} or are negative ({len(off)} such items in all); normalise them or pass "
                "probabilities=False"
            )
