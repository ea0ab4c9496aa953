"""The Dawid-Skene family as PyMC models: the same posteriors as the Gibbs samplers, with the true labels summed out.

Change a prior or join a model here. Observed data are long: one entry per annotation.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.errors import InputError, one_of
from bayesagree.inference.open_model import annotation_data, named_part, part
from bayesagree.plausibility.dawid_skene._gibbs import CONDITIONAL_SHARE
from bayesagree.plausibility.dawid_skene._ordered import MU, SPREAD, STRETCH, THRESHOLD_SD
from bayesagree.plausibility.dawid_skene._results import coordinates
from bayesagree.plausibility.dawid_skene._variants import VARIANTS
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

if TYPE_CHECKING:
    import pymc as pm


def dawid_skene_model(
    labels: Labels,
    *,
    variant: str = "full",
    prior: DawidSkenePrior | None = None,
    gold: Gold | None = None,
    prevalence: Callable[[], Any] | None = None,
    confusion: Callable[[], Any] | None = None,
) -> "pm.Model":
    """Build the PyMC model of a Dawid-Skene variant.

    Parameters
    ----------
    labels
        Single labels by known annotators.
    variant
        As in `dawid_skene`.
    prior
        By default `DawidSkenePrior()`.
    gold
        Items whose true label is known.
    prevalence
        A prior of one's own of the truth: a function without arguments, called inside the model, that returns
        probabilities (category) or, with covariates of the items, (item, category).
    confusion
        The same of the annotators in place of the variant's: probabilities (annotator, category, observed_category),
        of groups of annotators, say.

    Returns
    -------
    pymc.Model
        ``prevalence`` (category), ``confusion`` (annotator, category, observed_category) and the variant's parameters;
        ``plausibility`` (item, category), as in the results of `dawid_skene`. Where an item has one truth it is summed
        out, the likelihood is a potential, ``label_probability`` (item, category) is Pr(truth | parameters,
        annotations), and ``plausibility`` is the truth that the free variable ``truth_quantile`` (item) draws from it.
        Mixed memberships have one observed categorical ``label_index`` (annotation). "ordered" has ``latent_truth``
        (item), ``threshold`` (boundary), ``discrimination``, ``severity`` and ``stretch`` (annotator), and observed
        ``label`` (annotation) and ``gold_label``, and takes no prior of one's own. ``observed_label``,
        ``item_of_annotation``, ``annotator_of_annotation`` and ``gold`` (item; -1: unknown) are data.

    Examples
    --------
    >>> labels = Labels.from_matrix([[0, 0, 1], [1, 1, 1]])
    >>> [v.name for v in dawid_skene_model(labels).free_RVs]
    ['prevalence', 'confusion', 'truth_quantile']

    References
    ----------
    Dawid and Skene (1979), equation 2.7: the likelihood with true labels summed out. Johnson, "On Bayesian analysis of
    multirater ordinal data", JASA 91 (1996), for "ordered".
    """
    import pymc as pm
    import pytensor.tensor as pt

    if variant == "ordered":
        return _ordered_model(labels, gold)
    prior = prior or DawidSkenePrior()
    n_labels = labels.categories.size
    with pm.Model(coords=coordinates_of_model(labels)) as model:
        votes = votes_data(labels)
        known: Any = pm.Data("gold", gold_codes(gold, labels.items, labels.categories), dims="item")

        def our_prevalence() -> Any:
            return pm.Dirichlet("prevalence", np.full(n_labels, prior.prevalence), dims="category")

        own = our_prevalence() if prevalence is None else prevalence()
        share = named_part("prevalence", own, ("item", "category")[-own.ndim :])
        dims = ("annotator", "category", "observed_category")
        rows = part("confusion", confusion, lambda: confusion_rows(labels, variant, prior), dims=dims)
        if variant.startswith("mixed"):
            _mixed_membership(votes, labels, prior, share, rows, known)
        else:
            log_rows: Any = pt.log(rows)
            _sum_out_truth(votes, labels, share, log_rows[votes.annotator, :, votes.label], known)
    return model


def coordinates_of_model(labels: Labels) -> dict[str, Any]:
    """Return the names along the dims of the model."""
    names = {"item": labels.items, "annotator": labels.annotators, "category": labels.categories}
    return names | {"observed_category": labels.categories, "annotation": np.arange(labels.item_index.size)}


class Votes(NamedTuple):
    """Data of a model: item, annotator and label of each annotation."""

    item: Any
    annotator: Any
    label: Any


def votes_data(labels: Labels) -> Votes:
    """Add who gave which label as data of the model."""
    import pymc as pm

    given = pm.Data("observed_label", labels.label_index.astype(np.int64), dims="annotation")
    return Votes(*annotation_data(labels.item_index, labels.annotator_index), given)


def confusion_rows(labels: Labels, variant: str, prior: DawidSkenePrior) -> Any:
    """Add the annotators' part of a variant: confusion matrices (annotator, category, observed_category)."""
    import pymc as pm
    import pytensor.tensor as pt

    one_of(variant, "variant", VARIANTS)
    dims, n_labels = ("annotator", "category", "observed_category"), labels.categories.size
    base = prior.confusion(n_labels)
    right, wrong = prior.strength * prior.accuracy, prior.strength * (1 - prior.accuracy)
    log_kappa: Any = np.log(prior.concentration), prior.concentration_sd
    if variant == "full":
        return pm.Dirichlet("confusion", np.broadcast_to(base, (labels.annotators.size, *base.shape)), dims=dims)
    if variant in ("hierarchical", "mixed_membership"):
        population: Any = pm.Dirichlet("crowd_confusion", base, dims=dims[1:])
        concentration: Any = pm.LogNormal("concentration", *log_kappa, dims="category")
        shape = (concentration[:, None] * population)[None].repeat(labels.annotators.size, axis=0)
        return pm.Dirichlet("confusion", shape, dims=dims)
    if variant == "mixed_one_coin":
        mean: Any = pm.Beta("crowd_accuracy", right, wrong)
        kappa: Any = pm.LogNormal("concentration", *log_kappa)
        right, wrong = kappa * mean, kappa * (1 - mean)
    coin: Any = pm.Beta("right", right, wrong, dims=dims[:2] if variant == "class_conditional" else dims[:1])
    accuracy = coin if variant == "class_conditional" else coin[:, None].repeat(n_labels, axis=1)
    same: Any = pt.eye(n_labels, dtype="bool")
    matrix = pt.where(same, accuracy[:, :, None], (1 - accuracy[:, :, None]) / (n_labels - 1))
    return pm.Deterministic("confusion", matrix, dims=dims)


