"""What is known of each item, what a vote on it would tell, and the choice between the two best models."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Codes, Floats, Integers
from bayesagree.annotations import Labels
from bayesagree.annotations.missing_predictions import Missing, without_missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.blocks import DrawBlock, Schedule
from bayesagree.inference.dirichlet_argmax import argmax_probabilities
from bayesagree.inference.posterior import Request
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape
from bayesagree.plausibility.dirichlet.posterior import Dirichlet
from bayesagree.plausibility.independence import warn_of_dependent
from bayesagree.plausibility.registry import Choice, Plausibility, default_posterior, is_auto, specification_for

# Lead of a label that is no lead: prior shapes such as 1/3 are not exact.
_ROUNDING = 1e-9
# Votes that `annotate_next` looks ahead under draws: of more, a few draws carry all the weight.
MOST_VOTES = 10


class Outlook(NamedTuple):
    """What a posterior says of the items today, and after one more vote on each.

    Attributes
    ----------
    items
        Names.
    predicted
        Label of each model, -1 where it has none: (model, item).
    now
        Pr(the label of a model is the most plausible one): (model, item).
    after
        The same after each vote: (vote, model, item).
    chance
        Probability of that vote: (item, vote).
    certainty, rise, votes
        Pr(the most plausible label is k) of the best k; what it gains per vote by the fewest votes that can change the
        answer; their number: (item,).
    drawn
        Sums of the models over the items in each draw of the truth, (model, draw); None where items are independent.
    reason
        Why this posterior was chosen, where there was a choice: with predictions.
    """

    items: NDArray[Any]
    predicted: Codes
    now: Floats
    after: Floats
    chance: Floats
    certainty: Floats
    rise: Floats
    votes: Integers
    drawn: Floats | None = None
    reason: str = ""

    @classmethod
    def of(
        cls,
        annotations: Labels,
        predictions: Predictions | None,
        plausibility: Plausibility = "auto",
        prior: Prior = None,
        missing: Missing = "error",
        random_seed: Seed = None,
    ) -> Self:
        """Find it under a posterior of the truth: by formula under `Dirichlet`, else from draws."""
        if predictions is not None:
            kept: Any = without_missing(annotations, predictions, missing)
            annotations, predictions = kept
        given = {} if prior is None else {"prior": prior}
        choice = Choice(plausibility, "")
        if is_auto(plausibility):
            choice = default_posterior(annotations, predictions, given)
        reason = choice.reason if predictions is not None else ""
        posterior = specification_for(annotations, choice.name, given, ("plausibility", "prior"))
        request = Request(random_seed=random_seed)
        truths = None if predictions is None else posterior.truths(annotations, predictions, request)
        if truths is not None and not posterior.takes_predictions:
            warn_of_dependent(truths.annotations, truths.predictions)
        if isinstance(posterior, Dirichlet) and posterior.reliability == 1:
            return cls.of_votes(annotations, predictions, posterior)._replace(reason=reason)
        labels: Any = annotations
        if truths is not None:
            labels, predictions, posterior = truths.annotations, truths.predictions, truths.posteriors[0]
        codes = _codes(predictions, labels)
        stream = posterior.blocks(
            labels,
            request,
            Schedule(then=lambda block: _of_draws(block, codes[:, block.items])),
            plausibility=True,
        )
        parts = list(stream.blocks)
        now, after, certainty, rise, votes = (
            np.concatenate(part, axis=-1) for part in zip(*(p[:5] for p in parts))
        )
        chance, drawn = np.concatenate([p[5] for p in parts]), np.sum([p[6] for p in parts], axis=0)
        return cls(labels.items, codes, now, after, chance, certainty, rise, votes, drawn, reason)

    @classmethod
    def of_votes(cls, annotations: Labels, predictions: Predictions | None, posterior: Dirichlet) -> Self:
        """Find it from votes alone, exactly."""
        shape = annotations.counts() + prior_shape(posterior.prior, annotations.categories.size)
        predicted, now = _codes(predictions, annotations), argmax_probabilities(shape)
        right = (
            np.stack([of_label(now, label) for label in predicted])
            if len(predicted)
            else np.empty((0, len(shape)))
        )
        after = np.empty((shape.shape[1], *right.shape))
        for vote, more in enumerate(np.eye(shape.shape[1]) if len(predicted) else ()):
            then = argmax_probabilities(shape + more)
            after[vote] = [of_label(then, label) for label in predicted]
        chance = shape / shape.sum(axis=1, keepdims=True)
        return cls(annotations.items, predicted, right, after, chance, now.max(axis=1), *_certainty_gain(shape))

    def gains(self, score: Floats, later: Floats) -> Floats:
        """Return what a vote is expected to take from the variance of scores with mean `score` now and `later`."""
        return np.maximum((self.chance.T * later**2).sum(axis=0) - score**2, 0.0)

    def best_first(self, gain: Floats, n: int, random_seed: Seed, votes: Integers | None = None) -> pd.DataFrame:
        """Return the n items of the largest gain."""
        table = best_first(self.items, gain, self.certainty, n, random_seed, votes)
        table.attrs["choice"] = self.reason
        return table

    def metric_gain(self) -> Floats:
        """Return what a vote takes from the variance of a model's score, mean over models."""
        return np.mean([self.gains(self.now[m], self.after[:, m]) for m in range(len(self.now))], axis=0)


