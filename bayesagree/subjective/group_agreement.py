"""Agreement within and between groups of annotators, and uncertainty-adjusted scores against each group's own truth."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations import Labels, Ratings
from bayesagree.annotators import Annotators
from bayesagree.errors import InputError
from bayesagree.evaluate import evaluate
from bayesagree.predictions import Predictions
from bayesagree.subjective.disagreement import require_one_each
from bayesagree.subjective.groups import Groups
from bayesagree.subjective.performance import as_groups

type Floats = NDArray[np.float64]


def group_agreement(
    annotations: Labels | Ratings, annotators: Annotators | Groups, by: Sequence[str] = ()
) -> xr.Dataset:
    """Compute Krippendorff's alpha within every group and between every two groups.

    alpha = 1 - (mean distance of two annotators of one item) / (mean distance of any two annotations), over pairs with
    one annotation from each group; distance 1 for different labels, squared difference for ratings. Groups that agree
    within and not between are camps, which a majority vote hides.

    Parameters
    ----------
    annotations, annotators, by
        As `group_performance`.

    Returns
    -------
    Dataset
        ``alpha`` (group, other_group), 1 where all say the same thing, 0 as by chance; NaN without common items or
        where all annotations are equal. ``n_pairs``: pairs of annotations of one item.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b", "b"], ["b", "b", "a", "a"]], annotators=list("wxyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("wxyz"), "camp": [1, 1, 2, 2]}))
    >>> group_agreement(votes, people, ["camp"])["alpha"].round(2).values.tolist()
    [[1.0, -1.0], [-1.0, 1.0]]

    References
    ----------
    Krippendorff, "Content analysis" (2004), chapter 11; within one group this is his alpha.
    """
    require_one_each(annotations, "agreement of groups")
    groups = as_groups(annotations, annotators, by)
    of_row, size, n_items = groups.of_rows(annotations), groups.names.size, annotations.items.size
    kept = of_row >= 0
    group, item = of_row[kept], annotations.item_index[kept]
    moments = _moments(annotations, kept)
    # Sums over the annotations of each (group, item) and of each group: sums over pairs follow from them.
    cells = group.astype(np.int64) * n_items + item
    by_cell = np.stack([np.bincount(cells, m, size * n_items) for m in moments.T], axis=-1).reshape(size, n_items, -1)
    alpha, pairs = np.full((size, size), np.nan), np.zeros((size, size))
    for g in range(size):
        for h in range(size):
            if g == h:
                paired = by_cell[g][:, 0] >= 2
                weight = np.where(paired, 1 / np.maximum(by_cell[g][:, 0] - 1, 1), 0)
            else:
                paired = (by_cell[g][:, 0] > 0) & (by_cell[h][:, 0] > 0)
                weight = paired.astype(np.float64)
            x, y = by_cell[g][paired], by_cell[h][paired]
            observed, n = _distance(annotations, x, y, same=g == h)
            expected, n_any = _distance(annotations, x.sum(axis=0)[None], y.sum(axis=0)[None], same=g == h)
            pairs[g, h] = n.sum() / (2 if g == h else 1)
            share = (weight[paired] * observed).sum() / max((weight[paired] * n).sum(), 1e-300)
            if n.sum() > 0 and expected.sum() > 0:
                alpha[g, h] = 1 - share / (expected.sum() / n_any.sum())
    coords = {"group": groups.names, "other_group": groups.names}
    dims = ("group", "other_group")
    return xr.Dataset({"alpha": (dims, alpha), "n_pairs": (dims, pairs.astype(np.int64))}, coords)


def group_evaluate(
    labels: Labels,
    predictions: Predictions,
    annotators: Annotators | Groups,
    by: Sequence[str] = (),
    *,
    plausibility: Literal["dirichlet", "dawid_skene"] = "dirichlet",
    **options: Any,
) -> xr.DataTree:
    """Evaluate every model against the truth as each group sees it, on the items that the group labelled.

    Parameters
    ----------
    labels, predictions, annotators, by
        As `group_performance`, predictions per item.
    plausibility, options
        As `bayesagree.evaluate`.

    Returns
    -------
    DataTree
        As `bayesagree.evaluate`, with a further dim group; ``constant_data``: ``n_items`` (group). Groups without
        labels are left out.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b", "b"]] * 20, annotators=list("wxyz"), labels=["a", "b"])
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("wxyz"), "camp": [1, 1, 2, 2]}))
    >>> model = Predictions.from_labels({"A": ["a"] * 20}, labels=["a", "b"])
    >>> tree = group_evaluate(votes, model, people, ["camp"], seed=1)
    >>> score = tree["posterior"]["top_1_accuracy"].mean(("chain", "draw"))
    >>> bool(score.sel(group="1") > score.sel(group="2"))
    True
    """
    groups = as_groups(labels, annotators, by)
    of_row = groups.of_rows(labels)
    present = np.flatnonzero(np.bincount(of_row[of_row >= 0], minlength=groups.names.size))
    if present.size == 0:
        raise InputError("no group has a label")
    aligned = predictions.aligned(labels.items, labels.labels)
    trees, n_items = [], []
    for g in present:
        part = labels_of(labels, of_row == g)
        n_items.append(part.items.size)
        trees.append(evaluate(part, _of_items(aligned, part.items), plausibility=plausibility, **options))
    names = groups.names[present]
    posterior = xr.concat([tree["posterior"].to_dataset() for tree in trees], "group").assign_coords(group=names)
    counts = xr.Dataset({"n_items": ("group", n_items)}, {"group": names})
    answer = xr.DataTree.from_dict({"/posterior": posterior, "/constant_data": counts})
    answer.attrs.update(trees[0].attrs)
    return answer


def labels_of(labels: Labels, kept: NDArray[np.bool_]) -> Labels:
    """Return only some of the annotations and the items that they are of."""
    items, item = np.unique(labels.item_index[kept], return_inverse=True)
    return replace(
        labels, items=labels.items[items], item_index=item.astype(np.int32), count=labels.count[kept],
        annotator_index=labels.annotator_index[kept], label_index=labels.label_index[kept],
    )  # fmt: skip


def _of_items(predictions: Predictions, items: NDArray[Any]) -> Predictions:
    rows = pd.Index(predictions.items).get_indexer(pd.Index(items))
    if predictions.scores is not None:
        return replace(predictions, items=items, scores=predictions.scores[:, rows])
    hard = predictions.hard_labels()[:, rows]
    return replace(predictions, items=items, label_index=hard)


def _moments(annotations: Labels | Ratings, kept: NDArray[np.bool_]) -> Floats:
    """Return what sums over pairs are made of: 1 and an indicator per label, or 1, x and x^2; (row, moment)."""
    if isinstance(annotations, Labels):
        chosen = annotations.label_index[kept][:, None] == np.arange(annotations.labels.size)
        return np.column_stack([np.ones(kept.sum()), chosen])
    x = annotations.unit()[kept]
    return np.column_stack([np.ones(x.size), x, x**2])


def _distance(annotations: Labels | Ratings, x: Floats, y: Floats, *, same: bool) -> tuple[Floats, Floats]:
    """Sum the distances over pairs of one annotation of x and one of y; also return the number of pairs."""
    n = x[:, 0] * y[:, 0] - (x[:, 0] if same else 0)
    if isinstance(annotations, Ratings):
        return x[:, 2] * y[:, 0] + x[:, 0] * y[:, 2] - 2 * x[:, 1] * y[:, 1], n
    return x[:, 0] * y[:, 0] - (x[:, 1:] * y[:, 1:]).sum(axis=1), n
