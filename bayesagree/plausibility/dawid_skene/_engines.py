"""One posterior of the Dawid-Skene family with its data and prior, and the engines that compute it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.checkpoint import fingerprint
from bayesagree._inference.results import check_size
from bayesagree._numerics.types import Rng
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.posterior import Request
from bayesagree.errors import InputError, positive_int, shorten
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells, Candidates, annotation_cells
from bayesagree.plausibility.dawid_skene._confusion import Accuracies, ConfusionRows
from bayesagree.plausibility.dawid_skene._gibbs import (
    AccuracySampler,
    ChainDraws,
    CrowdSampler,
    Keep,
    RowSampler,
    run_chains,
)
from bayesagree.plausibility.dawid_skene._item_difficulty import ItemDifficultySampler
from bayesagree.plausibility.dawid_skene._item_prior import DrawnPrior, Regression
from bayesagree.plausibility.dawid_skene._mixed_membership import MixedMembershipSampler
from bayesagree.plausibility.dawid_skene._results import (
    Estimate,
    chains_tree,
    coordinates,
    estimate_tree,
    labels_given,
    watched_candidates,
)
from bayesagree.plausibility.dawid_skene.em import dawid_skene_em, vote_shares
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior
from bayesagree.plausibility.informed.covariates import Covariates

type Variant = Literal[
    "full", "one_coin", "class_conditional", "hierarchical", "item_difficulty", "mixed_membership", "auto"
]
VARIANTS = ("full", "one_coin", "class_conditional", "hierarchical", "item_difficulty", "mixed_membership")
# The two that learn the population: on the 12 open sets no other predicts annotations left out better; with predictions
# (benchmarks/crowd_predictions.py) nor on five of them.
AUTO_VARIANTS = ("hierarchical", "mixed_membership")
"""What ``variant="auto"`` chooses from."""
SCORED_DRAWS = 100
"""Draws of a chain, at most, of a variant that is only scored: its score is a mean over annotations and sweeps."""
# Concentrations move slowly with what they are learnt from: rows of the crowd, and latent labels.
SWEEPS = {"hierarchical": (1000, 3), "mixed_membership": (1500, 6)}
"""Sweeps before the first draw and per draw, where 500 and 1 are too few."""
SWEEPS_OF_PREDICTIONS = (1000, 4)
"""The same with predictions: where annotators are poor, slopes and true labels follow one another."""
EM_VARIANTS = ("full", "one_coin", "class_conditional")


@dataclass(frozen=True, eq=False)
class DawidSkenePosterior:
    """The posterior of `dawid_skene`, with its data and prior."""

    labels: Labels
    variant: Variant = "full"
    prior: DawidSkenePrior | None = None
    gold: Gold | None = None
    candidates: Candidates = "all"
    predictions: Predictions | None = None

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
        if self.variant not in (*VARIANTS, "auto"):
            raise InputError(f"variant={self.variant!r} is not one of {shorten((*VARIANTS, 'auto'), 9)}")

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
        } | ({} if self.predictions is None else {"predictions": fingerprint(self.predictions)})

    @property
    def usual_sweeps(self) -> tuple[int, int]:
        """Sweeps before the first draw and per draw."""
        usual = SWEEPS.get(self.variant, (500, 1))
        return usual if self.predictions is None else max(usual, SWEEPS_OF_PREDICTIONS)

    def all_cells(self) -> AnnotationCells:
        """Return the layout in which every label may be true, for the PyMC model."""
        return _layout(self.labels, "all", np.full(self.labels.items.size, -1), self.variant)

    def gibbs(self, request: Request, *, confusion: bool, tune: int | None, thin: int | None) -> xr.DataTree:
        """Draw with the Gibbs sampler of the variant; with "auto" of all it chooses from, and keep the best."""
        if self.variant != "auto":
            kept, chosen_from = self.chains(request, confusion=confusion, tune=tune, thin=thin), {}
        else:
            first, last = (replace(self, variant=variant) for variant in AUTO_VARIANTS)
            # The last one is the usual choice: it is drawn in full at once, the first one only to be scored.
            short = replace(request, draws=min(request.draws, SCORED_DRAWS), top_labels=1)
            score = first.chains(short, confusion=False, tune=tune, thin=thin, scored=True).log_score
            kept = last.chains(request, confusion=confusion, tune=tune, thin=thin, scored=True)
            chosen_from = {"chosen_from": dict(zip(AUTO_VARIANTS, (score, kept.log_score)))}
            if score > kept.log_score:
                kept = first.chains(request, confusion=confusion, tune=tune, thin=thin)
        settings = kept.settings | chosen_from
        return chains_tree(self.labels, kept.cells, kept.chains, engine="gibbs", seed=request.seed, settings=settings)

    def chains(
        self, request: Request, *, confusion: bool, tune: int | None, thin: int | None, scored: bool = False
    ) -> "Drawn":
        """Run the chains of one variant; where they are scored, the result knows its `log_score`."""
        usual_tune, usual_thin = self.usual_sweeps
        tune = usual_tune if tune is None else tune
        thin = usual_thin if thin is None else positive_int(thin, "thin")
        labels, gold = self.labels, self.gold_index
        cells = _layout(labels, self.candidates, gold, self.variant)
        known = gold[labels.item_index]
        votes = np.where(known >= 0, known, labels.label_index)  # chains start from gold where there is some
        shares = vote_shares(cells, labels.item_index, votes)
        watched = watched_candidates(cells, shares)
        keep = Keep(labels.categories.size, labels.annotators.size, request.top_labels, confusion, watched)
        length = {"tune": tune, "draws": request.draws, "thin": thin, "chains": request.chains, "seed": request.seed}
        chains = run_chains(self.start(cells, shares), keep, **length, client=request.client, scored=scored)
        return Drawn(cells, chains, self.settings | {"tune": tune, "thin": thin}, labels.annotators.size)

    def start(self, cells: AnnotationCells, shares: NDArray[np.float64]) -> Callable[[Rng], CrowdSampler]:
        """Return how a chain of the variant starts."""
        labels, variant, prior = self.labels, self.variant, self.prior or DawidSkenePrior()
        n_labels, n_annotators = labels.categories.size, labels.annotators.size
        regression = None
        if self.predictions is not None:
            regression = Regression(Covariates.of(self.predictions), cells.counted)

        def start(rng: Rng) -> CrowdSampler:
            item_prior = None if regression is None else DrawnPrior(regression, cells, shares)
            if variant == "mixed_membership":
                return MixedMembershipSampler(cells, n_annotators, prior, shares, n_labels, rng, item_prior)
            if variant == "item_difficulty":
                given = (labels.annotator_index, labels.label_index)
                return ItemDifficultySampler(cells, *given, n_annotators, prior, shares, n_labels, rng, item_prior)
            shared = (prior.prevalence, shares, n_labels, rng, item_prior)
            if variant in ("full", "hierarchical"):
                rows = ConfusionRows(cells, prior, n_labels, n_annotators, learnt=variant == "hierarchical")
                return RowSampler(cells, rows, *shared)
            return AccuracySampler(cells, Accuracies(cells, prior, n_labels, one_coin=variant == "one_coin"), *shared)

        return start

    def em(self, request: Request, restarts: int, tolerance: float, max_iterations: int) -> xr.DataTree:
        """Climb to one point estimate."""
        if self.variant not in EM_VARIANTS:
            raise InputError(f"variant={self.variant!r} has no EM; use {shorten(EM_VARIANTS)} or engine='gibbs'")
        labels, prior, gold = self.labels, self.prior, self.gold_index
        n_labels, n_annotators = labels.categories.size, labels.annotators.size
        matrix = {"annotator": n_annotators, "category": n_labels, "observed_category": n_labels}
        check_size(matrix, 8, request.max_bytes, "use dawid_skene_em, whose result stays sparse")
        codes = labels.item_index, labels.annotator_index, labels.label_index
        model: dict[str, Any] = {"variant": self.variant, "candidates": self.candidates}
        if prior is not None:
            model |= {"prior_confusion": prior.confusion(n_labels), "prior_prevalence": prior.prevalence}
        if self.predictions is not None:
            model["covariates"] = Covariates.of(self.predictions)
        if (gold >= 0).any():
            model["gold"] = gold
        length = {"restarts": restarts, "tolerance": tolerance, "max_iterations": max_iterations}
        how = model | length | {"seed": request.seed, "client": request.client}
        sizes = {"n_items": labels.items.size, "n_annotators": n_annotators, "n_labels": n_labels}
        fit = dawid_skene_em(*codes, **sizes, **how)
        matrices, given = fit.confusion(n_annotators), labels_given(labels)
        estimate = Estimate(fit.prevalence, matrices, fit.log_likelihood, fit.converged, given, fit.label_probability)
        return estimate_tree(estimate, coordinates(labels), request.seed, self.settings)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Chains of one variant, with the layout and the settings they were drawn with."""

    cells: AnnotationCells
    chains: list[ChainDraws]
    settings: dict[str, Any]
    n_annotators: int

    @property
    def log_score(self) -> float:
        """Mean log Pr(annotation given all others), the leave-one-out predictive density; NaN where it is not known.

        1 / Pr(l given all others) is the posterior mean of 1 / Pr(l given the others and the unknowns).
        """
        surprise = np.mean([chain.surprise for chain in self.chains], axis=0)
        known = self.cells.annotator() < self.n_annotators  # not gold, which is an expert's annotation
        return float(-np.log(surprise[known]).mean()) if surprise.size else float("nan")


def _layout(labels: Labels, candidates: Candidates, gold: NDArray[np.int64], variant: Variant) -> AnnotationCells:
    item, annotator, label = labels.item_index, labels.annotator_index, labels.label_index
    n_annotators, known = labels.annotators.size, np.flatnonzero(gold >= 0)
    if variant == "mixed_membership" and known.size:  # an expert's annotations, not a single truth
        item, label = np.append(item, known), np.append(label, gold[known])
        annotator = np.append(annotator, np.full(known.size, n_annotators))
        n_annotators += 1
        known = known[:0]
    sizes, known_truth = (labels.items.size, n_annotators, labels.categories.size), gold if known.size else None
    return annotation_cells(item, annotator, label, *sizes, candidates=candidates, gold=known_truth)