class Decision(NamedTuple):
    """The score of an item is how much the first model is right there more than the second: -1, 0 or 1."""

    outlook: Outlook
    differ: NDArray[np.int64]
    """Positions of the items on which the two models differ."""
    models: tuple[Any, Any]
    """The best model and the next, by expected accuracy."""
    mean: Floats
    """Mean of the score, shape (item,)."""
    variance: float
    """Variance of the sum of the scores."""
    gain: Floats
    """What a vote on the item is expected to take from the variance, shape (item,)."""

    @classmethod
    def of(cls, outlook: Outlook, models: NDArray[Any] | None) -> Self:
        """Find the two best models and try a vote on each item where they differ."""
        if models is None or models.size < 2:
            raise InputError("a choice needs two models, there is one; pass predictions of both")
        best, other = np.argsort(-outlook.now.mean(axis=1), kind="stable")[:2]
        differs = outlook.predicted[best] != outlook.predicted[other]
        right = np.where(differs, outlook.now[[best, other]], 0.0)
        mean, later = (
            right[0] - right[1],
            np.where(differs, outlook.after[:, best] - outlook.after[:, other], 0.0),
        )
        variance = (right.sum(axis=0) - mean**2).sum()
        if outlook.drawn is not None:
            variance = (outlook.drawn[best] - outlook.drawn[other]).var()
        names = tuple(models[[best, other]].tolist())
        return cls(outlook, np.flatnonzero(differs), names, mean, float(variance), outlook.gains(mean, later))

    def next_items(self, n: int, random_seed: Seed) -> pd.DataFrame:
        """Return the result of `annotate_next` for this choice."""
        return self.outlook.best_first(self.gain, n, random_seed)

    def value_of_votes(self) -> pd.DataFrame:
        """Return the result of the function of this name."""
        gained = np.concatenate([[0.0], np.cumsum(np.sort(self.gain[self.differ])[::-1])])
        mean, variance = self.mean.sum(), self.variance
        left = np.maximum(variance - gained, 0.0)
        table = pd.DataFrame({"votes": np.arange(gained.size), "sd": np.sqrt(left) / self.mean.size})
        table["prob_right"] = prob_right(mean, variance, left)
        table.attrs |= {"models": list(self.models), "choice": self.outlook.reason}
        return table


