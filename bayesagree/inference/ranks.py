"""Places of models: the probability of each, and the smallest intervals that hold them."""

import numpy as np

from bayesagree._types import Floats, Integers


def rank_probabilities(scores: Floats) -> Floats:
    """Return the probability of each place for each model, shape (model, rank).

    Parameters
    ----------
    scores
        Higher is better, shape (sample, model). Models with equal scores in a draw share the places they fill.
    """
    n_samples, n_models = scores.shape
    probability = np.zeros((n_models, n_models))
    for m in range(n_models):
        better = (scores > scores[:, [m]]).sum(axis=1)
        equal = (scores == scores[:, [m]]).sum(axis=1)
        for rank in range(n_models):
            inside = (rank >= better) & (rank < better + equal)
            probability[m, rank] = (inside / equal).sum() / n_samples
    return probability


def rank_sets(probability: Floats, prob: float = 0.95) -> tuple[Integers, Integers]:
    """Return the first and last place, from 1, of the smallest interval of places that holds `prob` of each model.

    Parameters
    ----------
    probability
        Of each place for each model, shape (model, rank). Of two intervals the more probable one is taken.

    Examples
    --------
    >>> rank_sets(np.array([[0.9, 0.1, 0.0], [0.1, 0.3, 0.6]]), 0.85)
    (array([1, 2]), array([1, 3]))
    """
    n_models, n_ranks = probability.shape
    below = np.concatenate([np.zeros((n_models, 1)), np.cumsum(probability, axis=1)], axis=1)
    first, last = np.ones(n_models, np.int64), np.full(n_models, n_ranks)
    for width in range(n_ranks - 1, 0, -1):
        mass = below[:, width:] - below[:, :-width]
        enough = mass.max(axis=1) >= prob - 1e-9  # what sums of shares lack by rounding
        first = np.where(enough, mass.argmax(axis=1) + 1, first)
        last = np.where(enough, first + width - 1, last)
    return first, last
