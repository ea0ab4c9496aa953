"""Guards of the informed prior: do predictions help to predict votes, do models know these, do the chains agree."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.convergence import ENOUGH_DRAWS, R_HAT_LIMIT, diagnostics
from bayesagree.errors import shorten, warn
from bayesagree.plausibility.informed._kernels import log_likelihood
from bayesagree.plausibility.informed.covariates import Covariates, Excluded, excluded_names, is_probability
from bayesagree.plausibility.informed.fit import Votes, fit_parameters, gather
from bayesagree.plausibility.informed.prior import InformedPrior, Layout

# Votes of so many items give the difference of two log scores to about a hundredth; more would cost more than the fit.
MOST_ITEMS = 2000
# A perfect model would be named once in 700 times, and models are not perfect.
SUSPICIOUS = -3.0
FEWEST_ITEMS = 30


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


def fit_to_votes(labels: Labels, predictions: Predictions) -> Floats:
    """Distance of each model's fit to the votes from the best possible without knowing them, in standard errors.

    A vote y of item i, independent of a prediction q, has expected Brier score E sum_k (q_k - 1[y = k])^2 >= 1 - E
    sum_k lambda_ik^2, with equality where q is the truth lambda itself; pairs of votes estimate the right side without
    bias. Predictions are first drawn towards uniform as far as fits the votes best. Below zero a model does better than
    anybody who does not know the votes; shape (model,), NaN with fewer than thirty items of two votes or more.
    """
    counts = labels.counts()
    n = counts.sum(axis=1)
    often = np.flatnonzero(n >= 2)
    if often.size < FEWEST_ITEMS:
        return np.full(predictions.models.size, np.nan)
    counts, n = counts[often], n[often]
    share = counts / n[:, None]
    agree = (counts * (counts - 1)).sum(axis=1) / (n * (n - 1))
    hard = predictions.hard_labels()[:, often]
    found = []
    for j in range(predictions.models.size):
        scores = None if predictions.scores is None else predictions.scores[j, often]
        if scores is not None and is_probability(scores):
            centred = scores - scores.mean(axis=1, keepdims=True)
        else:
            given = hard[j][:, None] >= 0
            centred = np.where(given, (hard[j][:, None] == np.arange(share.shape[1])) - 1 / share.shape[1], 0.0)
        size = (centred**2).sum()
        shrink = (centred * share).sum() / size if size > 0 else 0.0
        uniform = 1 / share.shape[1]
        brier = 1 + ((shrink * centred + uniform) ** 2 - 2 * (shrink * centred + uniform) * share).sum(axis=1)
        excess = brier - (1 - agree)
        error = excess.std() / np.sqrt(often.size)
        found.append(excess.mean() / error if error > 0 else 0.0)
    return np.array(found)


def knowing(labels: Labels, predictions: Predictions, exclude: Excluded = None) -> NDArray[Any]:
    """Return the models, but those left out, that fit the votes better than independent voters could."""
    suspicious = np.nan_to_num(fit_to_votes(labels, predictions)) < SUSPICIOUS
    return predictions.models[suspicious & ~np.isin(predictions.models.astype(str), excluded_names(exclude))]


def without_knowing(labels: Labels, predictions: Predictions, exclude: Excluded = None) -> Excluded:
    """Return the models from which a truth does not learn, by default those that know the votes; warn of these."""
    found = knowing(labels, predictions, exclude)
    if exclude is None and found.size:
        warn_of_knowing(found, "the truth does not learn from them")
        return tuple(found.tolist())
    warn_of_knowing(found, "leave them out (exclude=), or all scores are wrong")
    return exclude


def warn_of_knowing(models: NDArray[Any], way_out: str) -> None:
    """Warn with the names of the models that know the votes."""
    if models.size:
        warn(
            f"models {shorten(models)} fit these votes better than independent voters could: they may have been "
            f"trained on them; {way_out}"
        )


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
