"""Scores of classifiers without expert labels, and how uncertain they are.

=====================  =========  ==========================================================================
method                 crowd      a system is judged by
=====================  =========  ==========================================================================
round_robin            no         each other system in turn; mean
sampling               no         gold sets that mix all systems at random; mean
majority               no         the majority of the systems
em                     no         the consensus of Dawid-Skene expectation maximisation
dawid_skene            no         gold sets drawn from the Bayesian Dawid-Skene posterior; mean
direct                 yes        the crowd
calibrated_majority    yes        votes above a threshold of the best accuracy on the crowd (two labels)
naive_bayes, svm,      yes        a combiner of the systems trained on the crowd
glm, adaboost
=====================  =========  ==========================================================================

Without a crowd all of them measure agreement with the other systems: errors that systems share count as right answers.
`bayesagree.blind.independence` says when that is so.

Source: H. J. Jung, M. Lease, "Evaluating classifiers without expert labels", 2012, section 3.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesagree._types import Floats, Rng
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.blind import combiners, pseudo_gold
from bayesagree.blind.systems import LabelCodes, Systems
from bayesagree.errors import InputError, one_of, positive_int, shorten
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.results import result_tree
from bayesagree.inference.streams import (
    Seed,
    block_generators,
    item_blocks,
    map_blocks,
    seed_sequence,
    stream_apart,
)
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.metrics.hard_labels import Metric, confusion_counts, scores_of_counts, warn_undefined

BlindMethod = Literal["majority", "em", "round_robin", "sampling", "dawid_skene"]
CrowdMethod = Literal["direct", "calibrated_majority", "naive_bayes", "svm", "glm", "adaboost"]
Method = BlindMethod | CrowdMethod
BLIND = ("majority", "em", "round_robin", "sampling", "dawid_skene")
WITH_CROWD = ("calibrated_majority", "naive_bayes", "svm", "glm", "adaboost", "direct")
METHODS = BLIND + WITH_CROWD
# Weights of items that a block of draws holds at once, 1 MB; of more items than these one draw's.
ITEMS_AT_ONCE = 2**17


@dataclass(frozen=True, eq=False)
class PseudoGold:
    """Label sets that stand in for the gold.

    Attributes
    ----------
    sets
        Positions of labels, -1 where there is none, shape (set, item) or (set, model, item).
    is_sample
        Whether a set is one draw of the gold; otherwise all sets together make one score, their mean.
    shares
        The chance of each label in a set, where sets are drawn only to take a mean over them: shape (item, category) or
        (model, item, category).
    """

    sets: LabelCodes
    is_sample: bool
    shares: Floats | None = None


def blind_scores(
    predictions: Predictions,
    *,
    method: Method = "sampling",
    metric: Metric = "accuracy",
    crowd: Labels | None = None,
    leave_one_out: bool = False,
    positive: Any = None,
    sets: int = 1000,
    random_seed: Seed = None,
) -> xr.DataArray:
    """Score classifiers without expert labels.

    Parameters
    ----------
    predictions
        Hard labels of at least two systems; missing ones are left out, system by system.
    method
        Who judges; see the table of this module.
    metric
        Score against the stand-in for the gold, as in `hard_label_scores`.
    crowd
        Crowd labels of some or all items; the majority of each item counts, ties at random.
    leave_one_out
        Judge each system by the others only. Otherwise it has a voice in its own judgement (not in round robin and
        direct evaluation), and a majority of few systems flatters each of them.
    positive
        The positive label; by default the last of two, and macro averages for more.
    sets
        Gold sets of sampling and dawid_skene.
    random_seed
        Same seed, same scores, in whatever order systems and items come.

    Returns
    -------
    DataArray
        Dim model.

    Raises
    ------
    InputError
        Fewer than two systems, a crowd that the method needs or does not use, labels that do not match.

    Warns
    -----
    UserWarning
        A score that does not exist: NaN, with the reason.

    References
    ----------
    .. [1] H. J. Jung, M. Lease, "Evaluating classifiers without expert labels", 2012, section 3.

    Examples
    --------
    >>> systems = Predictions.from_labels({"A": [1, 1, 0, 0], "B": [1, 1, 0, 1], "C": [1, 0, 0, 0]})
    >>> blind_scores(systems, method="majority").values.tolist()
    [1.0, 0.75, 0.75]
    >>> blind_scores(systems, method="round_robin").values.tolist()
    [0.75, 0.625, 0.625]
    """
    systems = _systems(method, predictions, crowd, positive, random_seed)
    gold = make_pseudo_gold(systems, method, leave_one_out=leave_one_out, sets=sets, random_seed=random_seed)
    scores = mean_scores(counts_per_set(gold, systems), metric, systems.positive)[0]
    warn_undefined(scores, metric, systems.models)
    return xr.DataArray(scores, {"model": systems.models}, name=metric).sel(model=predictions.models)


def blind_posterior(
    predictions: Predictions,
    *,
    method: Method = "dawid_skene",
    metrics: tuple[Metric, ...] = ("accuracy", "precision", "recall", "specificity"),
    crowd: Labels | None = None,
    leave_one_out: bool = False,
    positive: Any = None,
    items: Literal["fixed", "bootstrap"] = "bootstrap",
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
) -> xr.DataTree:
    """Draw blind scores, so that each has an interval and ranks are distributions.

    A draw takes, with ``items="bootstrap"``, as many items as there are, with replacement. With
    ``method="dawid_skene"`` it takes one stand-in for the gold, a posterior draw of the truth: the interval then covers
    the score against the unknown truth, as far as systems err independently given it and a difficulty of each item that
    all share (with more than two labels and 5,000 / labels distinct items given the truth alone, with a warning).
    Errors that nearly all systems make alike on some items count as right, and no method can see them in the labels;
    see `independence_check`.
    For the other methods the interval holds what resampled items would do to the score, not that their stand-in may
    be wrong: a draw averages over all gold sets of round robin, and over the votes on each item that sampling draws its
    sets from.

    Parameters
    ----------
    predictions, method, crowd, leave_one_out, positive, random_seed
        As in `blind_scores`.
    metrics
        Scores to draw; all of them from the same draws.
    items
        ``"fixed"``: the scores are about these items; ``"bootstrap"``: about items like these.
    draws, chains
        Number of draws: `draws` in each chain.

    Returns
    -------
    DataTree
        Group ``posterior``: one variable per metric, dims (chain, draw, model), as `compare` and `pairwise` read it.

    Warns
    -----
    UserWarning
        Four systems or more that probably err on the same items.

    References
    ----------
    Dawid and Skene (1979); with a shared difficulty Qu, Tan and Kutner (1996), https://doi.org/10.2307/2533043.

    Examples
    --------
    >>> systems = Predictions.from_labels({"A": [1, 1, 0, 0], "B": [1, 1, 0, 1], "C": [1, 0, 0, 0]})
    >>> tree = blind_posterior(systems, method="sampling", random_seed=1)
    >>> dict(tree["posterior"]["accuracy"].sizes)
    {'chain': 4, 'draw': 1000, 'model': 3}
    """
    systems = _systems(method, predictions, crowd, positive, random_seed)
    n = positive_int(draws, "draws") * positive_int(chains, "chains")
    options = {"leave_one_out": leave_one_out, "sets": n, "chains": chains, "random_seed": random_seed}
    counts = counts_per_draw(make_pseudo_gold(systems, method, **options), systems, n, items, random_seed)
    drawn = {metric: mean_scores(counts, metric, systems.positive) for metric in metrics}
    order = [systems.models.tolist().index(m) for m in predictions.models.tolist()]
    shape = (chains, draws, systems.models.size)
    scores = {metric: (("chain", "draw", "model"), v[:, order].reshape(shape)) for metric, v in drawn.items()}
    settings = {"method": method, "leave_one_out": leave_one_out, "items": items}
    of_result = {"model": f"blind_{method}", "engine": "gibbs" if method == "dawid_skene" else "exact"}
    coords = {"model": predictions.models}
    return result_tree({"posterior": scores}, coords, **of_result, random_seed=random_seed, settings=settings)


def _systems(method: Any, predictions: Any, crowd: Any, positive: Any, random_seed: Seed) -> Systems:
    """Read predictions and crowd labels, which some methods use."""
    if crowd is not None and method in BLIND:
        raise InputError(
            f"crowd= is not used by method={method!r}, but by {', '.join(WITH_CROWD)}; leave it out"
        )
    return Systems.of(predictions, crowd, positive, random_seed)


def make_pseudo_gold(
    systems: Systems,
    method: str,
    *,
    calibrate_for: str = "accuracy",
    leave_one_out: bool = False,
    sets: int = 1000,
    chains: int = 4,
    threshold: float = 0.5,
    random_seed: Seed = None,
) -> PseudoGold:
    """Return the stand-ins for the gold of a method; `chains` is how many chains of dawid_skene share the sets."""
    random_seed = seed_sequence(random_seed)
    if method == "round_robin":
        return PseudoGold(pseudo_gold.round_robin(systems), False)
    combine: dict[str, Callable[[Systems], LabelCodes]] = {
        "majority": partial(pseudo_gold.majority, threshold=threshold, random_seed=random_seed),
        "em": pseudo_gold.em,
        "sampling": partial(pseudo_gold.sampling, sets=sets, random_seed=random_seed),
        "dawid_skene": partial(pseudo_gold.posterior, sets=sets, chains=chains, random_seed=random_seed),
        "direct": combiners.direct,
        "calibrated_majority": partial(
            combiners.calibrated_majority, metric=calibrate_for, random_seed=random_seed
        ),
        **{name: partial(combiners.supervised, by=name, random_seed=random_seed) for name in combiners.FITS},
    }
    if method not in combine:
        raise InputError(f"method={method!r} is not one of {shorten(METHODS, 11)}")
    alone = leave_one_out and method != "direct"
    others = [systems.without(m) for m in range(systems.models.size if alone else 0)]
    # One set is one gold for all models; else each has its own, shape (set, model, item).
    sets_of = [np.atleast_2d(combine[method](one)) for one in others]
    drawn = np.stack(sets_of, axis=1) if alone else combine[method](systems)
    if method != "sampling":
        return PseudoGold(drawn, True)
    shares = [pseudo_gold.vote_shares(one) for one in others] if alone else pseudo_gold.vote_shares(systems)
    return PseudoGold(drawn, False, np.asarray(shares))


def counts_per_set(gold: PseudoGold, systems: Systems) -> Floats:
    """Count every model's labels against every set, shape (1, set, model, label, predicted label)."""

    def count(block: slice) -> Floats:
        return confusion_counts(gold.sets[block], systems.predicted, systems.n_labels)

    return np.concatenate(list(map_blocks(count, item_blocks(gold.sets.shape[0]))))[None]


