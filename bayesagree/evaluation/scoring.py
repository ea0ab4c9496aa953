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

from bayesagree._inference.arguments import checked
from bayesagree._inference.checkpoint import Checkpoint
from bayesagree._inference.docstrings import shared
from bayesagree._inference.results import result_tree
from bayesagree._inference.streams import BLOCK, Seed, stream_apart
from bayesagree.annotations import Annotations
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import Schedule
from bayesagree.draws.convergence import warn_not_converged
from bayesagree.errors import InputError, positive_int
from bayesagree.evaluation._draw_blocks import draw_blocks, record_for
from bayesagree.evaluation._informed import informed_groups, informed_passes
from bayesagree.evaluation._results import PARTS, Pass, Results, WholeMetrics
from bayesagree.evaluation._sums import ScoredBlock, ScoreSums, scored
from bayesagree.io.files import is_zarr, read_result, write_result
from bayesagree.metrics._block_sums import BlockScoring
from bayesagree.metrics._item_groups import ItemGroups, ItemWeights
from bayesagree.metrics._scorer import Scorer, TruthIs, check_truth_is
from bayesagree.metrics.further_annotators import FURTHER_ANNOTATOR, FurtherAnnotator
from bayesagree.metrics.posterior_scores import SIDES
from bayesagree.metrics.registry import AnyMetric, Metric
from bayesagree.plausibility.informed.covariates import on_items_of
from bayesagree.plausibility.informed.posterior import ESTIMATED
from bayesagree.plausibility.registry import POSTERIORS, PosteriorRecord

PROVEN = "score that these annotations prove"
"""The meaning of a score under a posterior from annotations alone."""


