"""The deterministic counterparts of a posterior: shares of the votes, and the label of the majority."""

from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats, Integers, Places
from bayesagree.annotations import Labels
from bayesagree.errors import one_of, refuse, shorten, warn
from bayesagree.inference.blocks import category_axis
from bayesagree.inference.cells import row_shares
from bayesagree.inference.results import variable
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations

TieRule = Literal["first", "random", "exclude"]


def majority_vote(labels: Labels, *, ties: TieRule = "first", random_seed: Seed = None) -> pd.Series:
    """Give each item the label that most annotators chose.

    Parameters
    ----------
    labels
        Single labels; or their table or file, as `read_annotations` reads it.
    ties
        What an item gets whose labels share the most votes: ``"first"`` the first of them in label order, ``"random"``
        one of them at random, ``"exclude"`` nothing.
    random_seed
        For ``ties="random"``.

    Returns
    -------
    Series
        Label by item, None where there is none; ``attrs["note"]`` says how many items are tied.

    See Also
    --------
    vote_shares

    Examples
    --------
    >>> votes = Labels.from_counts([[2, 2, 0], [0, 1, 0]], labels=["cat", "dog", "fox"])
    >>> majority_vote(votes).to_dict()
    {0: 'cat', 1: 'dog'}
    >>> majority_vote(votes).attrs["note"]
    '1 of 2 items are tied: they have the first of the labels that tie'
    """
    one_of(ties, "ties", ("first", "random", "exclude"))
    labels = as_annotations(labels, (Labels,), "labels")
    best, n_best = winners(labels, random_seed, random=ties == "random")
    missing = n_best == 0
    vote = pd.Series(labels.categories[best], pd.Index(labels.items, name="item"), name="majority_vote")
    if (gone := missing | (n_best > 1) if ties == "exclude" else missing).any():
        vote = vote.astype(object).mask(gone, None)
    rule = {
        "first": "the first of the labels that tie",
        "random": "a random one of them",
        "exclude": "no label",
    }[ties]
    tied = n_best > 1
    notes = [f"{tied.sum()} of {tied.size} items are tied: they have {rule}"] if tied.any() else []
    notes += [f"{missing.sum()} items have no votes, and no label"] if missing.any() else []
    vote.attrs["note"] = "; ".join(notes)
    return vote


def vote_shares(labels: Labels) -> xr.DataArray:
    """Compute the share of each item's votes that each label has.

    Parameters
    ----------
    labels
        As in `majority_vote`.

    Returns
    -------
    DataArray
        Dims (item, category), each row sums to one; NaN with a warning for items without votes.

    Examples
    --------
    >>> vote_shares(Labels.from_counts([[3, 1], [0, 2]])).values.tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """
    labels = as_annotations(labels, (Labels,), "labels")
    counts = labels.counts()
    total = counts.sum(axis=1, keepdims=True)
    if (without := total[:, 0] == 0).any():
        warn(f"{without.sum()} items have no votes, and their shares are NaN: {shorten(labels.items[without])}")
    return _by_category(labels, np.where(total, counts / np.maximum(total, 1), np.nan), "vote_shares")


def shared_wins(labels: Labels) -> xr.DataArray:
    """Plausibilities of the majority vote, dims (item, category): labels that tie share the one, all without votes.

    Examples
    --------
    >>> shared_wins(Labels.from_counts([[2, 2, 0], [0, 1, 0]])).values.tolist()
    [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    """
    counts = labels.counts()
    return _by_category(labels, row_shares(counts == counts.max(axis=1, keepdims=True)), "majority_vote")


def one_label_each(truth: pd.Series, categories: NDArray[np.generic]) -> xr.DataArray:
    """Plausibilities of one known label per item, dims (item, category): 1 for it; refuses others than `categories`."""
    code = pd.Index(categories).get_indexer(truth)

    def unknown(at: int) -> str:
        item, label = truth.index[at], truth.iloc[at]
        of = "no label" if pd.isna(label) else f"the label {label!r}, which is not one of {shorten(categories)}"
        return f"item {item!r} has {of}; leave it out, or correct it"

    refuse(code < 0, unknown)
    coords = {"item": truth.index.to_numpy(), "category": categories}
    return xr.DataArray(np.eye(categories.size)[code], coords, ("item", "category"), str(truth.name or "truth"))


def winners(labels: Labels, random_seed: Seed, *, random: bool) -> tuple[Places, Integers]:
    """Return the label of the majority, one of those that tie, and how many tie (0 without votes), shape (item,)."""
    counts = labels.counts()
    top = counts == counts.max(axis=1, keepdims=True)
    order = np.random.default_rng(seed_sequence(random_seed)).random(top.shape) if random else 1.0
    return np.where(top, order, -1.0).argmax(axis=1), np.where(counts.any(axis=1), top.sum(axis=1), 0)


def _by_category(labels: Labels, values: Floats, name: str) -> xr.DataArray:
    coords = {"item": labels.items, "category": category_axis(labels.categories, labels.has_order)}
    kept = {dim: variable(dim, of) for dim, of in coords.items()}
    return xr.DataArray(variable(("item", "category"), values), kept, name=name)