def prob_right(mean: float, variance: float, left: Floats) -> Floats:
    """Pr(the choice by the sign of the mean is right) once so much of the variance is left."""
    if variance == 0:  # alike on all items: the choice is a coin, and no vote helps
        return np.full(left.size, 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - 2 * sp.special.owens_t(mean / np.sqrt(variance), np.sqrt(left / (variance - left)))


def best_first(
    items: NDArray[Any], gain: Floats, certainty: Floats, n: int, random_seed: Seed, votes: Integers | None = None
) -> pd.DataFrame:
    """Return the n items of the largest gain; of equal gain the least certain first, then in random order."""
    # A difference below 1e-12 is rounding.
    value, known = np.round(gain, 12), np.round(certainty, 12)
    order = np.lexsort((np.random.default_rng(seed_sequence(random_seed)).random(gain.size), known, -value))[:n]
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


def of_label(top: Floats, label: NDArray[np.int32]) -> Floats:
    """Probability, (..., item, label), that the label predicted of each item is the top; 0 where none is."""
    return np.where(label >= 0, top[..., np.arange(label.size), label], 0.0)


def _codes(predictions: Predictions | None, labels: Labels) -> Codes:
    if predictions is None:
        return np.empty((0, labels.items.size), np.int32)
    return predictions.aligned(labels.items, labels.categories).hard_labels()


def _of_draws(block: DrawBlock, predicted: Codes) -> tuple[NDArray[Any], ...]:
    """Return what `Outlook` holds of a block: a vote for k weighs each draw of the truth by its plausibility of k."""
    plausibility, top = np.asarray(block.plausibility), block.true_label
    n_items, n_draws, n_labels = plausibility.shape
    right = (predicted[..., None] == top).astype(np.float64)
    chance = plausibility.mean(axis=1)
    after = np.einsum("isk,mis->kmi", plausibility, right) / (n_draws * np.maximum(chance.T[:, None], 1e-300))
    share = np.stack([(top == k).mean(axis=1) for k in range(n_labels)], axis=1)
    first, rows = share.argmax(axis=1), np.arange(n_items)
    lead = (top[..., None] == np.arange(n_labels)) - (top == first[:, None])[..., None].astype(np.float64)
    lead[rows, :, first] = 0.0
    rise, votes, weight = np.zeros(n_items), np.ones(n_items, np.int64), np.ones_like(plausibility)
    for m in range(1, MOST_VOTES + 1):
        weight *= plausibility
        open_ = rise == 0
        gain = np.maximum(np.einsum("isk,isk->ik", weight[open_], lead[open_]) / n_draws, 0.0).sum(axis=1) / m
        rise[open_] = gain
        votes[np.flatnonzero(open_)[gain > 0]] = m
    return right.mean(axis=2), after, share.max(axis=1), rise, votes, chance, right.sum(axis=1)


def _certainty_gain(shape: Floats) -> tuple[Floats, Integers]:
    """Return the rise of certainty per vote, and how many votes it takes."""
    rows, first = np.arange(len(shape)), shape.argmax(axis=1)
    largest = shape[rows, first]
    others = shape.copy()
    others[rows, first] = -np.inf
    lead = largest - others.max(axis=1)
    votes = np.where(np.isfinite(lead), np.floor(lead + _ROUNDING) + 1, 1)
    gain = np.zeros(len(shape))
    for label in range(shape.shape[1]):
        at = np.flatnonzero((first != label) & (shape[:, label] + votes > largest + _ROUNDING))
        moved = shape[at].copy()
        moved[:, label] += votes[at]
        top = argmax_probabilities(moved)
        log_chance = sp.special.gammaln(moved[:, label]) - sp.special.gammaln(shape[at, label])
        total = shape[at].sum(axis=1)
        log_chance += sp.special.gammaln(total) - sp.special.gammaln(total + votes[at])
        gain[at] += np.exp(log_chance) * (top[:, label] - top[np.arange(at.size), first[at]])
    return np.maximum(gain, 0.0) / votes, votes.astype(np.int64)
