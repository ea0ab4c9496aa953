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
mixed_membership    full rows with learnt kappa and phi, but the item has no single truth: lambda_i ~ Dirichlet(alpha
                    prevalence), and each annotation answers for a latent label c ~ lambda_i of its own
ordered             labels have an order: Pr(at most c) = Phi(tau_kc - a_k u_i), u_i ~ N(0, 1) a latent truth, tau_k the
                    crowd's thresholds, shifted (severity) and stretched; lambda_i are the shares of typical annotators
votes               none: lambda_i ~ Dirichlet(votes + 1/K), and annotators are compared with a truth drawn from it
==================  =================================================================================================

All but the last three suppose that annotators err independently given the truth. Where items are ambiguous they do not,
and the posterior is overconfident; by how much cannot be learnt from labels alone. The default, ``variant="auto"``,
averages mixed membership and votes, of three labels or more also mixed membership with a prior of accurate annotators
(``accuracy=.85, strength=40``), of labels in a stated order also the ordered model; calibrate it against a small
gold set (`bayesagree.calibrate`).

Sources: Dawid and Skene, Applied Statistics 28 (1979); Paun et al., "Comparing Bayesian models of annotation", TACL 6
(2018) (the hierarchical variant).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import xarray as xr

from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold
from bayesagree.errors import InputError
from bayesagree.inference.blocks import LOCAL, Schedule, Stream
from bayesagree.inference.nuts import Sampler
from bayesagree.inference.posterior import Posterior, Request
from bayesagree.inference.results import settings_of
from bayesagree.inference.streams import Seed
from bayesagree.inference.top_labels import stream_of, truth_draws
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.dawid_skene._cells import Candidates
from bayesagree.plausibility.dawid_skene._engines import DawidSkenePosterior, Variant
from bayesagree.plausibility.dawid_skene._results import CHOSEN, check_result, require_mixed
from bayesagree.plausibility.dawid_skene.model import dawid_skene_model, sample_dawid_skene
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class DawidSkene(Posterior):
    """Specification of the posterior of `dawid_skene`, whose arguments it holds.

    `evaluate` refuses chains that disagree, unless `allow_unmixed`.
    """

    variant: Variant = "auto"
    prior: DawidSkenePrior | None = None
    gold: Gold | None = None
    candidates: Candidates = "all"
    tune: int | None = None
    thin: int | None = None
    allow_unmixed: bool = False
    restarts: int = 0
    confusion: bool = True
    tolerance: float = 1e-10
    max_iterations: int = 1000
    name = "dawid_skene"
    exchangeable = False

    def draw(self, annotations: Labels, request: Request) -> xr.DataTree:
        """Draw with the engine of the request."""
        labels, engine = annotations, request.engine or "gibbs"
        if engine not in ("gibbs", "em", "nuts"):
            raise InputError(f"engine={engine!r} is not one of 'gibbs', 'em', 'nuts'")
        fit = DawidSkenePosterior(labels, self._variant(engine), self.prior, self.gold, self.candidates)
        if engine == "em":
            return fit.em(request, self.restarts, self.tolerance, self.max_iterations)
        check_result(labels, request, confusion=self.confusion)
        if engine == "nuts":
            if self.variant == "ordered":
                raise InputError("variant='ordered' has engine='gibbs'; sample dawid_skene_model with PyMC")
            return sample_dawid_skene(fit, request, confusion=self.confusion, tune=self.tune)
        return fit.gibbs(request, confusion=self.confusion, tune=self.tune, thin=self.thin)

    def blocks(
        self, annotations: Labels, request: Request, schedule: Schedule = LOCAL, *, plausibility: bool = False
    ) -> Stream:
        """Stream the draws; the chains of all items run first, because annotators join the items.

        Best is the drawn true label; the others follow by their probability in that draw. In mixed membership the order
        is that of the drawn plausibilities.
        """
        depth = request.top_labels or 1
        kept = replace(request, top_labels=None if plausibility else depth, client=schedule.client)
        tree = replace(self, confusion=False).draw(annotations, kept)
        if not self.allow_unmixed:
            require_mixed(tree)
        chosen = {name: value for name, value in settings_of(tree).items() if name in CHOSEN}
        return Stream(stream_of(tree, truth_draws(tree, depth, plausibility=plausibility), schedule).blocks, chosen)

    def _variant(self, engine: str) -> Variant:
        """Return the variant; "auto" averages draws of the Gibbs sampler, and is "full" for all other engines."""
        return "full" if self.variant == "auto" and engine != "gibbs" else self.variant

    def model(self, annotations: Labels) -> "pm.Model":
        """Build the same posterior in PyMC; of "auto" that of "full"."""
        return dawid_skene_model(annotations, variant=self._variant("nuts"), prior=self.prior, gold=self.gold)


