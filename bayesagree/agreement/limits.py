"""Limits of Phi: warnings where the model does not hold, and what a claim of disagreement depends on.

With every answer of an item at one end of the scale the item mean goes to that end, where a Beta distribution of any
precision puts all its mass: such items fit polarised annotators (two camps, one of them empty) as well as agreeing
ones, and better where the prior keeps means away from the ends. The sign of Phi then is a matter of how an answer at an
end is read, not of the data.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import NamedTuple, Self

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.hyper_grid import HierarchicalMeans
from bayesagree.agreement._exact.likelihood import Kind, Likelihood
from bayesagree.agreement._exact.likelihood import likelihood as build_likelihood
from bayesagree.agreement._exact.outright_ends import JointPosterior, joint_posterior
from bayesagree.agreement._exact.posterior import Summary, phi_of
from bayesagree.agreement._exact.problem import ItemMean, Problem, prepare
from bayesagree.agreement.checks import THRESHOLD, misfits
from bayesagree.annotations import Ratings
from bayesagree.errors import warn

# Items from which a histogram of item means can show two ends, and replicates of it: p-values down to 0.005.
FEWEST_ITEMS, CHECK_DRAWS = 20, 200
# Posterior predictive p-value below which answers at an end are a misfit: with 200 replicates it is at least .01.
ENDS_THRESHOLD = 0.025
# Share of answers in the middle from which half as many again as at its neighbours are called a pile, and items from
# which they can be: of few items on which people agree, one in the middle already makes a pile.
PILE, FEWEST_FOR_PILE = 0.15, 50
# Levels from which the paper trusts Phi (section 6.2).
FEWEST_LEVELS = 5
# Values on a regular grid of up to so many levels, each given so often on average, are no continuous ratings.
MOST_LEVELS, PER_LEVEL = 12, 3
# Probabilities of outright ends between which neither reading of the ends is settled, and the distance of their means
# of Phi from which that matters.
UNSETTLED, FAR_APART = (0.1, 0.95), 0.2
# Share of items unanimous at an end from which Phi warns: in simulations a smaller share does not bias Phi.
SHOWN_AT_ENDS = 0.9


class Interval(NamedTuple):
    """Mean of Phi, and the ends of its interval."""

    mean: float
    lower: float
    upper: float

    @classmethod
    def of(cls, tree: xr.DataTree) -> Self:
        """Read it from a result."""
        found = tree["agreement"].to_dataset()
        return cls(*(float(found[name]) for name in cls._fields))


# Fit of other ratings, with what is known of their items, or of another reading of their ends: the same model.
type Refit = Callable[[Ratings, ItemMean, Kind], xr.DataTree]


def warn_of_limits(ratings: Ratings, problem: Problem, item_mean: ItemMean) -> None:
    """Warn where the paper's own limits apply (Checco et al., sections 5.2 and 6.2), and of a forgotten step."""
    rated = problem.patterns.n_items
    if rated == 1:
        warn("one item: Phi of a single item easily fits chance; see its interval")
    if problem.patterns.size.max() == 1:
        warn("one rating per item: agreement is not identified, and the posterior of Phi is its prior")
    levels = ratings.n_levels
    if levels is None and (levels := _levels_of_grid(problem)) is not None:
        low, high = ratings.scale
        warn(
            f"the ratings lie on a grid of {levels} levels, read as points of a continuous scale: the ends count half, "
            f"and random answers look like disagreement; pass step={(high - low) / (levels - 1):g}"
        )
    if levels == 2:
        warn(
            "two levels: the ratings say only on which half of the scale a judgment fell, which hardly identifies Phi; "
            "percent agreement or kappa (agreement_table) suit such data better"
        )
    elif levels is not None and levels < FEWEST_LEVELS:
        warn(f"{levels} levels: below {FEWEST_LEVELS} Phi depends much on what a level stands for")
    if isinstance(item_mean, str) and item_mean == "flat" and ratings.n_annotations < 5 * rated:
        warn(
            f"{ratings.n_annotations / rated:.1f} ratings per item with flat item means: random answers look like "
            "agreement below 5; item_mean='hierarchical' does not have this bias"
        )
    if (share := share_at_ends(problem)) >= SHOWN_AT_ENDS:
        warn(
            f"on {share:.0%} of the items all ratings are one end of the scale: they fit agreement and polarisation "
            "alike, and the sign of Phi comes from the other items, or, without any, from its prior"
        )


def warn_of_saturation(ratings: Ratings, problem: Problem) -> None:
    """Warn where no item has two different ratings: the grid, and not the annotators, ends Phi then."""
    patterns, levels = problem.patterns, ratings.n_levels
    several = (patterns.size > 1) & (patterns.group == 0) & ~_at_one_end(problem)
    if levels is None or not several.any():
        return
    kinds = np.diff(patterns.counts.tocsr().indptr)
    if (kinds[patterns.size > 1] == 1).all():
        warn(
            f"no item has two different ratings: Phi is saturated, on {levels} levels anything up to 1 fits; its mean "
            "and upper end are the prior's, and only the lower end of its interval is a finding"
        )


