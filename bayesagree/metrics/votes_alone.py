"""Votes alone: scores that are right on average, however few the votes, and the range of an accuracy that votes leave.

Unbiased forms. A metric that is linear in the plausibilities has the same value, on average, with the shares of the
votes in their place. The squared distance of the soft Brier score is too large by the variance of the shares, which two
votes tell.

With a proxy, a guess of the plausibilities of all items, items without votes count too (prediction-powered inference):

    mean over voted items of (term - w proxy term) + w mean over the others of the proxy term,

right on average for any proxy and any weight w. The weight is the one of least variance, cov(term, proxy term) /
((1 + n / N) var(proxy term)) with n items voted and N not: a useless proxy gets weight zero.

Source: A. N. Angelopoulos, J. C. Duchi, T. Zrnic, "PPI++: Efficient Prediction-Powered Inference" (2023),
https://arxiv.org/abs/2311.01453, sections 2 and 6.

Range of an accuracy. k votes per item determine the first k moments of the distribution of the plausibilities over
items and nothing else, however many items there are. An accuracy depends on which label is on top, which is no
polynomial of the plausibilities, so that many distributions with the same moments have other accuracies. Their range is
a linear programme.
"""

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed, item_blocks, seed_sequence
from bayesagree._numerics.types import Floats, Places
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.item_weights import ItemGroups, ItemWeights
from bayesagree.draws.top_labels import Truth, TruthDraws, truth_draws
from bayesagree.errors import InputError, positive_int, shorten, warn
from bayesagree.metrics._parts import Given, check_needs
from bayesagree.metrics._records import SMALLEST
from bayesagree.metrics._scorer import GroupSums, over_draws
from bayesagree.metrics.registry import METRICS, Metric


def vote_scores(
    metric: Metric,
    labels: Labels,
    predictions: Predictions,
    truth_is: str,
    slices: ItemGroups | None,
    weights: ItemWeights,
    proxy: Floats | None,
) -> Floats:
    """Score by the unbiased form: shape (model, sample), or (slice, side, model, sample).

    Items without votes count where there is a proxy, plausibilities of all items, shape (item, category).
    """
    terms = unbiased_terms(metric, labels, predictions, truth_is)
    known = np.isfinite(terms).all(axis=0)
    _warn_of_few_votes(metric, labels, known, with_proxy=proxy is not None)
    powered = np.zeros(terms.shape)
    if proxy is not None:
        powered = terms_against(metric, _given(metric, labels, predictions), proxy)
        powered *= _weight(terms[:, known], powered[:, known], powered[:, ~known])[:, None]
    code = np.zeros(known.size, np.intp) if slices is None else slices.code
    # Of a slice: sums of terms and of weighted proxy terms on voted items, of proxy terms on others; both weights.
    sums = GroupSums(1 if slices is None else slices.names.size, (5, len(terms), weights.n_samples))
    for items in item_blocks(known.size):
        rows = weights.rows(items)
        for group in np.unique(code[items]):
            voted, other = (np.where((code[items] == group) & these[items], 1.0, 0.0) for these in (known, ~known))
            term, guess = np.where(known[items], terms[:, items], 0.0), powered[:, items]
            *summed, some, rest = np.vstack([term * voted, guess * voted, guess * other, voted, other]) @ rows
            totals = [np.broadcast_to(total, (len(terms), weights.n_samples)) for total in (some, rest)]
            sums.add(int(group), np.stack([*np.split(np.array(summed), 3), *totals]), 0.0)
    return sums.scores(lambda s, _: _finish(*s), sliced=slices is not None)


def _finish(term: Floats, near: Floats, far: Floats, voted: Floats, other: Floats) -> Floats:
    """Return the mean of the terms, moved by the proxy on the items without votes, if there are any."""
    score = np.divide(term, voted, out=np.full(term.shape, np.nan), where=voted > 0)
    moved = np.divide(far, other, out=np.zeros(far.shape), where=other > 0) - near / np.where(voted > 0, voted, 1.0)
    return score + np.where(other > 0, moved, 0.0)


def _weight(terms: Floats, near: Floats, far: Floats) -> Floats:
    """Return the weight of the proxy with the least variance of the score, shape (model,)."""
    n, others = terms.shape[1], far.shape[1]
    if n < 2 or others == 0:
        return np.zeros(len(terms))
    pooled = np.concatenate([near, far], axis=1).var(axis=1, ddof=1)
    centred = (terms - terms.mean(axis=1, keepdims=True)) * (near - near.mean(axis=1, keepdims=True))
    covariance = centred.sum(axis=1) / (n - 1)
    return np.divide(covariance, (1 + n / others) * pooled, out=np.zeros(len(terms)), where=pooled > 0)


