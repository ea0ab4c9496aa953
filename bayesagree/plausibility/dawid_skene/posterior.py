"""Plausibilities from annotators of individual reliability: the Dawid-Skene family.

Every item has one true label z_i ~ prevalence; annotator j who sees truth k gives label l with probability
confusion_jkl. The variants differ in what an annotator is:

==================  =================================================================================================
variant             confusion
==================  =================================================================================================
one_coin            one accuracy per annotator; wrong answers are uniform
class_conditional   one accuracy per annotator and true label; wrong answers are uniform
full                row k of annotator j ~ Dirichlet(prior row k)
hierarchical        row k of annotator j ~ Dirichlet(kappa_k phi_k): kappa and phi of the population are learnt
item_difficulty     logit Pr(right) = ability_j - difficulty_i; wrong answers are uniform
mixed_membership    full rows with learnt kappa and phi, but the item has no single truth: lambda_i ~ Dirichlet(alpha
                    prevalence), and each annotation answers for a latent label c ~ lambda_i of its own
==================  =================================================================================================

All but the last suppose that annotators err independently given the truth. Where items are ambiguous they do not, and
the posterior is overconfident; by how much cannot be learnt from labels alone. Discount by
`variant="mixed_membership"`, and calibrate against a small gold set (`bayesagree.calibrate`).

Sources: Dawid and Skene, Applied Statistics 28 (1979); Paun et al., "Comparing Bayesian models of annotation", TACL 6
(2018) (the hierarchical and item-difficulty variants).
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._arguments import checked
from bayesagree._inference.nuts import Sampler
from bayesagree._inference.results import MAX_BYTES, check_size, result_tree
from bayesagree._inference.streams import Seed, item_blocks
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.errors import InputError, positive_int, shorten
from bayesagree.plausibility._draws.blocks import LOCAL, DrawBlock, Schedule
from bayesagree.plausibility._draws.run import Request
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells, Candidates, annotation_cells
from bayesagree.plausibility.dawid_skene._confusion import Accuracies, FullRows, HierarchicalRows, Rng
from bayesagree.plausibility.dawid_skene._gibbs import AccuracySampler, CrowdSampler, Keep, RowSampler, run_chains
from bayesagree.plausibility.dawid_skene._item_difficulty import ItemDifficultySampler
from bayesagree.plausibility.dawid_skene._mixed_membership import MixedMembershipSampler
from bayesagree.plausibility.dawid_skene._results import (
    chains_tree,
    check_result,
    coordinates,
    labels_given,
    watched_candidates,
)
from bayesagree.plausibility.dawid_skene.em import dawid_skene_em, vote_shares
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

type Variant = Literal["full", "one_coin", "class_conditional", "hierarchical", "item_difficulty", "mixed_membership"]
VARIANTS = ("full", "one_coin", "class_conditional", "hierarchical", "item_difficulty", "mixed_membership")
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
        if self.variant not in VARIANTS:
            raise InputError(f"variant={self.variant!r} is not one of {shorten(VARIANTS, 9)}")

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

    def all_cells(self) -> AnnotationCells:
        """Return the layout in which every label may be true, for the PyMC model."""
        return _layout(self.labels, "all", np.full(self.labels.items.size, -1), self.variant)

    def gibbs(self, request: Request, *, confusion: bool, tune: int | None, thin: int | None) -> xr.DataTree:
        """Draw with the Gibbs sampler of the variant."""
        # Mixed membership moves slowly between latent labels and their concentration.
        slow = self.variant == "mixed_membership"
        tune = (1500 if slow else 500) if tune is None else tune
        thin = (6 if slow else 1) if thin is None else positive_int(thin, "thin")
        labels, gold = self.labels, self.gold_index
        cells = _layout(labels, self.candidates, gold, self.variant)
        known = gold[labels.item_index]
        votes = np.where(known >= 0, known, labels.label_index)  # chains start from gold where there is some
        shares = vote_shares(cells, labels.item_index, votes)
        watched = watched_candidates(cells, shares)
        keep = Keep(labels.categories.size, labels.annotators.size, request.top_labels, confusion, watched)
        chains = run_chains(
            self.start(cells, shares), keep, tune=tune, draws=request.draws, thin=thin, chains=request.chains,
            seed=request.seed, client=request.client,
        )  # fmt: skip
        settings = self.settings | {"tune": tune, "thin": thin}
        return chains_tree(labels, cells, chains, engine="gibbs", seed=request.seed, settings=settings)

    def nuts(self, request: Request, *, confusion: bool, tune: int | None) -> xr.DataTree:
        """Draw from the PyMC model."""
        from bayesagree.plausibility.dawid_skene.model import sample_dawid_skene

        if self.candidates != "all":
            raise InputError("candidates='observed' exists for engine='gibbs' and 'em' only")
        return sample_dawid_skene(self, request, confusion=confusion, tune=tune)

    def start(self, cells: AnnotationCells, shares: NDArray[np.float64]) -> Callable[[Rng], CrowdSampler]:
        """Return how a chain of the variant starts."""
        labels, variant, prior = self.labels, self.variant, self.prior or DawidSkenePrior()
        n_labels, n_annotators = labels.categories.size, labels.annotators.size

        def start(rng: Rng) -> CrowdSampler:
            if variant == "mixed_membership":
                return MixedMembershipSampler(cells, n_annotators, prior, shares, n_labels, rng)
            if variant == "item_difficulty":
                given = (labels.annotator_index, labels.label_index)
                return ItemDifficultySampler(cells, *given, n_annotators, prior, shares, n_labels, rng)
            shared = (prior.prevalence, shares, n_labels, rng)
            if variant == "full":
                return RowSampler(cells, FullRows(cells, prior, n_labels), *shared)
            if variant == "hierarchical":
                return RowSampler(cells, HierarchicalRows(cells, prior, n_labels, n_annotators), *shared)
            return AccuracySampler(cells, Accuracies(cells, prior, n_labels, one_coin=variant == "one_coin"), *shared)

        return start

    def em(self, request: Request, restarts: int) -> xr.DataTree:
        """Climb to one point estimate."""
        if self.variant not in EM_VARIANTS:
            raise InputError(f"variant={self.variant!r} has no EM; use {shorten(EM_VARIANTS)} or engine='gibbs'")
        labels, prior, gold = self.labels, self.prior, self.gold_index
        n_labels, n_annotators = labels.categories.size, labels.annotators.size
        matrix = {"annotator": n_annotators, "category": n_labels, "observed_category": n_labels}
        check_size(matrix, 8, request.max_bytes, "use dawid_skene_em, whose result stays sparse")
        fit = dawid_skene_em(
            labels.item_index, labels.annotator_index, labels.label_index,
            n_items=labels.items.size, n_annotators=n_annotators, n_labels=n_labels,
            variant=self.variant,  # type: ignore[arg-type]
            prior_confusion=None if prior is None else prior.confusion(n_labels),
            prior_prevalence=0.0 if prior is None else prior.prevalence,
            gold=gold if (gold >= 0).any() else None, candidates=self.candidates, restarts=restarts,
            seed=request.seed, client=request.client,
        )  # fmt: skip
        if not fit.converged:
            warnings.warn(
                f"EM did not converge in {fit.log_likelihood.size} iterations; use dawid_skene_em with more of them",
                UserWarning,
                stacklevel=4,
            )
        confusion, probability = fit.confusion(n_annotators), fit.label_probability
        accuracy = np.nansum(np.diagonal(confusion, axis1=1, axis2=2) * fit.prevalence, axis=1)
        once = ("chain", "draw")
        return result_tree(
            {
                "posterior": {
                    "plausibility": ((*once, "item", "category"), probability[None, None]),
                    "prevalence": ((*once, "category"), fit.prevalence[None, None]),
                    "confusion": ((*once, "annotator", "category", "observed_category"), confusion[None, None]),
                    "accuracy": ((*once, "annotator"), accuracy[None, None]),
                },
                "diagnostics": {"log_likelihood": (("iteration",), fit.log_likelihood)},
                "derived": {"label_probability": (("item", "category"), probability)},
                "constant_data": {"n_labels_given": (("annotator",), labels_given(labels))},
            },
            coordinates(labels),
            model="dawid_skene",
            engine="em",
            seed=request.seed,
            settings=self.settings,
        )


def _layout(labels: Labels, candidates: Candidates, gold: NDArray[np.int64], variant: Variant) -> AnnotationCells:
    item, annotator, label = labels.item_index, labels.annotator_index, labels.label_index
    n_annotators, known = labels.annotators.size, np.flatnonzero(gold >= 0)
    if variant == "mixed_membership" and known.size:  # an expert's annotations, not a single truth
        item, label = np.append(item, known), np.append(label, gold[known])
        annotator = np.append(annotator, np.full(known.size, n_annotators))
        n_annotators += 1
        known = known[:0]
    return annotation_cells(
        item, annotator, label,
        n_items=labels.items.size, n_annotators=n_annotators, n_labels=labels.categories.size,
        candidates=candidates, gold=gold if known.size else None,
    )  # fmt: skip


@checked
def dawid_skene(
    labels: Labels,
    *,
    variant: Variant = "full",
    prior: DawidSkenePrior | None = None,
    gold: Gold | None = None,
    candidates: Candidates = "all",
    draws: int = 1000,
    chains: int = 4,
    tune: int | None = None,
    thin: int | None = None,
    restarts: int = 0,
    seed: Seed = None,
    engine: Literal["gibbs", "em", "nuts"] = "gibbs",
    sampler: Sampler = None,
    top_labels: int | None = None,
    confusion: bool = True,
    max_bytes: int = MAX_BYTES,
    client: Any = None,
) -> xr.DataTree:
    """Infer the true label of each item together with the confusion of each annotator.

    Parameters
    ----------
    labels
        Single labels by known annotators. Repeated labels of one item by one annotator (``duplicates="keep"``) are
        separate judgments, as in the data of Dawid and Skene, where an anaesthetist judged each patient three times:
        every one of them counts in full.
    variant
        What an annotator is; see the table of this module.
    engine
        ``"gibbs"`` draws from the posterior; ``"em"`` climbs to one point estimate (full, class_conditional and
        one_coin); ``"nuts"`` samples `dawid_skene_model`, where true labels are summed out, with PyMC.
    prior
        Hyperparameters; None is `DawidSkenePrior()` for the posterior, and no prior (maximum likelihood) for
        ``engine="em"``.
    gold
        Items whose true label is known: item to label. They teach the annotators' confusion. In mixed membership a
        gold label is an expert's latent label of the item, which stays as ambiguous as it is.
    candidates
        Which labels may be true: ``"all"``, or ``"observed"``, those that somebody gave the item. With thousands of
        labels the second keeps time and memory proportional to the annotations.
    draws, chains, tune, thin
        Kept draws per chain; sweeps before the first of them (500, 1500 for mixed membership); sweeps per kept draw (1,
        6 for mixed membership).
    restarts
        Further random starts of EM; the best likelihood wins.
    seed
        Same seed, same draws, on any number of threads.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    confusion
        Keep the draws of whole confusion matrices; without them only each annotator's accuracy.
    max_bytes
        Largest result to keep in memory.
    client
        A `distributed.Client` to run on instead of threads of this process: one chain, or one start of EM, a task.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category) or ``top_label`` (chain, draw, item, rank);
        ``prevalence`` (chain, draw, category); ``confusion`` (chain, draw, annotator, category, observed_category);
        ``accuracy`` (chain, draw, annotator), the chance of a right answer to an item drawn by prevalence; and what
        the variant adds (``concentration``, ``crowd_confusion``, ``difficulty``, ``ambiguity`` = alpha). Where an item
        has one truth, a draw's plausibility is the drawn truth (all but a thousandth, which orders the other labels):
        its mean is the posterior probability, its best label the draw. Group ``derived``: ``label_probability``
        (item, category), the same mean with less Monte-Carlo error. Group ``diagnostics``: ``r_hat`` and ``ess`` of
        prevalence, the variant's parameters, up to 50 annotators' accuracies and up to 50 items.

        With ``engine="em"`` there is one chain of one draw, and ``diagnostics`` holds ``log_likelihood``
        (iteration).

    Raises
    ------
    InputError
        Unknown annotators, a single label, gold that names no item or label, an engine the variant does not have.
    SizeError
        A result above `max_bytes`, with its size and the way out.

    Warns
    -----
    UserWarning
        Chains of 100 draws or more that disagree (r-hat above 1.1 for shared parameters, above 1.5 for an annotator or
        an item): draw longer; chains that still disagree have found different explanations. EM that did not converge.

    References
    ----------
    .. [1] A. P. Dawid, A. M. Skene, Applied Statistics 28 (1979) 20-28.
    .. [2] S. Paun et al., "Comparing Bayesian models of annotation", TACL 6 (2018) 571-585.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "b"], ["b", "b", "a"]])
    >>> tree = dawid_skene(votes, draws=200, chains=2, seed=1)
    >>> tree["derived"]["label_probability"].idxmax("category").values.tolist()
    ['a', 'b', 'a', 'b']
    >>> dict(tree["posterior"]["confusion"].sizes)
    {'chain': 2, 'draw': 200, 'annotator': 3, 'category': 2, 'observed_category': 2}
    """
    if engine not in ("gibbs", "em", "nuts"):
        raise InputError(f"engine={engine!r} is not one of 'gibbs', 'em', 'nuts'")
    fit = DawidSkenePosterior(labels, variant, prior, gold, candidates)
    request = Request(draws, chains, seed, engine, sampler, top_labels, max_bytes, client)
    if engine == "em":
        return fit.em(request, restarts)
    check_result(labels, request, confusion=confusion)
    if engine == "nuts":
        return fit.nuts(request, confusion=confusion, tune=tune)
    return fit.gibbs(request, confusion=confusion, tune=tune, thin=thin)


def dawid_skene_blocks(
    labels: Labels,
    *,
    depth: int,
    variant: Variant = "full",
    prior: DawidSkenePrior | None = None,
    gold: Gold | None = None,
    candidates: Candidates = "all",
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    max_bytes: int = MAX_BYTES,
    schedule: Schedule = LOCAL,
) -> Iterator[Any]:
    """Give the `depth` best labels of each draw, block of items by block.

    Best is the drawn true label; the others follow by their probability in that draw. In mixed membership the order
    is that of the drawn plausibilities. The chains of all items run first, because annotators join the items.
    """
    tree = dawid_skene(
        labels, variant=variant, prior=prior, gold=gold, candidates=candidates, draws=draws, chains=chains, seed=seed,
        top_labels=depth, confusion=False, max_bytes=max_bytes, client=schedule.client,
    )  # fmt: skip
    top = tree["posterior"].to_dataset()["top_label"].values
    samples = top.reshape(-1, *top.shape[2:])
    for items in item_blocks(labels.items.size)[schedule.first :]:
        block = DrawBlock(items, np.ascontiguousarray(samples[:, items].swapaxes(0, 1)))
        yield block if schedule.then is None else schedule.then(block)
