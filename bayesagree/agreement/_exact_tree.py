"""The result of the exact engine: draws of Phi and of all that goes with it, their summary, the density of Phi."""

from typing import Any

import numpy as np
import xarray as xr

from bayesagree._inference.results import result_tree
from bayesagree._inference.streams import seed_sequence
from bayesagree.agreement._exact.averaged import joint_posterior
from bayesagree.agreement._exact.draws import draw_hyper, draw_item_means
from bayesagree.agreement._exact.item_means import KnownMeans
from bayesagree.agreement._exact.maximum_likelihood import phi_maximum_likelihood
from bayesagree.agreement._exact.posterior import phi_of
from bayesagree.agreement._exact.problem import Problem
from bayesagree.agreement.limits import share_at_ends, warn_of_two_ends
from bayesagree.agreement.model import END_SHARES, OUTRIGHT
from bayesagree.annotations import Ratings
from bayesagree.io.patterns.patterns import RatingPatterns

SAMPLE = ("chain", "draw")
THIN = 10
"""Every tenth point of the fine grid is kept as the density of Phi: 20 in each step of the quadrature."""


def exact_tree(
    ratings: Ratings | RatingPatterns,
    problem: Problem,
    shape: tuple[int, int],
    ci_prob: float,
    keep_item_means: bool,
    options: dict[str, Any],
) -> xr.DataTree:
    """Return draws from the exact posterior, in the form of every result."""
    single = problem.single_ratings("keep_item_means=True") if keep_item_means else None
    likelihood = options["settings"]["likelihood"]
    rng = np.random.default_rng(seed_sequence(options["seed"]))
    joint = joint_posterior(problem.means, problem.kind)
    posterior, (y, shares) = joint.phi, joint.draw(shape[0] * shape[1], rng)
    variables: dict[str, Any] = {"phi": (SAMPLE, phi_of(np.exp(y)).reshape(shape))}
    coords: dict[str, Any] = {"grid": posterior.phi[::THIN]}
    if likelihood in OUTRIGHT:
        variables |= {n: (SAMPLE, v.reshape(shape)) for n, v in zip(END_SHARES, shares.T)}
    hyper = draw_hyper(problem.means, y, shares, rng)
    if hyper is not None:
        variables |= {n: (SAMPLE, v.reshape(shape)) for n, v in zip(("mean_location", "mean_spread"), hyper)}
        warn_of_two_ends(ratings, problem, y, hyper, shares, rng)
    if single is not None:
        low, high = single.scale
        coords["item"] = single.items[problem.patterns.pattern_of_item >= 0]
        means = low + (high - low) * draw_item_means(problem.means, problem.patterns, y, hyper, shares, rng)
        variables["item_mean"] = ((*SAMPLE, "item"), means.reshape(*shape, -1))
    found = posterior.summary(ci_prob)
    summary = {
        "mean": found.mean, "sd": found.sd, "lower": found.lower, "upper": found.upper, "map": found.mode,
        "prob_positive": found.prob_positive,
        "share_at_ends": share_at_ends(problem),
        "log_evidence": posterior.log_evidence, "log_evidence_error": posterior.log_evidence_error,
        "interval_error": posterior.interval_error, "bin_width": problem.like.bin_width,
    }  # fmt: skip
    if likelihood == "averaged":
        summary["prob_inflated"] = joint.prob_inflated
    if joint.binned is not None:
        summary["ml"] = phi_maximum_likelihood(problem.means.compressed[0])
        if isinstance(problem.means, KnownMeans) and problem.means.truth.size:
            summary["joint_map"] = phi_maximum_likelihood(problem.like, problem.means)
    groups = {
        "posterior": variables,
        "agreement": {name: ((), value) for name, value in summary.items()},
        "density": {"density": (("grid",), posterior.phi_density()[::THIN])},
    }
    return result_tree(groups, coords, **options)
