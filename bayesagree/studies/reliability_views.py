"""Certainty across reliabilities of any annotations, and the toy problem of Stutz et al. (figures 2, 3, 9, 10)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.certainty import annotation_certainty, label_certainty
from bayesagree.errors import InputError
from bayesagree.plausibility.dirichlet.posterior import dirichlet
from bayesagree.plausibility.normal_inverse_gamma.posterior import normal_inverse_gamma


@checked
def certainty_by_reliability(
    annotations: Labels | Ratings,
    *,
    reliability: Sequence[float] = (0.5, 1, 2, 5),
    k: int = 1,
    threshold: float | None = None,
    gold: Gold | None = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
) -> xr.Dataset:
    """Return the annotation certainty of every item at several reliabilities, and that of one label of each.

    Labels have the Dirichlet posterior, ratings the normal-inverse-gamma one, cut at the threshold.

    Parameters
    ----------
    annotations
        `Labels` or `Ratings`.
    reliability
        Weights of an annotation.
    k
        Labels in the set whose certainty is asked.
    threshold
        For ratings: the labels are then "below" and "at_or_above".
    gold
        Item to label, such as the labels that a benchmark was published with: their certainty is their
        uncertainty-adjusted accuracy.
    draws, chains, seed
        Of each posterior.

    Returns
    -------
    Dataset
        ``certainty`` (reliability, item), in (0, 1]; with `gold` ``gold_certainty`` (reliability, item), in [0, 1],
        NaN for items without gold.

    References
    ----------
    Stutz et al., arXiv:2307.02191, equations 2 to 6; figures 2, 3, 9 and 10.

    Examples
    --------
    >>> votes = Labels.from_counts([[5, 0], [3, 2]])
    >>> certainty_by_reliability(votes, reliability=(1, 10), seed=1)["certainty"].mean("item").round(1).values.tolist()
    [0.8, 1.0]
    """
    if isinstance(annotations, Ratings) and threshold is None:
        raise InputError("ratings ask on which side of a threshold the mean is: pass threshold=")
    rows, of_gold = [], []
    for weight in reliability:
        options: dict[str, Any] = {"reliability": weight, "draws": draws, "chains": chains, "seed": seed}
        if isinstance(annotations, Labels):
            tree = dirichlet(annotations, top_labels=k, **options)
        else:
            tree = normal_inverse_gamma(annotations, **options)
        rows.append(annotation_certainty(tree, k=k, threshold=threshold))
        if gold is not None:
            sure = label_certainty(tree, threshold=threshold)
            truth = gold_codes(gold, annotations.items, sure["category"].values)
            picked = sure.transpose("item", "category").values[np.arange(truth.size), truth]
            of_gold.append(np.where(truth >= 0, picked, np.nan))
    coords = {"reliability": list(reliability), "item": annotations.items}
    data = {"certainty": (("reliability", "item"), np.stack([row.values for row in rows]))}
    if gold is not None:
        data["gold_certainty"] = (("reliability", "item"), np.stack(of_gold))
    return xr.Dataset(data, coords)
