"""The main job in one call: annotations and predictions in, uncertainty-adjusted scores of every model out.

Items go in blocks through sampler and metrics, so memory does not grow with draws x items x labels. A block is drawn
and scored in one go, by a thread of this process or a worker of a cluster, and only its scores travel. All models and
metrics of a reliability are scored on the *same* draws, so that `compare` can say with what probability A is better
than B.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.4.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.checkpoint import Checkpoint
from bayesagree._inference.docstrings import shared
from bayesagree._inference.results import result_tree
from bayesagree._inference.streams import BLOCK, Seed, stream_apart
from bayesagree.annotations import Annotations
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.missing_predictions import Missing, without_missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import Schedule
from bayesagree.draws.convergence import warn_not_converged
from bayesagree.draws.item_weights import ItemGroups, ItemWeights
from bayesagree.draws.posterior import Posterior, Request
from bayesagree.errors import InputError, one_of
from bayesagree.evaluation._results import PARTS, Results, WholeMetrics
from bayesagree.evaluation._sums import ScoreSums, scored
from bayesagree.evaluation.batches import over_batches
from bayesagree.evaluation.gold import scored_gold, split_by_gold, takes_gold, vote_against_gold
from bayesagree.io.files import is_zarr, read_result, write_result
from bayesagree.metrics._parts import check_order
from bayesagree.metrics._scorer import Scorer, TruthIs, check_truth_is
from bayesagree.metrics.another_annotator import ANOTHER_ANNOTATOR, AnotherAnnotator, BlockScoring, has_one_label
from bayesagree.metrics.posterior_scores import SIDES
from bayesagree.metrics.registry import AnyMetric, Metric, default_metrics
from bayesagree.plausibility.informed.gold import GoldTruth
from bayesagree.plausibility.registry import (
    POSTERIORS,
    Choice,
    Plausibility,
    default_posterior,
    fitting_posteriors,
    record_for,
    specification_for,
)


@shared(
    plausibility="""``"auto"``: for labels ``"informed_dirichlet"``, which estimates the score against many
        annotators, and ``"dirichlet"`` for batches and where there is too little to learn from (the settings hold the
        reason, ``choice``). By name: """
    + ", ".join(f'``"{name}"`` ({r.annotations.__name__})' for name, r in POSTERIORS.items())
    + "; an object such as ``Dirichlet(prior=1.0)`` (`bayesagree.plausibility`); or draws of a model of one's own, on "
    "the same items (their number is that of the trace).",
    metrics="Names as `score` takes them, such as ``top_1_accuracy``, ``f1_macro`` or ``total_variation``. By default "
    "``top_1_accuracy``, of predicted numbers ``mae``.",
)
@checked
def evaluate(
    annotations: Annotations | Iterator[tuple[Annotations, Predictions]],
    predictions: Predictions | None = None,
    *,
    plausibility: Plausibility = "auto",
    reliability: float | Sequence[float] | None = None,
    metrics: Sequence[AnyMetric] | None = None,
    truth_is: TruthIs = "top",
    missing: Missing = "error",
    gold: Gold | None = None,
    items: Literal["fixed", "bootstrap"] = "fixed",
    by: Any = None,
    cluster: Any = None,
    another_annotator: bool = False,
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
        `Labels`, `Rankings` or `Ratings`, as the plausibility takes them. Or, for more items than fit into memory, an
        iterator of pairs of annotations and predictions, each item in one pair, read once and one pair at a time
        (`LabelBatches`, ``read_predictions(items=...)``). The score of a draw is then the mean of the pairs' scores,
        weighted by their items: that of all items at once, whose truths are independent. What a plausibility learns
        from all items (``"informed_dirichlet"``, ``"dawid_skene"``) it learns from each pair anew: make pairs large.
    predictions
        The models, on the same items and labels (``"informed_dirichlet"``: on these items, and more if there are). For
        ratings the labels are "below" and "at_or_above" the threshold.
    {plausibility}
    reliability
        One or several weights of an annotation; results are shown across them. None: 1, or that of the object.
    {metrics}
    truth_is
        ``"top"``: the most plausible label of a draw; ``"sampled"``: a label drawn from its plausibilities. Ignored by
        metrics that compare whole distributions: these compare with the plausibilities, the shares of infinitely many
        votes. The shares of a finite number of votes are noisy and lie farther from a model.
    missing
        What becomes of items that a model predicts nothing for: ``"error"`` refuses them, ``"skip"`` scores the items
        that every model predicts, ``"wrong"`` counts a missing prediction as wrong.
    gold
        The true label of some items, chosen without regard to it. Their truth is known in every draw, and that of the
        others is learnt from them: ``"informed_dirichlet"`` learns what votes and predictions say of gold,
        ``"dawid_skene"`` what each annotator does. The target is then the score against gold.
    draws, chains
        chains x draws truths in all.
    seed
        Same seed, same draws, on any number of threads. (With a metric against the whole distribution, a sampled truth
        or another annotator all plausibilities are drawn, which are other draws than those of the best labels alone.)
    items
        ``"fixed"``: this test set. ``"bootstrap"``: items are a sample of a larger population; every draw weights them
        anew (Bayesian bootstrap), and the group ``variance`` says how much of the spread comes from the annotations
        and how much from the finite test set.
    by
        A slice for each item (mapping or series by item, or one value per item): group ``slices``.
    cluster
        A cluster for each item, for ``items="bootstrap"``: whole clusters are weighted anew.
    another_annotator
        Add the line "another annotator" to the models: the same scores of a label drawn from the plausibilities of
        the same draw, the ceiling for anybody who gives one label.
    progress
        Called with the number of items done, after every block or pair.
    client
        A `distributed.Client` to draw and score on instead of threads of this process: the same result, and workers
        may die. Each worker holds the annotations and predictions and, per thread, one block of 64 items x samples x
        (labels or ranks) and about three results of metrics x models x samples numbers.
    to
        Path (.nc or .zarr) that takes the result. A run that was stopped, even killed, goes on when called again with
        the same arguments, with the same result; a finished one is read. Needs a seed that is a whole number.
        (Chains of Dawid-Skene join all items: they run again from their start.)
    options
        Arguments of the plausibility, such as ``prior=``, ``ties=`` or ``threshold=``.

    Returns
    -------
    DataTree
        Group ``posterior``: one variable per metric, dims (chain, draw, reliability, model). Group ``certainty``:
        ``annotation_certainty`` (reliability, item). With ``items="bootstrap"`` group ``variance``: one variable per
        metric, dims (part, reliability, model), part = annotation, test_set, total. With `by` group ``slices``: one
        variable per metric, dims (chain, draw, reliability, slice, side, model), side = slice, rest, difference.
        ``attrs["higher_is_better"]`` of every score is 1 or 0. The settings name the ``target``; with ``"dirichlet"``
        also ``prior_share``, the mean weight of the prior in an item at the first reliability. From .09 on, which is
        ten votes per item, the score from annotations alone is likely far from the score against a well-annotated
        truth. `evaluate` does not warn, since the score is correct for its target; the command line and the report do.
        Of pairs ``annotation_certainty`` is the mean over items, dims (reliability).

        With ``"informed_dirichlet"`` group ``posterior`` scores each model under the posterior that did not see its
        own output (that of a single model sees it: nothing else is left to learn from). Beside it, with the same
        variables: ``full_fit``, under the posterior that saw all models, a sensitivity figure and the ground of
        `compare`; and ``annotations_only``, under `dirichlet`: the score from these annotations alone.

        With `gold` group ``posterior`` is about all items; groups ``gold_items`` and ``other_items`` have the same
        variables for the items with gold, whose scores are known, and for the others. There is no ``full_fit``: all
        models are scored on the same truths, which gold and not the models' agreement decides. The settings hold
        ``n_gold``, ``vote_agrees`` (share of them on which a majority vote is gold) and ``vote_beats_gold``: the
        probability, judged by the votes of these items alone, that a copy of the vote is better than gold itself.

    Raises
    ------
    InputError
        Annotations of the wrong kind, unknown metrics, items or labels that do not match, missing predictions; a file
        of another run. Of
        pairs: none at all, other models than in the first, a metric that is no mean over items, or an argument that
        needs all items at once (``items=``, ``by=``, ``cluster=``, ``to=``).
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

    Twice as many items, in two batches:

    >>> batches = iter([(votes, models), (votes, models)])
    >>> dict(evaluate(batches, draws=100, seed=1)["posterior"].sizes)
    {'chain': 4, 'draw': 100, 'reliability': 1, 'model': 2}
    """
    metrics = default_metrics(predictions) if metrics is None else metrics
    how = Evaluation(
        plausibility,
        options,
        None if reliability is None else tuple(np.atleast_1d(np.asarray(reliability, np.float64)).tolist()),
        tuple(Metric.of(metric) for metric in metrics),
        truth_is,
        missing,
        items,
        by,
        cluster,
        another_annotator,
        Request(draws, chains, seed, client=client, to=to),
        progress or (lambda n_items: None),
        gold,
    )
    if isinstance(annotations, Iterator):
        given = {"predictions": predictions, "by": by, "cluster": cluster, "to": to, "items": items != "fixed" or None}
        given["gold"] = gold
        wrong = [name for name, value in given.items() if value is not None]
        if wrong:
            raise InputError(f"{wrong[0]}= needs all items at once; leave it out, or call evaluate() on them")
        return over_batches(annotations, how.of_batch, how.metrics, how.request.seed, how.progress)
    if predictions is None:
        raise InputError("evaluate(predictions=None): pass the predictions of the models; only batches hold their own")
    return how.result(annotations, predictions)


