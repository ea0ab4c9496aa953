"""Agreement of each annotator with all others of an item together."""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations import Labels, Rankings
from bayesagree.errors import shorten, warn
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.prirn.inverse_ranks import inverse_ranks


def annotator_agreement(annotations: Labels | Rankings) -> xr.DataArray:
    """Compute, for each item, the share of annotators who name the top label of the others.

    Each annotator is left out in turn. The top label of the others (largest IRN; for single labels the plurality) is
    looked up among the labels that the annotator names. If several labels tie on top, the share of them that is named
    counts.

    Parameters
    ----------
    annotations
        Labels or rankings.

    Returns
    -------
    DataArray
        Mean over the item's annotators (item), between 0 and 1.

    Warns
    -----
    UserWarning
        Items with fewer than two annotators, where it is NaN.

    See Also
    --------
    annotation_certainty, agreement_table

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, appendix D.

    Examples
    --------
    >>> annotator_agreement(Labels.from_counts([[3, 1, 0], [1, 1, 2]])).values.round(3).tolist()
    [0.75, 0.167]
    """
    annotations = as_annotations(annotations, (Labels, Rankings))
    if isinstance(annotations, Labels):
        value = _label_agreement(annotations.counts())
    else:
        value = _ranking_agreement(annotations)
    alone = np.isnan(value)
    if alone.any():
        warn(
            f"annotator agreement is NaN for items with fewer than two annotators: {shorten(annotations.items[alone])}"
        )
    return xr.DataArray(value, dims="item", coords={"item": annotations.items}, name="annotator_agreement")


def _label_agreement(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the agreement of single labels; the counts of the others are the counts less one own label."""
    n = counts.sum(axis=1)
    agreement = np.zeros(len(counts))
    for k in range(counts.shape[1]):
        others = counts.copy()
        others[:, k] -= 1
        on_top = others == others.max(axis=1, keepdims=True)
        agreement += counts[:, k] * on_top[:, k] / on_top.sum(axis=1)
    return np.where(n > 1, agreement / np.maximum(n, 1), np.nan)


def _ranking_agreement(rankings: Rankings) -> NDArray[np.float64]:
    bounds = np.searchsorted(rankings.item_index, np.arange(rankings.items.size + 1))
    agreement = np.full(rankings.items.size, np.nan)
    scores = inverse_ranks(rankings)
    for i in range(rankings.items.size):
        rows = [slice(*rankings.start[r : r + 2]) for r in range(bounds[i], bounds[i + 1])]
        if len(rows) < 2:
            continue
        own = np.zeros((len(rows), rankings.categories.size))
        for r, row in enumerate(rows):
            own[r, rankings.label_index[row]] = scores[row]
        others = own.sum(axis=0) - own
        on_top = np.isclose(others, others.max(axis=1, keepdims=True), rtol=1e-12, atol=0)
        agreement[i] = ((on_top & (own > 0)).sum(axis=1) / on_top.sum(axis=1)).mean()
    return agreement
