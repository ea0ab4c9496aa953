"""Group performance as a posterior: a small group is not compared with a large one as if both were equally known.

Annotator j of group g agrees with the model on s_j of n_j annotations:

    s_j ~ BetaBinomial(n_j, mu_g phi, (1 - mu_g) phi)      annotators of a group differ, w = (1 + phi)^(-1/2) ~ U(0, 1)
    mu_g ~ Beta(m kappa, (1 - m) kappa)                    groups differ,            b = (1 + kappa)^(-1/2) ~ U(0, 1)
    m ~ U(0, 1)

mu_g is the mean performance over the annotators of the group. The hierarchy pools partially: groups with little data
are drawn towards the others, and the standard deviation over groups is free of the sampling noise that makes small
groups look different. Given (w, m, b) the groups are independent, so the posterior needs no Markov chain: likelihoods
of mu_g on cells, prior probabilities of the cells from the Beta distribution function, and a grid over the shared
parameters.

Source of the question: Balayn and Bozzon (2019), who warn that their metrics "are not statistically correct for the
rarest groups". The model is ours.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import SAMPLE, Array, Integers, Rng
from bayesagree.annotations import Labels
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError, positive_int, probability
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.results import require_from, result_tree
from bayesagree.inference.streams import Seed, map_blocks, seed_sequence
from bayesagree.io.doors import as_annotations
from bayesagree.subjective._beta_binomial import group_draws
from bayesagree.subjective.performance import ModelPredictions, annotator_scores, as_groups

if TYPE_CHECKING:
    import pymc as pm

# Variables that both engines draw and a result keeps.
SHARED = ("performance", "within_spread", "between_spread")


class GroupCounts(NamedTuple):
    """Per model and annotator: agreements and annotations, and the group; only annotators that count.

    `agree` and `total` have shape (model, annotator), `group` (annotator); `groups` names those that have data.
    """

    models: Array
    groups: NDArray[np.str_]
    group: Integers
    agree: Integers
    total: Integers


def group_posterior(
    labels: Labels,
    predictions: ModelPredictions,
    annotators: Annotators | Groups,
    by: Sequence[str] = (),
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
) -> xr.DataTree:
    """Draw the accuracy of every model for each group of annotators from its hierarchical posterior.

    `bayesagree.subjective.group_model.group_performance_model` is the same model in PyMC, to change its priors, say.

    The model assumes that groups labelled similar items. If each group labels its own, easy or hard ones, intervals
    cover .57 instead of .95: compare groups on items that all of them labelled.

    Each model has its own posterior. To say which of two models is more biased, compare them on the same
    annotators: `bayesagree.subjective.performance.dispersion_draws`.

    Parameters
    ----------
    labels, predictions, annotators, by
        As `group_performance`.
    draws, chains
        chains x draws draws in all.
    random_seed
        Same seed, same draws.

    Returns
    -------
    DataTree
        Group ``posterior``: ``performance`` (chain, draw, model, group), ``mean_performance`` and ``dispersion`` = 1 -
        sd over groups (chain, draw, model), ``within_spread`` w and ``between_spread`` b (chain, draw, model): 0 is no
        difference between annotators of a group or between groups, 1 the largest possible. Group ``constant_data``:
        ``n_annotators`` (group), ``n_annotations`` (model, group). Groups without data are left out.

    Raises
    ------
    InputError
        As `group_performance`; or no group has data.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesagree import Predictions
    >>> votes = Labels.from_matrix([["a", "a", "b", "a"]] * 9, annotators=list("wxyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("wxyz"), "gender": list("ffmm")}))
    >>> model = Predictions.from_labels({"A": ["a"] * 9}, labels=["a", "b"])
    >>> tree = group_posterior(votes, model, people, by=["gender"], random_seed=1)
    >>> float(group_summary(tree)["prob_worse"].sel(model="A", group="m", other_group="f")) > 0.5
    True
    """
    labels = as_annotations(labels, (Labels,), "labels")
    n_draws = positive_int(draws, "draws")
    n_chains = positive_int(chains, "chains")
    counts = group_counts(labels, predictions, as_groups(labels, annotators, by))
    streams = seed_sequence(random_seed).generate_state(counts.models.size)
    rngs = [np.random.default_rng([int(word), m]) for m, word in enumerate(streams)]
    fits = list(map_blocks(lambda m: _draws(counts, m, n_draws * n_chains, rngs[m]), [*range(len(rngs))]))
    shape, dims = (n_chains, n_draws), ("chain", "draw", "model")
    drawn = {name: np.stack([fit[name] for fit in fits], axis=1) for name in SHARED}
    performance = drawn.pop("performance").reshape(*shape, *counts.total.shape[:1], counts.groups.size)
    posterior = {
        "performance": ((*dims, "group"), performance),
        "mean_performance": (dims, performance.mean(axis=-1)),
        "dispersion": (dims, 1 - performance.std(axis=-1)),
        **{name: (dims, values.reshape(*shape, -1)) for name, values in drawn.items()},
    }
    per_group = [np.bincount(counts.group, t, counts.groups.size) for t in counts.total]
    constant_data = {
        "n_annotators": (("group",), np.bincount(counts.group, minlength=counts.groups.size)),
        "n_annotations": (("model", "group"), np.stack(per_group).astype(int)),
    }
    groups = {"posterior": posterior, "constant_data": constant_data}
    coords = {"model": counts.models, "group": counts.groups}
    how = {"model": "group_performance", "engine": "exact", "random_seed": random_seed}
    return result_tree(groups, coords, **how, settings={"metric": "accuracy"})


def group_summary(
    result: xr.DataTree,
    *,
    margin: float = 0.0,
    half_width: float = 0.05,
    labels_per_annotator: int = 10,
    ci_prob: float = 0.95,
) -> xr.Dataset:
    """Summarise the accuracy of every model for each group: interval, which group is worse, how many annotators more.

    The variance of the accuracy of one annotator with n labels is mu (1 - mu) (1 + (n - 1) / (1 + phi)) / n: beyond
    some labels per annotator only more annotators help. Averaged over the posterior; normal approximation.

    Parameters
    ----------
    result
        Result of `group_posterior`.
    margin
        By how much the accuracy of a group must be below that of another to be worse.
    half_width, labels_per_annotator
        Half the width of the interval that is wanted of a group, from annotators with so many labels each.
    ci_prob
        Probability of the intervals.

    Returns
    -------
    Dataset
        ``mean``, ``lower`` and ``upper`` (HDI), dims (model, group); ``prob_worse``, Pr(the accuracy in `group` is
        below that in `other_group` by more than the margin), dims (model, group, other_group); ``annotators_needed``
        for an interval of mean +- half_width, dims (model, group).

    Raises
    ------
    InputError
        A half width that is not in (0, 1).
    """
    probability(half_width, "half_width")
    n = positive_int(labels_per_annotator, "labels_per_annotator")
    require_from("group_posterior", result, "posterior/performance")
    posterior = result["posterior"].to_dataset()
    mean = posterior["performance"].transpose("chain", "draw", "model", "group")
    ends = column_hdi(mean.values.reshape(-1, *mean.shape[2:]), ci_prob)
    variance = mean * (1 - mean) * (1 + (n - 1) * posterior["within_spread"] ** 2) / n
    z = float(sp.special.ndtri((1 + ci_prob) / 2))
    found = {
        "mean": mean.mean(SAMPLE),
        **{name: (("model", "group"), end) for name, end in zip(("lower", "upper"), ends)},
        "prob_worse": (mean.rename(group="other_group") - mean > margin).mean(SAMPLE),
        "annotators_needed": np.ceil(variance.mean(SAMPLE) * (z / half_width) ** 2).astype(int),
    }
    attrs = {"ci_kind": "hdi", "ci_prob": ci_prob, "half_width": half_width}
    return xr.Dataset(found, attrs=attrs).transpose("model", "group", "other_group")


def group_counts(labels: Labels, predictions: ModelPredictions, groups: Groups) -> GroupCounts:
    """Count agreements of every model with each annotator of a group that has data for all models."""
    models, agree, total = annotator_scores(as_annotations(labels, (Labels,), "labels"), predictions)
    of_group = np.stack(
        [np.bincount(groups.index[t > 0] + 1, minlength=groups.names.size + 1)[1:] for t in total]
    )
    has_data = (of_group > 0).all(axis=0)
    if not has_data.any():
        raise InputError("no group has an annotator with both annotations and predictions of every model")
    new = np.append(np.where(has_data, np.cumsum(has_data) - 1, -1), -1)[groups.index]
    kept = new >= 0
    return GroupCounts(models, groups.names[has_data], new[kept], agree[:, kept].astype(int), total[:, kept])


def group_performance_model(counts: GroupCounts, model: str | int = 0) -> "pm.Model":
    """Build the posterior of one model's performance as a PyMC model.

    Returns
    -------
    pymc.Model
        Free ``location`` m, ``between_spread`` b, ``within_spread`` w and ``performance`` (group); observed ``agree``
        (annotator). ``observed_agree`` and ``group_of_annotator`` are data.
    """
    import pymc as pm

    from bayesagree.inference.random_draws import beta_binomial_variable, beta_variable

    which = int(np.flatnonzero(counts.models == model)[0]) if isinstance(model, str) else model
    kept = counts.total[which] > 0
    group, total = counts.group[kept], counts.total[which, kept]
    with pm.Model(coords={"group": counts.groups, "annotator": np.arange(total.size)}) as graph:
        names = ("location", "between_spread", "within_spread")
        location, between, within = (pm.Beta(name, 1, 1) for name in names)
        kappa, phi = between**-2 - 1, within**-2 - 1
        performance = beta_variable("performance", location * kappa, (1 - location) * kappa, dims="group")
        mean = performance[pm.Data("group_of_annotator", group, dims="annotator")]
        observed = pm.Data("observed_agree", counts.agree[which, kept], dims="annotator")
        beta_binomial_variable(
            "agree", total, mean * phi, (1 - mean) * phi, observed=observed, dims="annotator"
        )
    return graph


def _draws(counts: GroupCounts, model: int, n: int, rng: Rng) -> dict[str, Array]:
    kept = counts.total[model] > 0
    agree, total = counts.agree[model, kept], counts.total[model, kept]
    return group_draws(agree, total, counts.group[kept], counts.groups.size, n, rng)
