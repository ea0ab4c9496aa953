"""The choice between the two best models: what is known of it item by item, and what a vote on each would tell."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.dirichlet_argmax import argmax_probabilities
from bayesagree._numerics.types import Floats, Integers
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape


class Decision(NamedTuple):
    """The score of an item is how much the first model is right there more than the second: -1, 0 or 1."""

    items: NDArray[Any]
    """Names of all items."""
    differ: NDArray[np.int64]
    """Positions of those on which the two models differ."""
    models: tuple[Any, Any]
    """The best model and the next, by expected accuracy."""
    mean: Floats
    """Mean of the score, shape (item,)."""
    variance: Floats
    """Variance of the score, shape (item,)."""
    gain: Floats
    """What a vote on the item is expected to take from the variance, shape (item,)."""
    certainty: Floats
    """Pr(the most plausible label is k) of the best k, shape (item,)."""

    @classmethod
    def of(cls, annotations: Labels, predictions: Predictions, prior: Prior = None) -> Self:
        """Find the two best models and try a vote on each item where they differ."""
        if predictions.models.size < 2:
            raise InputError("a choice needs two models, there is one; pass predictions of both")
        shape = annotations.counts() + prior_shape(prior, annotations.categories.size)
        predicted = predictions.aligned(annotations.items, annotations.categories).hard_labels()
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
        names = tuple(predictions.models[[best, next_best]].tolist())
        return cls(annotations.items, differ, names, mean, variance, gain, now.max(axis=1))

    def next_items(self, n: int, seed: Seed) -> pd.DataFrame:
        """Return the result of `annotate_next` for this choice."""
        return best_first(self.items, self.gain, self.certainty, n, seed)

    def value_of_votes(self) -> pd.DataFrame:
        """Return the result of the function of this name."""
        gained = np.concatenate([[0.0], np.cumsum(np.sort(self.gain[self.differ])[::-1])])
        mean, variance = self.mean.sum(), self.variance.sum()
        left = np.maximum(variance - gained, 0.0)
        table = pd.DataFrame({"votes": np.arange(gained.size), "sd": np.sqrt(left) / self.items.size})
        table["prob_right"] = prob_right(mean, variance, left)
        table.attrs["models"] = list(self.models)
        return table


def prob_right(mean: float, variance: float, left: Floats) -> Floats:
    """Pr(the choice by the sign of the mean is right) once so much of the variance is left."""
    if variance == 0:  # alike on all items: the choice is a coin, and no vote helps
        return np.full(left.size, 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - 2 * sp.special.owens_t(mean / np.sqrt(variance), np.sqrt(left / (variance - left)))


def best_first(
    items: NDArray[Any], gain: Floats, certainty: Floats, n: int, seed: Seed, votes: Integers | None = None
) -> pd.DataFrame:
    """Return the n items of the largest gain; of equal gain the least certain first, then in random order."""
    # A difference below 1e-12 is rounding.
    value, known = np.round(gain, 12), np.round(certainty, 12)
    order = np.lexsort((np.random.default_rng(seed_sequence(seed)).random(gain.size), known, -value))[:n]
    needed = np.ones(gain.size, np.int64) if votes is None else votes
    table = pd.DataFrame({"item": items[order], "gain": gain[order], "votes": needed[order]})
    table.attrs["notes"] = list(_equal_gains(value, known, order))
    return table


def _equal_gains(gain: Floats, certainty: Floats, order: Integers) -> Iterator[str]:
    """Yield that gains do not order the items, or that items left out are as good as some of those listed."""
    if gain.size < 2:
        return
    last = order[-1]
    alike = (gain == gain[last]) & (certainty == certainty[last])
    listed, all_alike = int(alike[order].sum()), int(alike.sum())
    if all_alike == gain.size:
        yield f"All {gain.size} items have the same gain, {gain[last]:.2g}, and certainty: their order is random."
    elif (gain == gain[last]).all():
        yield f"All {gain.size} items have the same gain, {gain[last]:.2g}: the least certain items come first."
    elif all_alike > listed:
        yield (
            f"{all_alike} items are equal in gain ({gain[last]:.2g}) and certainty ({certainty[last]:.2f}); "
            f"{listed} of them, chosen at random, are listed."
        )


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
