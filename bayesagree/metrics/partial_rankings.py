"""Average overlap between a model's ranking and annotators' partial rankings, both with ties.

The places inside a tied block are unknown, so a label of a block that fills places a + 1 .. a + b stands among the
first j with probability min(max((j - a)/b, 0), 1); labels that an annotator does not name are one last tied block.

    AO = mean over j = 1 .. k of  sum over labels P_j(label) Q_j(label) / j,

optionally divided by the root of the two rankings' overlaps with themselves, so that a ranking with ties can reach 1.

Source: D. Stutz et al., "Evaluating AI systems under uncertain ground truth", arXiv:2307.02191, appendix B.5.
"""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, positive_int, renamed
from bayesagree.predictions import Predictions


@renamed(depth="k")
def partial_average_overlap(
    rankings: Rankings, predictions: Predictions, *, k: int = 3, normalise: bool = False
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
        Divide by sqrt(overlap of the prediction with itself x of the annotation with itself).

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
    average_overlap, irn

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, appendix B.5.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[[0], [1, 2]]]], labels=4)
    >>> scores = {"A": [[3.0, 2.0, 2.0, 0.0]]}
    >>> partial_average_overlap(rankings, Predictions.from_scores(scores), k=4).values.tolist()
    [[0.9375]]
    """
    k = positive_int(k, "k")
    n_labels = rankings.categories.size
    if k > n_labels:
        raise InputError(f"k={k} is more than the {n_labels} labels there are")
    aligned = predictions.aligned(rankings.items, rankings.categories)
    value = np.zeros((aligned.models.size, rankings.items.size))
    bounds = np.searchsorted(rankings.item_index, np.arange(rankings.items.size + 1))
    for i in range(rankings.items.size):
        theirs = np.stack([_among_first(_annotator_key(rankings, r), k) for r in range(bounds[i], bounds[i + 1])])
        for m in range(aligned.models.size):
            ours = _among_first(_model_key(aligned, m, i), k)
            value[m, i] = _overlap(ours, theirs, normalise).mean()
    coords = {"model": aligned.models, "item": rankings.items}
    return xr.DataArray(value, dims=("model", "item"), coords=coords, name=f"partial_average_overlap_{k}")


def _annotator_key(rankings: Rankings, ranking: int) -> NDArray[np.float64]:
    """Return a sort key per label, equal in a block; unnamed labels come last."""
    rows = slice(*rankings.start[ranking : ranking + 2])
    key = np.full(rankings.categories.size, np.inf)
    key[rankings.label_index[rows]] = rankings.block[rows]
    return key


def _model_key(predictions: Predictions, model: int, item: int) -> NDArray[np.float64]:
    if predictions.scores is not None:
        return -predictions.scores[model, item].astype(np.float64)
    key = np.ones(predictions.categories.size)
    hard = predictions.hard_labels()[model, item]
    key[hard if hard >= 0 else slice(0)] = 0
    return key


def _among_first(key: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the probability of each label to be among the first 1, 2, ... k, shape (k, label)."""
    _, block, size = np.unique(key, return_inverse=True, return_counts=True)
    before = (np.cumsum(size) - size)[block]
    places = np.arange(1, k + 1)[:, None]
    return np.clip((places - before) / size[block], 0, 1)


def _overlap(ours: NDArray[np.float64], theirs: NDArray[np.float64], normalise: bool) -> NDArray[np.float64]:
    """Return the average overlap of one ranking (k, label) with several (annotator, k, label)."""
    places = np.arange(1, ours.shape[0] + 1)
    shared = ((ours * theirs).sum(axis=-1) / places).mean(axis=-1)
    if not normalise:
        return shared
    own = ((ours * ours).sum(axis=-1) / places).mean()
    return shared / np.sqrt(own * ((theirs * theirs).sum(axis=-1) / places).mean(axis=-1))
