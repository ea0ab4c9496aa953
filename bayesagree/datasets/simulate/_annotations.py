"""Ratings of known common agreement, labels of a crowd and partial rankings, as their models assume them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Floats, Integers
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.errors import InputError, positive, positive_int
from bayesagree.inference.cells import row_shares
from bayesagree.inference.kernel_draws import categories, log_dirichlets
from bayesagree.inference.streams import Seed, seed_sequence


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedRatings:
    """Ratings simulated from the common-agreement model.

    Attributes
    ----------
    ratings
        On (0, 1) where continuous, else levels 1 to `n_levels`.
    phi
        True common agreement.
    item_mean
        True mean of each item on the unit scale, shape (item,).
    """

    ratings: Ratings
    phi: float
    item_mean: Floats


def ratings(
    *,
    n_items: int,
    ratings_per_item: int = 5,
    phi: float = 0.5,
    n_levels: int | None = 5,
    item_mean: Floats | tuple[float, float] | float = (1.0, 1.0),
    random_seed: Seed = None,
) -> SimulatedRatings:
    """Simulate ratings x ~ Beta(mu_i p, (1 - mu_i) p), p = 2 (1 - log2(1 - phi)), seen on a scale of levels.

    Parameters
    ----------
    n_items, ratings_per_item
        Size; rater j of every item has the same name.
    phi
        Common agreement, in (-1, 1).
    n_levels
        Levels of the scale 1, ..., n_levels: a judgment in [m / n_levels, (m + 1) / n_levels) is level m + 1; None:
        continuous on (0, 1).
    item_mean
        Shapes (a, b) of the Beta distribution of item means, one mean for all items, or the means, shape (item,).
    random_seed
        Seed or generator.

    Raises
    ------
    InputError
        `phi` outside (-1, 1), fewer than two levels, a size below 1.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.2.

    Examples
    --------
    >>> problem = ratings(n_items=3, ratings_per_item=4, phi=0.9, random_seed=1)
    >>> problem.ratings.n_annotations, problem.ratings.scale
    (12, (1.0, 5.0))
    """
    n = positive_int(n_items, "n_items")
    r = positive_int(ratings_per_item, "ratings_per_item")
    if not -1 < phi < 1:
        raise InputError(f"phi={phi!r} must lie between -1 and 1")
    rng = np.random.default_rng(seed_sequence(random_seed))
    mean = rng.beta(*item_mean, n) if isinstance(item_mean, tuple) else np.full(n, item_mean, float)
    precision = 2 * (1 - np.log2(1 - phi))
    a, b = np.maximum(np.stack([mean, 1 - mean])[:, :, None] * precision, 1e-300)
    x = rng.beta(a, b, (n, r))
    if n_levels is None:
        return SimulatedRatings(Ratings.from_matrix(x, scale=(0, 1)), float(phi), mean)
    k = positive_int(n_levels, "n_levels")
    seen = Ratings.from_matrix(np.minimum(np.floor(x * k), k - 1) + 1, scale=(1, k), step=1)
    return SimulatedRatings(seen, float(phi), mean)


@dataclass(frozen=True, eq=False, repr=False)
class CrowdLabels:
    """A simulated crowd whose annotators confuse labels each in their own way.

    Attributes
    ----------
    labels
        The crowd's labels.
    truth
        True label of each item, shape (item,), as position; the gold label where items are ambiguous.
    prevalence
        Share of each label, shape (label,).
    confusion
        Pr(given label | latent label), shape (annotator, category, observed_category).
    plausibility
        Each item's distribution over labels, shape (item, category): one-hot unless ``ambiguity`` is positive.
    """

    labels: Labels
    truth: Integers
    prevalence: Floats
    confusion: Floats
    plausibility: Floats


def crowd_labels(
    *,
    n_items: int = 2000,
    n_annotators: int = 40,
    n_labels: int = 4,
    labels_per_item: int = 3,
    prevalence: Sequence[float] | None = None,
    confusion: Floats | None = None,
    ambiguity: float = 0.0,
    random_seed: Seed = None,
) -> CrowdLabels:
    """Simulate a crowd that labels items one by one, as `dawid_skene` assumes it.

    Each item is labelled by different annotators drawn at random. Annotator j has a latent label c of item i and gives
    label l with probability confusion_jcl. Without ambiguity c is the true label; with ambiguity alpha every item has
    lambda_i ~ Dirichlet(alpha prevalence), and every annotator, like the gold standard, draws c ~ lambda_i anew.

    Parameters
    ----------
    n_items, n_annotators, n_labels, labels_per_item
        Sizes.
    prevalence
        Share of each label; by default equal.
    confusion
        Confusion matrices (annotator, category, observed_category); by default row k of annotator j ~ Dirichlet with
        1 + c_j for label k and 1 for the others, c_j ~ U(1, 8).
    ambiguity
        Concentration alpha of the items' plausibilities; 0 is one true label per item.
    random_seed
        Same seed, same crowd.

    Examples
    --------
    >>> crowd = crowd_labels(n_items=10, n_annotators=5, random_seed=1)
    >>> crowd.labels.n_annotations, crowd.confusion.shape
    (30, (5, 4, 4))
    """
    sizes = {"n_items": n_items, "n_annotators": n_annotators, "n_labels": n_labels}
    n, j, k = (positive_int(size, name) for name, size in sizes.items())
    votes = positive_int(labels_per_item, "labels_per_item")
    if votes > j:
        raise InputError(f"labels_per_item={votes} is more than the {j} annotators there are")
    rng = np.random.default_rng(seed_sequence(random_seed))
    share = np.full(k, 1 / k) if prevalence is None else np.asarray(prevalence, dtype=float)
    if confusion is None:
        shape = np.ones((j, k, k)) + rng.uniform(1, 8, j)[:, None, None] * np.eye(k)
        confusion = row_shares(rng.standard_gamma(shape))
    if positive(ambiguity, "ambiguity", zero=True) > 0:
        plausibility = np.exp(log_dirichlets(rng, np.broadcast_to(ambiguity * share, (n, k))))
    else:
        plausibility = np.eye(k)[categories(rng, np.broadcast_to(share, (n, k)))]
    truth = categories(rng, plausibility)
    item = np.repeat(np.arange(n), votes)
    annotator = np.argsort(rng.random((n, j)), axis=1)[:, :votes].ravel()
    read = categories(rng, plausibility[item])
    given = categories(rng, confusion[annotator, read])
    order = np.lexsort((annotator, item))
    item, annotator, given = (column[order].astype(np.int32) for column in (item, annotator, given))
    labels = Labels(np.arange(n), np.arange(j), item, annotator, np.arange(k), given, np.ones(item.size, int))
    return CrowdLabels(labels, truth, share, np.asarray(confusion), plausibility)


@dataclass(frozen=True, eq=False, repr=False)
class RankedTestSet:
    """Simulated rankings, and the plausibilities they came from.

    Attributes
    ----------
    plausibility
        True plausibilities, dims (item, category).
    rankings
        Rankings by the annotators.
    """

    plausibility: xr.DataArray
    rankings: Rankings


def rankings(
    *,
    n_items: int = 100,
    n_labels: int = 10,
    n_annotators: int = 5,
    shape: float = 0.3,
    patterns: Sequence[Sequence[int]] = ((1,), (1, 1), (2,), (1, 2), (1, 1, 1)),
    random_seed: Seed = None,
) -> RankedTestSet:
    """Simulate partial rankings with ties from the Plackett-Luce model, exactly as `plackett_luce` assumes them.

    Each item draws plausibilities from Dirichlet(shape); each annotator draws a pattern of block sizes and ranks the
    labels in the order of exponential arrival times, whose rates are the plausibilities.

    Parameters
    ----------
    n_items, n_labels, n_annotators
        Sizes.
    shape
        Dirichlet shape of each label: small values make one label dominate.
    patterns
        Block sizes, best block first, one of which each ranking follows at random.
    random_seed
        Same seed, same rankings.

    Raises
    ------
    InputError
        A pattern that is empty, holds an empty block or ranks more labels than there are.

    Examples
    --------
    >>> ranked = rankings(n_items=3, n_labels=4, n_annotators=2, patterns=[(1, 2)], random_seed=1)
    >>> ranked.rankings.n_annotations, ranked.rankings.block.tolist()[:3]
    (6, [0, 1, 1])
    """
    shapes = (positive_int(n_items, "n_items"), positive_int(n_annotators, "n_annotators"))
    k = positive_int(n_labels, "n_labels")
    sizes = [[positive_int(size, "block size") for size in pattern] for pattern in patterns]
    if not sizes or any(not 0 < sum(pattern) <= k for pattern in sizes):
        raise InputError(f"patterns={patterns!r}: every ranking names between 1 and n_labels={k} labels")
    rng = np.random.default_rng(seed_sequence(random_seed))
    log_worth = log_dirichlets(rng, np.full((shapes[0], k), positive(shape, "shape")))
    order = np.argsort(np.log(rng.standard_exponential((*shapes, k))) - log_worth[:, None], axis=-1)
    block = np.full((len(sizes), k), -1)
    for own, pattern in zip(block, sizes):
        own[: sum(pattern)] = np.repeat(np.arange(len(pattern)), pattern)
    rank = block[rng.integers(len(sizes), size=shapes)]
    item, annotator, _ = at = np.nonzero(rank >= 0)
    table = pd.DataFrame({"item": item, "annotator": annotator, "label": order[at], "rank": rank[at]})
    truth = xr.DataArray(np.exp(log_worth), {"item": np.arange(shapes[0]), "category": np.arange(k)})
    return RankedTestSet(truth, Rankings.from_long(table, labels=np.arange(k).tolist()))
