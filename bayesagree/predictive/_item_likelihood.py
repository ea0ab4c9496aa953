"""Log likelihood of all annotations of an item, the item's own parameters integrated out, for every draw of the others.

Shared parameters stay: Phi and the prior of the item means, prevalence and confusion, the mean and spread of a group.
An item's own mean, truth or plausibility is integrated by quadrature or summed, so that leaving out an item leaves out
what only it can tell. (With three to five annotations an item, leaving out single annotations is unreliable: the item's
own parameter rests on them.) Where items share nothing the value is the same for every draw.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed
from bayesagree._numerics.multisets import run_starts
from bayesagree.agreement._exact.item_means import KnownMeans, beta_shapes, likelihood_step, log_beta_shape, nodes
from bayesagree.agreement._exact.posterior import precision_of
from bayesagree.agreement.phi import prepare
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.errors import InputError
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior
from bayesagree.plausibility.dirichlet._draws import prior_shape
from bayesagree.plausibility.normal_inverse_gamma.posterior import NormalInverseGammaPrior
from bayesagree.predictive._held_out_rankings import marginal_log_probability

type Floats = NDArray[np.float64]
type Parameters = Mapping[str, NDArray[Any]]
"""Draws by name; the first axis is the sample (chain x draw)."""

CELLS = 4_000_000
MOST_STATES = 100_000
DIFFICULTY_NODES = 41


class Pointwise(NamedTuple):
    """Names of the items with annotations, and their log likelihood for each draw, shape (sample, item)."""

    items: NDArray[Any]
    log_likelihood: Floats


def dirichlet_items(labels: Labels, prior: Any) -> Pointwise:
    """Return the Dirichlet-multinomial probability of each item's annotations in their order, shape (1, item)."""
    shape = prior_shape(prior, labels.categories.size)
    counts = labels.counts()
    log_p = (sp.special.gammaln(counts + shape) - sp.special.gammaln(shape)).sum(axis=1)
    log_p -= sp.special.gammaln(counts.sum(axis=1) + shape.sum()) - sp.special.gammaln(shape.sum())
    return _annotated(labels.items, counts.sum(axis=1), log_p[None])


def normal_items(ratings: Ratings, prior: NormalInverseGammaPrior) -> Pointwise:
    """Return the marginal density of each item's ratings under the normal-inverse-gamma prior, shape (1, item)."""
    n_items, item, x = ratings.items.size, ratings.item_index, ratings.rating
    n = np.bincount(item, minlength=n_items)
    centre = np.bincount(item, x, n_items) / np.maximum(n, 1)
    scatter = np.bincount(item, (x - centre[item]) ** 2, n_items)
    strength, shape = prior.strength + n, prior.shape + n / 2
    scale = prior.scale + scatter / 2 + prior.strength * n * (centre - prior.mean) ** 2 / (2 * strength)
    log_p = sp.special.gammaln(shape) - sp.special.gammaln(prior.shape)
    log_p += prior.shape * np.log(prior.scale) - shape * np.log(scale)
    log_p += (np.log(prior.strength) - np.log(strength) - n * np.log(2 * np.pi)) / 2
    return _annotated(ratings.items, n, log_p[None])


def plackett_luce_items(rankings: Rankings, shape: float, draws: int, seed: Seed) -> Pointwise:
    """Return the marginal probability of each item's rankings, shape (1, item), by posterior draws of the earlier ones.

    Pr(r_1, ..., r_J) = prod_j E[Pr(r_j | worths) | r_1, ..., r_(j - 1)]; the first factor is exact.
    """
    return Pointwise(rankings.items, marginal_log_probability(rankings, shape, draws, seed)[None])


def common_agreement_items(ratings: Ratings, parameters: Parameters, settings: Mapping[str, Any]) -> Pointwise:
    """Integrate the item means out by the quadrature of the exact engine, shape (sample, item)."""
    truth: Any = settings["item_mean"]
    if not isinstance(truth, str):
        names = {str(name): name for name in ratings.items.tolist()}
        truth = {names[name]: value for name, value in truth.items()}
    options: Any = {"item_mean": truth, "truth_sd": settings["truth_sd"], "likelihood": settings["likelihood"]}
    problem = prepare(ratings, **options)
    of_item = problem.patterns.pattern_of_item
    out = np.empty((parameters["phi"].size, int((of_item >= 0).sum())))
    for s, precision in enumerate(precision_of(parameters["phi"])):
        if isinstance(problem.means, KnownMeans):
            evidence = problem.means.pattern_evidence(float(precision))
        else:
            m, width = np.array(parameters["mean_location"][s]), np.array(parameters["mean_spread"][s])
            evidence = _hierarchical_evidence(problem.like, float(precision), m, width)
        out[s] = evidence[of_item[of_item >= 0]]
    return Pointwise(ratings.items[of_item >= 0], out)


def _hierarchical_evidence(like: Any, precision: float, m: Floats, s: Floats) -> Floats:
    """Return log Pr(ratings of one item | precision, m, s) for every pattern of ratings, shape (pattern,)."""
    a, b = beta_shapes(m, s)
    width, centre = min(float(s / np.sqrt(m * (1 - m))), 2.0), float(sp.special.logit(m))
    step = min(likelihood_step(like, precision), width / (1.6 * float(np.hypot(2, centre))))
    at, log_weight = nodes(step, centre - 7.5 * width - 28 / float(a), centre + 7.5 * width + 28 / float(b))
    log_prior = log_beta_shape(at, m, s) + log_weight
    log_prior -= sp.special.logsumexp(log_prior)
    return np.asarray(sp.special.logsumexp(like.table(precision, at) + log_prior, axis=1))