def _sum_out_truth(votes: Votes, labels: Labels, prevalence: Any, log_chance: Any, gold: Any) -> None:
    import pymc as pm
    import pytensor.tensor as pt

    n_labels = labels.categories.size
    possible: Any = (gold[:, None] < 0) | pt.eq(gold[:, None], np.arange(n_labels))
    start: Any = pt.zeros((labels.items.size, n_labels)) + pt.log(prevalence)
    joint: Any = pt.where(possible, pt.inc_subtensor(start[votes.item], log_chance), -np.inf)
    total: Any = pm.math.logsumexp(joint, axis=1, keepdims=True)
    labelled = np.bincount(labels.item_index, minlength=labels.items.size) > 0
    pm.Potential("log_likelihood", pt.sum(total[labelled]))
    dims = ("item", "category")
    probability: Any = pm.Deterministic("label_probability", pt.exp(joint - total), dims=dims)
    quantile: Any = pm.Uniform("truth_quantile", dims="item")
    below: Any = pt.cumsum(probability, axis=1)
    one_hot: Any = pt.eye(n_labels)
    truth = one_hot[(quantile[:, None] > below[:, :-1]).sum(axis=1)]
    plausibility = (1 - CONDITIONAL_SHARE) * truth + CONDITIONAL_SHARE * probability
    pm.Deterministic("plausibility", plausibility, dims=dims)


