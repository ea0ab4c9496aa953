"""The main job in one call: annotations and predictions in, uncertainty-adjusted scores of every model out.

Items go in blocks through sampler and metrics, so memory does not grow with draws x items x labels. A block is drawn
and scored in one go, by a thread of this process or a worker of a cluster, and only its scores travel. All models and
metrics of a reliability are scored on the *same* draws, so that `compare` can say with what probability A is better
than B.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.4.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.checkpoint import Checkpoint
from bayesagree._inference.docstrings import shared
from bayesagree._inference.results import result_tree
from bayesagree._inference.streams import BLOCK, Seed, stream_apart
from bayesagree.annotations import Annotations
from bayesagree.errors import InputError, positive_int
from bayesagree.evaluation._informed import informed_groups, informed_passes
from bayesagree.evaluation._passes import PARTS, Pass, score_groups
from bayesagree.evaluation._sums import ScoredBlock, ScoreSums, scored
from bayesagree.io.files import is_zarr, read_result, write_result
from bayesagree.metrics._scorer import Scorer
from bayesagree.metrics.registry import METRICS, RankMetric
from bayesagree.plausibility._draws.blocks import Schedule
from bayesagree.plausibility._draws.convergence import warn_not_converged
from bayesagree.plausibility.informed.posterior import ESTIMATED, on_items_of
from bayesagree.plausibility.registry import POSTERIORS, PosteriorRecord, posterior_for
from bayesagree.predictions import Predictions

PROVEN = "score that these annotations prove"
"""The meaning of a score under a posterior from annotations alone."""


@shared(
    plausibility=", ".join(f'``"{name}"`` ({r.annotations.__name__})' for name, r in POSTERIORS.items()) + ".",
    metrics=f"Names: {', '.join(f'``{pattern.format("K")}``' for pattern in METRICS)}, with a number for K.",
)
def evaluate(
    annotations: Annotations,
    predictions: Predictions,
    *,
    plausibility: str = "dirichlet",
    reliability: float | Sequence[float] = (1.0,),
    metrics: Sequence[str] = ("top_1_accuracy",),
    items: Literal["fixed", "bootstrap"] = "fixed",
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    client: Any = None,
    to: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> xr.DataTree:
    """Score every model under the uncertainty that the annotations leave about the truth.

    Parameters
    ----------
    annotations
        `Labels`, `Rankings` or `Ratings`, as the plausibility asks.
    predictions
        The models, on the same items and labels (``"informed_dirichlet"``: on these items, and more if there are). For
        ratings the labels are "below" and "at_or_above" the threshold.
    {plausibility}
    reliability
        One or several weights of an annotation; results are shown across them.
    {metrics}
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
    client
        A `distributed.Client` to draw and score on instead of threads of this process: the same result, and workers
        may die. Each worker holds the annotations and predictions and, per thread, one block of 64 items x samples x
        (labels or ranks) and about three results of metrics x models x samples numbers.
    to
        Path (.nc or .zarr) that takes the result. A run that was stopped, even killed, goes on when called again with
        the same arguments, with the same result; a finished one is read. Needs a seed that is a whole number.
        (Chains of Dawid-Skene join all items: they run again from their start.)
    options
        Further arguments of the plausibility, such as ``prior=``, ``ties=`` or ``threshold=``.

    Returns
    -------
    DataTree
        Group ``posterior``: one variable per metric, dims (chain, draw, reliability, model). Group ``certainty``:
        ``annotation_certainty`` (reliability, item). With ``items="bootstrap"`` group ``variance``: one variable per
        metric, dims (part, reliability, model), part = annotation, test_set, total. The settings name the ``target``.

        With ``"informed_dirichlet"`` group ``posterior`` scores each model under the posterior that did not see its
        own output (that of a single model sees it: nothing else is left to learn from). Beside it, with the same
        variables: ``full_fit``, under the posterior that saw all models, a sensitivity figure and the ground of
        `compare`; and ``annotations_only``, under `dirichlet`: the score that these annotations prove.

    Raises
    ------
    InputError
        Annotations of the wrong kind, unknown metrics, items or labels that do not match; a file of another run.

    Warns
    -----
    UserWarning
        Items whose chains disagree (Plackett-Luce).

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
    asked = [RankMetric.named(name) for name in metrics]
    if not asked:
        raise InputError("there is no metric to compute")
    chosen = posterior_for(annotations, plausibility)
    labels = annotations.categories
    if chosen.takes_predictions:
        annotations = on_items_of(annotations, predictions)  # type: ignore[arg-type]
    aligned = predictions.aligned(annotations.items, labels)
    scorer = Scorer(aligned, asked)
    levels = _levels(reliability, chosen)
    passes = (
        informed_passes(annotations, aligned, options)
        if chosen.takes_predictions
        else [
            Pass(chosen.blocks, ({} if chosen.learns_reliability else {"reliability": _whole(level)}) | options)
            for level in levels
        ]
    )
    settings = {"plausibility": plausibility, "items": items, "options": options, "n_items": annotations.items.size}
    settings["target"] = ESTIMATED if chosen.takes_predictions else PROVEN
    checkpoint = None
    if to is not None:
        is_zarr(Path(to))  # another ending is refused before hours of work
        asked_for = {"metrics": [m.name for m in asked], "reliability": levels, "draws": draws, "chains": chains}
        data = {"annotations": annotations, "predictions": predictions}
        checkpoint = Checkpoint(Path(to), settings | asked_for | data, seed)
        if checkpoint.finished:
            return checkpoint.own(read_result(to))
    state = None if checkpoint is None else checkpoint.load()
    sums = ScoreSums.start(scorer, len(passes), n_samples, annotations.items.size, state)
    score = partial(scored, scorer, stream_apart(seed, "item weights") if items == "bootstrap" else None)
    for at, one in enumerate(passes):
        blocks = one.blocks(
            annotations, depth=scorer.depth, draws=draws, chains=chains, seed=seed, **one.options,
            schedule=Schedule(client, score, first=int(sums.done[at])),
        )  # fmt: skip
        _add_up(sums, at, blocks, checkpoint, progress)
        warn_not_converged(annotations.items, sums.r_hat[at], "raise tune=, draws= or thin=")
    coords = {"reliability": levels, "model": predictions.models, "item": annotations.items, "part": PARTS}
    if chosen.takes_predictions:
        groups = informed_groups(sums, asked, chains, bootstrap=items == "bootstrap")
    else:
        groups = score_groups(sums, asked, chains, bootstrap=items == "bootstrap")
    tree = result_tree(groups, coords, model=chosen.name, engine="exact", seed=seed, settings=settings)
    if checkpoint is not None:
        tree.attrs["run"] = checkpoint.identity
        write_result(tree, checkpoint.result)
        checkpoint.remove()
    return tree


