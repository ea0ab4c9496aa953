"""Overlap of the items that systems call positive."""

from typing import Any

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.metrics.hard_labels import positive_index


@checked
def jaccard_overlap(predictions: Predictions, *, positive: Any = None) -> xr.DataArray:
    """Measure the overlap of the items that two systems call positive: intersection over union.

    Parameters
    ----------
    predictions
        Hard labels; a pair is compared on the items that both labelled.
    positive
        The positive label. By default the last of two; with more labels the sets are the pairs (item, category) that a
        system gave.

    Returns
    -------
    DataArray
        Dims (model, other_model), 1 on the diagonal; NaN where neither calls any common item positive.

    References
    ----------
    .. [1] H. J. Jung, M. Lease, "Evaluating classifiers without expert labels", 2012, table 2.

    Examples
    --------
    >>> systems = Predictions.from_labels({"A": [1, 1, 0, 0], "B": [1, 0, 1, 0]})
    >>> jaccard_overlap(systems).values.round(2).tolist()
    [[1.0, 0.33], [0.33, 1.0]]
    """
    codes = predictions.hard_labels()
    place = positive_index(positive, predictions.categories)
    chosen = range(predictions.categories.size) if place is None else [place]
    if not chosen:
        raise InputError("there are no labels")
    given = (codes >= 0).astype(np.float64)
    both = either = np.zeros((codes.shape[0], codes.shape[0]))
    for label in chosen:
        has = (codes == label).astype(np.float64)
        inside = has @ has.T
        both = both + inside
        either = either + has @ given.T + given @ has.T - inside
    overlap = np.divide(both, either, out=np.full(both.shape, np.nan), where=either > 0)
    names = predictions.models
    return xr.DataArray(
        overlap, dims=("model", "other_model"), coords={"model": names, "other_model": names}, name="jaccard"
    )
