"""Places and tiers of models that hold for all of them together.

A posterior that knows nothing of the models beforehand takes noise for spread: of eight equal models one looks best and
one worst, and a table of statements that are right one by one is wrong. So the scores are shrunk first: they share a
mean and a spread tau, learnt from their draws,

    m | theta ~ Normal(theta, S),      theta_j ~ Normal(mu, tau^2),      p(tau) = s / (s + tau)^2,

with m and S the mean and covariance of the draws, mu flat, and s^2 the mean variance of a contrast of models. A draw
a ~ Normal(m, S) becomes one of theta by an affine map for each tau, so that models which tie in a draw still do. Then

- places: for every model an interval, all of one level, the smallest for which all hold together in .95 of the draws;
- tiers: a step-down band of all studentised differences holds with .95; two neighbours are parted where every model
  above is better than every model below by it.

Sources: W. DuMouchel, "Hierarchical Bayes linear models for meta-analysis" (1994), the prior of tau; A. Gelman,
J. Hill, M. Yajima, "Why we (usually) don't have to worry about multiple comparisons" (2012), shrinkage; J. Romano,
M. Wolf, "Exact and approximate stepdown methods for multiple hypothesis testing", JASA 100 (2005), the band.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Booleans, Floats, Integers
from bayesagree.errors import probability

# Values of tau, at equal steps of the probability of its prior.
SPREADS = 200
# Differences held at once, of a pair in a draw: of more pairs fewer draws make the band.
DIFFERENCES = 8_000_000


class Standing(NamedTuple):
    """First and last place, and tier, of each model, from 1, shape (model,)."""

    rank_lower: Integers
    rank_upper: Integers
    tier: Integers


def standing(*merits: Floats, prob: float = 0.95) -> Standing:
    """Return the places and tiers of models that hold together.

    Parameters
    ----------
    merits
        Draws (sample, model), higher is better. Of several truths places and tiers hold under each, and the first
        orders the models. Draws with NaN do not count.
    prob
        Probability that all places hold, and that the order of all tiers does.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> standing(np.array([0.9, 0.89, 0.5]) + 0.02 * rng.normal(size=(1000, 3)))
    Standing(rank_lower=array([1, 1, 3]), rank_upper=array([2, 2, 3]), tier=array([1, 1, 2]))
    """
    probability(prob, "ci_prob")
    known = [draws[np.isfinite(draws).all(axis=1)] for draws in merits]
    n_models = merits[0].shape[1]
    one = np.ones(n_models, np.int64)
    if n_models == 1 or min(map(len, known)) < 2:
        return Standing(one, n_models * one, one)
    order = np.argsort(-known[0].mean(axis=0), kind="stable")
    drawn = [shrunk(draws) for draws in known]
    low, high = np.stack([joint_rank_sets(draws, prob) for draws in drawn], axis=1)
    sure = np.all([surely_better(draws[:, order], prob) for draws in drawn], axis=0)
    parted = [sure[:at, at:].all() for at in range(1, n_models)]
    return Standing(low.min(axis=0), high.max(axis=0), np.cumsum(np.append(1, parted))[np.argsort(order)])


def shrunk(draws: Floats) -> Floats:
    """Return draws (sample, model) of scores that share a mean and a spread."""
    middle = draws.mean(axis=1, keepdims=True)
    noise = np.cov(draws - middle, rowvar=False)
    # What all models have in common has the largest eigenvalue, and is left out.
    variance, axes = np.linalg.eigh(noise + noise.trace() + 1e-30)
    variance, axes = np.maximum(variance[:-1], 0.0), axes[:, :-1]
    centre = draws.mean(axis=0) @ axes
    quantile = (np.arange(SPREADS) + 0.5) / SPREADS
    spread = (variance.mean() + 1e-30) * (quantile / (1 - quantile)) ** 2
    total = variance[:, None] + spread
    weight = sp.special.softmax(-(np.log(total) + centre[:, None] ** 2 / total).sum(axis=0) / 2)
    # Multiples of the golden section spread the values of tau evenly over the draws, whatever their order.
    place = np.searchsorted(np.cumsum(weight), np.arange(len(draws)) * (np.sqrt(5) - 1) / 2 % 1)
    kept = spread[np.minimum(place, SPREADS - 1), None]
    kept = kept / (variance + kept)
    moved = (kept * centre + np.sqrt(kept) * (draws @ axes - centre)) @ axes.T
    return np.round(middle + moved, 12)  # what rounding parts is a tie


def places(scores: Floats) -> tuple[Integers, Integers]:
    """Return the first and last place, from 1, that each model fills in each draw, shape (sample, model)."""
    table = pd.DataFrame(-scores.T).fillna(np.inf)
    first, last = (table.rank(method=by).to_numpy(np.int64).T for by in ("min", "max"))
    return first, last


def rank_probabilities(scores: Floats) -> Floats:
    """Return the probability of each place for each model, shape (model, rank).

    Parameters
    ----------
    scores
        Higher is better, shape (sample, model). Models with equal scores in a draw share the places they fill.
    """
    first, last = places(scores)
    here = ((first <= r) & (r <= last) for r in range(1, scores.shape[1] + 1))
    return np.stack([np.mean(one / (last - first + 1), axis=0) for one in here], axis=1)


def rank_sets(shares: Floats, prob: float = 0.95) -> tuple[Integers, Integers]:
    """Return the first and last place, from 1, of the smallest interval of places that holds `prob` of each model.

    Parameters
    ----------
    shares
        Probability of each place for each model, shape (model, rank). Of two intervals the more probable one is taken.

    Examples
    --------
    >>> rank_sets(np.array([[0.9, 0.1, 0.0], [0.1, 0.3, 0.6]]), 0.85)
    (array([1, 2]), array([1, 3]))
    """
    below = np.cumsum(np.pad(shares, ((0, 0), (1, 0))), axis=1)
    first, last = np.ones(len(shares), np.int64), np.full(len(shares), shares.shape[1])
    for width in range(shares.shape[1] - 1, 0, -1):
        mass = below[:, width:] - below[:, :-width]
        enough = mass.max(axis=1) >= prob - 1e-9  # what sums of shares lack by rounding
        first[enough] = mass.argmax(axis=1)[enough] + 1
        last[enough] = first[enough] + width - 1
    return first, last


def joint_rank_sets(scores: Floats, prob: float = 0.95) -> tuple[Integers, Integers]:
    """Return intervals of places of one level, the smallest that all hold together in `prob` of the draws."""
    (first, last), shares = places(scores), rank_probabilities(scores)
    for level in 1 - np.geomspace(1 - prob, (1 - prob) / 100, 25):
        low, high = rank_sets(shares, level)
        if ((first <= high) & (last >= low)).all(axis=1).mean() >= prob:
            return low, high
    return rank_sets(shares, 1.0)


def surely_better(scores: Floats, prob: float = 0.95) -> Booleans:
    """Return which model is better than which, (model, other_model), by a band that holds all differences together."""
    n_models = scores.shape[1]
    pairs = np.triu_indices(n_models, 1)
    some = scores[:: max(1, len(scores) * pairs[0].size // DIFFERENCES)]
    apart = some[:, pairs[0]] - some[:, pairs[1]]
    mean, spread = apart.mean(axis=0), np.maximum(apart.std(axis=0), 1e-12)
    apart, far = np.abs(apart - mean) / spread, np.abs(mean) / spread
    near = np.ones(far.size, bool)
    while near.any() and (new := near & (far > np.quantile(apart[:, near].max(axis=1), prob))).any():
        near &= ~new
    sign = np.zeros((n_models, n_models))
    sign[pairs] = np.where(near, 0, mean)
    return sign > sign.T