def _add_up(
    sums: ScoreSums,
    level: int,
    blocks: Iterator[ScoredBlock],
    checkpoint: Checkpoint | None,
    progress: Callable[[int], None] | None,
) -> None:
    """Add all blocks of one reliability to the sums; those done before are counted as progress."""
    advance = progress or (lambda n_items: None)
    if sums.done[level]:
        advance(min(int(sums.done[level]) * BLOCK, sums.certainty.shape[1]))
    for block in blocks:
        sums.add(level, block)
        if checkpoint is not None:
            checkpoint.save(sums.state())
        advance(block.items.stop - block.items.start)


def _levels(reliability: float | Sequence[float], chosen: PosteriorRecord) -> NDArray[np.float64]:
    levels = np.atleast_1d(np.asarray(reliability, dtype=np.float64))
    if np.unique(levels).size != levels.size:
        raise InputError(f"reliability {levels.tolist()} lists a value twice")
    if chosen.learns_reliability and levels.tolist() != [1.0]:
        raise InputError(
            f"plausibility={chosen.name!r} learns the reliability of each annotator; leave reliability at 1"
        )
    return levels


def _whole(value: float) -> float | int:
    """Give whole reliabilities as integers: Plackett-Luce repeats rankings a whole number of times."""
    return int(value) if float(value).is_integer() else float(value)
