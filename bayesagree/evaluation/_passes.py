"""What `evaluate` does with its arguments: one test set, block by block, or one batch of items after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.annotations.gold import Gold
from bayesagree.annotations.missing_predictions import Missing, without_missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, one_of, shorten, warn
from bayesagree.evaluation._results import PARTS, Results, scored
from bayesagree.evaluation.gold import scored_gold, split_in_two
from bayesagree.inference.blocks import Schedule
from bayesagree.inference.convergence import warn_not_converged, warn_of_numbers
from bayesagree.inference.group_scores import WITHOUT_UNSURE
from bayesagree.inference.item_weights import ItemGroups, ItemWeights
from bayesagree.inference.posterior import Posterior, Request, Truths
from bayesagree.inference.results import result_tree, settings_of
from bayesagree.inference.streams import seed_sequence, stream_apart
from bayesagree.metrics._checks import check_order, check_truth_is
from bayesagree.metrics._scorer import ANOTHER_ANNOTATOR, ItemSums, Scorer, TruthIs
from bayesagree.metrics.posterior_scores import SIDES
from bayesagree.metrics.records import Mean
from bayesagree.metrics.registry import Metric
from bayesagree.plausibility.independence import warn_of_dependent
from bayesagree.plausibility.informed.gold import GoldTruth, vote_against_gold
from bayesagree.plausibility.registry import (
    Choice,
    Plausibility,
    default_posterior,
    is_auto,
    reliabilities_of,
    specification_for,
)


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
    # Names of the arguments of `evaluate`, for the error about an unknown one.
    arguments: tuple[str, ...] = ()

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
        """Score the predictions."""
        check_order(self.metrics, getattr(annotations, "has_order", False), annotations.categories.size)
        labels, scored = without_missing(annotations, predictions, self.missing)
        pooled, runs = scored.pooled(), scored.runs
        known = None if self.gold is None else scored_gold(self.gold, predictions, scored)
        options = self.options | ({} if known is None else {"gold": known})
        weighted = {} if self.reliability in (None, (1.0,)) else {"reliability": self.reliability}
        choice = Choice(self.plausibility, "")
        if is_auto(self.plausibility):
            choice = default_posterior(labels, pooled, options | weighted)
        chosen = specification_for(labels, choice.name, options, self.arguments)
        truths = chosen.truths(labels, pooled, self.request, reliabilities_of(chosen, self.reliability))
        annotations, given, posterior = truths.annotations, truths.predictions, truths.posteriors[0]
        if posterior.exchangeable and not posterior.takes_predictions:
            warn_of_dependent(annotations, given)
        if runs is not None:
            given = scored.aligned(given.items, given.categories)
        how = replace(self, request=truths.request)
        slices = None if self.by is None else ItemGroups.of(self.by, given.items, "by")
        settings = how.settings(posterior, given.items.size)
        if known is not None:
            settings |= {"target": GoldTruth.target} | vote_against_gold(
                annotations, known, self.request.random_seed
            )
        voted = np.bincount(annotations.item_index, minlength=given.items.size) > 0
        apart = None if known is None else np.isin(given.items, [*known])
        if posterior.takes_predictions and not voted.all():
            warn(
                f"{(~voted).sum()} of {voted.size} items have predictions and no annotations: predictions alone inform "
                "their truth, and the scores from annotations alone are about the others"
            )
            apart = voted if apart is None else apart
        scorer = how.scorer(given, split_in_two(slices, apart))
        results, learnt, mixed = how.scored(truths, scorer)
        models = given.model_names
        models = np.append(models, ANOTHER_ANNOTATOR) if self.another_annotator else models
        parts = PARTS[:3] if runs is None else PARTS
        coords = {"model": models, "item": given.items, "part": parts, "side": list(SIDES)}
        if runs is not None:
            coords["run"] = runs.names_once
        coords |= {"category": given.categories} | dict(truths.coords)
        if slices is not None:
            coords[slices.name] = slices.names
        found = results._replace(models=models, by=slices, gold=known is not None, runs=runs)
        groups = truths.join(found.groups(how.request.chains))
        if mixed:
            groups["diagnostics"] = mixed
        if results.by_label:
            groups["certainty"]["label_certainty"] = ("item", "category"), np.concatenate(results.by_label)
        settings |= learnt | {"choice": choice.reason} | dict(truths.settings)
        if posterior.engine != "exact":
            drawn = {name: of[1] for name, of in groups["posterior"].items()}
            warn_of_numbers(drawn, f"raise draws={how.request.draws}")
        return result_tree(
            groups,
            coords,
            model=posterior.name,
            engine=posterior.engine,
            random_seed=how.request.random_seed,
            settings=settings,
        )

    def settings(self, posterior: Posterior, n_items: int) -> dict[str, Any]:
        """Return the settings of the result."""
        given = self.options
        if isinstance(own := self.plausibility, Posterior):
            every = {name: getattr(own, name) for name in own.arguments()}
            given = {n: value for n, value in every.items() if value is not getattr(type(own), n, None)} | given
        options = {name: value for name, value in given.items() if name != "reliability"}
        settings = {"plausibility": posterior.name, "items": self.items, "options": options, "n_items": n_items}
        return settings | {"truth_is": self.truth_is, "target": posterior.target, "missing": self.missing}

    def scorer(self, given: Predictions, slices: ItemGroups | None) -> Scorer:
        """Return how every block is scored."""
        random_seed, weights = self.request.random_seed, None
        if self.items == "bootstrap":
            clusters = None if self.cluster is None else ItemGroups.of(self.cluster, given.items, "cluster")
            weights = ItemWeights(clusters, given.items.size, self.request.samples, random_seed)
        sampled = stream_apart(random_seed, "sampled truth") if self.truth_is == "sampled" else None
        another = stream_apart(random_seed, "another annotator") if self.another_annotator else None
        found = Scorer(given, self.metrics, slices, weights, sampled, another)
        if found.whole_shares:
            raise InputError(
                "a function of all plausibilities needs them in memory: call score() with the posterior and that "
                "function"
            )
        return found

    def scored(self, truths: Truths, scorer: Scorer) -> tuple[Results, dict[str, Any], dict[str, Any]]:
        """Score all blocks of items under each truth; return also what the posteriors chose, and their chains.

        The chains, and the probability of each label of an item, are those of the first truth.
        """
        annotations = truths.annotations
        request = replace(self.request, top_labels=scorer.depth, numbers=scorer.numeric)
        sums: list[ItemSums] = []
        certainty, by_label = np.full((len(truths.posteriors), annotations.items.size), np.nan), []
        chosen: dict[str, Any] = {}
        mixed: dict[str, Any] = {}
        for level, posterior in enumerate(truths.posteriors):
            schedule = Schedule(request.client, partial(scored, scorer))
            stream = posterior.blocks(annotations, request, schedule, plausibility=scorer.needs_plausibility)
            chosen |= stream.chosen
            mixed = mixed or dict(stream.diagnostics)
            sums.append(ItemSums(scorer, request.samples))
            r_hat = np.full(annotations.items.size, np.nan)
            for block in stream.blocks:
                sums[-1].add(block.sums)
                certainty[level, block.sums.items] = block.labels.max(axis=1)
                r_hat[block.sums.items] = block.r_hat
                if level == 0 and posterior.takes_predictions:
                    by_label.append(block.labels)
                self.progress(len(block.r_hat))
            warn_not_converged(annotations.items, r_hat, "raise tune=, draws= or thin=")
        return Results(sums, certainty, by_label), chosen, mixed

    def over_batches(self, batches: Iterator[tuple[Annotations, Predictions]]) -> xr.DataTree:
        """Score one batch after the other, each with random numbers of its own, and average, weighted by items.

        The first batch chooses the posterior of all.
        """
        root, sums, models, made = seed_sequence(self.request.random_seed), {}, None, None
        doubted: dict[str, dict[str, None]] = {"left_out": {}, "unsure": {}}
        one, reason, n_items, share = replace(self, progress=lambda n_items: None), "", 0, 0.0
        for number, batch in enumerate(batches):
            annotations, predictions = _pair(number, batch)
            if models is None:
                models = predictions.models
                _require_means(self.metrics)
            elif not np.array_equal(models, predictions.models):
                differ = f"{shorten(predictions.models)}, those of the first are {shorten(models)}"
                raise InputError(
                    f"batch {number}: the models are {differ}; give every batch the same models in one order"
                )
            stream = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, number))
            made = replace(one, request=replace(self.request, random_seed=stream)).result(
                annotations, predictions
            )
            if is_auto(one.plausibility):
                one, reason = replace(one, plausibility=made.attrs["model"]), settings_of(made)["choice"]
            own = made["certainty"].sizes["item"]
            for name, group in _scores_of(made).items():
                sums[name] = own * group if name not in sums else sums[name] + own * group
            n_items += own
            share += own * settings_of(made).get("prior_share", 0.0)
            for name, known in doubted.items():
                known |= dict.fromkeys(settings_of(made).get(name, []))
            self.progress(own)
        if made is None:
            raise InputError("there is no batch; an iterator gives its batches once")
        settings = settings_of(made) | {"n_items": n_items, "choice": reason}
        settings |= {name: list(known) for name, known in doubted.items() if known}
        if "prior_share" in settings:
            settings["prior_share"] = share / n_items
        named = {
            name: {
                str(key): (values.dims, values.values / n_items, made[name][str(key)].attrs)
                for key, values in sum_
            }
            for name, sum_ in ((name, group.items()) for name, group in sums.items())
        }
        every = {**made["runs"].coords} if "runs" in made else {}
        coords = {str(d): of.values for d, of in (every | {**made["posterior"].coords}).items() if d != "draw"}
        how = {
            "model": made.attrs["model"],
            "engine": made.attrs["sampler"],
            "random_seed": self.request.random_seed,
        }
        return result_tree(named, coords, **how, settings=settings)


def _pair(number: int, batch: Any) -> tuple[Annotations, Predictions]:
    kinds = (Labels, Rankings, Ratings), (Predictions,)
    if not isinstance(batch, tuple) or [isinstance(*one) for one in zip(batch, kinds)] != [True, True]:
        raise InputError(
            f"batch {number}: expected a pair (annotations, predictions), got {type(batch).__name__}"
        )
    return batch


def _scores_of(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the groups of an evaluation that are means over items: not its chains, and of certainty the mean."""
    groups = {name: node.to_dataset() for name, node in tree.children.items() if name != "diagnostics"}
    if "annotations_only" in groups:  # of a batch that leaves no doubt both truths are one
        groups.setdefault(WITHOUT_UNSURE, groups["posterior"])
    return groups | {"certainty": groups["certainty"].drop_vars("label_certainty", errors="ignore").mean("item")}


def _require_means(metrics: Sequence[Metric]) -> None:
    for metric in metrics:
        if not isinstance(metric.record.kind, Mean):
            raise InputError(
                f"metric {metric.name!r} is not a mean over items, so batches do not add up to it; leave it out, or "
                "call evaluate() on all items"
            )
