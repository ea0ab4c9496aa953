"""Inverse rank normalisation: one plausibility per item from partial rankings, and the shapes of PrIRN.

An annotator r gives blocks B_1 > B_2 > ... of tied labels. A label in block m earns 1/(m |B_m|), an unranked label
nothing; the scores of all annotators are summed and normalised over the labels: that is IRN.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.2.
"""

from typing import Literal

import numpy as np
import xarray as xr

from bayesagree._types import Floats, Integers
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, one_of, positive
from bayesagree.inference.cells import cell_sums
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape, shapes_of

Ties = Literal["split", "full"]
# Prior shape of each label in the authors' released code.
PRIOR = 0.01
# At 1 all readers of an item together count as one, and scores are mostly prior.
RELIABILITY = 10.0


def irn(rankings: Rankings, *, ties: Ties = "split") -> xr.DataArray:
    """Average partial rankings into one plausibility per item by inverse ranks.

    Parameters
    ----------
    rankings
        Partial rankings with ties.
    ties
        ``"split"`` (the paper): the labels of block m share 1/m. ``"full"`` (the authors' released code): each of
        them gets 1/m.

    Returns
    -------
    DataArray
        Plausibilities (item, category), which sum to one over label: a point estimate that the metrics accept.

    References
    ----------
    Stutz et al., appendix B.2.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[[0, 3], [2]], [[1], [0]]]], labels=4)
    >>> irn(rankings, ties="full").values.tolist()
    [[0.375, 0.25, 0.125, 0.25]]
    """
    item, score = _scores(rankings, ties)
    return xr.DataArray(
        cell_sums((rankings.items.size, rankings.categories.size), item, rankings.label_index, weight=score),
        dims=("item", "category"),
        coords={"item": rankings.items, "category": rankings.categories},
        name="irn",
    )


def concentration(rankings: Rankings, reliability: float, prior: Prior, ties: Ties) -> Floats:
    """Return the shapes of PrIRN: gamma times the inverse rank normalisation plus the prior."""
    item, score = _scores(rankings, ties)
    weight = positive(reliability, "reliability", zero=True) * score
    shape = prior_shape(prior, rankings.categories.size)
    return shapes_of(item, rankings.label_index, weight, rankings.items.size, shape)


def inverse_ranks(rankings: Rankings, *, ties: Ties = "split") -> Floats:
    """Return the inverse rank of each ranked label, 1/(m |B_m|) or 1/m, shape (entry,)."""
    one_of(ties, "ties", ("split", "full"))
    if rankings.offered is not None:
        raise InputError("inverse ranks know nothing of labels that were not on offer; use plackett_luce")
    score = 1.0 / (rankings.block + 1)
    return score / rankings.block_sizes() if ties == "split" else score


def _scores(rankings: Rankings, ties: Ties) -> tuple[Integers, Floats]:
    """Return the item of each ranked label and its share of the item's inverse ranks, both of shape (entry,)."""
    item = rankings.item_index[rankings.ranking_index()].astype(int)
    score = inverse_ranks(rankings, ties=ties)
    return item, score / np.bincount(item, weights=score)[item]
