"""Checks made for annotation: what can go wrong between labels and their posterior, and what each annotator is worth.

=================  ===================================================================================================
check              asks
=================  ===================================================================================================
annotator_table    what is each annotator worth, who is worse than chance, of whom is too little known?
label_switching    do chains or draws disagree about which label is which?
annotation_parts   does every annotator compare with every other, directly or through shared items?
agreement_check    do annotators agree on the same items more than independent errors allow (ambiguous items)?
prior_sensitivity  how far do the answers move when the prior is halved or doubled?
=================  ===================================================================================================
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayesagree._intervals import column_hdi
from bayesagree._streams import Seed, seed_sequence
from bayesagree.annotations import Labels
from bayesagree.calibrate import label_probability
from bayesagree.errors import InputError
from bayesagree.plausibility.dawid_skene import Variant, dawid_skene
from bayesagree.plausibility.dawid_skene_prior import CrowdPrior

CI_PROB = 0.95
WIDE = 0.3
"""An accuracy whose 95 % interval is wider than this is not known."""
FEW = 10
"""With fewer labels than this an accuracy is mostly what the crowd or the prior says."""


def annotator_table(tree: xr.DataTree) -> pd.DataFrame:
    """List every annotator with his posterior accuracy, the labels he gave and what is odd about him.

    Parameters
    ----------
    tree
        Result of `dawid_skene`.

    Returns
    -------
    DataFrame
        One row per annotator: ``annotator``, ``n_labels_given``, ``accuracy`` (posterior mean), ``lower``, ``upper``
        (HDI 0.95), ``prob_below_chance`` (posterior probability that the accuracy is below 1/K), ``flags``:
        ``worse_than_chance`` (that probability above 0.95) and ``too_few_labels`` (interval wider than 0.3, or fewer
        than 10 labels: the accuracy is then mostly the crowd's). One draw (EM) has no interval: NaN.

    Examples
    --------
    >>> from bayesagree.simulate import crowd_labels
    >>> tree = dawid_skene(crowd_labels(n_items=60, n_annotators=4, seed=1).labels, draws=100, seed=1)
    >>> annotator_table(tree)["n_labels_given"].sum()
    np.int64(180)
    """
    posterior = tree["posterior"].to_dataset()
    if "accuracy" not in posterior:
        raise InputError(f"no annotators in this posterior, which has {', '.join(map(str, posterior))}")
    accuracy = posterior["accuracy"].transpose("chain", "draw", "annotator").values
    accuracy = accuracy.reshape(-1, accuracy.shape[-1])
    chance = 1 / posterior.sizes["label"]
    lower = upper = below = np.full(accuracy.shape[1], np.nan)
    if len(accuracy) > 1:
        lower, upper = column_hdi(accuracy, CI_PROB)
        below = (accuracy < chance).mean(axis=0)
    given = tree["constant_data"].to_dataset()["n_labels_given"].values
    unknown = (given < FEW) | (upper - lower > WIDE)
    flags = [
        [name for name, raised in (("worse_than_chance", b > 0.95), ("too_few_labels", u)) if raised]
        for b, u in zip(below, unknown)
    ]
    return pd.DataFrame(
        {
            "annotator": posterior["annotator"].values,
            "n_labels_given": given,
            "accuracy": accuracy.mean(axis=0),
            "lower": lower,
            "upper": upper,
            "prob_below_chance": below,
            "flags": flags,
        }
    )


def label_switching(tree: xr.DataTree) -> float:
    """Return the share of draws in which some label is better explained by another label's confusion.

    In every draw the crowd's mean confusion matrix (annotators weighted by their labels) should be largest on its
    diagonal, row by row after the best matching of labels; a draw whose best matching is not the identity has switched.
    """
    from scipy.optimize import linear_sum_assignment

    posterior = tree["posterior"].to_dataset()
    if "confusion" not in posterior:
        raise InputError("label switching is seen in confusion matrices; keep them (confusion=True)")
    given = tree["constant_data"].to_dataset()["n_labels_given"].values.astype(np.float64)
    order = ("chain", "draw", "annotator", "label", "observed_label")
    matrices = np.einsum("cdjkl,j->cdkl", np.nan_to_num(posterior["confusion"].transpose(*order).values), given)
    flat = matrices.reshape(-1, *matrices.shape[2:])
    identity = np.arange(flat.shape[-1])
    return float(np.mean([not np.array_equal(linear_sum_assignment(-m)[1], identity) for m in flat]))


def annotation_parts(labels: Labels) -> NDArray[np.int64]:
    """Find the connected parts of the item-annotator graph, shape (annotator,).

    Annotators of different parts share no item, not even through others: their accuracies are compared through the
    prior alone. One part numbered 0 is what one wants; an annotator without labels is a part of his own.
    """
    n_items, n_annotators = labels.items.size, labels.annotators.size
    edges = (labels.item_index, labels.annotator_index + n_items)
    size = n_items + n_annotators
    graph = coo_array((np.ones(labels.item_index.size), edges), shape=(size, size))
    _, part = connected_components(graph, directed=False)
    return np.unique(part[n_items:], return_inverse=True)[1]


def agreement_check(labels: Labels, tree: xr.DataTree, *, replicates: int = 200, seed: Seed = None) -> xr.Dataset:
    """Compare the spread of agreement over items with what independent annotators would show.

    Posterior predictive check: for posterior draws the labels are drawn again for the same (item, annotator) pairs, and
    the variance over items of the share of agreeing pairs is compared with the observed one. Annotators who err
    together (ambiguous items) agree much on some items and little on others: the observed variance is too large. The
    check detects that; **it does not tell how far confidence is too high**.

    Returns
    -------
    Dataset
        ``mean`` and ``variance`` of the pairwise agreement of items: ``observed`` and ``replicated`` (replicate);
        ``z`` of the observed value and ``p_value``, the share of replicates at least as large, per ``statistic``.
    """
    posterior = tree["posterior"].to_dataset()
    if "confusion" not in posterior or "plausibility" not in posterior:
        raise InputError("the check draws labels again; keep plausibilities and confusion matrices in the posterior")
    rng = np.random.default_rng(seed_sequence(seed))
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    mixed = "ambiguity" in posterior
    shape = (labels.items.size, labels.labels.size)
    observed = _agreement(labels.item_index, labels.label_index, shape)
    replicated = np.empty((2, replicates))
    for r, at in enumerate(rng.integers(chains * draws, size=replicates)):
        draw = posterior.isel(chain=at // draws, draw=at % draws)
        plausibility = draw["plausibility"].transpose("item", "label").values
        confusion = draw["confusion"].transpose("annotator", "label", "observed_label").values
        if mixed:
            read = _categories(rng, plausibility[labels.item_index])
        else:
            read = plausibility.argmax(axis=1)[labels.item_index]
        given = _categories(rng, confusion[labels.annotator_index, read])
        replicated[:, r] = _agreement(labels.item_index, given, shape)
    spread = replicated.std(axis=1, ddof=1)
    return xr.Dataset(
        {
            "observed": ("statistic", observed),
            "replicated": (("statistic", "replicate"), replicated),
            "z": ("statistic", (observed - replicated.mean(axis=1)) / np.where(spread > 0, spread, np.nan)),
            "p_value": ("statistic", (replicated >= observed[:, None]).mean(axis=1)),
        },
        coords={"statistic": ["mean", "variance"]},
    )


def prior_sensitivity(
    labels: Labels, *, variant: Variant = "full", prior: CrowdPrior | None = None, draws: int = 250, seed: Seed = None
) -> pd.DataFrame:
    """Fit again with half and twice the strength of the prior and report how far the answers move.

    Returns
    -------
    DataFrame
        Rows ``strength`` x 0.5 and x 2: the largest change of a label probability and of an annotator's accuracy, and
        the share of items whose best label changes. Changes below 0.02 may be Monte-Carlo error.
    """
    prior = prior or CrowdPrior()
    fitted = {
        factor: dawid_skene(
            labels,
            variant=variant,
            draws=draws,
            confusion=False,
            seed=seed,
            prior=replace(prior, strength=prior.strength * factor, concentration=prior.concentration * factor),
        )
        for factor in (1.0, 0.5, 2.0)
    }
    probability = {f: label_probability(t).values for f, t in fitted.items()}
    accuracy = {f: t["posterior"].to_dataset()["accuracy"].mean(("chain", "draw")).values for f, t in fitted.items()}
    rows = [
        {
            "strength": prior.strength * factor,
            "largest_change_of_probability": np.abs(probability[factor] - probability[1.0]).max(),
            "largest_change_of_accuracy": np.nanmax(np.abs(accuracy[factor] - accuracy[1.0])),
            "items_with_another_label": (probability[factor].argmax(1) != probability[1.0].argmax(1)).mean(),
        }
        for factor in (0.5, 2.0)
    ]
    return pd.DataFrame(rows)


def _agreement(item: NDArray[Any], label: NDArray[Any], shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return mean and variance over items of the share of agreeing pairs of annotations."""
    counts = np.bincount(item * shape[1] + label, minlength=shape[0] * shape[1]).reshape(shape)
    total = counts.sum(axis=1)
    pairs = total > 1
    share = (counts * (counts - 1)).sum(axis=1)[pairs] / (total * (total - 1))[pairs]
    return np.array([share.mean(), share.var()]) if share.size else np.full(2, np.nan)


def _categories(rng: np.random.Generator, probability: NDArray[Any]) -> NDArray[np.int64]:
    cumulative = np.cumsum(probability, axis=1)
    drawn = (cumulative < rng.random((len(probability), 1)) * cumulative[:, -1:]).sum(axis=1)
    return np.minimum(drawn, probability.shape[1] - 1)