def _mixed_membership(
    votes: Votes, labels: Labels, prior: DawidSkenePrior, prevalence: Any, confusion: Any, gold: Any
) -> None:
    import pymc as pm
    import pytensor.tensor as pt

    ambiguity: Any = pm.LogNormal("ambiguity", np.log(prior.ambiguity), prior.ambiguity_sd)
    shape = ambiguity * prevalence + pt.zeros((labels.items.size, 1))
    plausibility: Any = pm.Dirichlet("plausibility", shape, dims=("item", "category"))
    chance = (plausibility[votes.item][:, :, None] * confusion[votes.annotator]).sum(axis=1)
    if (gold.get_value() >= 0).any():  # an expert's latent labels
        expert = pt.log(plausibility[pt.arange(labels.items.size), pt.maximum(gold, 0)])
        log_gold: Any = pt.where(pt.ge(gold, 0), expert, 0.0)
        pm.Potential("log_gold", log_gold.sum())
    pm.Categorical("label_index", p=chance, observed=votes.label, dims="annotation")


def _ordered_model(labels: Labels, gold: Gold | None) -> "pm.Model":
    """Build the model of labels with an order."""
    import pymc as pm
    import pytensor.tensor

    pt: Any = pytensor.tensor
    if not labels.has_order:
        raise InputError("variant='ordered' needs an order of the labels: Labels(..., labels=[...], ordered=True)")
    truth = gold_codes(gold, labels.items, labels.categories)
    known = np.flatnonzero(truth >= 0)
    names = {name: values for name, values in coordinates(labels).items() if name != "rank"}
    with pm.Model(coords=names | {"annotation": np.arange(labels.n_annotations)}) as model:
        item, annotator = annotation_data(labels.item_index, labels.annotator_index)
        given = pm.Data("observed_label", labels.label_index, dims="annotation")
        mean: Any = pm.TruncatedNormal("mean_slope", MU, 1.0, lower=0.0)
        sds: list[Any] = [pm.InverseGamma(f"variance_{of}", *SPREAD) ** 0.5 for of in ("intercept", "slope")]
        alpha: Any = sds[0] * pm.Normal("intercept_offset", dims="annotator")
        beta: Any = mean + sds[1] * pm.Normal("slope_offset", dims="annotator")
        precision: Any = pm.Gamma("precision", STRETCH, STRETCH, dims="annotator")
        stretch: Any = pm.Deterministic("stretch", precision**0.5, dims="annotator")
        pm.Deterministic("discrimination", beta * stretch, dims="annotator")
        pm.Deterministic("severity", -alpha * stretch, dims="annotator")
        first = np.linspace(-1, 1, labels.categories.size - 1)
        transform: Any = pm.distributions.transforms.ordered
        inner: Any = pm.Normal("threshold", 0.0, THRESHOLD_SD, dims="boundary", initval=first, transform=transform)
        latent: Any = pm.Normal("latent_truth", dims="item")

        def chances(at: Any, scale: Any) -> Any:
            below = pm.math.invprobit((inner[None, :] - at[:, None]) * scale)
            edge = pt.zeros_like(below[:, :1])
            return pt.diff(pt.concatenate([edge, below, edge + 1], axis=1), axis=1)

        def observe(name: str, p: Any, label: Any, dims: str | None = None) -> None:
            p = pt.clip(p, 1e-12, 1.0)
            pm.Categorical(name, p / p.sum(axis=1, keepdims=True), observed=label, dims=dims)

        shares: Any = pm.Deterministic("plausibility", chances(mean * latent, 1.0), dims=("item", "category"))
        response = alpha[annotator] + beta[annotator] * latent[item]
        observe("label", chances(response, stretch[annotator][:, None]), given, "annotation")
        if known.size:
            observe("gold_label", shares[known], truth[known])
    return model
