"""Partial rankings with ties, as the Plackett-Luce posterior assumes them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.draws import log_dirichlets
from bayesagree.annotations import Rankings
from bayesagree.annotations._display import fields_in_short
from bayesagree.errors import InputError, positive, positive_int


@dataclass(frozen=True, eq=False)
class RankedTestSet:
    """Simulated rankings, and the plausibilities they came from.

    Attributes
    ----------
    plausibility
        True plausibilities, dims (item, category).
    rankings
        Rankings by the annotators.
    """

    plausibility: xr.DataArray
    rankings: Rankings

    __repr__ = fields_in_short


@checked
def rankings(
    *,
    n_items: int = 100,
    n_labels: int = 10,
    n_annotators: int = 5,
    shape: float = 0.3,
    patterns: Sequence[Sequence[int]] = ((1,), (1, 1), (2,), (1, 2), (1, 1, 1)),
    seed: Seed = None,
) -> RankedTestSet:
    """Simulate partial rankings with ties from the Plackett-Luce model, exactly as `plackett_luce` assumes them.

    Each item draws plausibilities from Dirichlet(shape); each annotator draws a pattern of block sizes and ranks the
    labels in the order of exponential arrival times, whose rates are the plausibilities.

    Parameters
    ----------
    n_items, n_labels, n_annotators
        Sizes.
    shape
        Dirichlet shape of each label: small values make one label dominate.
    patterns
        Block sizes, best block first, one of which each ranking follows at random.
    seed
        Same seed, same rankings.

    Raises
    ------
    InputError
        A pattern that is empty, holds an empty block or ranks more labels than there are.

    Examples
    --------
    >>> ranked = rankings(n_items=3, n_labels=4, n_annotators=2, patterns=[(1, 2)], seed=1)
    >>> ranked.rankings.n_annotations, ranked.rankings.block.tolist()[:3]
    (6, [0, 1, 1])
    """
    shapes = (positive_int(n_items, "n_items"), positive_int(n_annotators, "n_annotators"))
    k = positive_int(n_labels, "n_labels")
    sizes = [[positive_int(size, "block size") for size in pattern] for pattern in patterns]
    if not sizes or any(not 0 < sum(pattern) <= k for pattern in sizes):
        raise InputError(f"patterns={patterns!r}: every ranking names between 1 and n_labels={k} labels")
    rng = np.random.default_rng(seed_sequence(seed))
    log_worth = log_dirichlets(rng, np.full((shapes[0], k), positive(shape, "shape")))
    plausibility = np.exp(log_worth)
    order = np.argsort(np.log(rng.standard_exponential((*shapes, k))) - log_worth[:, None], axis=-1)
    block = np.full((len(sizes), k), -1)
    for p, pattern in enumerate(sizes):
        block[p, : sum(pattern)] = np.repeat(np.arange(len(pattern)), pattern)
    rank = block[rng.integers(len(sizes), size=shapes)]
    item, annotator, place = np.nonzero(rank >= 0)
    at = item, annotator, place
    table = pd.DataFrame({"item": item, "annotator": annotator, "label": order[at], "rank": rank[at]})
    truth = xr.DataArray(plausibility, {"item": np.arange(shapes[0]), "category": np.arange(k)})
    return RankedTestSet(truth, Rankings.from_long(table, labels=np.arange(k).tolist()))