def warn_of_binning(ratings: Ratings, found: Interval) -> None:
    """Warn of a claim of agreement that random answers would support if people round to the nearest level."""
    levels = ratings.n_levels
    if levels is None or levels < 3 or not 0 < found.lower < (limit := phi_of_rounding(levels)):
        return
    warn(
        f"the claim of agreement depends on what the {levels} levels stand for: here for intervals of equal width; if "
        f"people round to the nearest level, so that both ends are half as wide, random answers already have "
        f"Phi = {limit:.2f}; icc_polychoric of agreement_table hardly depends on it"
    )


@cache
def phi_of_rounding(levels: int) -> float:
    """Return the Phi that fits random answers best which are rounded to the nearest of so many levels.

    Their shares are half at both ends; the closest binned Beta distribution of mean 1/2 has the largest expected log
    likelihood.
    """
    share = np.full(levels, 1 / (levels - 1))
    share[[0, -1]] /= 2
    edges = np.arange(levels + 1) / levels

    def loss(y: float) -> float:
        half = np.exp(y) / 2
        return -float(share @ np.log(np.diff(sp.special.betainc(half, half, edges))))

    best = sp.optimize.minimize_scalar(loss, bounds=(np.log(0.5), np.log(20)), method="bounded")
    return float(phi_of(np.exp(best.x)))


def warn_of_misfits(
    problem: Problem, y: Floats, hyper: tuple[Floats, Floats], shares: Floats, rng: np.random.Generator
) -> None:
    """Warn where item means, answers at the ends or answers in the middle are not what the model predicts."""
    if problem.patterns.n_items < FEWEST_ITEMS or problem.ratings.n_levels == 2:
        return
    chosen = rng.choice(y.size, min(CHECK_DRAWS, y.size), replace=False)
    m, s = (values[chosen] for values in hyper)
    p_values = misfits(problem.ratings, np.exp(y[chosen]), (m, s), shares[chosen], rng)
    of_means = p_values.pop("item means")
    of_ends = {name: p for name, p in p_values.items() if p < ENDS_THRESHOLD}
    if of_ends and shares.any(axis=1).mean() > 0.5:  # outright ends: a misfit of the item means may follow from them
        for name, p_value in of_ends.items():
            warn(_ENDS_MISFIT.format(name=name, p_value=p_value))
    elif of_means < THRESHOLD:
        warn(_MEANS_MISFIT.format(p_value=of_means))


_MEANS_MISFIT = (
    "the histogram of item means does not fit one Beta distribution (posterior predictive p = {p_value:.3f}), as when "
    "they pile up at two ends: Phi is biased; see item_mean_check, phi_clusters and item_mean='flat'"
)
_ENDS_MISFIT = (
    "answers at the {name} do not depend on the item as the model predicts (posterior predictive p = {p_value:.3f}), "
    "as when some people choose it whatever the item: Phi is biased and its interval too short"
)


def warn_of_readings(joint: JointPosterior) -> None:
    """Warn where the readings of answers at the ends differ in Phi and the ratings leave open which holds."""
    if joint.binned is None or joint.inflated is None or not UNSETTLED[0] < joint.prob_inflated < UNSETTLED[1]:
        return
    judged, outright = (one.summary().mean for one in (joint.binned, joint.inflated.phi))
    if abs(judged - outright) > FAR_APART:
        warn(
            f"Phi depends on how answers at the ends of the scale are read: {judged:.2f} if all are judgments, "
            f"{outright:.2f} if some are outright ends (probability {joint.prob_inflated:.2f}); pass "
            "likelihood='binned' or likelihood='inflated' if you know how the scale was used"
        )


def warn_of_middle(ratings: Ratings, problem: Problem, found: Interval, ci_prob: float) -> None:
    """Warn of a claim of agreement that depends on many answers in the middle, which may mean "do not know"."""
    counts, means = problem.patterns, problem.means
    inside = np.flatnonzero((counts.values > 0) & (counts.values < 1))
    given = (counts.weight @ counts.counts)[inside]
    middle = np.flatnonzero(counts.values[inside] == 0.5)
    if found.lower <= 0 or not middle.size or given.size < 3 or not isinstance(means, HierarchicalMeans):
        return
    if counts.n_items < FEWEST_FOR_PILE:
        return
    at = int(middle[0])
    pile, near = given[at], given[[max(at - 1, 0), min(at + 1, given.size - 1)]].max()
    if pile < max(1.5 * near, PILE * ratings.n_annotations):
        return
    others = prepare(ratings.select(ratings.unit() != 0.5), likelihood="binned", prior=means.prior)
    without = joint_posterior(others.means, "binned").phi.summary(ci_prob)
    if without.lower <= 0:
        warn(
            f"the claim of agreement depends on the answers in the middle of the scale, "
            f"{pile / ratings.n_annotations:.0%} of all: without them Phi is {without.mean:.2f} "
            f"[{without.lower:.2f}, {without.upper:.2f}]; if some of them mean 'do not know', leave them out"
        )