def counts_per_draw(gold: PseudoGold, systems: Systems, draws: int, items: str, random_seed: Seed) -> Floats:
    """Count with one set and one sample of items per draw, shape (draw, set, model, label, predicted label).

    Draw d takes set d modulo their number where they are a sample. Where their mean counts it takes all of them, and
    the axis set is then their number; or, where they are many draws from known shares, these shares as one soft set.
    """
    one_of(items, "items", ("fixed", "bootstrap"))
    n_items = systems.items.size
    known = (systems.predicted, systems.n_labels)
    given = (np.arange(systems.n_labels)[:, None] == systems.predicted[:, None]).astype(float)

    def count(job: tuple[slice, Rng]) -> Floats:
        drawn, rng = np.arange(job[0].start, job[0].stop), job[1]
        weights = np.ones((drawn.size, n_items))
        if items == "bootstrap":
            place = rng.integers(n_items, size=weights.shape)
            weights = cell_sums(weights.shape, np.arange(drawn.size)[:, None], place).astype(float)
        if gold.shares is not None:
            return np.stack(
                [(given @ (gold.shares * weight[:, None])).swapaxes(1, 2)[None] for weight in weights]
            )
        if gold.is_sample:
            return confusion_counts(gold.sets[drawn % gold.sets.shape[0]], *known, weights)[:, None]
        return np.stack([confusion_counts(gold.sets, *known, weight) for weight in weights])

    # Another stream than the one that draws gold sets: items are resampled independently of them.
    blocks = item_blocks(draws, max(1, ITEMS_AT_ONCE // n_items))
    branch = stream_apart(random_seed, "resampled systems")
    return np.concatenate(list(map_blocks(count, list(zip(blocks, block_generators(branch, len(blocks)))))))


def mean_scores(counts: Floats, metric: str, positive: int | None) -> Floats:
    """Score every set and average the defined scores: counts (draw, set, model, ...) to (draw, model)."""
    scores = scores_of_counts(counts, metric, positive)
    defined = np.isfinite(scores)
    return ratio(np.where(defined, scores, 0).sum(axis=1), defined.sum(axis=1))
