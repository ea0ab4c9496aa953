"""Guards of the informed prior: do predictions help to predict votes, do the chains agree."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.errors import shorten, warn
from bayesagree.inference.convergence import ENOUGH_DRAWS, R_HAT_LIMIT, diagnostics
from bayesagree.plausibility.informed.family import Items, kinds
from bayesagree.plausibility.informed.fit import Learner
from bayesagree.plausibility.informed.prior import Layout

# Votes of so many items give the difference of two log scores to about a hundredth; more would cost more than the fit.
MOST_ITEMS = 2000


class HeldOut(NamedTuple):
    """Mean log probability of a vote, given the other votes for its item and parameters fitted to other items."""

    informed: float
    labels_alone: float


def held_out_log_scores(items: Items, layout: Layout, rng: np.random.Generator) -> HeldOut:
    """Score the votes of each half of the items with the parameters of the other half, with and without covariates.

    NaN where fewer than four items have votes.
    """
    voted = rng.permutation(np.flatnonzero(items.counts.any(axis=1)))[:MOST_ITEMS]
    if voted.size < 4:
        return HeldOut(np.nan, np.nan)
    halves = np.sort(voted[::2]), np.sort(voted[1::2])
    found = []
    for given in (items, replace(items, columns=items.columns[:, :, -1:])):
        layout = replace(layout, slopes=layout.slopes[: given.columns.shape[2] - 1])
        total, size = 0.0, 0
        for train, test in (halves, halves[::-1]):
            odds = layout.mean[-1]
            mode = np.append(Learner(layout, given.rows(train)).mode(float(odds)).mode, odds)[None]
            item, label = np.nonzero(given.counts[test])
            left = given.counts[test][item]
            number = left[np.arange(item.size), label].copy()
            left[np.arange(item.size), label] -= 1
            without = given.rows(test[item]).with_counts(left)
            gain = np.concatenate(
                [kinds(mode, layout, some).log_likelihoods(odds)[0][:, 0] for some in (given.rows(test), without)]
            )
            total += float(number @ (gain[: test.size][item] - gain[test.size :]))
            size += int(number.sum())
        found.append(total / size)
    return HeldOut(*found)


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