def share_at_ends(problem: Problem) -> float:
    """Return the share of items, among those without a known truth, on which all ratings are one end of the scale."""
    weight = problem.patterns.weight
    return float(weight @ _at_one_end(problem) / weight.sum())


def supported_with_levels(ratings: Ratings, kind: Kind, decision: str, item_mean: ItemMean, refit: Refit) -> str:
    """Return `supported_decision` of a fit with annotators' levels, which fits what the claim rests on with levels too.

    Items of known truth say something also where they are unanimous at an end.
    """
    if decision != "disagreement" or kind != "binned":
        return decision
    unit, item = ratings.unit(), ratings.item_index
    off_low, off_high = (np.bincount(item, unit != end, ratings.items.size) > 0 for end in (0, 1))
    known = {} if isinstance(item_mean, str) else item_mean
    inside = ((off_low & off_high) | np.array([name in known for name in ratings.items.tolist()]))[item]

    def without_ends() -> Interval:
        some = ratings.select(inside)
        truth = item_mean if isinstance(item_mean, str) else {i: v for i, v in item_mean.items() if i in some.items}
        return Interval.of(refit(some, truth, kind))

    return _supported(inside, without_ends, lambda: Interval.of(refit(ratings, item_mean, "squeezed")))


def supported_decision(problem: Problem, decision: str, ci_prob: float) -> str:
    """Return the decision, "undecided" for a disagreement that comes from how answers at an end are read.

    Disagreement must hold without the items that are unanimous at an end. Where these answers are intervals and nothing
    else, it must not be agreement where they are squeezed into the scale, as in the code published with the paper.
    """
    kind = problem.kind
    if decision != "disagreement" or kind not in ("averaged", "binned", "inflated"):
        return decision
    inside = ~_at_one_end(problem)

    def squeezed() -> Summary:
        like = build_likelihood(problem.patterns, "squeezed", discrete=False)
        return _summary(problem, like, ci_prob, kind="squeezed")

    def without_ends() -> Summary:
        return _summary(problem, problem.like.of(inside), ci_prob, kind)

    return _supported(inside, without_ends, squeezed if kind == "binned" else None)


def _supported(
    inside: NDArray[np.bool_],
    without_ends: Callable[[], Interval | Summary],
    squeezed: Callable[[], Interval | Summary] | None,
) -> str:
    """Return whether disagreement holds without what is unanimous at an end, and with such answers as points."""
    if not inside.any():
        return "undecided"
    if not inside.all() and without_ends().upper >= 0:
        warn(_AT_ENDS)
        return "undecided"
    if squeezed is not None and (found := squeezed()).lower > 0:
        warn(_MATTER_OF_READING.format(mean=found.mean))
        return "undecided"
    return "disagreement"


_AT_ENDS = "the disagreement comes from items on which all ratings are one end of the scale: undecided"
_MATTER_OF_READING = (
    "the sign of Phi depends on how an answer at an end of the scale is read: disagreement where it stands for an "
    "interval, agreement ({mean:.2f}) where it stands for a point (likelihood='squeezed'): undecided; "
    "likelihood='averaged' learns how many answers at an end are no judgment"
)


def _at_one_end(problem: Problem) -> NDArray[np.bool_]:
    """Return which patterns have one end of the scale as their only value, and no known truth, shape (pattern,)."""
    patterns = problem.patterns
    low, high = (patterns.counts @ (patterns.values == end) == patterns.size for end in (0.0, 1.0))
    return (low | high) & (patterns.group == 0)


def _summary(problem: Problem, like: Likelihood, ci_prob: float, kind: Kind) -> Summary:
    """Return the summary of Phi under another likelihood and the same prior."""
    means = problem.means
    other = (
        HierarchicalMeans(like, prior=means.prior)
        if isinstance(means, HierarchicalMeans)
        else replace(means, like=like)
    )
    return joint_posterior(other, kind).phi.summary(ci_prob)


def _levels_of_grid(problem: Problem) -> int | None:
    """Return the number of levels of the coarse grid that all ratings lie on, None if they lie on none."""
    patterns = problem.patterns
    used = patterns.values[np.asarray(patterns.counts.sum(axis=0)).ravel() > 0]
    if patterns.weight @ patterns.size < PER_LEVEL * used.size:
        return None
    for steps in range(1, MOST_LEVELS):
        if np.allclose(used * steps, np.round(used * steps), atol=1e-9):
            return steps + 1
    return None
