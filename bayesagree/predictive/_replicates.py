"""Replicated annotations: the same people annotate the same items again, under drawn parameters; and prior draws.

Every function takes draws by name, first axis the sample, and returns replicates of shape (sample, annotation).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree.agreement._exact.item_means import beta_shapes
from bayesagree.agreement._exact.posterior import precision_of
from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.errors import InputError
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior
from bayesagree.plausibility.dirichlet.posterior import dirichlet
from bayesagree.plausibility.normal_inverse_gamma.posterior import normal_inverse_gamma

type Floats = NDArray[np.float64]
type Parameters = Mapping[str, NDArray[Any]]
type Rng = np.random.Generator

CELLS = 4_000_000


def crowd_of(settings: Mapping[str, Any]) -> tuple[str, DawidSkenePrior]:
    """Return variant and prior of a crowd from the settings of a result."""
    prior = settings.get("prior") or {}
    return settings.get("variant", "full"), prior if isinstance(prior, DawidSkenePrior) else DawidSkenePrior(**prior)


def refuse_lumped(settings: Mapping[str, Any]) -> None:
    """Refuse models of anything but single labels."""
    if settings.get("unranked") == "lumped" or settings.get("exponent", 1) != 1:
        raise InputError("only unranked='exact' with exponent=1 is a model of how single labels are ranked")


def refuse_choice_sets(rankings: Rankings, settings: Mapping[str, Any]) -> None:
    """Refuse rankings of few labels among many: replicates and held-out scores take all labels as on offer."""
    if rankings.offered is not None or settings.get("competing", "all") != "all":
        raise InputError("predictive checks of rankings take all labels as on offer; these have offered= or competing=")


def needed(kind: str, settings: Mapping[str, Any]) -> list[str]:
    """Name the draws that replicates are made from."""
    if kind == "dawid_skene":
        return ["plausibility", "confusion", *(["difficulty"] if settings["variant"] == "item_difficulty" else [])]
    return {"normal_inverse_gamma": ["mean", "variance"], "common_agreement": ["phi", "item_mean"]}.get(
        kind, ["plausibility"]
    )


def replicate(
    kind: str, annotations: Annotations, drawn: Parameters, settings: Mapping[str, Any], rng: np.random.Generator
) -> NDArray[Any]:
    """Draw the annotations again, shape (sample, annotation)."""
    given: Any = annotations
    if kind == "dirichlet":
        return draw_labels(given, drawn["plausibility"], rng)
    if kind == "dawid_skene":
        return draw_crowd_labels(given, drawn, crowd_of(settings)[0], rng)
    if kind == "plackett_luce":
        refuse_lumped(settings)
        refuse_choice_sets(given, settings)
        return draw_rankings(given, drawn["plausibility"], rng)
    if kind == "normal_inverse_gamma":
        return draw_normal_ratings(given, drawn, rng)
    return draw_ratings(given, drawn, rng)


def observed_in(annotations: Annotations) -> tuple[str, str, NDArray[Any]]:
    """Return name, dimension and values of the observed data, in the order in which they are drawn again."""
    if isinstance(annotations, Labels):
        return "label_index", "annotation", annotations.label_index[label_rows(annotations)]
    if isinstance(annotations, Rankings):
        return "label_index", "entry", annotations.label_index
    return "rating", "annotation", annotations.rating


def prior_draws(
    kind: str, annotations: Annotations, n: int, rng: np.random.Generator, options: dict[str, Any]
) -> Parameters:
    """Draw the parameters of every item and of all items from the prior."""
    given: Any = annotations
    run: dict[str, Any] = {"draws": n, "chains": 1, "seed": rng}
    if kind == "dirichlet":
        tree = dirichlet(given, reliability=0, **options, **run)
        return {"plausibility": tree["posterior"].to_dataset()["plausibility"].values[0]}
    if kind == "normal_inverse_gamma":
        tree = normal_inverse_gamma(given, reliability=0, **options, **run)
        return {name: tree["posterior"].to_dataset()[name].values[0] for name in ("mean", "variance")}
    if kind == "plackett_luce":
        shape = options.get("shape") or 1 / given.labels.size
        flat = Labels.from_counts(np.eye(1, given.labels.size, dtype=int).repeat(given.items.size, axis=0))
        tree = dirichlet(flat, reliability=0, prior=shape, **run)
        return {"plausibility": tree["posterior"].to_dataset()["plausibility"].values[0]}
    if kind == "dawid_skene":
        return prior_dawid_skene(given, *crowd_of(options), n, rng)
    item_mean = options.get("item_mean", "hierarchical")
    if item_mean not in ("hierarchical", "flat"):
        raise InputError("the prior predictive of common_agreement is for item_mean='hierarchical' or 'flat'")
    return prior_common_agreement(given, item_mean == "hierarchical", n, rng)


PRIOR_DIMS: dict[str, tuple[str, ...]] = {
    "plausibility": ("item", "category"),
    "variance": ("item",),
    "item_mean": ("item",),
    "difficulty": ("item",),
    "prevalence": ("category",),
    "concentration": ("category",),
    "crowd_confusion": ("category", "observed_category"),
    "confusion": ("annotator", "category", "observed_category"),
}


def label_rows(labels: Labels) -> NDArray[np.int64]:
    """Return the row of each single annotation: counts stand for several."""
    return np.repeat(np.arange(labels.item_index.size), labels.count)


def draw_labels(labels: Labels, plausibility: NDArray[Any], rng: Rng) -> NDArray[np.int64]:
    """Let every annotator draw a label from the plausibilities (sample, item, label) of the item."""
    return _categories(plausibility, labels.item_index[label_rows(labels)], rng)


def draw_crowd_labels(labels: Labels, parameters: Parameters, variant: str, rng: Rng) -> NDArray[np.int64]:
    """Let every annotator confuse the drawn truth, or a latent label of their own."""
    plausibility, confusion = parameters["plausibility"], parameters["confusion"]
    if variant == "mixed_membership":
        truth = _categories(plausibility, labels.item_index, rng)
    else:
        truth = plausibility.argmax(axis=2)[:, labels.item_index]
    sample = np.arange(len(truth))[:, None]
    if variant == "item_difficulty":
        return _easier_or_harder(labels, parameters, truth, rng)
    rows = confusion[sample, labels.annotator_index, truth]
    return _categories(rows, np.arange(labels.item_index.size), rng)


def _easier_or_harder(labels: Labels, parameters: Parameters, truth: NDArray[Any], rng: Rng) -> NDArray[np.int64]:
    accuracy = np.clip(parameters["confusion"][:, labels.annotator_index, 0, 0].astype(np.float64), 1e-7, 1 - 1e-7)
    chance = sp.special.expit(sp.special.logit(accuracy) - parameters["difficulty"][:, labels.item_index])
    right = rng.random(truth.shape) < chance
    other = rng.integers(1, labels.categories.size, truth.shape)
    return np.where(right, truth, (truth + other) % labels.categories.size)


def _categories(probability: NDArray[Any], of: NDArray[Any], rng: Rng) -> NDArray[np.int64]:
    """Draw one category of ``probability[:, of[t]]`` for each t, shape (sample, t)."""
    out = np.empty((len(probability), of.size), np.int64)
    size = max(1, CELLS // (len(probability) * probability.shape[2]))
    for cut in range(0, of.size, size):
        cumulative = np.cumsum(probability[:, of[cut : cut + size]], axis=2, dtype=np.float64)
        threshold = rng.random(cumulative.shape[:2]) * cumulative[:, :, -1]
        out[:, cut : cut + size] = (cumulative <= threshold[:, :, None]).sum(axis=2)
    return np.minimum(out, probability.shape[2] - 1)


def draw_rankings(rankings: Rankings, plausibility: NDArray[Any], rng: Rng) -> NDArray[np.int64]:
    """Let the labels race again; a replicate has blocks of the same sizes, shape (sample, entry)."""
    out = np.empty((len(plausibility), rankings.label_index.size), np.int64)
    n_labels = plausibility.shape[2]
    for r in range(rankings.n_annotations):
        start, stop = int(rankings.start[r]), int(rankings.start[r + 1])
        worth = np.maximum(plausibility[:, rankings.item_index[r]], 1e-300)
        order = np.argsort(rng.standard_exponential(worth.shape) / worth, axis=1)[:, : stop - start]
        block = rankings.block[start:stop].astype(np.int64)
        # Inside a block labels stand in their own order, as in the annotations.
        out[:, start:stop] = np.sort(block * n_labels + order, axis=1) % n_labels
    return out


def draw_normal_ratings(ratings: Ratings, parameters: Parameters, rng: Rng) -> Floats:
    """Draw every rating from the normal distribution of its item."""
    mean, variance = (parameters[name][:, ratings.item_index] for name in ("mean", "variance"))
    return mean + np.sqrt(variance) * rng.standard_normal(mean.shape)


def draw_ratings(ratings: Ratings, parameters: Parameters, rng: Rng) -> Floats:
    """Draw every judgment from the Beta distribution of its item, and record it as the scale does."""
    low, high = ratings.scale
    position = np.searchsorted(np.unique(ratings.item_index), ratings.item_index)
    mean = (parameters["item_mean"][:, position] - low) / (high - low)
    precision = precision_of(parameters["phi"])[:, None]
    x = rng.beta(np.maximum(mean * precision, 1e-300), np.maximum((1 - mean) * precision, 1e-300))
    n = ratings.n_levels
    if n is not None:
        x = np.minimum(np.floor(x * n), n - 1) / (n - 1)
    return low + (high - low) * x


def draw_agreements(total: NDArray[Any], group: NDArray[Any], parameters: Parameters, rng: Rng) -> NDArray[np.int64]:
    """Draw how often the model agrees with each annotator, shape (sample, annotator)."""
    phi = parameters["within_spread"][:, None] ** -2.0 - 1
    mean = parameters["performance"][:, group]
    rate = rng.beta(np.maximum(mean * phi, 1e-300), np.maximum((1 - mean) * phi, 1e-300))
    return rng.binomial(total, rate)


def draw_values(group: NDArray[Any], parameters: Parameters, rng: Rng) -> Floats:
    """Draw each annotator's value around the mean of the group, shape (sample, annotator)."""
    mean = parameters["performance"][:, group]
    return mean + parameters["within_sd"][:, None] * rng.standard_normal(mean.shape)


