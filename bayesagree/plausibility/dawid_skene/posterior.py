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
mixed_one_coin      the same with one accuracy per annotator ~ Beta(kappa m, kappa (1 - m)), kappa and m learnt
ordered             labels have an order: Pr(at most c) = Phi(tau_kc - a_k u_i), u_i ~ N(0, 1) a latent truth, tau_k the
                    crowd's thresholds, shifted (severity) and stretched; lambda_i are the shares of typical annotators
votes               none: lambda_i ~ Dirichlet(votes + 1/K), and annotators are compared with a truth drawn from it
==================  =================================================================================================

Those of one truth (the first four) suppose that annotators err independently given the truth. Where items are ambiguous
they do not, and the posterior is overconfident; by how much cannot be learnt from labels alone. The default, "auto",
averages mixed membership and votes, of two labels also mixed membership with one accuracy per annotator, of more also
mixed membership with a prior of accurate annotators (``accuracy=.85, strength=40``), of labels in a stated order also
the ordered model; calibrate it against a small gold set (`bayesagree.calibrate`).

Sources: Dawid and Skene, Applied Statistics 28 (1979); Paun et al., "Comparing Bayesian models of annotation", TACL 6
(2018) (the hierarchical variant).
"""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesagree._types import Advance
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.errors import InputError, one_of, positive_int, shorten, warn
from bayesagree.inference.blocks import Stream
from bayesagree.inference.convergence import ENOUGH_DRAWS
from bayesagree.inference.posterior import Posterior, Request
from bayesagree.inference.results import settings_of
from bayesagree.inference.streams import Seed, block_generator, seed_sequence, stream_apart
from bayesagree.inference.top_labels import truth_draws
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.dawid_skene._crowd import Crowd, check
from bayesagree.plausibility.dawid_skene._ordered import constant_annotators
from bayesagree.plausibility.dawid_skene._results import (
    CHOSEN,
    Part,
    chains_tree,
    check_result,
    estimate_tree,
    require_mixed,
)
from bayesagree.plausibility.dawid_skene._variants import ACCURATE, SAMPLERS, candidates, positions, weights
from bayesagree.plausibility.dawid_skene.em import EM_VARIANTS, dawid_skene_em
from bayesagree.plausibility.dawid_skene.model import dawid_skene_model
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

if TYPE_CHECKING:
    import pymc as pm


# Chains whose R-hat is larger go on for as long again, every second draw kept; at most so many times as long in all.
LARGEST_R_HAT, LONGEST = 1.07, 16
TARGET = (
    "score from these annotations alone, in which items that they leave open count against every model "
    "(no estimate of the score against one truth: good models score too low)"
)


@dataclass(frozen=True)
class DawidSkene(Posterior):
    """Specification of the posterior of `dawid_skene`, whose arguments it holds.

    Predictions teach it nothing. In worlds of one truth with three votes an item of twenty annotators, six of them
    careless, scores of a model that is right in .9 are .06 to .08 too low, whatever the variant, and no interval of six
    holds the truth: `informed_dirichlet` learns from the predictions too.

    `evaluate` refuses chains that disagree, unless `allow_unmixed`.
    """

    variant: str = "auto"
    prior: DawidSkenePrior | None = None
    gold: Gold | None = None
    tune: int | None = None
    thin: int | None = None
    allow_unmixed: bool = False
    confusion: bool = True
    name = "dawid_skene"
    target = TARGET
    engine = "gibbs"
    exchangeable = False

    def draw(self, annotations: Labels, request: Request) -> xr.DataTree:
        """Draw by Gibbs sampling from the variant; with "auto" from each of the average as often as it weighs."""
        labels, (crowd, settings) = annotations, self._given(annotations)
        check_result(labels, request, confusion=self.confusion)
        averaged = {self.variant: (self.variant, self.prior or DawidSkenePrior())}
        weight = {self.variant: 1.0}
        if self.variant == "auto":
            averaged = candidates(crowd.n_labels, self.prior, ordered=bool(labels.ordered))
            rng = np.random.default_rng(stream_apart(request.random_seed, "folds"))
            weight = settings["weights"] = weights(crowd, averaged, rng, self.tune)
        if "ordered" in weight:
            _name_constant(crowd, labels)
        root, parts, kept = seed_sequence(request.random_seed), {}, {}
        settings |= {"tune": self.tune, "thin": self.thin}
        for name, at in zip(weight, positions([*weight.values()], request.draws)):
            if not at.size:
                continue
            variant, prior = averaged[name]
            rng = block_generator(root, 0)
            sampler = SAMPLERS[variant](crowd, prior, request.chains, rng)
            tune = sampler.tune if self.tune is None else self.tune
            thin = sampler.thin if self.thin is None else positive_int(self.thin, "thin")
            longest = thin * (LONGEST if self.thin is None and request.draws >= ENOUGH_DRAWS else 1)
            for _ in range(tune):
                sampler.sweep(rng)
            part = None
            while True:
                part = Part.of(sampler, rng, at, kept, request, thin, part, confusion=self.confusion)
                if thin >= longest or part.r_hat <= LARGEST_R_HAT:
                    break
                thin *= 2
            parts[name] = part
            if at.size == request.draws:
                own = self.prior if prior is not ACCURATE else prior
                settings |= {"variant": variant, "prior": own and asdict(own), "tune": tune, "thin": thin}
        return chains_tree(labels, parts, kept, request.random_seed, settings)

    def estimate(self, labels: Labels) -> xr.DataTree:
        """Climb to one point estimate."""
        crowd, settings = self._given(labels)
        variant = settings["variant"] = "full" if self.variant == "auto" else self.variant
        if variant not in EM_VARIANTS:
            raise InputError(f"variant={variant!r} has no EM; use {shorten(EM_VARIANTS)} or engine='gibbs'")
        return estimate_tree(dawid_skene_em(crowd, variant=variant, prior=self.prior), labels, settings)

    def _given(self, labels: Labels) -> tuple[Crowd, dict[str, Any]]:
        """Return the labels as engines read them, and the settings of a result."""
        check(labels, one_of(self.variant, "variant", (*SAMPLERS, "auto")))
        known = gold_codes(self.gold, labels.items, labels.categories)
        prior = None if self.prior is None else asdict(self.prior)
        settings = {"variant": self.variant, "prior": prior, "n_gold": int((known >= 0).sum())}
        return Crowd.of_labels(labels, known), settings

    def blocks(self, annotations: Labels, request: Request) -> Stream:
        """Stream the draws; the chains of all items run first, because annotators join the items.

        Best is the drawn true label; the others follow by their probability in that draw. In mixed membership the order
        is that of the drawn plausibilities.
        """
        depth = request.top_labels or 1
        kept = request.asks(top_labels=None if request.plausibility else depth)
        tree = replace(self, confusion=False).draw(annotations, kept)
        if not self.allow_unmixed:
            require_mixed(tree)
        chosen = {name: value for name, value in settings_of(tree).items() if name in CHOSEN}
        drawn = truth_draws(tree, depth, plausibility=request.plausibility)
        return Stream(drawn.map(request.then or (lambda block: block)), chosen)

    def model(self, annotations: Labels) -> "pm.Model":
        """Build the same posterior in PyMC; of "auto" that of "full"."""
        variant = "full" if self.variant == "auto" else self.variant
        return dawid_skene_model(annotations, variant=variant, prior=self.prior, gold=self.gold)


def _name_constant(crowd: Crowd, labels: Labels) -> None:
    """Warn of annotators whom the ordered model leaves out."""
    always = constant_annotators(crowd)
    if (found := np.flatnonzero(always >= 0)).size:
        said = [f"{labels.annotators[j]} (always {labels.categories[always[j]]})" for j in found]
        warn(
            f"{shorten(said)}: one label whatever the item says nothing of the items; the ordered model leaves these "
            "annotators out, and their severity, stretch and discrimination are NaN"
        )


def dawid_skene(
    labels: Labels,
    *,
    variant: str = "auto",
    prior: DawidSkenePrior | None = None,
    gold: Gold | None = None,
    draws: int = 1000,
    chains: int = 4,
    tune: int | None = None,
    thin: int | None = None,
    random_seed: Seed = None,
    engine: Literal["gibbs", "em"] = "gibbs",
    top_labels: int | None = None,
    confusion: bool = True,
    progress: Advance | None = None,
) -> xr.DataTree:
    """Infer the true label of each item together with the confusion of each annotator.

    Annotators are taken to err independently given the truth. If some copy others, the posterior is too certain (.99
    where .71 are right), and `agreement_check` shows pairs that agree too often.

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
        is 1, ``variant`` names it, and the result is that of this variant alone. ``engine="em"`` takes "full" for
        "auto".
    engine
        ``"gibbs"`` draws from the posterior; ``"em"`` climbs to one point estimate (full, class_conditional and
        one_coin), until an iteration gains less than 1e-10 of log L. ``pymc.sample`` draws from
        ``DawidSkene(...).model(labels)``, where true labels are summed out.
    prior
        Hyperparameters; None is `DawidSkenePrior()` for the posterior, and no prior (maximum likelihood) for
        ``engine="em"``.
    gold
        Items whose true label is known: item to label. They teach the annotators' confusion. In mixed membership a
        gold label is an expert's latent label of the item, which stays as ambiguous as it is; in "ordered" it is the
        label of one more annotator, a typical one.
    draws, chains, tune, thin
        Kept draws per chain; sweeps before the first of them (200; 300 for ordered); sweeps per kept draw (1; 2 where a
        population is learnt). By default chains that do not agree yet (R-hat above 1.07) go on for as long again,
        every second draw kept, up to sixteen times as long.
    random_seed
        Same seed, same draws.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    confusion
        Keep the draws of whole confusion matrices; without them only each annotator's accuracy.
    progress
        Called with the number of chains after every kept draw of theirs.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category) or ``top_label`` (chain, draw, item, rank);
        ``prevalence`` (chain, draw, category); ``confusion`` (chain, draw, annotator, category, observed_category);
        ``accuracy`` (chain, draw, annotator), the chance of a right answer to an item drawn by prevalence; and what
        the variant adds (``concentration``, ``crowd_confusion``, ``ambiguity`` = alpha; "ordered":
        ``latent_truth`` (item), ``threshold`` (boundary), ``discrimination``, ``severity`` and ``stretch`` (annotator);
        its confusion and accuracy compare with the label of a typical annotator). For
        variants with a single true label, each draw is (almost) one-hot; the mean over draws is the posterior
        probability. Group ``derived``: ``label_probability``
        (item, category), the same mean with less Monte-Carlo error. Group ``diagnostics``: ``r_hat`` and ``ess`` of
        prevalence, the variant's parameters, up to 50 annotators' accuracies and up to 50 items.

        The draws of an average are a mixture: those of its variants alternate, in numbers proportional to the weights,
        and ``variant_of_draw`` (draw) of ``constant_data`` names each; a mean of plausibilities over variants in every
        draw would be narrower, as if the variants agreed. It has the variables that all its variants have. R-hat
        compares chains within each variant.

        With ``engine="em"`` there is one chain of one draw, and ``diagnostics`` holds ``log_likelihood``
        (iteration).

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
        Annotators of one label whatever the item, whom the ordered model leaves out.

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
    specification = DawidSkene(variant, prior, gold, tune, thin, confusion=confusion)
    request = Request(draws, chains, random_seed, top_labels, progress=progress)
    if one_of(engine, "engine", ("gibbs", "em")) == "em":
        return specification.estimate(labels)
    return specification.draw(labels, request)
