"""The main job in one call: annotations and predictions in, uncertainty-adjusted scores of every model out.

Items go in blocks through sampler and metrics, so memory does not grow with draws x items x labels. All models and
metrics of a reliability are scored on the *same* draws, so that `compare` can say with what probability A is better
than B.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.4.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._streams import BLOCK, Seed, block_generators, item_blocks, seed_sequence
from bayesagree._tree import positive_int, result_tree
from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.errors import InputError, some
from bayesagree.metrics.uncertainty_adjusted import Metric, Scorer
from bayesagree.plausibility._blocks import DrawBlock
from bayesagree.plausibility.dawid_skene import dawid_skene, dawid_skene_blocks
from bayesagree.plausibility.dirichlet import dirichlet, dirichlet_blocks
from bayesagree.plausibility.normal_inverse_gamma import (
    THRESHOLD_LABELS,
    normal_inverse_gamma,
    normal_inverse_gamma_blocks,
)
from bayesagree.plausibility.plackett_luce import plackett_luce, plackett_luce_blocks
from bayesagree.plausibility.prirn import prirn, prirn_blocks
from bayesagree.predictions import Predictions


class Plausibility(NamedTuple):
    """One posterior of the truth: the annotations it takes, how it streams draws and how it keeps them."""

    annotations: type
    blocks: Callable[..., Iterator[DrawBlock]]
    posterior: Callable[..., xr.DataTree]
    has_reliability: bool = True


PLAUSIBILITIES = {
    "dirichlet": Plausibility(Labels, dirichlet_blocks, dirichlet),
    "dawid_skene": Plausibility(Labels, dawid_skene_blocks, dawid_skene, has_reliability=False),
    "prirn": Plausibility(Rankings, prirn_blocks, prirn),
    "plackett_luce": Plausibility(Rankings, plackett_luce_blocks, plackett_luce),
    "normal_inverse_gamma": Plausibility(Ratings, normal_inverse_gamma_blocks, normal_inverse_gamma),
}
"""Every posterior of the truth by name; the first that fits a kind of annotations is its default."""


def evaluate(
    annotations: Annotations,
    predictions: Predictions,
    *,
    plausibility: str = "dirichlet",
    reliability: float | Sequence[float] = (1.0,),
    metrics: Sequence[str] = ("top_1_accuracy",),
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    items: Literal["fixed", "bootstrap"] = "fixed",
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> xr.DataTree:
    """Score every model under the uncertainty that the annotations leave about the truth.

    Parameters
    ----------
    annotations
        `Labels`, `Rankings` or `Ratings`, as the plausibility asks.
    predictions
        The models, on the same items and labels. For ratings the labels are "below" and "at_or_above" the threshold.
    plausibility
        ``"dirichlet"`` (labels), ``"prirn"``, ``"plackett_luce"`` (rankings), ``"dawid_skene"`` (labels) or
        ``"normal_inverse_gamma"`` (ratings).
    reliability
        One or several values of the trust in the annotators; results are shown across them.
    metrics
        Names: ``top_K_accuracy``, ``set_K_accuracy``, ``overlap_K``, ``average_overlap_K``, ``kendall_tau_K``,
        ``spearman_footrule_K``.
    draws, chains
        chains x draws truths in all.
    seed
        Same seed, same draws, on any number of threads.
    items
        ``"fixed"``: this test set. ``"bootstrap"``: items are a sample of a larger population; every draw weights them
        anew (Bayesian bootstrap), and the group ``variance`` says how much of the spread comes from the annotations
        and how much from the finite test set.
    progress
        Called with the number of items done, after every block.
    options
        Further arguments of the plausibility, such as ``prior=``, ``ties=`` or ``threshold=``.

    Returns
    -------
    DataTree
        Group ``posterior``: one variable per metric, dims (chain, draw, reliability, model). Group ``certainty``:
        ``annotation_certainty`` (reliability, item). With ``items="bootstrap"`` group ``variance``: one variable per
        metric, dims (part, reliability, model), part = annotation, test_set, total.

    Raises
    ------
    InputError
        Annotations of the wrong kind, unknown metrics, items or labels that do not match.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 1], [0, 4], [2, 2]], labels=["no", "yes"])
    >>> models = Predictions.from_labels({"A": ["no", "yes", "no"], "B": ["no", "no", "yes"]})
    >>> tree = evaluate(votes, models, seed=1)
    >>> bool(tree["posterior"]["top_1_accuracy"].mean(("chain", "draw")).diff("model") < 0)
    True
    """
    n_samples = positive_int(draws, "draws") * positive_int(chains, "chains")
    if items not in ("fixed", "bootstrap"):
        raise InputError(f"items={items!r} is not one of 'fixed', 'bootstrap'")
    asked = [Metric.named(name) for name in metrics]
    if not asked:
        raise InputError("there is no metric to compute")
    chosen = plausibility_for(annotations, plausibility)
    labels = THRESHOLD_LABELS if isinstance(annotations, Ratings) else annotations.labels
    scorer = Scorer(predictions.aligned(annotations.items, labels), asked)
    levels = _levels(reliability, chosen, plausibility)
    trust = [{"reliability": _whole(r)} if chosen.has_reliability else {} for r in levels]
    sampling = {"draws": draws, "chains": chains, "seed": seed, **options}
    runs = [
        _score_items(
            chosen.blocks(annotations, depth=scorer.depth, **one, **sampling),
            scorer,
            n_items=annotations.items.size,
            n_samples=n_samples,
            weights_seed=_weights_seed(seed) if items == "bootstrap" else None,
            progress=progress,
        )
        for one in trust
    ]
    dims = ("chain", "draw", "reliability", "model")
    scores = np.stack([run.score for run in runs], axis=1)
    groups: dict[str, dict[str, Any]] = {
        "posterior": {
            m.name: (dims, np.moveaxis(scores[c], -1, 0).reshape(chains, draws, levels.size, -1))
            for c, m in enumerate(asked)
        },
        "certainty": {"annotation_certainty": (("reliability", "item"), np.stack([run.certainty for run in runs]))},
    }
    if items == "bootstrap":
        parts = np.stack([run.variance for run in runs], axis=2)
        groups["variance"] = {m.name: (("part", "reliability", "model"), parts[c]) for c, m in enumerate(asked)}
    settings = {"plausibility": plausibility, "items": items, "options": options, "n_items": annotations.items.size}
    coords = {"reliability": levels, "model": predictions.models, "item": annotations.items, "part": _PARTS}
    return result_tree(groups, coords, engine="exact", seed=seed, settings=settings)


_PARTS = np.array(["annotation", "test_set", "total"])


class _Run(NamedTuple):
    """One reliability: scores (metric, model, sample), certainty (item), variance (metric, part, model)."""

    score: NDArray[np.float64]
    certainty: NDArray[np.float64]
    variance: NDArray[np.float64]


def plausibility_for(annotations: Annotations, name: str) -> Plausibility:
    """Return the named plausibility, if it is one for annotations of this kind."""
    if name not in PLAUSIBILITIES:
        raise InputError(f"plausibility={name!r} is not one of {some(PLAUSIBILITIES, 20)}")
    chosen = PLAUSIBILITIES[name]
    if not isinstance(annotations, chosen.annotations):
        raise InputError(
            f"plausibility={name!r} is for {chosen.annotations.__name__}, and these are {type(annotations).__name__}; "
            f"use {' or '.join(map(repr, fitting_plausibilities(annotations)))}"
        )
    return chosen


def fitting_plausibilities(annotations: Annotations) -> list[str]:
    """List the plausibilities for annotations of this kind, the default first."""
    return [name for name, p in PLAUSIBILITIES.items() if isinstance(annotations, p.annotations)]


def _levels(reliability: float | Sequence[float], chosen: Plausibility, name: str) -> NDArray[np.float64]:
    levels = np.atleast_1d(np.asarray(reliability, dtype=np.float64))
    if np.unique(levels).size != levels.size:
        raise InputError(f"reliability {levels.tolist()} lists a value twice")
    if not chosen.has_reliability and levels.tolist() != [1.0]:
        raise InputError(f"plausibility={name!r} learns the reliability of each annotator; leave reliability at 1")
    return levels


def _whole(value: float) -> float | int:
    """Give whole reliabilities as integers: Plackett-Luce repeats rankings a whole number of times."""
    return int(value) if float(value).is_integer() else float(value)


def _weights_seed(seed: Seed) -> np.random.SeedSequence:
    """Return a stream apart from those of the draws, the same for every reliability."""
    root = seed_sequence(seed)
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, 2**32 - 1))


def _score_items(
    blocks: Iterator[DrawBlock],
    scorer: Scorer,
    *,
    n_items: int,
    n_samples: int,
    weights_seed: np.random.SeedSequence | None,
    progress: Callable[[int], None] | None,
) -> _Run:
    n_models = scorer.predicted.shape[0]
    shape = (scorer.n_metrics, n_models, n_samples)
    total, weighted, square = np.zeros(shape), np.zeros(shape), np.zeros(shape[:2])
    weight_sum, certainty = np.zeros(n_samples), np.empty(n_items)
    weight_streams = None if weights_seed is None else iter(block_generators(weights_seed, _n_blocks(n_items)))
    for block in blocks:
        weights = None
        if weight_streams is not None:
            weights = next(weight_streams).standard_exponential(block.top_label.shape[:2])
            weight_sum += weights.sum(axis=0)
        scores = scorer.score(block, weights)
        total += scores.total
        weighted += scores.weighted
        square += scores.square
        certainty[block.items] = [np.bincount(top[:, 0]).max() / n_samples for top in block.top_label]
        if progress is not None:
            progress(block.items.stop - block.items.start)
    mean = total / n_items
    if weights_seed is None:
        return _Run(mean, certainty, np.empty(0))
    return _Run(weighted / weight_sum, certainty, _variance_parts(mean, square / (n_items * n_samples), n_items))


def _n_blocks(n_items: int) -> int:
    return len(item_blocks(n_items, BLOCK))


def _variance_parts(mean: NDArray[np.float64], mean_square: NDArray[np.float64], n_items: int) -> NDArray[np.float64]:
    """Split the variance of a Bayesian bootstrap over items by the law of total variance, shape (metric, part, model).

    Given a draw, flat Dirichlet weights have variance (mean of squares - square of mean) / (n + 1).
    """
    annotation = mean.var(axis=2)
    test_set = (mean_square - (mean**2).mean(axis=2)) / (n_items + 1)
    return np.stack([annotation, test_set, annotation + test_set], axis=1)
