"""Guards of the informed prior: do predictions help to predict votes, do the chains agree."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.errors import shorten, warn
from bayesagree.inference.convergence import ENOUGH_DRAWS, R_HAT_LIMIT, diagnostics
from bayesagree.plausibility.informed._kernels import log_likelihood
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.fit import Votes, fit_parameters, gather
from bayesagree.plausibility.informed.prior import InformedPrior, Layout

# Votes of so many items give the difference of two log scores to about a hundredth; more would cost more than the fit.
MOST_ITEMS = 2000


class HeldOut(NamedTuple):
    """Mean log probability of a vote, given the other votes for its item and parameters fitted to other items."""

    informed: float
    labels_alone: float


def held_out_log_scores(
    votes: Votes, covariates: Covariates, categories: tuple[str, ...], prior: InformedPrior, rng: np.random.Generator
) -> HeldOut:
    """Score the votes of each half of the items with the parameters of the other half, with and without covariates.

    NaN where fewer than four items have votes.
    """
    voted = rng.permutation(np.flatnonzero(np.diff(votes.start)))[:MOST_ITEMS]
    if voted.size < 4:
        return HeldOut(np.nan, np.nan)
    halves = np.sort(voted[::2]), np.sort(voted[1::2])
    nothing = Covariates(covariates.dense[:, :0], covariates.hit[:, :0], ())
    found = []
    for given in (covariates, nothing):
        layout = Layout(given.names, categories, prior)
        total, size = 0.0, 0
        for train, test in (halves, halves[::-1]):
            mode = fit_parameters(votes, given, layout, items=train).mode
            dense, hit, start, label, count = gather(votes, given, test)
            with_all = np.empty(test.size)
            log_likelihood(mode, dense, hit, start, label, count, with_all)
            item = np.repeat(np.arange(test.size), np.diff(start))
            without = _without_each(mode, dense, hit, start, label, count, item)
            total += float(count @ (with_all[item] - without))
            size += int(count.sum())
        found.append(total / size)
    return HeldOut(*found)


def _without_each(
    mode: Floats, dense: Any, hit: Any, start: Any, label: Any, count: Any, item: NDArray[np.intp]
) -> Floats:
    """Return the log likelihood of each entry's item without one vote of that entry."""
    size = np.diff(start)[item]
    starts = np.append(0, np.cumsum(size))
    place = np.repeat(start[item] - starts[:-1], size) + np.arange(starts[-1])
    left = count[place].copy()
    left[starts[:-1] + np.arange(item.size) - start[item]] -= 1
    out = np.empty(item.size)
    log_likelihood(mode, dense[item], hit[item], starts, label[place], left, out)
    return out


def warn_of_chains(names: NDArray[np.str_], draws: Floats) -> None:
    """Warn where chains of the parameters disagree, draws (chain, draw, parameter); short ones say nothing of that."""
    if draws.shape[0] < 2 or draws.shape[1] < ENOUGH_DRAWS:
        return
    r_hat, _ = diagnostics(draws)
    bad = np.flatnonzero(r_hat > R_HAT_LIMIT)
    if bad.size:
        warn(
            f"chains of {bad.size} of {names.size} parameters disagree (r_hat up to {r_hat[bad].max():.2f}, limit "
            f"{R_HAT_LIMIT}): {shorten(names[bad])}; raise draws=. Two kinds of items fit these votes about equally "
            "well, and scores may move by a third of their sd from one seed to another"
        )