def dawid_skene_items(labels: Labels, parameters: Parameters, variant: str, prior: DawidSkenePrior) -> Pointwise:
    """Sum the true label out, and integrate difficulty or plausibilities, shape (sample, item)."""
    if variant == "mixed_membership":
        return _mixed_membership_items(labels, parameters)
    start = run_starts(labels.item_index)[:-1]
    samples = len(parameters["prevalence"])
    out = np.empty((samples, start.size))
    size = max(1, CELLS // (labels.item_index.size * labels.categories.size))
    for cut in range(0, samples, size):
        some = slice(cut, cut + size)
        log_prevalence = _log(parameters["prevalence"][some])
        confusion = parameters["confusion"][some]
        if variant == "item_difficulty":
            out[some] = _integrate_difficulty(labels, start, log_prevalence, confusion, prior.difficulty_sd)
        else:
            chance = _log(confusion[:, labels.annotator_index, :, labels.label_index])
            joint = np.add.reduceat(np.moveaxis(chance, 0, 1), start, axis=1) + log_prevalence[:, None]
            out[some] = np.asarray(sp.special.logsumexp(joint, axis=2))
    return Pointwise(labels.items[labels.item_index[start]], out)


def _integrate_difficulty(
    labels: Labels, start: NDArray[Any], log_prevalence: Floats, confusion: NDArray[Any], sd: float
) -> Floats:
    node, weight = np.polynomial.hermite_e.hermegauss(DIFFICULTY_NODES)
    accuracy = np.clip(confusion[:, :, 0, 0].astype(np.float64), 1e-7, 1 - 1e-7)
    ability = sp.special.logit(accuracy)[:, labels.annotator_index]
    truth = np.arange(labels.categories.size)
    right = labels.label_index[:, None] == truth
    parts = []
    for d in sd * node:
        chance = sp.special.expit(ability - d)[:, :, None]
        given = _log(np.where(right, chance, (1 - chance) / (truth.size - 1)))
        parts.append(sp.special.logsumexp(np.add.reduceat(given, start, axis=1) + log_prevalence[:, None], axis=2))
    return np.asarray(sp.special.logsumexp(np.stack(parts, axis=-1) + np.log(weight / weight.sum()), axis=-1))


def _mixed_membership_items(labels: Labels, parameters: Parameters) -> Pointwise:
    start = run_starts(labels.item_index)
    most, n_labels = int(np.diff(start).max()), labels.categories.size
    if (most + 1) ** (n_labels - 1) > MOST_STATES:
        raise InputError(
            f"an item has {most} annotations of {n_labels} labels: too many latent labels to sum over; the log "
            "likelihood of variant='mixed_membership' is for small sets"
        )
    out = np.empty((len(parameters["prevalence"]), start.size - 1))
    latent_labels_log_probability(
        parameters["prevalence"].astype(np.float64), parameters["ambiguity"].astype(np.float64),
        parameters["confusion"].astype(np.float64), start, labels.annotator_index, labels.label_index, out,
    )  # fmt: skip
    return Pointwise(labels.items[labels.item_index[start[:-1]]], out)


@numba.njit(cache=True, nogil=True)
def latent_labels_log_probability(prevalence, ambiguity, confusion, start, annotator, label, out):
    """Sum out the latent label of each annotation; those of an item are a Polya urn of weights ambiguity x prevalence.

    The state after t annotations is the number of them of each latent label (all but the last label, in base n + 1).
    """
    n_labels = prevalence.shape[1]
    for i in range(start.size - 1):
        base = start[i + 1] - start[i] + 1
        places = np.empty(n_labels, np.int64)
        for k in range(n_labels):
            places[k] = base**k
        places[n_labels - 1] = 0
        n_states = base ** (n_labels - 1)
        for s in range(out.shape[0]):
            mass = np.zeros(n_states)
            mass[0] = 1.0
            for t in range(base - 1):
                new = np.zeros(n_states)
                chance = confusion[s, annotator[start[i] + t], :, label[start[i] + t]]
                for state in range(n_states):
                    if mass[state] == 0.0:
                        continue
                    rest, last = state, t
                    for k in range(n_labels):
                        count = rest % base if k < n_labels - 1 else last
                        rest, last = rest // base, last - count
                        weight = ambiguity[s] * prevalence[s, k] + count
                        new[state + places[k]] += mass[state] * weight / (ambiguity[s] + t) * chance[k]
                mass = new
            out[s, i] = np.log(mass.sum())


def group_annotators(agree: NDArray[Any], total: NDArray[Any], group: NDArray[Any], parameters: Parameters) -> Floats:
    """Return the beta-binomial log likelihood of each annotator's agreements, shape (sample, annotator)."""
    phi = parameters["within_spread"][:, None] ** -2.0 - 1
    mean = np.clip(parameters["performance"][:, group], 1e-12, 1 - 1e-12)
    a, b = np.maximum(mean * phi, 1e-300), np.maximum((1 - mean) * phi, 1e-300)
    choose = -np.log(total + 1.0) - sp.special.betaln(agree + 1, total - agree + 1)
    return choose + sp.special.betaln(agree + a, total - agree + b) - sp.special.betaln(a, b)


def group_values(value: Floats, group: NDArray[Any], parameters: Parameters) -> Floats:
    """Return the normal log density of each annotator's value, shape (sample, annotator)."""
    sd = parameters["within_sd"][:, None]
    return -np.log(sd) - np.log(2 * np.pi) / 2 - ((value - parameters["performance"][:, group]) / sd) ** 2 / 2


def _annotated(items: NDArray[Any], n: NDArray[Any], log_p: Floats) -> Pointwise:
    return Pointwise(items[n > 0], log_p[:, n > 0])


def _log(probability: NDArray[Any]) -> Floats:
    return np.log(np.maximum(probability.astype(np.float64), 1e-300))
