"""What votes alone determine of an accuracy: its range over all distributions of the truth that give the same votes.

k votes per item determine the first k moments of the distribution of the plausibilities over items and nothing else,
however many items there are. An accuracy depends on which label is on top, which is no polynomial of the
plausibilities, so that many distributions with the same moments have other accuracies. Their range is a linear
programme.
"""

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed
from bayesagree._numerics.types import Floats, Places
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.top_labels import Truth, TruthDraws, truth_draws
from bayesagree.errors import InputError, positive_int
from bayesagree.metrics._scorer import over_draws

_FITTED, _OTHERS = 1000, 1000
"""Truths that the fitted distribution and its rivals are made of, a group. More of them change the ends by .01."""

_MOST_PATTERNS = 3000
"""Patterns of votes that are counted; beyond, fewer votes of each item count."""

_FINEST = 1e-2
"""Combinations of patterns that separate truths a hundred times less than the best one does are not matched: only ten
thousand items would show them, and a linear programme with them may not end."""


@checked
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
    rng = np.random.default_rng(seed)
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
