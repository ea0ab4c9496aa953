"""Agreement of each annotator with all others of an item together."""

import numpy as np
import xarray as xr

from bayesagree.annotations import Labels, Rankings
from bayesagree.errors import shorten, warn
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.streams import item_blocks
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.prirn.inverse_ranks import inverse_ranks

# Answers that are compared with the others at once.
AT_ONCE = 10_000


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
    item = annotations.item_index
    label = annotations.label_index
    n_items = annotations.items.size
    if isinstance(annotations, Labels):
        start = np.arange(item.size + 1)
        score = np.ones(item.size)
        times = annotations.count
    else:
        start = annotations.start
        score = inverse_ranks(annotations)
        times = np.ones(item.size)
    answer = np.repeat(np.arange(item.size), np.diff(start))
    total = cell_sums((n_items, annotations.categories.size), item[answer], label, weight=score * times[answer])
    agrees = np.empty(item.size)
    for some in item_blocks(item.size, AT_ONCE):
        entries = slice(start[some.start], start[some.stop])
        own = np.zeros((some.stop - some.start, total.shape[1]))
        own[answer[entries] - some.start, label[entries]] = score[entries]
        others = total[item[some]] - own
        on_top = np.isclose(others, others.max(axis=1, keepdims=True), rtol=1e-12, atol=0)
        agrees[some] = (on_top & (own > 0)).sum(axis=1) / on_top.sum(axis=1)
    n = np.bincount(item, times, n_items)
    value = np.where(n > 1, np.bincount(item, agrees * times, n_items) / np.maximum(n, 1), np.nan)
    alone = np.isnan(value)
    if alone.any():
        warn(
            f"annotator agreement is NaN for items with fewer than two annotators: {shorten(annotations.items[alone])}"
        )
    return xr.DataArray(value, dims="item", coords={"item": annotations.items}, name="annotator_agreement")