def _warn_of_few_votes(metric: Metric, labels: Labels, known: NDArray[np.bool_], *, with_proxy: bool) -> None:
    """Name the items whose votes do not suffice; with a proxy those without any are expected to have none."""
    few = ~known & (np.bincount(labels.item_index, minlength=known.size) > 0) if with_proxy else ~known
    if few.any():
        consequence = "count as if they had none" if with_proxy else "do not count"
        warn(
            f"{few.sum()} of {known.size} items have too few votes for {metric.name} and {consequence}: "
            f"{shorten(labels.items[few])}"
        )


def unbiased_terms(metric: Metric, labels: Labels, predictions: Predictions, truth_is: str = "top") -> Floats:
    """Return the unbiased value of each item, shape (model, item); NaN for items with too few votes.

    Raises
    ------
    InputError
        A metric that has no unbiased form.
    """
    record = metric.record
    if not record.unbiased or (record.family == "label" and truth_is != "sampled"):
        known = ", ".join(name for name, r in METRICS.items() if r.unbiased)
        more = "against the most plausible label " if record.unbiased else ""
        raise InputError(
            f"{metric.name} {more}has no unbiased form for votes; score a posterior of the plausibilities, such as "
            f"dirichlet(labels), or use one of {known} (truth_is='sampled' where the truth is a label)"
        )
    given, votes = _given(metric, labels, predictions), labels.counts().astype(np.float64)
    size = votes.sum(axis=1)
    shares = np.divide(votes, size[:, None], out=np.full(votes.shape, np.nan), where=size[:, None] > 0)
    terms = terms_against(metric, given, shares)
    if record.pattern != "soft_brier":
        return terms
    return terms - np.divide(1 - (shares**2).sum(axis=1), size - 1, out=np.full(size.size, np.nan), where=size > 1)


def terms_against(metric: Metric, given: Given, shares: Floats) -> Floats:
    """Return the value of each item against shares of the labels (item, category), shape (model, item).

    Linear in the shares, but for the soft Brier score.
    """
    record = metric.record
    if record.family == "label":
        return (record.kernel(given.hard, given.scores, shares.shape[1]) * shares).sum(axis=-1)
    if record.pattern == "agreement":
        hit = np.take_along_axis(shares[None], np.maximum(given.hard, 0)[:, :, None].astype(np.int64), axis=2)[:, :, 0]
        return np.where(given.hard >= 0, hit, 0.0 * hit)
    if record.pattern == "cross_entropy":
        return -(np.log(np.clip(given.scores, SMALLEST, 1.0)) * shares).sum(axis=-1)
    return ((given.scores - shares) ** 2).sum(axis=-1)


def _given(metric: Metric, labels: Labels, predictions: Predictions) -> Given:
    """Align the predictions with the labels."""
    aligned = predictions.aligned(labels.items, labels.categories)
    check_needs(aligned, [metric])
    return Given.of(aligned)


# Truths that the fitted distribution and its rivals are made of, a group. More of them change the ends by .01.
_FITTED, _OTHERS = 1000, 1000

# Patterns of votes that are counted; beyond, fewer votes of each item count.
_MOST_PATTERNS = 3000

# Combinations of patterns that separate truths a hundred times less than the best one does are not matched: only ten
# thousand items would show them, and a linear programme with them may not end.
_FINEST = 1e-2