def dawid_skene(
    labels: Labels,
    *,
    variant: Variant = "auto",
    prior: DawidSkenePrior | None = None,
    gold: Gold | None = None,
    candidates: Candidates = "all",
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
    draws: int = 1000,
    chains: int = 4,
    tune: int | None = None,
    thin: int | None = None,
    restarts: int = 0,
    random_seed: Seed = None,
    engine: Literal["gibbs", "em", "nuts"] = "gibbs",
    sampler: Sampler = None,
    top_labels: int | None = None,
    confusion: bool = True,
    client: Any = None,
    progress: Callable[[int], None] | None = None,
) -> xr.DataTree:
    """Infer the true label of each item together with the confusion of each annotator.

    Annotators err independently given the truth: where some copy others, it is too certain (claims .99 where .71 are
    right), and `agreement_check` shows pairs that agree too often.

    Parameters
    ----------
    labels
        Single labels by known annotators. Repeated labels of one item by one annotator (``duplicates="keep"``) are
        separate judgments, as in the data of Dawid and Skene, where an anaesthetist judged each patient three times:
        every one of them counts in full.
    variant
        What an annotator is; see the table of this module. ``"auto"`` is an average of "mixed_membership", of the same
        with a prior of accurate annotators (of three labels or more, where no `prior` is given) and of "votes",
        of labels in a stated order (``ordered=True``) also of "ordered", weighted by how well each predicts annotators
        held out [3]_; every draw comes from one of them. The result's settings hold the ``weights``; where one of them
        is 1, ``variant`` names it, and the result is that of this variant alone. Engines other than "gibbs" take "full"
        for "auto".
    engine
        ``"gibbs"`` draws from the posterior; ``"em"`` climbs to one point estimate (full, class_conditional and
        one_coin); ``"nuts"`` samples ``DawidSkene(...).model(labels)``, the PyMC model, where true
        labels are summed out.
    prior
        Hyperparameters; None is `DawidSkenePrior()` for the posterior, and no prior (maximum likelihood) for
        ``engine="em"``.
    gold
        Items whose true label is known: item to label. They teach the annotators' confusion. In mixed membership a
        gold label is an expert's latent label of the item, which stays as ambiguous as it is; in "ordered" it is the
        label of one more annotator, a typical one.
    candidates
        Which labels may be true: ``"all"``, or ``"observed"``, those that somebody gave the item. With thousands of
        labels the second keeps time and memory proportional to the annotations.
    draws, chains, tune, thin
        Kept draws per chain; sweeps before the first of them (500; 300 for ordered, 1000 for hierarchical, 1500 for
        mixed membership); sweeps per kept draw (1; 3 for hierarchical, 6 for mixed membership).
    restarts
        Further random starts of EM; the best likelihood wins.
    tolerance, max_iterations
        EM stops after an iteration that gains less than ``tolerance * |log L|``, or after so many.
    random_seed
        Same seed, same draws, on any number of threads.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    confusion
        Keep the draws of whole confusion matrices; without them only each annotator's accuracy.
    client
        A `distributed.Client` to run on instead of threads of this process: one chain, or one start of EM, a task.
    progress
        Called with 1 after every kept draw of a chain, ``chains * draws`` times in all, from the chain's thread (not
        with a client).

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category) or ``top_label`` (chain, draw, item, rank);
        ``prevalence`` (chain, draw, category); ``confusion`` (chain, draw, annotator, category, observed_category);
        ``accuracy`` (chain, draw, annotator), the chance of a right answer to an item drawn by prevalence; and what
        the variant adds (``concentration``, ``crowd_confusion``, ``ambiguity`` = alpha; "ordered":
        ``latent_truth`` (item), ``threshold`` (boundary), ``discrimination``, ``severity`` and ``stretch`` (annotator),
        with predictions ``model_slope`` (model);
        its confusion and accuracy compare with the label of a typical annotator). Where an item
        has one truth, a draw's plausibility is the drawn truth (all but a thousandth, which orders the other labels):
        its mean is the posterior probability, its best label the draw. Group ``derived``: ``label_probability``
        (item, category), the same mean with less Monte-Carlo error. Group ``diagnostics``: ``r_hat`` and ``ess`` of
        prevalence, the variant's parameters, up to 50 annotators' accuracies and up to 50 items; ``item_r_hat`` (item)
        and ``annotator_r_hat`` (annotator) compare whole chains, and name who differs.

        The draws of an average are a mixture: those of its variants alternate, in numbers proportional to the weights,
        and ``variant_of_draw`` (draw) of ``constant_data`` names each; a mean of plausibilities over variants in every
        draw would be narrower, as if the variants agreed. It has the variables that all its variants have. R-hat
        compares chains within each variant.

        With ``engine="em"`` there is one chain of one draw, and ``diagnostics`` holds ``log_likelihood``
        (iteration). Of batches there are no ``plausibility`` and ``derived``: `label_probability` of this package
        computes the truth of the items of any batch.

    Raises
    ------
    InputError
        Unknown annotators, a single label, gold that names no item or label, an engine the variant does not have.
    SizeError
        A result too large for memory, with its size and the way out.

    Warns
    -----
    UserWarning
        Chains of 100 draws or more that disagree (r-hat above 1.1 for shared parameters, above 1.5 for an annotator or
        an item): draw longer; chains that still disagree have found different explanations. EM that did not converge.

    References
    ----------
    .. [1] A. P. Dawid, A. M. Skene, Applied Statistics 28 (1979) 20-28.
    .. [2] S. Paun et al., "Comparing Bayesian models of annotation", TACL 6 (2018) 571-585.
    .. [3] Y. Yao et al., "Using stacking to average Bayesian predictive distributions", Bayesian Analysis 13 (2018).

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "b"], ["b", "b", "a"]])
    >>> tree = dawid_skene(votes, draws=200, chains=2, random_seed=1)
    >>> tree["derived"]["label_probability"].idxmax("category").values.tolist()
    ['a', 'b', 'a', 'b']
    >>> dict(tree["posterior"]["confusion"].sizes)
    {'chain': 2, 'draw': 200, 'annotator': 3, 'category': 2, 'observed_category': 2}
    """
    labels = as_annotations(labels, (Labels,), "labels")
    request = Request(draws, chains, random_seed, engine, sampler, top_labels, client)
    request = replace(request, progress=progress if client is None else None)
    of_em: dict[str, Any] = {"restarts": restarts, "tolerance": tolerance, "max_iterations": max_iterations}
    model = variant, prior, gold, candidates, tune, thin
    specification = DawidSkene(*model, confusion=confusion, **of_em)
    return specification.draw(labels, request)
