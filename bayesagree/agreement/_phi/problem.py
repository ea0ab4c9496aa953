"""Ratings and options, checked once, and compressed to sufficient statistics for the engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from bayesagree.agreement._patterns import RatingCounts, collapse
from bayesagree.agreement._phi.item_means import MeanPrior
from bayesagree.agreement._phi.likelihood import Kind, Likelihood
from bayesagree.agreement._phi.likelihood import likelihood as build_likelihood
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, as_python, one_of, positive, shorten

ItemMean = Literal["hierarchical", "flat"] | Mapping[Any, float]

# Narrower priors of a known truth, in lengths of the scale, would need more nodes than the exact engine places.
SMALLEST_TRUTH_SD = 1e-3
# Standard deviation of a known truth in lengths of the scale: half a level of five.
DEFAULT_TRUTH_SD = 0.1


@dataclass(frozen=True)
class Problem:
    """Ratings prepared for the engine.

    Attributes
    ----------
    patterns, like
        Distinct patterns of ratings, and their likelihood.
    means
        Prior of the item means.
    kind
        Requested likelihood; "averaged" is "binned" where no answer lies at an end, on two levels, and where all
        answers lie at the ends and truths are known.
    ratings
        The ratings themselves.
    """

    patterns: RatingCounts
    like: Likelihood
    means: MeanPrior
    kind: Kind
    ratings: Ratings


def prepare(
    ratings: Ratings,
    *,
    item_mean: ItemMean = "hierarchical",
    truth_sd: float | None = None,
    likelihood: Kind = "averaged",
) -> Problem:
    """Return the checked ratings as the exact engine needs them."""
    of_means = checked_prior(ratings, item_mean, truth_sd, likelihood)
    counts = collapse(ratings, of_means.of_item)
    # Where truths are known, answers at the ends alone agree or disagree with them: no second reading is needed.
    known_ends = counts.share_of_ends == 1 and of_means.truth.size > 0
    if likelihood == "averaged" and (counts.share_of_ends == 0 or ratings.n_levels == 2 or known_ends):
        likelihood = "binned"
    like = build_likelihood(counts, likelihood, discrete=ratings.step is not None)
    return Problem(counts, like, of_means, likelihood, ratings)


def checked_prior(ratings: Ratings, item_mean: ItemMean, truth_sd: float | None, likelihood: Kind) -> MeanPrior:
    """Return the prior of the item means, after a check of all options against the ratings."""
    one_of(likelihood, "likelihood", get_args(Kind))
    if ratings.has_repeats:
        raise InputError(
            "an annotator rated an item more than once; common_agreement takes one rating each: "
            "read the ratings with duplicates='first' or 'last'"
        )
    if isinstance(item_mean, str):
        one_of(item_mean, "item_mean", ("hierarchical", "flat"))
        if truth_sd is not None:
            raise InputError("truth_sd goes with known truths: pass item_mean={item: truth, ...}")
        return MeanPrior(item_mean == "hierarchical")
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
        raise InputError(
            f"item {outside[0][0]!r}: truth {outside[0][1]!r} is outside the scale ({low:g}, {high:g})"
        )
    # Items of one truth share a prior, so that a million of them are a few distinct patterns.
    given = np.array([(float(v) - low) / (high - low) for v in item_mean.values()])
    truth, which = np.unique(given, return_inverse=True)
    of_item = np.zeros(ratings.items.size, int)
    of_item[[position[name] for name in item_mean]] = which + 1
    return MeanPrior(False, truth, sd, of_item)