def identified_accuracy(truth: Truth, predictions: Predictions, *, votes: int, seed: Seed = None) -> xr.Dataset:
    """Range of each model's accuracy over all distributions of the truth that give the same votes.

    The accuracy under a posterior rests on the votes and on the shape that its model gives the plausibilities. Here the
    shape may be anything: among the items of which a model predicts the same label, the plausibilities may follow every
    distribution under which each pattern of `votes` votes is as probable as under the posterior. A narrow range: the
    votes settle the accuracy. A wide one: the place inside it is determined by the model of the truth, and only more
    votes per item can check it; more items cannot.

    The range is sharp for infinitely many items. It has no uncertainty of the votes at hand, which is in the interval
    of `top_k_accuracy`, and is found on 2,000 truths a group, which costs it about .01 on each side.

    Parameters
    ----------
    truth
        A posterior of plausibilities such as that of `informed_dirichlet`.
    predictions
        The models, on the items and labels of the posterior.
    votes
        Votes per item. With many labels fewer of them are matched, which makes the range wider, never wrong.
    seed
        Same seed, same range.

    Returns
    -------
    Dataset
        ``accuracy`` under the posterior, ``lower`` and ``upper``, each (model). ``attrs["votes"]``: votes matched.

    Raises
    ------
    InputError
        Other items or labels; a point estimate.

    See Also
    --------
    informed_dirichlet, top_k_accuracy

    References
    ----------
    .. [1] E. Tamer, "Partial identification in econometrics", Annual Review of Economics 2 (2010),
       doi:10.1146/annurev.economics.050708.143401.

    Examples
    --------
    >>> from bayesagree import informed_dirichlet, simulate
    >>> given = simulate.labelled_test_set(n_items=200, n_labels=3, per_item=3, seed=1)
    >>> truth = informed_dirichlet(given.labels, given.predictions, draws=50, seed=1)
    >>> found = identified_accuracy(truth, given.predictions, votes=3, seed=1).sel(model="A")
    >>> bool(found["lower"] < found["accuracy"] < found["upper"])
    True
    """
    draws = truth_draws(truth, 1, plausibility=True)
    if isinstance(truth, xr.DataArray):
        raise InputError("a point estimate has no distribution of the truth; pass a posterior of plausibilities")
    given = predictions.aligned(draws.items, draws.labels)
    hard = given.hard_labels()
    matched = _matched(positive_int(votes, "votes"), draws.labels.size)
    patterns = _patterns(matched, draws.labels.size)
    rng = np.random.default_rng(seed_sequence(seed))
    ends = np.zeros((2, given.models.size))
    for j, predicted in enumerate(hard):
        for label in np.unique(predicted[predicted >= 0]):
            own = np.flatnonzero(predicted == label)
            ends[:, j] += (
                own.size
                / predicted.size
                * identified_range(
                    _some(draws, own, rng), lambda truths, k=label: truths.argmax(axis=1) == k, patterns, rng
                )
            )
    accuracy = over_draws("top_{}_accuracy", truth, predictions, 1, None, missing="wrong").mean(("chain", "draw"))
    lower, upper = (("model", end) for end in ends)
    return xr.Dataset({"accuracy": accuracy, "lower": lower, "upper": upper}, attrs={"votes": matched})


def _matched(votes: int, n_labels: int) -> int:
    """Return how many votes per item have few enough patterns."""
    return max(k for k in range(1, votes + 1) if k == 1 or comb(k + n_labels - 1, k) <= _MOST_PATTERNS)


def _patterns(votes: int, n_labels: int) -> NDArray[np.int64]:
    """Return all counts of so many votes, shape (pattern, label)."""
    if n_labels == 1:
        return np.array([[votes]])
    parts = [(first, _patterns(votes - first, n_labels - 1)) for first in range(votes + 1)]
    return np.concatenate([np.column_stack([np.full(len(rest), first), rest]) for first, rest in parts])


def _some(draws: TruthDraws, items: Places, rng: np.random.Generator) -> Floats:
    """Return plausibilities of some items, one draw each time an item is chosen, shape (truth, label)."""
    chosen = np.sort(rng.choice(items, _FITTED))
    found = []
    for item, times in zip(*np.unique(chosen, return_counts=True)):
        block = draws.read(slice(int(item), int(item) + 1)).plausibility
        values = np.asarray(block)[0]
        found.append(values[rng.integers(len(values), size=times)])
    return np.concatenate(found)


def identified_range(
    fitted: Floats, value: Callable[[Floats], NDArray[Any]], patterns: NDArray[np.int64], rng: np.random.Generator
) -> Floats:
    """Return the least and the largest mean of a function of the truth that the probabilities of patterns allow.

    Parameters
    ----------
    fitted
        Truths from a distribution with these probabilities, shape (truth, label).
    value
        Function of an array of truths.
    patterns
        Counts of votes, shape (pattern, label).
    rng
        Draws the rival truths.
    """
    n_labels = fitted.shape[1]
    others = np.concatenate([np.eye(n_labels), rng.dirichlet(np.full(n_labels, 0.5), _OTHERS)])
    every = np.concatenate([fitted, others])
    probability = _probability(patterns, every)
    _, size, combinations = np.linalg.svd(probability, full_matrices=False)
    matched = np.vstack([np.ones(len(every)), combinations[size > _FINEST * size[0]]])
    seen = matched[:, : len(fitted)].mean(axis=1)
    values, ends = np.asarray(value(every), dtype=float), []
    for sign in (1.0, -1.0):
        found = sp.optimize.linprog(sign * values, A_eq=matched, b_eq=seen, bounds=(0, None), method="highs-ds")
        if not found.success:
            raise ArithmeticError(f"the linear programme of the range did not end: {found.message}")
        ends.append(sign * found.fun)
    return np.array(ends)


def _probability(patterns: NDArray[np.int64], plausibility: Floats) -> Floats:
    """Return the multinomial probability of each pattern under each truth, shape (pattern, truth)."""
    votes = int(patterns[0].sum())
    ways = np.exp(sp.special.gammaln(votes + 1) - sp.special.gammaln(patterns + 1).sum(axis=1))
    return ways[:, None] * np.exp(sp.special.xlogy(patterns[:, None], plausibility).sum(axis=2))