# Names of the arguments of `evaluate`, for the error about an unknown one.
ARGUMENTS = tuple(inspect.signature(evaluate).parameters)[:-1]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The arguments of `evaluate` besides the data."""

    plausibility: Plausibility
    options: dict[str, Any]
    reliability: tuple[float, ...] | None
    metrics: tuple[Metric, ...]
    truth_is: TruthIs
    missing: Missing
    items: str
    by: Any
    cluster: Any
    another_annotator: bool
    request: Request
    progress: Callable[[int], None]
    gold: Gold | None = None

    def __post_init__(self) -> None:
        one_of(self.items, "items", ("fixed", "bootstrap"))
        if not self.metrics:
            raise InputError("there is no metric to compute")
        for metric in self.metrics:
            check_truth_is(self.truth_is, metric)
        if self.gold is not None and self.another_annotator:
            raise InputError(
                "another_annotator=True is a score against the annotators' own answers; leave it or gold out"
            )
        if self.cluster is not None and self.items != "bootstrap":
            raise InputError("cluster= names what is resampled together: pass items='bootstrap' with it")

    def result(self, annotations: Annotations, predictions: Predictions) -> xr.DataTree:
        """Score the predictions: into memory, or into the file that the request names."""
        labels: Any
        labels, scored = without_missing(annotations, predictions, self.missing)
        choice = self.choice(labels, scored)
        options = self.options
        if self.gold is not None:
            takes_gold(record_for(labels, choice.name))
            options = options | {"gold": scored_gold(self.gold, labels, predictions, scored)}
        posterior = specification_for(labels, choice.name, options, ARGUMENTS)
        annotations, given = posterior.prepare(labels, scored)
        check_order(self.metrics, getattr(labels, "has_order", False), given.categories.size)
        levels = self.levels(posterior)
        how = replace(self, request=posterior.sized(self.request), reliability=levels)
        fitted = posterior.fitted(annotations, how.request)
        passes = fitted.passes(levels, given)
        whole = WholeMetrics.of(given, list(self.metrics))
        slices = None if self.by is None else ItemGroups.of(self.by, given.items, "by")
        settings = how.settings(posterior, passes[0], annotations)
        known = None if self.gold is None else options["gold"]
        if known is not None:
            own: Any = annotations  # labels: of the posteriors only those of labels take gold
            settings |= {"target": GoldTruth.target} | vote_against_gold(own, known, self.request.seed)
        scoring = how.scoring(given, whole, split_by_gold(slices, known, given.items))
        checkpoint = how.checkpoint(settings, annotations, given, slices)
        if checkpoint is not None and checkpoint.finished:
            return checkpoint.own(read_result(checkpoint.result))
        sums, chosen = how.sums(annotations, passes, scoring, checkpoint)
        models = np.append(given.models, ANOTHER_ANNOTATOR) if self.another_annotator else given.models
        coords = {"reliability": np.array(levels), "model": models, "item": given.items, "part": PARTS}
        coords |= {"side": list(SIDES)} | fitted.axes
        if slices is not None:
            coords[slices.name] = slices.names
        found = Results(sums, scoring, whole, models, slices).groups(how.request.chains)
        groups = fitted.results(found, given.models.size)
        seed, settings = how.request.seed, settings | dict(chosen) | {"choice": choice.reason}
        tree = result_tree(groups, coords, model=posterior.name, engine="exact", seed=seed, settings=settings)
        if checkpoint is not None:
            tree.attrs["run"] = checkpoint.identity
            write_result(tree, checkpoint.result)
            checkpoint.remove()
        return tree

    def choice(self, annotations: Annotations, predictions: Predictions) -> Choice:
        """Return the posterior, and why it was chosen if it was."""
        if self.plausibility != "auto":
            return Choice(self.plausibility, "")
        weighted = {} if self.reliability in (None, (1.0,)) else {"reliability": self.reliability}
        known = {} if self.gold is None else {"gold": self.gold}
        return default_posterior(annotations, predictions, self.options | weighted | known)

    def levels(self, posterior: Posterior) -> tuple[float, ...]:
        """Return the reliabilities."""
        if self.reliability is None:
            return (float(getattr(posterior, "reliability", 1.0)),)
        if len(set(self.reliability)) < len(self.reliability):
            raise InputError(f"reliability {list(self.reliability)} lists a value twice")
        if "reliability" not in posterior.arguments() and self.reliability != (1.0,):
            raise InputError(
                f"plausibility={posterior.name!r} learns the reliability of each annotator; leave reliability at 1"
            )
        return self.reliability

    def settings(self, posterior: Posterior, reference: Posterior, annotations: Annotations) -> dict[str, Any]:
        """Return the settings of the result."""
        given = posterior.changed if isinstance(self.plausibility, Posterior) else self.options
        options = {name: value for name, value in given.items() if name != "reliability"}
        settings = {"plausibility": posterior.name, "items": self.items, "options": options}
        settings |= {"n_items": annotations.items.size, "truth_is": self.truth_is, "target": posterior.target}
        settings["missing"] = self.missing
        share = reference.prior_share(annotations)
        return settings if share is None else settings | {"prior_share": share}

    def checkpoint(
        self, settings: dict[str, Any], annotations: Annotations, given: Predictions, slices: ItemGroups | None
    ) -> Checkpoint | None:
        """Return the state on disk of a run that is kept."""
        if self.request.to is None:
            return None
        path = Path(self.request.to)
        is_zarr(path)  # another ending is refused before hours of work
        requested = {"metrics": [metric.name for metric in self.metrics], "reliability": self.reliability}
        requested |= {"draws": self.request.draws, "chains": self.request.chains, "cluster": self.cluster}
        requested["by"] = None if slices is None else [slices.name, slices.names[slices.code].tolist()]
        data = {"another_annotator": self.another_annotator, "annotations": annotations, "predictions": given}
        if self.gold is not None:
            data["gold"] = gold_codes(self.gold, given.items, given.categories)
        return Checkpoint(path, settings | requested | data, self.request.seed)

    def scoring(self, given: Predictions, whole: WholeMetrics, slices: ItemGroups | None) -> BlockScoring:
        """Return how every block is scored."""
        if any(part.needs_plausibility for part in whole.parts.values()):
            raise InputError(
                "a function of all plausibilities needs them in memory: call score() with the posterior and that "
                "function"
            )
        seed, metrics = self.request.seed, list(self.metrics)
        clusters = None if self.cluster is None else ItemGroups.of(self.cluster, given.items, "cluster")
        bootstrap = self.items == "bootstrap"
        return BlockScoring(
            Scorer(given, metrics),
            slices=slices,
            weights=ItemWeights(clusters, given.items.size, self.request.samples, seed) if bootstrap else None,
            sampled=stream_apart(seed, "sampled truth") if self.truth_is == "sampled" else None,
            annotator=AnotherAnnotator(metrics, given.categories, seed) if self.another_annotator else None,
            keep_labels=bool(whole.parts),
        )

    def sums(
        self, annotations: Annotations, passes: list[Posterior], scoring: BlockScoring, checkpoint: Checkpoint | None
    ) -> tuple[ScoreSums, dict[str, Any]]:
        """Score all blocks of items under each posterior; return also the settings that posteriors chose."""
        request = replace(self.request, top_labels=scoring.scorer.depth)
        if scoring.scorer.numeric:
            request = replace(request, numbers=True)
        state = None if checkpoint is None else checkpoint.load()
        sums = ScoreSums.start(scoring, len(passes), request.samples, annotations.items.size, state)
        chosen: dict[str, Any] = {}
        for level, posterior in enumerate(passes):
            done = int(sums.done[level])
            one = replace(scoring, annotator=None) if posterior.of_models_alone else scoring
            full = one.scorer.needs_plausibility or self.truth_is == "sampled" or one.annotator is not None
            schedule = Schedule(request.client, partial(scored, one), done)
            full = full and not one.scorer.numeric
            stream = posterior.blocks(annotations, request, schedule, plausibility=full)
            chosen |= stream.chosen
            if done:
                self.progress(min(done * BLOCK, annotations.items.size))
            for block in stream.blocks:
                sums.add(level, block)
                if checkpoint is not None:
                    checkpoint.save(sums.state())
                self.progress(block.items.stop - block.items.start)
            if one is not scoring and scoring.annotator is not None:
                sums.take_annotator(level)
            warn_not_converged(annotations.items, sums.r_hat[level], "raise tune=, draws= or thin=")
        return sums, chosen

    def of_batch(self, seed: Seed, annotations: Annotations, predictions: Predictions) -> xr.DataTree:
        """Score the predictions of one batch, with random numbers of its own."""
        name = fitting_posteriors(annotations)[0].name if self.plausibility == "auto" else self.plausibility
        request = replace(self.request, seed=seed)
        how = replace(self, plausibility=name, request=request, progress=lambda n_items: None)
        return how.result(annotations, predictions)


def items_to_score(
    posterior: Posterior, annotations: Annotations, predictions: Predictions, reliabilities: Sequence[float]
) -> int:
    """Return the number of items over all passes, which `evaluate` counts as its progress."""
    items = predictions.items if posterior.takes_predictions else annotations.items
    return items.size * len(posterior.passes(reliabilities, predictions))


def scores_another_annotator(posterior: Posterior, metrics: Sequence[str]) -> bool:
    """Whether the commands score another annotator in any case: beside a fit to predictions it costs little."""
    return posterior.takes_predictions and all(has_one_label(Metric.of(metric)) for metric in metrics)
