"""The Dawid-Skene family as PyMC models: the same posteriors as the Gibbs samplers, with the true labels summed out.

Change a prior or join a model here. Observed data are long: one entry per annotation.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.errors import one_of
from bayesagree.inference.open_model import annotation_data, named_part, part
from bayesagree.plausibility.dawid_skene._crowd import VARIANTS, Rows, check
from bayesagree.plausibility.dawid_skene._labels import CONDITIONAL_SHARE
from bayesagree.plausibility.dawid_skene._ordered import MU, SPREAD, STRETCH, THRESHOLD_SD
from bayesagree.plausibility.dawid_skene._results import DIMS, coordinates
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
    check(labels, variant)
    if variant == "ordered":
        return _ordered_model(labels, gold)
    ending = _mixed_membership if variant.startswith("mixed") else _truth_summed_out
    return labels_model(labels, variant, prior or DawidSkenePrior(), ending, gold, prevalence, confusion)


class Given(NamedTuple):
    """Data of a model: item, annotator and label of each annotation, and the known label of each item, -1 of others."""

    item: Any
    annotator: Any
    label: Any
    known: Any


def given_to(labels: Labels, gold: Gold | None) -> Given:
    """Add data to the model, with names on all axes."""
    import pymc as pm

    axes: dict[str, Any] = {"annotation": np.arange(labels.n_annotations), "answer": ["right", "wrong"]}
    model: Any = pm.modelcontext(None)
    model.add_coords(coordinates(labels) | axes)
    label = pm.Data("observed_label", labels.label_index.astype(np.int64), dims="annotation")
    known = pm.Data("gold", gold_codes(gold, labels.items, labels.categories), dims="item")
    return Given(*annotation_data(labels.item_index, labels.annotator_index), label, known)


def labels_model(
    labels: Labels,
    variant: str,
    prior: DawidSkenePrior,
    ending: Callable[[Labels, DawidSkenePrior, Given, Any, Any], None],
    gold: Gold | None = None,
    prevalence: Callable[[], Any] | None = None,
    confusion: Callable[[], Any] | None = None,
) -> "pm.Model":
    """Build a model of prevalence, confusion and, by its `ending`, of the items: of data, prevalence and rows."""
    import pymc as pm

    shape = np.full(labels.categories.size, prior.prevalence)
    with pm.Model() as model:
        given = given_to(labels, gold)
        own = prevalence() if prevalence else pm.Dirichlet("prevalence", shape, dims="category")
        share = named_part("prevalence", own, ("item", "category")[-own.ndim :])
        rows = part("confusion", confusion, lambda: _confusion(labels, variant, prior), dims=DIMS["confusion"])
        ending(labels, prior, given, share, rows)
    return model


def _confusion(labels: Labels, variant: str, prior: DawidSkenePrior) -> Any:
    """Add the annotators' part of a variant: confusion matrices."""
    import pymc as pm
    import pytensor.tensor as pt

    supposed = VARIANTS[one_of(variant, "variant", tuple(VARIANTS))]
    rows = Rows.of(supposed, labels.categories.size, prior)
    matrix = supposed.annotator == "matrix"
    # One accuracy for all true labels has no axis of them.
    of_rows = ("category",) * (supposed.annotator != "accuracy")
    name, last = ("confusion", "observed_category") if matrix else ("right", "answer")
    shape: Any = pt.as_tensor(rows.base if of_rows else rows.base[0])
    if supposed.learnt:
        mean = pm.Dirichlet(f"crowd_{name}", shape, dims=(*of_rows, last))
        centre, sd = np.log(prior.concentration), prior.concentration_sd
        kappa: Any = pm.LogNormal("concentration", centre, sd, dims=of_rows)
        shape = kappa[..., None] * mean
    shape = shape[None].repeat(labels.annotators.size, axis=0)
    drawn: Any = pm.Dirichlet(name, shape, dims=("annotator", *of_rows, last))
    if matrix:
        return drawn
    drawn = rows.matrices(drawn if of_rows else drawn[:, None])
    return pm.Deterministic("confusion", drawn, dims=DIMS["confusion"])


