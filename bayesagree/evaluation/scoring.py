"""The main job in one call: annotations and predictions in, uncertainty-adjusted scores of every model out.

Items go in blocks through sampler and metrics, so memory does not grow with draws x items x labels. A block is drawn
and scored in one go, by a thread of this process or a worker of a cluster, and only its scores travel. All models and
metrics of a reliability are scored on the *same* draws, so that `compare` can say with what probability A is better
than B.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.4.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesagree._types import Advance, Named, silent
from bayesagree.annotations import Annotations
from bayesagree.annotations.gold import Gold, ItemGroup
from bayesagree.annotations.missing_predictions import Missing, without_missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, one_of, say, shorten, warn
from bayesagree.evaluation._batches import over_batches
from bayesagree.evaluation._results import PARTS, scored
from bayesagree.evaluation._truths import by_truth
from bayesagree.evaluation.gold import scored_gold, split_in_two, vote_against_gold
from bayesagree.inference.convergence import warn_of_numbers
from bayesagree.inference.posterior import Posterior, Request
from bayesagree.inference.results import result_tree, variable
from bayesagree.inference.streams import Seed, stream_apart
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics._checks import check_order, check_truth_is, has_one_label
from bayesagree.metrics._scorer import ANOTHER_ANNOTATOR, Scorer, TruthIs
from bayesagree.metrics.item_weights import ItemGroups, ItemWeights
from bayesagree.metrics.posterior_scores import SIDES
from bayesagree.metrics.records import Whole
from bayesagree.metrics.registry import AnyMetric, Metric, default_metrics
from bayesagree.metrics.uncertainty_adjusted import given_risk
from bayesagree.plausibility.independence import Guarded, warn_of_dependent
from bayesagree.plausibility.informed.posterior import AGAINST_GOLD
from bayesagree.plausibility.registry import (
    Choice,
    Plausibility,
    default_posterior,
    is_auto,
    reliabilities_of,
    specification_for,
)


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
    by: ItemGroup | None = None,
    cluster: ItemGroup | None = None,
    risk: Mapping[Any, Any] | None = None,
    another_annotator: bool = False,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    client: Any = None,
    progress: Advance | None = None,
    **options: Any,
) -> xr.DataTree:
    """Score every model under the uncertainty that the annotations leave about the truth.

    Parameters
    ----------
    annotations
        `Labels`, `Rankings` or `Ratings`, as the plausibility takes them. Or, for more items than fit into memory, an
        iterator of pairs of annotations and predictions, each item in one pair, read once and one pair at a time. The
        score of a draw is then the mean of the pairs' scores, weighted by their items: that of all items at once, whose
        truths are independent. What a plausibility learns from all items (``"informed_dirichlet"``,
        ``"dawid_skene"``) it learns from each pair anew: make pairs large.
    predictions
        The models, on the same items and labels; items that nobody annotated are left out with a warning (of labels and
        ratings that predictions inform they count). For ratings the labels are "below" and "at_or_above" the threshold.
    plausibility
        ``"auto"``: for labels ``"informed_dirichlet"``, which estimates the score against many annotators, and
        ``"dirichlet"`` where there is too little to learn from; for rankings ``"informed_plackett_luce"``; for ratings
        ``"informed_normal"`` or ``"normal_inverse_gamma"`` (the settings hold the reason, ``choice``; of batches the
        first decides). Also by name ``"dawid_skene"`` and ``"prirn"``; an object such as ``Dirichlet(prior=1.0)``
        (`bayesagree.plausibility`); or draws of a model of one's own, on the same items.
    reliability
        One or several weights of an annotation; results are shown across them. None: that of the plausibility.
    metrics
        Names as `score` takes them, such as ``accuracy``, ``f1_macro`` or ``total_variation``. By default
        ``accuracy``, of predicted numbers ``mae``.
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
        chains x draws truths in all; a trace has its own.
    random_seed
        Same seed, same draws, on any number of threads. Metrics that need full distributions
        use different random numbers than top-label metrics, even with the same seed.
    items
        ``"fixed"``: this test set. ``"bootstrap"``: items are a sample of a larger population; every draw weights them
        anew (Bayesian bootstrap), and the group ``variance`` says how much of the spread comes from the annotations
        and how much from the finite test set.
    by
        A slice for each item (mapping or series by item, or one value per item): group ``slices``.
    cluster
        A cluster for each item, for ``items="bootstrap"``: whole clusters are weighted anew.
    risk
        Label to risk level, numbers or words: each metric, a mean over items, also of the items of each level,
        ``accuracy_given_risk[high]``. In each draw those count whose label has the level.
    another_annotator
        Add the line "another annotator" to the models: the same scores of a label drawn from the plausibilities of
        the same draw, the ceiling for anybody who gives one label.
    progress
        Called with the number of items done, after every block or pair; first with that of new draws of what all items
        share: parameters, or sweeps of the levels of annotators who rated.
    client
        A `distributed.Client` to draw and score on instead of threads of this process: the same result, and workers
        may die. Each worker holds the annotations and predictions and, per thread, one block of 64 items x samples x
        (labels or ranks) and about three results of metrics x models x samples numbers.
    options
        Arguments of the plausibility, such as ``prior=``, ``ties=`` or ``threshold=``.

    Returns
    -------
    DataTree
        Group ``posterior``: one variable per metric, dims (chain, draw, model), whose intervals
        ``arviz.summary(result, ci_prob=0.95, ci_kind="hdi")`` prints as `compare` does. Group ``certainty``:
        ``annotation_certainty`` (item). With ``items="bootstrap"`` group ``variance``: one variable per metric, dims
        (part, model), part = annotation, test_set, total. With `by` group ``slices``: one variable per metric, dims
        (chain, draw, slice, side, model), side = slice, rest, difference. Several reliabilities add a dim
        ``reliability`` to each, after (chain, draw) or (part). Of models with several runs every score is the mean
        over these; group ``runs`` has that of each, dims (chain, draw, run, model), and ``variance`` also the part
        ``run``, what another set of runs would change, from the differences between the runs' scores (``test_set`` is
        then the rest of what the bootstrap adds).
        ``attrs["higher_is_better"]`` of every score is 1 or 0. The settings name the ``target``; with ``"dirichlet"``
        also ``prior_share``, the mean weight of the prior in an item at the first reliability. From .09 on, which is
        ten votes per item, the score from annotations alone is likely far from the score against a well-annotated
        truth. `evaluate` does not warn, since the score is correct for its target; the command line and the report do.
        ``"dawid_skene"`` too scores from annotations alone: items that they leave open count against every model.
        Of pairs ``annotation_certainty`` is the mean over items.

        With ``"informed_dirichlet"`` group ``posterior`` scores the models under the posterior that all of them inform,
        but those of ``exclude=``, by default those that are not independent of the votes, as models trained on them
        (``left_out`` in the settings). Beside it, with the same variables: ``annotations_only``, under `dirichlet`, the
        score from these annotations alone; and, where the votes cannot tell of some models whether they are independent
        (``unsure``) and no ``exclude=`` says it, ``without_unsure``, under a truth that these do not inform. Group
        ``certainty`` then has also ``label_certainty`` (item, category), and group ``diagnostics`` the R-hat and
        effective sample size of the parameters.

        With `gold` group ``posterior`` is about all items; groups ``gold_items`` and ``other_items`` have the same
        variables for the items with gold, whose scores are known, and for the others. The settings hold
        ``n_gold``, ``vote_agrees`` (share of them on which a majority vote is gold) and ``vote_beats_gold``: the
        probability, judged by the votes of these items alone, that a copy of the vote is better than gold itself.

    Raises
    ------
    InputError
        Annotations of the wrong kind, unknown metrics, items or labels that do not match, missing predictions. Of
        pairs: none at all, other models than in the first, a metric that is not a mean over items, or an argument that
        needs all items at once (``items=``, ``by=``, ``cluster=``, ``risk=``).
    ConvergenceError
        Chains of Dawid-Skene that disagree, with the items and annotators that differ; ``allow_unmixed=True`` scores
        under them all the same.

    Warns
    -----
    UserWarning
        Items without annotations. Items whose chains disagree (Plackett-Luce); models that are not independent of the
        votes. Scores of chains that rest on fewer than 400 effective draws, or have an R-hat above 1.01.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> votes = Labels.from_counts([[3, 1], [0, 4], [2, 2]], labels=["no", "yes"])
    >>> models = Predictions.from_labels({"A": ["no", "yes", "no"], "B": ["no", "no", "yes"]})
    >>> tree = evaluate(votes, models, random_seed=1)
    >>> bool(tree["posterior"]["accuracy"].mean(("chain", "draw")).diff("model") < 0)
    True

    Twice as many items, in two batches:

    >>> batches = iter([(votes, models), (votes, models)])
    >>> dict(evaluate(batches, draws=100, random_seed=1)["posterior"].sizes)
    {'chain': 4, 'draw': 100, 'model': 2}
    """
    if isinstance(metrics, str) or callable(metrics):
        metrics = [metrics]
    if isinstance(annotations, Iterator):
        alone = {"predictions": predictions, "by": by, "cluster": cluster, "risk": risk}
        alone |= {"items": items != "fixed" or None, "gold": gold}
        wrong = [name for name, value in alone.items() if value is not None]
        if wrong:
            raise InputError(f"{wrong[0]}= needs all items at once; leave it out, or call evaluate() on them")
        how = {"reliability": reliability, "metrics": metrics, "truth_is": truth_is}
        how |= {"missing": missing, "another_annotator": another_annotator, "draws": draws, "chains": chains}
        once = partial(evaluate, **how, client=client, **options)
        return over_batches(annotations, once, plausibility, metrics or (), random_seed, progress)
    votes = as_annotations(annotations)
    predictions = as_predictions(predictions, votes, may_lack=True, runs=True)
    if predictions is None:
        raise InputError(
            "evaluate(predictions=None): pass the predictions of the models; only batches hold their own"
        )
    requested = [Metric.of(metric) for metric in (default_metrics(predictions) if metrics is None else metrics)]
    if risk is not None:
        named = [*dict.fromkeys([*votes.categories.tolist(), *predictions.categories.tolist()])]
        at_levels = [given_risk(metric, risk, named) for metric in requested]
        requested += [one for of in at_levels for one in of.values()]
    _check(requested, truth_is, items, gold is not None and another_annotator, cluster)
    check_order(requested, getattr(votes, "has_order", False), votes.categories.size)
    votes, kept = without_missing(votes, predictions, missing)
    pooled, runs = kept.pooled(), kept.runs
    known = None if gold is None else scored_gold(gold, predictions, kept)
    options |= {} if known is None else {"gold": known}
    levels = None if reliability is None else tuple(np.atleast_1d(np.asarray(reliability, float)).tolist())
    choice = Choice(plausibility, "")
    if is_auto(plausibility):
        if options.get("exclude") is None:
            options.pop("exclude", None)  # written out or not: no model is left out, and the data choose
        weighted = {} if levels in (None, (1.0,)) else {"reliability": levels}
        choice = default_posterior(votes, pooled, options | weighted)
    chosen = specification_for(votes, choice.name, options, tuple(inspect.signature(evaluate).parameters)[:-1])
    request = Request(draws, chains, random_seed, client=client)
    truths = chosen.truths(votes, pooled, request, reliabilities_of(chosen, levels))
    votes = truths.annotations
    given = truths.predictions
    posterior = truths.posteriors[0]
    request = truths.request
    for name, value in (("draws", draws), ("chains", chains)) if posterior.engine == "trace" else ():
        if value not in (own := getattr(request, name), getattr(Request, name)):
            raise InputError(f"{say(name, value)} is not used: the trace has {own} {name}; leave it out")
    if posterior.exchangeable and not posterior.takes_predictions:
        warn_of_dependent(votes, given)
    if runs is not None:
        given = kept.on_items(given.items).aligned(given.items, given.categories)
    settings = {"plausibility": posterior.name, "items": items, "options": _stated(plausibility, options)}
    settings |= {
        "n_items": given.items.size,
        "truth_is": truth_is,
        "target": posterior.target,
        "missing": missing,
    }
    if known is not None:
        settings |= {"target": AGAINST_GOLD} | vote_against_gold(votes, known, random_seed)
    voted = np.bincount(votes.item_index, minlength=given.items.size) > 0
    apart = None if known is None else np.isin(given.items, [*known])
    if posterior.takes_predictions and not voted.all():
        warn(
            f"{(~voted).sum()} of {voted.size} items have predictions and no annotations: predictions alone inform "
            "their truth, and the scores from annotations alone are about the others"
        )
        apart = voted if apart is None else apart
    slices = ItemGroups.of(by, given.items, "by")
    if slices is not None and slices.names.size < 2:
        raise InputError(
            f"by= puts all items into one slice, {shorten(slices.names)}: there is no rest; leave it out"
        )
    seed = request.random_seed
    weights = ItemWeights(cluster, given.items, request.samples, seed) if items == "bootstrap" else None
    sampled = stream_apart(seed, "sampled truth") if truth_is == "sampled" else None
    another = stream_apart(seed, "another annotator") if another_annotator else None
    scorer = Scorer(given, requested, split_in_two(slices, apart), weights, sampled, another)
    results, learnt, mixed = scored(truths, scorer, progress or silent)
    models = np.append(given.model_names, ANOTHER_ANNOTATOR) if another_annotator else given.model_names
    found = results._replace(models=models, by=slices, gold=known is not None, runs=runs)
    coords = {
        "model": models,
        "item": given.items,
        "part": PARTS[: 3 if runs is None else 4],
        "side": list(SIDES),
        "category": given.categories,
        "other_group": truths.names,
    }
    coords |= {truths.axis: truths.names} if truths.axis else {}
    coords |= {} if runs is None else {"run": runs.names_once}
    coords |= {} if slices is None else {slices.name: slices.names}
    every = found.groups(request.chains)
    if results.by_label:
        every["certainty"]["label_certainty"] = ("item", "category"), np.concatenate(results.by_label)
    scores = {name: xr.Dataset({n: variable(*one) for n, one in of.items()}) for name, of in every.items()}
    groups: Any = by_truth(scores, truths)
    if mixed:
        groups["diagnostics"] = mixed
    if posterior.engine != "exact":
        drawn = {name: of.values for name, of in groups["posterior"].items()}
        warn_of_numbers(drawn, f"raise draws={request.draws}")
    settings |= learnt | {"choice": choice.reason} | dict(truths.settings)
    return result_tree(
        groups, coords, model=posterior.name, engine=posterior.engine, random_seed=seed, settings=settings
    )


def _check(metrics: Sequence[Metric], truth_is: str, items: str, both: bool, cluster: Any) -> None:
    """Refuse arguments that do not go together; `both` are gold and another annotator."""
    one_of(items, "items", ("fixed", "bootstrap"))
    if not metrics:
        raise InputError("there is no metric to compute")
    for metric in metrics:
        check_truth_is(truth_is, metric)
        if metric.record.against_distribution and isinstance(metric.record.kind, Whole):
            raise InputError(
                "a function of all plausibilities needs them in memory: call score() with the posterior and that "
                "function"
            )
    if both:
        raise InputError(
            "another_annotator=True is a score against the annotators' own answers; leave it or gold out"
        )
    if cluster is not None and items != "bootstrap":
        raise InputError("cluster= names what is resampled together: pass items='bootstrap' with it")


def _stated(plausibility: Any, options: Mapping[str, Any]) -> Named:
    """Return the arguments of a posterior that the user stated, for the settings; reliabilities stand there already."""
    if isinstance(plausibility, Posterior):
        every = {name: getattr(plausibility, name) for name in plausibility.arguments()}
        own = type(plausibility)
        options = {n: value for n, value in every.items() if value is not getattr(own, n, None)} | {**options}
    return {name: value for name, value in options.items() if name != "reliability"}


def items_to_score(
    posterior: Posterior,
    annotations: Any,
    predictions: Predictions,
    reliabilities: Sequence[float],
    request: Request,
) -> int:
    """Return the number of items over all truths, and of sweeps before, which `evaluate` counts as its progress."""
    if isinstance(posterior, Guarded):
        return 2 * predictions.items.size + posterior.sweeps(annotations, request)
    return annotations.items.size * len(reliabilities)


def scores_another_annotator(posterior: Posterior, metrics: Sequence[str]) -> bool:
    """Whether the commands score another annotator in any case: beside a fit to predictions it costs little."""
    return posterior.takes_predictions and all(has_one_label(Metric.of(metric)) for metric in metrics)
