"""Warnings where the paper's own limits apply (Checco et al., sections 5.2 and 6.2), and where item means pile up."""

import warnings

import numpy as np

from bayesagree.agreement._exact.patterns import Floats
from bayesagree.agreement._exact.problem import ItemMean, Problem
from bayesagree.agreement.checks import ALARM, MOST_ITEMS, item_mean_p_value
from bayesagree.annotations import Ratings
from bayesagree.patterns.patterns import RatingPatterns


def warn_of_limits(ratings: Ratings | RatingPatterns, problem: Problem, item_mean: ItemMean) -> None:
    """Warn where the paper's own limits apply (sections 5.2 and 6.2)."""
    rated = problem.patterns.n_items
    if rated == 1:
        warnings.warn("one item: Phi of a single item easily fits chance; see its interval", UserWarning, stacklevel=3)
    if ratings.n_levels == 2:
        warnings.warn(
            "two levels: the ratings say only on which half of the scale a judgment fell, which hardly identifies Phi; "
            "percent agreement or kappa (agreement_table) suit such data better",
            UserWarning, stacklevel=3,
        )  # fmt: skip
    if isinstance(item_mean, str) and item_mean == "flat" and ratings.n_annotations < 5 * rated:
        warnings.warn(
            f"{ratings.n_annotations / rated:.1f} ratings an item with flat item means: random answers look like "
            "agreement below 5; item_mean='hierarchical' does not have this bias",
            UserWarning, stacklevel=3,
        )  # fmt: skip


def warn_of_two_ends(
    ratings: Ratings | RatingPatterns,
    problem: Problem,
    y: Floats,
    hyper: tuple[Floats, Floats],
    rng: np.random.Generator,
) -> None:
    """Warn where the histogram of item means is not one the hierarchical model produces."""
    if problem.patterns.n_items < 20 or ratings.n_levels == 2:
        return
    chosen = rng.choice(y.size, min(200, y.size), replace=False)
    if isinstance(ratings, RatingPatterns):
        ratings = ratings.sample(min(ratings.n_items, MOST_ITEMS), rng)
    p_value = item_mean_p_value(ratings, np.exp(y[chosen]), (hyper[0][chosen], hyper[1][chosen]), rng)
    if p_value < ALARM:
        warnings.warn(
            f"the histogram of item means does not fit one Beta distribution (posterior predictive p = {p_value:.3f}), "
            "as when they pile up at two ends: Phi is biased; see item_mean_check, phi_clusters and item_mean='flat'",
            UserWarning, stacklevel=3,
        )  # fmt: skip
