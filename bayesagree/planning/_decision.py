"""The choice between the two best models: what is known of it item by item, and what a vote on each would tell."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.dirichlet_argmax import argmax_probabilities

type Floats = NDArray[np.float64]


class Decision(NamedTuple):
    """The score of an item is how much the first model is right there more than the second: -1, 0 or 1."""

    items: NDArray[np.int64]
    """Positions of the items on which the two differ."""
    models: tuple[int, int]
    """The best model and the next, by expected accuracy."""
    mean: Floats
    """Mean of the score, shape (item,)."""
    variance: Floats
    """Variance of the score, shape (item,)."""
    gain: Floats
    """What a vote on the item is expected to take from the variance, shape (item,)."""

    @classmethod
    def of(cls, shape: Floats, predicted: NDArray[np.int32]) -> Self:
        """Look at Dirichlet shapes (item, label) and labels (model, item); votes are tried where the two differ."""
        now = argmax_probabilities(shape)
        accuracy = [of_label(now, label).mean() for label in predicted]
        best, next_best = np.argsort(np.negative(accuracy), kind="stable")[:2]
        differ = np.flatnonzero(predicted[best] != predicted[next_best])
        mean, variance, gain = np.zeros((3, len(shape)))
        if differ.size:
            after, chance = after_a_vote(shape[differ])
            first, second = predicted[best, differ], predicted[next_best, differ]
            right = of_label(now[differ], first), of_label(now[differ], second)
            mean[differ] = right[0] - right[1]
            variance[differ] = right[0] + right[1] - mean[differ] ** 2
            then = of_label(after, first) - of_label(after, second)
            gain[differ] = variance_drop(mean[differ], then, chance)
        return cls(differ, (int(best), int(next_best)), mean, variance, gain)


def after_a_vote(shape: Floats) -> tuple[Floats, Floats]:
    """Pr(label is most plausible) after each vote, (vote, item, label), and the chance of the vote, (item, vote)."""
    after = np.stack([argmax_probabilities(shape + vote) for vote in np.eye(shape.shape[1])])
    return after, shape / shape.sum(axis=1, keepdims=True)


def of_label(top: Floats, label: NDArray[np.int32]) -> Floats:
    """Probability, (..., item, label), that the label predicted of each item is the top; 0 where none is."""
    return np.where(label >= 0, top[..., np.arange(label.size), label], 0.0)


def variance_drop(mean: Floats, mean_after: Floats, chance: Floats) -> Floats:
    """Variance between votes of the expected score: what a vote takes from the variance; (vote, item) to (item,)."""
    return np.maximum((chance.T * mean_after**2).sum(axis=0) - mean**2, 0.0)
