"""Three limits of Phi: ratings that hardly identify it, answers at the ends of the scale, item means that do not fit.

With every answer of an item at one end of the scale the item mean goes to that end, where a Beta distribution of any
precision puts all its mass: such items fit polarised annotators (two camps, one of them empty) as well as agreeing
ones, and better where the prior keeps means away from the ends. The sign of Phi then is a matter of how an answer at an
end is read, not of the data.
"""

from dataclasses import replace

import numpy as np

from bayesagree._types import Booleans, Rng
from bayesagree.agreement._phi.posterior import JointPosterior, PhiPosterior, joint_posterior
from bayesagree.agreement._phi.problem import ItemMean, Problem
from bayesagree.agreement.checks import THRESHOLD, misfits
from bayesagree.annotations import Ratings
from bayesagree.errors import warn

# Items from which a histogram of item means can show two ends, and replicates of it: p-values down to 0.005.
FEWEST_ITEMS, CHECK_DRAWS = 20, 200
# Levels from which the paper trusts Phi (section 6.2), and ratings per item from which it is not biased by flat means.
FEWEST_LEVELS, FEWEST_OF_FLAT = 5, 5
# Values on a regular grid of up to so many levels, each given so often on average, are no continuous ratings.
MOST_LEVELS, PER_LEVEL = 12, 3
# Share of items unanimous at an end from which Phi warns: in simulations a smaller share does not bias Phi.
SHOWN_AT_ENDS = 0.9
# Probabilities of outright ends between which neither reading of the ends is settled, and the distance of their means
# of Phi from which that matters.
UNSETTLED, FAR_APART = (0.1, 0.95), 0.2


def warn_of_few(ratings: Ratings, problem: Problem, item_mean: ItemMean) -> None:
    """Warn of ratings that say little of Phi (Checco et al., sections 5.2 and 6.2), and of a forgotten step."""
    rated = problem.patterns.n_items
    levels = ratings.n_levels
    reasons = []
    if levels is None and (levels := _levels_of_grid(problem)) is not None:
        step = np.ptp(ratings.scale) / (levels - 1)
        reasons.append(f"a grid of {levels} levels read as points of a continuous scale, pass step={step:g}")
    if rated == 1:
        reasons.append("one item, which easily fits chance")
    if problem.patterns.size.max() == 1:
        reasons.append("one rating per item, so that the posterior of Phi is its prior")
    elif isinstance(item_mean, str) and item_mean == "flat" and ratings.n_annotations < FEWEST_OF_FLAT * rated:
        reasons.append(
            f"{ratings.n_annotations / rated:.1f} ratings per item with flat item means, which make chance look like "
            "agreement"
        )
    if levels is not None and levels < FEWEST_LEVELS:
        reasons.append(f"{levels} levels, below {FEWEST_LEVELS} Phi depends on what a level stands for")
    if reasons:
        warn(f"Phi is hardly identified: {'; '.join(reasons)}")


def share_at_ends(problem: Problem) -> float:
    """Return the share of items, among those without a known truth, on which all ratings are one end of the scale."""
    return float(problem.patterns.weight @ _at_one_end(problem) / problem.patterns.weight.sum())


def warn_of_readings(joint: JointPosterior) -> None:
    """Warn where the readings of answers at the ends differ in Phi and the ratings leave open which holds."""
    if joint.binned is None or joint.inflated is None or not UNSETTLED[0] < joint.prob_inflated < UNSETTLED[1]:
        return
    judged, outright = (one.summary().mean for one in (joint.binned, joint.inflated))
    if abs(judged - outright) > FAR_APART:
        warn(
            f"Phi depends on how answers at the ends of the scale are read: {judged:.2f} if all are judgments, "
            f"{outright:.2f} if some are outright ends (probability {joint.prob_inflated:.2f}); pass "
            "likelihood='binned' or likelihood='inflated' if you know how the scale was used"
        )


def supported_decision(problem: Problem, decision: str, ci_prob: float, *, plain: bool) -> str:
    """Return the decision, "undecided" for a disagreement that comes from items unanimous at an end, with a warning.

    A fit that is not `plain` has annotators' levels and is not repeated without these items.
    """
    at_end, share = _at_one_end(problem), share_at_ends(problem)
    claimed = decision == "disagreement" and at_end.any()
    rests = claimed and at_end.all()
    if claimed and plain and not rests:
        others = replace(problem, like=problem.like.of(~at_end), patterns=problem.patterns.of(~at_end))
        rests = joint_posterior(others).phi.summary(ci_prob).upper >= 0
    if share >= SHOWN_AT_ENDS or rests:
        warn(
            f"on {share:.0%} of the items all ratings are one end of the scale: they fit agreement and polarisation "
            "alike, and the sign of Phi comes from the other items, or, without any, from its prior"
        )
    return "undecided" if rests else decision


def warn_of_misfits(problem: Problem, posterior: PhiPosterior, rng: Rng) -> None:
    """Warn where the item means are not those that the model predicts."""
    if problem.patterns.n_items < FEWEST_ITEMS or problem.ratings.n_levels == 2:
        return
    p_value = misfits(problem.ratings, posterior.draw(CHECK_DRAWS, rng), rng)
    if p_value < THRESHOLD:
        warn(
            f"the histogram of item means does not fit one Beta distribution (posterior predictive p = {p_value:.3f}), "
            "as when they pile up at two ends: Phi is biased; see item_mean='flat'"
        )


def _at_one_end(problem: Problem) -> Booleans:
    """Return which patterns have one end of the scale as their only value, and no known truth, shape (pattern,)."""
    patterns = problem.patterns
    low, high = (patterns.counts @ (patterns.values == end) == patterns.size for end in (0.0, 1.0))
    return (low | high) & (patterns.group == 0)


def _levels_of_grid(problem: Problem) -> int | None:
    """Return the number of levels of the coarse grid that all ratings lie on, None if they lie on none."""
    patterns = problem.patterns
    used = patterns.values[np.asarray(patterns.counts.sum(axis=0)).ravel() > 0]
    if patterns.weight @ patterns.size < PER_LEVEL * used.size:
        return None
    steps = (n for n in range(1, MOST_LEVELS) if np.allclose(used * n, np.round(used * n), atol=1e-9))
    return next((n + 1 for n in steps), None)