def _truth_summed_out(labels: Labels, prior: DawidSkenePrior, given: Given, prevalence: Any, rows: Any) -> None:
    import pymc as pm
    import pytensor.tensor as pt

    n_labels = labels.categories.size
    dims = ("item", "category")
    known = given.known[:, None]
    start: Any = pt.zeros((labels.items.size, n_labels)) + pt.log(prevalence)
    log_rows: Any = pt.log(rows)
    joint: Any = pt.inc_subtensor(start[given.item], log_rows[given.annotator, :, given.label])
    joint = pt.where((known < 0) | pt.eq(known, np.arange(n_labels)), joint, -np.inf)
    total: Any = pm.math.logsumexp(joint, axis=1, keepdims=True)
    labelled = np.bincount(labels.item_index, minlength=labels.items.size) > 0
    pm.Potential("log_likelihood", pt.sum(total[labelled]))
    probability: Any = pm.Deterministic("label_probability", pt.exp(joint - total), dims=dims)
    quantile: Any = pm.Uniform("truth_quantile", dims="item")
    below: Any = pt.cumsum(probability, axis=1)
    one_hot: Any = pt.eye(n_labels)
    truth = one_hot[(quantile[:, None] > below[:, :-1]).sum(axis=1)]
    pm.Deterministic("plausibility", truth + CONDITIONAL_SHARE * (probability - truth), dims=dims)


def _mixed_membership(labels: Labels, prior: DawidSkenePrior, given: Given, prevalence: Any, rows: Any) -> None:
    import pymc as pm
    import pytensor.tensor as pt

    ambiguity: Any = pm.LogNormal("ambiguity", np.log(prior.ambiguity), prior.ambiguity_sd)
    shape = ambiguity * prevalence + pt.zeros((labels.items.size, 1))
    plausibility: Any = pm.Dirichlet("plausibility", shape, dims=("item", "category"))
    chance = (plausibility[given.item][:, :, None] * rows[given.annotator]).sum(axis=1)
    known = np.flatnonzero(given.known.get_value() >= 0)
    if known.size:  # an expert's latent labels
        log_gold: Any = pt.log(plausibility[known, given.known[known]])
        pm.Potential("log_gold", log_gold.sum())
    pm.Categorical("label_index", p=chance, observed=given.label, dims="annotation")


def _ordered_model(labels: Labels, gold: Gold | None) -> "pm.Model":
    """Build the model of labels with an order."""
    import pymc as pm

    with pm.Model() as model:
        given, people = given_to(labels, gold), "annotator"
        mean: Any = pm.TruncatedNormal("mean_slope", MU, 1.0, lower=0.0)
        sds: list[Any] = [pm.InverseGamma(f"variance_{of}", *SPREAD) ** 0.5 for of in ("intercept", "slope")]
        alpha: Any = sds[0] * pm.Normal("intercept_offset", dims=people)
        beta: Any = mean + sds[1] * pm.Normal("slope_offset", dims=people)
        precision = pm.Gamma("precision", STRETCH, STRETCH, dims=people)
        stretch: Any = pm.Deterministic("stretch", precision**0.5, dims=people)
        pm.Deterministic("discrimination", beta * stretch, dims=people)
        pm.Deterministic("severity", -alpha * stretch, dims=people)
        first = np.linspace(-1, 1, labels.categories.size - 1)
        ordered = pm.distributions.transforms.ordered
        inner: Any = pm.Normal(
            "threshold", 0.0, THRESHOLD_SD, dims="boundary", initval=first, transform=ordered
        )
        latent: Any = pm.Normal("latent_truth", dims="item")
        typical, who, how = mean * latent, given.annotator, {"compute_p": False}
        shares = pm.OrderedProbit.compute_p(typical, inner, 1.0)
        pm.Deterministic("plausibility", shares, dims=("item", "category"))
        s, centre = stretch[who], alpha[who] + beta[who] * latent[given.item]
        pm.OrderedProbit(
            "label", s * centre, s[:, None] * inner, observed=given.label, dims="annotation", **how
        )
        known = given.known.get_value()
        if (at := np.flatnonzero(known >= 0)).size:
            pm.OrderedProbit("gold_label", typical[at], inner, observed=known[at], **how)
    return model
