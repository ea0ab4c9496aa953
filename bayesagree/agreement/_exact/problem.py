"""Ratings and options, checked and collapsed to what the exact engine needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree.agreement._exact.item_means import HierarchicalMeans, ItemMeans, KnownMeans
from bayesagree.agreement._exact.likelihood import Kind, Likelihood
from bayesagree.agreement._exact.likelihood import likelihood as build_likelihood
from bayesagree.agreement._exact.patterns import Floats, Patterns, collapse, collapsed
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, as_python, positive, shorten
from bayesagree.patterns.patterns import RatingPatterns

type ItemMean = Literal["hierarchical", "flat"] | Mapping[Any, float]

SMALLEST_TRUTH_SD = 1e-3
DEFAULT_TRUTH_SD = 0.1
"""Standard deviation of a known truth in units of the length of the scale."""


@dataclass(frozen=True)
class Problem:
    """Ratings prepared for the exact engine."""

    patterns: Patterns
    like: Likelihood
    means: ItemMeans


def check_options(ratings: Ratings | RatingPatterns, likelihood: Kind) -> None:
    """Refuse an unknown likelihood, and ratings that it is not for."""
    if likelihood not in ("binned", "density", "squeezed"):
        raise InputError(f"likelihood={likelihood!r} is not one of 'binned', 'density', 'squeezed'")
    if isinstance(ratings, Ratings) and ratings.has_repeats:
        raise InputError(
            "an annotator rated an item more than once; common_agreement takes one rating each: "
            "read the ratings with duplicates='first' or 'last'"
        )
    if likelihood == "density" and ratings.step is not None:
        raise InputError(
            f"likelihood='density' is for continuous ratings, these have step={ratings.step:g}; use 'binned'"
        )


def prepare(
    ratings: Ratings | RatingPatterns,
    *,
    item_mean: ItemMean = "hierarchical",
    truth_sd: float | None = None,
    likelihood: Kind = "binned",
) -> Problem:
    """Check the options and collapse the ratings to what the exact engine needs."""
    check_options(ratings, likelihood)
    truth, sd, group = known_truth(ratings, item_mean, truth_sd)
    patterns = collapse(ratings, group) if isinstance(ratings, Ratings) else collapsed(ratings)
    like = build_likelihood(ratings, patterns, likelihood)
    hierarchical = isinstance(item_mean, str) and item_mean == "hierarchical"
    return Problem(patterns, like, HierarchicalMeans(like) if hierarchical else KnownMeans(like, truth, sd))


def known_truth(
    ratings: Ratings | RatingPatterns, item_mean: ItemMean, truth_sd: float | None
) -> tuple[Floats, float, NDArray[np.int64]]:
    """Return distinct truths on [0, 1], their sd, and which one each item has (0 = none), shape (item,)."""
    group = np.zeros(ratings.items.size if isinstance(ratings, Ratings) else 0, np.int64)
    if isinstance(item_mean, str):
        if item_mean not in ("hierarchical", "flat"):
            raise InputError(f"item_mean={item_mean!r} is not 'hierarchical', 'flat' or a mapping item -> truth")
        if truth_sd is not None:
            raise InputError("truth_sd goes with known truths: pass item_mean={item: truth, ...}")
        return np.empty(0), np.nan, group
    if not isinstance(ratings, Ratings):
        raise InputError("patterns do not name their items: item_mean is 'hierarchical' or 'flat', or pass Ratings")
    low, high = ratings.scale
    sd = DEFAULT_TRUTH_SD if truth_sd is None else positive(truth_sd, "truth_sd") / (high - low)
    if sd < SMALLEST_TRUTH_SD:
        raise InputError(
            f"truth_sd={truth_sd} is below a thousandth of the scale ({low:g}, {high:g}); pass a larger one"
        )
    position = {as_python(name): i for i, name in enumerate(ratings.items)}
    unknown = [name for name in item_mean if name not in position]
    if unknown:
        raise InputError(f"item_mean names items without ratings: {shorten(unknown)}")
    outside = [(k, v) for k, v in item_mean.items() if not low <= v <= high]
    if outside:
        raise InputError(f"item {outside[0][0]!r}: truth {outside[0][1]!r} is outside the scale ({low:g}, {high:g})")
    given = np.array([(float(v) - low) / (high - low) for v in item_mean.values()])
    truth, which = np.unique(given, return_inverse=True)
    group[[position[name] for name in item_mean]] = which + 1
    return truth, sd, group