def prior_common_agreement(ratings: Ratings, hierarchical: bool, samples: int, rng: Rng) -> dict[str, Floats]:
    """Draw Phi, the prior of the item means and the item means from their prior."""
    drawn = {"phi": rng.uniform(-1, 1, samples)}
    shape = (samples, np.unique(ratings.item_index).size)
    if hierarchical:
        drawn |= {"mean_location": rng.random(samples), "mean_spread": rng.random(samples)}
        a, b = beta_shapes(drawn["mean_location"][:, None], drawn["mean_spread"][:, None])
        mean = rng.beta(np.maximum(a, 1e-300), np.maximum(b, 1e-300), shape)
    else:
        mean = rng.random(shape)
    low, high = ratings.scale
    return drawn | {"item_mean": low + (high - low) * mean}


def prior_dawid_skene(
    labels: Labels, variant: str, prior: DawidSkenePrior, samples: int, rng: Rng
) -> dict[str, Floats]:
    """Draw prevalence, confusion and the items' truth (or plausibilities) from their prior."""
    n_labels, n_annotators, n_items = labels.categories.size, labels.annotators.size, labels.items.size
    drawn = {"prevalence": _dirichlet(rng, np.full((samples, n_labels), prior.prevalence))}
    base, diagonal = prior.confusion(n_labels), np.arange(n_labels)
    shape = (samples, n_annotators, n_labels, n_labels)
    if variant in ("hierarchical", "mixed_membership"):
        log_concentration = rng.normal(np.log(prior.concentration), prior.concentration_sd, (samples, n_labels))
        drawn["concentration"] = np.exp(log_concentration)
        drawn["crowd_confusion"] = _dirichlet(rng, np.broadcast_to(base, (samples, n_labels, n_labels)))
        rows = drawn["concentration"][:, :, None] * drawn["crowd_confusion"]
        drawn["confusion"] = _dirichlet(rng, np.broadcast_to(rows[:, None], shape))
    elif variant == "full":
        drawn["confusion"] = _dirichlet(rng, np.broadcast_to(base, shape))
    else:
        right = prior.strength * prior.accuracy, prior.strength * (1 - prior.accuracy)
        if variant == "item_difficulty":
            accuracy = sp.special.expit(rng.normal(prior.ability, prior.ability_sd, (samples, n_annotators, 1)))
            drawn["difficulty"] = rng.normal(0, prior.difficulty_sd, (samples, n_items))
        else:
            accuracy = rng.beta(*right, (samples, n_annotators, 1 if variant == "one_coin" else n_labels))
        confusion = np.broadcast_to(((1 - accuracy) / (n_labels - 1))[..., None], shape).copy()
        confusion[:, :, diagonal, diagonal] = accuracy
        drawn["confusion"] = confusion
    if variant == "mixed_membership":
        drawn["ambiguity"] = np.exp(rng.normal(np.log(prior.ambiguity), prior.ambiguity_sd, samples))
        rows = drawn["ambiguity"][:, None, None] * drawn["prevalence"][:, None]
        drawn["plausibility"] = _dirichlet(rng, np.broadcast_to(rows, (samples, n_items, n_labels)))
    else:
        truth = _categories(drawn["prevalence"][:, None], np.zeros(n_items, np.int64), rng)
        drawn["plausibility"] = np.eye(n_labels)[truth]
    return drawn


def _dirichlet(rng: Rng, shape: NDArray[Any]) -> Floats:
    """Draw Dirichlet vectors along the last axis; small shapes on the log scale, where they cannot underflow."""
    log_gamma = np.log(rng.standard_gamma(shape + 1)) + np.log1p(-rng.random(shape.shape)) / np.maximum(shape, 1e-300)
    gamma = np.exp(log_gamma - log_gamma.max(axis=-1, keepdims=True))
    return gamma / gamma.sum(axis=-1, keepdims=True)
