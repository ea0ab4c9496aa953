"""The deterministic counterpart of a posterior: one label per item by majority, with a tie rule that is stated."""

from typing import Literal

import numpy as np
import xarray as xr

from bayesagree.annotations import Labels
from bayesagree.errors import one_of
from bayesagree.inference.blocks import category_axis
from bayesagree.inference.streams import Seed, seed_sequence

type TieRule = Literal["split", "first", "random", "exclude"]


def majority_vote(labels: Labels, *, ties: TieRule = "split", random_seed: Seed = None) -> xr.DataArray:
    """Give each item the label that most annotators chose.

    Parameters
    ----------
    labels
        Single labels.
    ties
        What an item gets whose T labels share the most votes: ``"split"`` 1/T each; ``"first"`` the first of them in
        label order; ``"random"`` one of them at random; ``"exclude"`` NaN, and metrics leave the item out.
    random_seed
        For ``ties="random"``.

    Returns
    -------
    DataArray
        Plausibilities (item, category). An item without annotations is a tie of all labels.

    Examples
    --------
    >>> votes = Labels.from_counts([[2, 2, 0], [0, 1, 0]])
    >>> majority_vote(votes).values.tolist()
    [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    """
    one_of(ties, "ties", ("split", "first", "random", "exclude"))
    counts = labels.counts()
    top = counts == counts.max(axis=1, keepdims=True)
    n_top = top.sum(axis=1, keepdims=True)
    if ties == "split":
        vote = top / n_top
    elif ties in ("first", "random"):
        rng = np.random.default_rng(seed_sequence(random_seed))
        # One argmax for both rules: the first label has the largest order, or a random one has.
        order = rng.random(top.shape) if ties == "random" else -np.arange(top.shape[1], dtype=float)
        best = np.where(top, order, -np.inf).argmax(axis=1)
        vote = np.zeros(top.shape)
        vote[np.arange(top.shape[0]), best] = 1.0
    else:
        vote = np.where(n_top > 1, np.nan, top.astype(float))
    return xr.DataArray(
        vote,
        dims=("item", "category"),
        coords={"item": labels.items, "category": category_axis(labels.categories, labels.has_order)},
        name="majority_vote",
    )