@shared(
    plausibility=", ".join(f'``"{name}"`` ({r.annotations.__name__})' for name, r in POSTERIORS.items())
    + "; or draws of a model of one's own, on the same items (their number is that of the trace).",
    metrics="Names as `score` takes them, such as ``top_1_accuracy``, ``f1_macro`` or ``total_variation``.",
)
@checked
def evaluate(
    annotations: Annotations,
    predictions: Predictions,
    *,
    plausibility: str | xr.DataTree = "dirichlet",
    reliability: float | Sequence[float] = (1.0,),
    metrics: Sequence[AnyMetric] = ("top_1_accuracy",),
    truth_is: TruthIs = "top",
    items: Literal["fixed", "bootstrap"] = "fixed",
    by: Any = None,
    cluster: Any = None,
    further_annotator: bool = False,
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
    truth_is
        ``"top"``: the most plausible label of a draw; ``"sampled"``: a label drawn from its plausibilities. Metrics
        against the whole distribution do not ask.
    draws, chains
        chains x draws truths in all.
    seed
        Same seed, same draws, on any number of threads. (With a metric against the whole distribution, a sampled truth
        or a further annotator all plausibilities are drawn, which are other draws than those of the best labels alone.)
    items
        ``"fixed"``: this test set. ``"bootstrap"``: items are a sample of a larger population; every draw weights them
        anew (Bayesian bootstrap), and the group ``variance`` says how much of the spread comes from the annotations
        and how much from the finite test set.
    by
        A slice for each item (mapping or series by item, or one value per item): group ``slices``.
    cluster
        A cluster for each item, for ``items="bootstrap"``: whole clusters are weighted anew.
    further_annotator
        Add the line "a further annotator" to the models: the same scores of a label drawn from the plausibilities of
        the same draw, the ceiling for anybody who gives one label.
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
        metric, dims (part, reliability, model), part = annotation, test_set, total. With `by` group ``slices``: one
        variable per metric, dims (chain, draw, reliability, slice, side, model), side = slice, rest, difference.
        ``attrs["higher_is_better"]`` of every score is 1 or 0. The settings name the ``target``; with ``"dirichlet"``
        also ``prior_share``, the mean weight of the prior in an item at the first reliability. From .09 on, which is
        ten votes an item, the score that annotations prove is likely far from the score against a well-annotated
        truth. No warning says so, for the score is right for its target: the command line and the report do.

        With ``"informed_dirichlet"`` group ``posterior`` scores each model under the posterior that did not see its
        own output (that of a single model sees it: nothing else is left to learn from). Beside it, with the same
        variables: ``full_fit``, under the posterior that saw all models, a sensitivity figure and the ground of
        `compare`; and ``annotations_only``, under `dirichlet`: the score that these annotations prove.

    Raises
    ------
    InputError
        Annotations of the wrong kind, unknown metrics, items or labels that do not match; a file of another run.
    UnmixedError
        Chains of Dawid-Skene that disagree, with the items and annotators that differ; ``allow_unmixed=True`` scores
        under them all the same.

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
    asked = [Metric.of(metric) for metric in metrics]
    if not asked:
        raise InputError("there is no metric to compute")
    chosen = record_for(annotations, plausibility)
    if isinstance(plausibility, xr.DataTree):
        if to is not None:
            raise InputError("to= keeps a run that makes its draws; the draws of this trace exist already")
        chains, draws = (plausibility["posterior"].sizes[dim] for dim in ("chain", "draw"))
        n_samples = chains * draws
    if chosen.takes_predictions:
        annotations = on_items_of(annotations, predictions)  # type: ignore[arg-type]
    labels, n_items = annotations.categories, annotations.items.size
    given = predictions.aligned(annotations.items, labels)
    whole = WholeMetrics.of(given, asked)
    scoring = _scoring(asked, given, n_samples, whole, truth_is, items, by, cluster, further_annotator, seed)
    levels = _levels(reliability, chosen)
    passes = _passes(chosen, annotations, given, levels, options)
    settings = {"plausibility": chosen.name, "items": items, "options": options, "n_items": n_items}
    settings |= {"truth_is": truth_is, "target": ESTIMATED if chosen.takes_predictions else PROVEN}
    checkpoint = None
    if to is not None:
        is_zarr(Path(to))  # another ending is refused before hours of work
        asked_for = {"metrics": [m.name for m in asked], "reliability": levels, "draws": draws, "chains": chains}
        asked_for |= {"by": _codes(scoring.slices), "cluster": cluster, "further_annotator": further_annotator}
        data = {"annotations": annotations, "predictions": predictions}
        checkpoint = Checkpoint(Path(to), settings | asked_for | data, seed)
        if checkpoint.finished:
            return checkpoint.own(read_result(to))
    state = None if checkpoint is None else checkpoint.load()
    sums = ScoreSums.start(scoring, len(passes), n_samples, n_items, state)
    full = scoring.scorer.needs_plausibility or truth_is == "sampled" or further_annotator
    told: dict[str, Any] = {}
    for at, one in enumerate(passes):
        schedule = Schedule(client, partial(scored, scoring), first=int(sums.done[at]), told=told)
        blocks = draw_blocks(
            one.record, annotations, plausibility=full, depth=scoring.scorer.depth, draws=draws, chains=chains,
            seed=seed, **one.options, schedule=schedule,
        )  # fmt: skip
        _add_up(sums, at, blocks, checkpoint, progress)
        warn_not_converged(annotations.items, sums.r_hat[at], "raise tune=, draws= or thin=")
    models = np.append(predictions.models, FURTHER_ANNOTATOR) if further_annotator else predictions.models
    coords = {"reliability": levels, "model": models, "item": annotations.items, "part": PARTS, "side": list(SIDES)}
    if scoring.slices is not None:
        coords[scoring.slices.name] = scoring.slices.names
    groups = Results(sums, scoring, whole, models).groups(chains)
    if chosen.takes_predictions:
        groups = informed_groups(groups, predictions.models.size)
    settings |= told
    if chosen.prior_share is not None:
        prior = options.get("prior")
        settings |= {"prior_share": chosen.prior_share(annotations, reliability=float(levels[0]), prior=prior)}
    tree = result_tree(groups, coords, model=chosen.name, engine="exact", seed=seed, settings=settings)
    if checkpoint is not None:
        tree.attrs["run"] = checkpoint.identity
        write_result(tree, checkpoint.result)
        checkpoint.remove()
    return tree


def _scoring(
    asked: list[Metric],
    given: Predictions,
    n_samples: int,
    whole: WholeMetrics,
    truth_is: TruthIs,
    items: str,
    by: Any,
    cluster: Any,
    further_annotator: bool,
    seed: Seed,
) -> BlockScoring:
    """Return how every block is scored."""
    for metric in asked:
        check_truth_is(truth_is, metric)
    if cluster is not None and items != "bootstrap":
        raise InputError("cluster= says what is resampled together: pass items='bootstrap' with it")
    if any(part.needs_plausibility for part in whole.parts.values()):
        raise InputError(
            "a function of all plausibilities needs them in memory: call score() with the posterior and that function"
        )
    clusters = None if cluster is None else ItemGroups.of(cluster, given.items, "cluster")
    return BlockScoring(
        Scorer(given, asked),
        slices=None if by is None else ItemGroups.of(by, given.items, "by"),
        weights=ItemWeights(clusters, given.items.size, n_samples, seed) if items == "bootstrap" else None,
        sampled=stream_apart(seed, "sampled truth") if truth_is == "sampled" else None,
        annotator=FurtherAnnotator(asked, given.categories, seed) if further_annotator else None,
        keep_labels=bool(whole.parts),
    )


def _codes(groups: ItemGroups | None) -> list[Any] | None:
    return None if groups is None else [groups.name, groups.names[groups.code].tolist()]


def _passes(
    chosen: PosteriorRecord, annotations: Any, given: Predictions, levels: NDArray[np.float64], options: dict[str, Any]
) -> list[Pass]:
    """Return one pass over the items for each reliability; for the informed posterior one for each of its fits."""
    if chosen.takes_predictions:
        return informed_passes(chosen, annotations, given, options)
    if chosen.learns_reliability:
        return [Pass(chosen, dict(chosen.defaults) | options)]
    return [Pass(chosen, {"reliability": _whole(level)} | options) for level in levels]


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
