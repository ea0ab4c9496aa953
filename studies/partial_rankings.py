"""Average overlap between a model's ranking and annotators' partial rankings, both with ties.

The places inside a tied block are unknown, so a label of a block that fills places a + 1 .. a + b stands among the
first j with probability min(max((j - a)/b, 0), 1); labels that an annotator does not name are one last tied block.

    AO = mean over j = 1 .. k of  sum over labels P_j(label) Q_j(label) / j,

divided by the root of the two rankings' overlaps with themselves, so that equal rankings have 1 also where they tie.
It compares with the rankings of annotators, not with a plausible truth, so that it is no metric of `evaluate`, whose
draws of the truth have no ties.

Source: D. Stutz et al., "Evaluating AI systems under uncertain ground truth", arXiv:2307.02191, appendix B.5.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import xarray as xr

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int, shorten, warn


def partial_average_overlap(
    rankings: Rankings, predictions: Predictions, *, k: int = 3, normalise: bool = True
) -> xr.DataArray:
    """Average overlap of each model with the partial rankings of the annotators of each item.

    Parameters
    ----------
    rankings
        Partial rankings with ties.
    predictions
        Scores; equal scores are a tie. A hard label is a ranking that names one label.
    k
        Number of places compared, from 1 to the number of labels.
    normalise
        Divide by sqrt(overlap of the prediction with itself x of the annotation with itself), as the paper does.

    Returns
    -------
    DataArray
        Mean over the annotators of an item (model, item), between 0 and 1.

    Raises
    ------
    InputError
        More places than labels, other items or labels.

    See Also
    --------
    annotator_overlap, irn

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, appendix B.5.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[[0], [1, 2]]]], labels=4)
    >>> scores = Predictions.from_scores({"A": [[3.0, 2.0, 2.0, 0.0]]})
    >>> partial_average_overlap(rankings, scores, k=4).values.tolist()
    [[1.0]]
    >>> partial_average_overlap(rankings, scores, k=4, normalise=False).values.tolist()
    [[0.9375]]
    """
    k = _places(rankings, k)
    aligned = predictions.aligned(rankings.items, rankings.categories)
    value = np.zeros((aligned.models.size, rankings.items.size))
    for i, theirs in enumerate(_rankings_of_items(rankings, k)):
        for m in range(aligned.models.size):
            ours = _among_first(_model_key(aligned, m, i), k)
            value[m, i] = _overlap(ours, theirs, normalise).mean()
    coords = {"model": aligned.models, "item": rankings.items}
    return xr.DataArray(value, dims=("model", "item"), coords=coords, name=f"partial_average_overlap_{k}")


def annotator_overlap(rankings: Rankings, *, k: int = 3, normalise: bool = True) -> xr.DataArray:
    """Average overlap between the partial rankings of the annotators of each item.

    Parameters
    ----------
    rankings
        Partial rankings with ties.
    k
        Number of places compared, from 1 to the number of labels.
    normalise
        As in `partial_average_overlap`.

    Returns
    -------
    DataArray
        Mean over the pairs of annotators of an item (item), between 0 and 1.

    Raises
    ------
    InputError
        More places than labels.

    Warns
    -----
    UserWarning
        Items that one annotator ranked: NaN.

    See Also
    --------
    partial_average_overlap, annotator_agreement

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, appendix B.5.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[[0], [1, 2]], [[0], [1, 2]], [[3]]]], labels=4)
    >>> annotator_overlap(rankings, k=2).values.round(3).tolist()
    [0.463]
    """
    k = _places(rankings, k)
    value = np.full(rankings.items.size, np.nan)
    for i, among in enumerate(_rankings_of_items(rankings, k)):
        if len(among) > 1:
            pairs = [_overlap(among[r], among[:r], normalise) for r in range(1, len(among))]
            value[i] = np.concatenate(pairs).mean()
    alone = rankings.items[np.isnan(value)]
    if alone.size:
        warn(f"{alone.size} items have one ranking, which overlaps with none: {shorten(alone)}")
    return xr.DataArray(value, {"item": rankings.items}, dims="item", name=f"annotator_overlap_{k}")


def _places(rankings: Rankings, k: int) -> int:
    """Return the number of places compared, if there are so many labels."""
    if positive_int(k, "k") > rankings.categories.size:
        raise InputError(f"k={k} is more than the {rankings.categories.size} labels there are")
    return k


def _rankings_of_items(rankings: Rankings, k: int) -> Iterator[Floats]:
    """Yield for each item, in order, its rankings as shares of the first places, shape (ranking, k, label)."""
    bounds = np.searchsorted(rankings.item_index, np.arange(rankings.items.size + 1))
    for first, last in pairwise(bounds):
        yield np.stack([_among_first(_annotator_key(rankings, r), k) for r in range(first, last)])


def _annotator_key(rankings: Rankings, ranking: int) -> Floats:
    """Return a sort key per label, equal in a block; unnamed labels come last."""
    rows = slice(*rankings.start[ranking : ranking + 2])
    key = np.full(rankings.categories.size, np.inf)
    key[rankings.label_index[rows]] = rankings.block[rows]
    return key


def _model_key(predictions: Predictions, model: int, item: int) -> Floats:
    if predictions.scores is not None:
        return -predictions.scores[model, item].astype(np.float64)
    key = np.ones(predictions.categories.size)
    hard = predictions.hard_labels()[model, item]
    key[hard if hard >= 0 else slice(0)] = 0
    return key


def _among_first(key: Floats, k: int) -> Floats:
    """Return the probability of each label to be among the first 1, 2, ... k, shape (k, label)."""
    _, block, size = np.unique(key, return_inverse=True, return_counts=True)
    before = (np.cumsum(size) - size)[block]
    places = np.arange(1, k + 1)[:, None]
    return np.clip((places - before) / size[block], 0, 1)


def _overlap(ours: Floats, theirs: Floats, normalise: bool) -> Floats:
    """Return the average overlap of one ranking (k, label) with several (annotator, k, label)."""
    places = np.arange(1, ours.shape[0] + 1)
    shared = ((ours * theirs).sum(axis=-1) / places).mean(axis=-1)
    if not normalise:
        return shared
    own = ((ours * ours).sum(axis=-1) / places).mean()
    return shared / np.sqrt(own * ((theirs * theirs).sum(axis=-1) / places).mean(axis=-1))
