"""One posterior of the Dawid-Skene family with its data and prior, and the engines that compute it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Rng
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.errors import InputError, positive_int, shorten
from bayesagree.inference.posterior import Request
from bayesagree.inference.results import check_size
from bayesagree.inference.streams import map_blocks, stream_apart
from bayesagree.plausibility.dawid_skene._average import (
    FOLDS,
    HeldOut,
    VotesSampler,
    draws_of_each,
    folds,
    mean_weights,
)
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells, Candidates, annotation_cells
from bayesagree.plausibility.dawid_skene._confusion import Accuracies, ConfusionRows
from bayesagree.plausibility.dawid_skene._gibbs import (
    AccuracySampler,
    CrowdSampler,
    Keep,
    RowSampler,
    Start,
    run_chains,
)
from bayesagree.plausibility.dawid_skene._mixed_membership import MixedMembershipSampler
from bayesagree.plausibility.dawid_skene._ordered import OrderedSampler
from bayesagree.plausibility.dawid_skene._results import (
    Drawn,
    chains_tree,
    estimate_tree,
    monitored_candidates,
)
from bayesagree.plausibility.dawid_skene.em import dawid_skene_em, vote_shares
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

type Variant = Literal[
    "full",
    "one_coin",
    "class_conditional",
    "hierarchical",
    "mixed_membership",
    "ordered",
    "votes",
    "auto",
]
# Variants with a model of the annotators; "votes" has none.
VARIANTS = ("full", "one_coin", "class_conditional", "hierarchical", "mixed_membership")
# What ``variant="auto"`` averages, beside mixed membership with the prior of accurate annotators; of labels in a stated
# order also "ordered". With "hierarchical" and "full" the mean gap of 12 open sets is .068 instead of .050: models of
# one truth are overconfident. Mixed membership contains "hierarchical", where its alpha is small.
AVERAGED: tuple[Variant, ...] = ("mixed_membership", "votes")
# Name in the average of mixed membership with the prior of accurate annotators.
ACCURATE_ANNOTATORS = "accurate_annotators"
# Parts whose annotators each read a label from the item's plausibilities; by other variants an item has one true label.
READ_PLAUSIBILITIES = (*AVERAGED, ACCURATE_ANNOTATORS)
# By this prior a rare label does not become the name of all items on which annotators disagree.
ACCURATE = DawidSkenePrior(accuracy=0.85, strength=40.0)
# Length of the chains that predict annotators held out, at most: a score is a mean over hundreds of labels.
HELD_OUT_RUN = {"tune": 400, "draws": 50, "thin": 2, "chains": 2}
# Concentrations move slowly with what they are learnt from: rows of the crowd, and latent labels.
# Sweeps before the first draw and per draw, where they are not 500 and 1.
SWEEPS = {"hierarchical": (1000, 3), "mixed_membership": (1500, 6), "votes": (0, 1), "ordered": (300, 1)}
EM_VARIANTS = ("full", "one_coin", "class_conditional")


@dataclass(frozen=True, eq=False)
class DawidSkenePosterior:
    """The posterior of `dawid_skene`, with its data and prior."""

    labels: Labels
    variant: Variant = "full"
    prior: DawidSkenePrior | None = None
    gold: Gold | None = None
    candidates: Candidates = "all"

    def __post_init__(self) -> None:
        labels = self.labels
        if not labels.annotators_known:
            raise InputError("dawid_skene needs to know who gave which label; counts (from_counts) go to dirichlet()")
        if labels.n_annotations == 0:
            raise InputError("there is no label: every annotation is missing")
        if labels.categories.size < 2:
            raise InputError(
                f"there is only the label {shorten(labels.categories)}; name all possible labels with labels=[...]"
            )
        if self.variant not in (*VARIANTS, "ordered", "votes", "auto"):
            known = shorten((*VARIANTS, "ordered", "votes", "auto"), 9)
            raise InputError(f"variant={self.variant!r} is not one of {known}")
        if self.variant == "ordered":
            self._check_ordered()

    def _check_ordered(self) -> None:
        if not self.labels.has_order:
            raise InputError("variant='ordered' needs an order of the labels: Labels(..., labels=[...], ordered=True)")
        if self.candidates != "all":
            raise InputError("variant='ordered' takes no candidates=; leave it out, or use 'mixed_membership'")

    @cached_property
    def gold_index(self) -> NDArray[np.int64]:
        """Known true labels, -1 where unknown, shape (item,)."""
        return gold_codes(self.gold, self.labels.items, self.labels.categories)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that define the model."""
        return {
            "variant": self.variant,
            "candidates": self.candidates,
            "prior": None if self.prior is None else asdict(self.prior),
            "n_gold": int((self.gold_index >= 0).sum()),
        }

    @property
    def usual_sweeps(self) -> tuple[int, int]:
        """Sweeps before the first draw and per draw."""
        return SWEEPS.get(self.variant, (500, 1))

    def all_cells(self) -> AnnotationCells:
        """Return the layout in which every label may be true, for the PyMC model."""
        return _layout(self.labels, "all", np.full(self.labels.items.size, -1), self.variant)

    def gibbs(self, request: Request, *, confusion: bool, tune: int | None, thin: int | None) -> xr.DataTree:
        """Draw with the Gibbs sampler of the variant; with "auto" from each of the average as often as it weighs."""
        weights = {self.variant: 1.0} if self.variant != "auto" else self.weights(request, tune)
        fits = {self.variant: self} if self.variant != "auto" else self.averaged
        parts, length = [], {"tune": tune, "thin": thin}
        for name, draws in zip(weights, draws_of_each(np.array(list(weights.values())), request.draws)):
            if draws:
                part = fits[name].chains(replace(request, draws=int(draws)), confusion=confusion, **length)
                parts.append(part._replace(name=name))
        settings = parts[0].settings if len(parts) == 1 else self.settings | length
        if self.variant == "auto":
            settings |= {"weights": weights}
        return chains_tree(self.labels, parts, engine="gibbs", random_seed=request.random_seed, settings=settings)

    @property
    def averaged(self) -> "dict[str, DawidSkenePosterior]":
        """The posteriors that "auto" averages, by name.

        None of accurate annotators beside a prior of the user's own, nor of two labels: which is which would follow
        from the prior alone.
        """
        fits: dict[str, DawidSkenePosterior] = {name: replace(self, variant=name) for name in AVERAGED}
        if self.prior is None and self.labels.categories.size > 2:
            fits[ACCURATE_ANNOTATORS] = replace(self, variant="mixed_membership", prior=ACCURATE)
        if self.labels.ordered and self.candidates == "all":
            fits["ordered"] = replace(self, variant="ordered")
        return fits

    def weights(self, request: Request, tune: int | None) -> dict[str, float]:
        """Weigh the posteriors of the average by their predictions of annotators held out."""
        labels, run = self.labels, HELD_OUT_RUN
        length = {"tune": run["tune"] if tune is None else min(tune, run["tune"]), "thin": run["thin"]}
        short = replace(request, draws=run["draws"], chains=run["chains"], top_labels=1, progress=None)
        rng, averaged = np.random.default_rng(stream_apart(request.random_seed, "folds")), self.averaged
        fold = folds(labels, rng)
        rows = ("item_index", "annotator_index", "label_index", "count")

        def held_out(part: int) -> HeldOut | None:
            others = replace(labels, **{name: getattr(labels, name)[fold != part] for name in rows})
            seen = np.bincount(others.item_index, minlength=labels.items.size) > 0
            at = np.flatnonzero((fold == part) & (seen & (self.gold_index < 0))[labels.item_index])
            if not at.size:
                return None
            item, annotator, label = (getattr(labels, name)[at].astype(np.int64) for name in rows[:3])
            chance = []
            for fit in (
                replace(fit, labels=others) for fit in averaged.values()
            ):  # the expected plausibilities of "votes" are those of every draw
                few = replace(short, draws=1, chains=1) if fit.variant == "votes" else short
                chance.append(fit.chains(few, confusion=False, **length).label_probability()[item, label])
            return HeldOut(item * FOLDS + part, annotator, label, np.column_stack(chance))

        found = [part for part in map_blocks(held_out, list(range(FOLDS))) if part is not None]
        if not found:  # no item has a second label
            return dict.fromkeys(averaged, 1 / len(averaged))
        weight = mean_weights(found, labels.annotators.size, labels.categories.size)
        return {name: float(w) for name, w in zip(averaged, weight) if w}

    def chains(self, request: Request, *, confusion: bool, tune: int | None, thin: int | None) -> Drawn:
        """Run the chains of one variant."""
        usual_tune, usual_thin = self.usual_sweeps
        tune = usual_tune if tune is None else tune
        thin = usual_thin if thin is None else positive_int(thin, "thin")
        labels, gold = self.labels, self.gold_index
        cells = _layout(labels, self.candidates, gold, self.variant)
        known = gold[labels.item_index]
        votes = np.where(known >= 0, known, labels.label_index)  # chains start from gold where there is some
        shares = vote_shares(cells, labels.item_index, votes)
        monitored = monitored_candidates(cells, shares)
        keep = Keep(labels.categories.size, labels.annotators.size, request.top_labels, confusion, monitored)
        length = {
            "tune": tune,
            "draws": request.draws,
            "thin": thin,
            "chains": request.chains,
            "random_seed": request.random_seed,
        }
        chains = run_chains(self.start(cells, shares), keep, **length, client=request.client, progress=request.progress)
        return Drawn(cells, chains, self.settings | {"tune": tune, "thin": thin}, labels.categories.size)

    def start(self, cells: AnnotationCells, shares: NDArray[np.float64]) -> Callable[[Rng], CrowdSampler]:
        """Return how a chain of the variant starts."""
        labels, variant, prior = self.labels, self.variant, self.prior or DawidSkenePrior()
        n_labels, n_annotators = labels.categories.size, labels.annotators.size

        def start(rng: Rng) -> CrowdSampler:
            if variant == "ordered":
                return OrderedSampler(cells, labels, rng, self.gold_index)
            if variant == "mixed_membership":
                return MixedMembershipSampler(cells, n_annotators, prior, shares, n_labels, rng)
            shared = Start(cells, prior.prevalence, shares, n_labels, rng)
            if variant == "votes":
                rows = ConfusionRows(cells, prior, n_labels, n_annotators)
                return VotesSampler(shared, rows)
            if variant in ("full", "hierarchical"):
                rows = ConfusionRows(cells, prior, n_labels, n_annotators, learnt=variant == "hierarchical")
                return RowSampler(shared, rows)
            return AccuracySampler(shared, Accuracies(cells, prior, n_labels, one_coin=variant == "one_coin"))

        return start

    def em(self, request: Request, restarts: int, tolerance: float, max_iterations: int) -> xr.DataTree:
        """Climb to one point estimate."""
        if self.variant not in EM_VARIANTS:
            raise InputError(f"variant={self.variant!r} has no EM; use {shorten(EM_VARIANTS)} or engine='gibbs'")
        labels, prior, gold = self.labels, self.prior, self.gold_index
        n_labels, n_annotators = labels.categories.size, labels.annotators.size
        matrix = {"annotator": n_annotators, "category": n_labels, "observed_category": n_labels}
        check_size(matrix, 8, "use dawid_skene_em, whose result stays sparse")
        codes = labels.item_index, labels.annotator_index, labels.label_index
        model: dict[str, Any] = {"variant": self.variant, "candidates": self.candidates}
        if prior is not None:
            model |= {"prior_confusion": prior.confusion(n_labels), "prior_prevalence": prior.prevalence}
        if (gold >= 0).any():
            model["gold"] = gold
        length = {"restarts": restarts, "tolerance": tolerance, "max_iterations": max_iterations}
        how = model | length | {"random_seed": request.random_seed, "client": request.client}
        sizes = {"n_items": labels.items.size, "n_annotators": n_annotators, "n_labels": n_labels}
        fit = dawid_skene_em(*codes, **sizes, **how)
        return estimate_tree(fit, labels, request.random_seed, self.settings)


def _layout(labels: Labels, candidates: Candidates, gold: NDArray[np.int64], variant: Variant) -> AnnotationCells:
    item, annotator, label = labels.item_index, labels.annotator_index, labels.label_index
    n_annotators, known = labels.annotators.size, np.flatnonzero(gold >= 0)
    if variant in ("mixed_membership", "ordered") and known.size:  # an expert's annotations, not a single truth
        item, label = np.append(item, known), np.append(label, gold[known])
        annotator = np.append(annotator, np.full(known.size, n_annotators))
        n_annotators += 1
        known = known[:0]
    sizes, known_truth = (labels.items.size, n_annotators, labels.categories.size), gold if known.size else None
    return annotation_cells(item, annotator, label, *sizes, candidates=candidates, gold=known_truth)
