"""What is known of each item, what a vote on it would tell, and the choice between the two best models."""

from typing import Any, NamedTuple, Self, cast

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Codes, Floats, Integers
from bayesagree.annotations import Labels, Rankings
from bayesagree.annotations.missing_predictions import Missing, without_missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.comparisons.prior import DavidsonPrior
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
        Probability of that vote: (vote, item).
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
        annotations: Labels | Rankings,
        predictions: Predictions | None,
        plausibility: Plausibility = "auto",
        prior: Prior | DavidsonPrior = None,
        missing: Missing = "error",
        random_seed: Seed = None,
    ) -> Self:
        """Find it under a posterior of the truth: by formula under `Dirichlet`, else from draws."""
        if predictions is not None:
            annotations, predictions = cast(Any, without_missing(annotations, predictions, missing))
        if isinstance(prior, DavidsonPrior):
            raise InputError("prior=DavidsonPrior(...) is of comparisons; pass a number")
        given, auto = {} if prior is None else {"prior": prior}, is_auto(plausibility)
        choice = default_posterior(annotations, predictions, given) if auto else Choice(plausibility, "")
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
        schedule = Schedule(then=lambda block: _of_draws(block, codes[:, block.items]))
        blocks = posterior.blocks(labels, request, schedule, plausibility=True).blocks
        *found, drawn = zip(*blocks)
        joined = [np.concatenate(part, axis=-1) for part in found]
        return cls(labels.items, codes, *joined, drawn=np.sum(drawn, axis=0), reason=reason)

    @classmethod
    def of_votes(cls, annotations: Any, predictions: Predictions | None, posterior: Dirichlet) -> Self:
        """Find it from votes alone, exactly."""
        shape = annotations.counts() + prior_shape(posterior.prior, annotations.categories.size)
        predicted, now = _codes(predictions, annotations), argmax_probabilities(shape)
        more = np.eye(shape.shape[1]) if len(predicted) else ()
        after = np.array([of_label(argmax_probabilities(shape + vote), predicted) for vote in more])
        chance, certainty = (shape / shape.sum(axis=1, keepdims=True)).T, now.max(axis=1)
        known = of_label(now, predicted), after, chance, certainty, *_certainty_gain(shape)
        return cls(annotations.items, predicted, *known)

    def gains(self, score: Floats, later: Floats) -> Floats:
        """Return what a vote is expected to take from the variance of scores, with their mean now and after each."""
        return np.maximum(np.einsum("vi,v...i->...i", self.chance, later**2) - score**2, 0.0)

    def best_first(
        self, gain: Floats, n: int, random_seed: Seed, votes: Integers | None = None
    ) -> pd.DataFrame:
        """Return the n items of the largest gain."""
        table = best_first(self.items, gain, self.certainty, n, random_seed, votes)
        table.attrs["choice"] = self.reason
        return table


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
        mean = right[0] - right[1]
        later = np.where(differs, outlook.after[:, best] - outlook.after[:, other], 0.0)
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
    items: NDArray[Any], gain: Floats, certainty: Floats, n: int, random_seed: Seed, votes: Any = None
) -> pd.DataFrame:
    """Return the n items of the largest gain; of equal gain the least certain first, then in random order."""
    # A difference below 1e-12 is rounding.
    value, known = np.round(gain, 12), np.round(certainty, 12)
    order = np.lexsort((np.random.default_rng(seed_sequence(random_seed)).random(gain.size), known, -value))[:n]
    needed = np.ones(gain.size, np.int64) if votes is None else votes
    table = pd.DataFrame({"item": items[order], "gain": gain[order], "votes": needed[order]})
    same, shown = value == value[order[-1]], f"{value[order[-1]]:.2g}"
    alike, notes = same & (known == known[order[-1]]), []
    if gain.size > 1 and same.all():
        rest = (
            ", and certainty: their order is random" if alike.all() else ": the least certain items come first"
        )
        notes = [f"All {gain.size} items have the same gain, {shown}{rest}."]
    elif alike.sum() > alike[order].sum():
        notes = [
            f"{alike.sum()} items are equal in gain ({shown}) and certainty ({known[order[-1]]:.2f}); "
            f"{alike[order].sum()} of them, chosen at random, are listed."
        ]
    table.attrs["notes"] = notes
    return table


def of_label(top: Floats, label: Codes) -> Floats:
    """Probability that the label predicted of each item, (model, item), is the top; 0 where none is."""
    return np.where(label >= 0, top[np.arange(len(top)), label], 0.0)


def _codes(predictions: Predictions | None, labels: Labels) -> Codes:
    if predictions is None:
        return np.empty((0, labels.items.size), np.int32)
    return predictions.aligned(labels.items, labels.categories).hard_labels()


def _of_draws(block: DrawBlock, predicted: Codes) -> tuple[NDArray[Any], ...]:
    """Return what `Outlook` holds of a block: a vote for k weighs each draw of the truth by its plausibility of k."""
    plausibility, top = np.asarray(block.plausibility), block.true_label
    n_items, n_draws, n_labels = plausibility.shape
    right = (predicted[..., None] == top).astype(np.float64)
    chance = plausibility.mean(axis=1).T
    after = np.einsum("isk,mis->kmi", plausibility, right) / (n_draws * np.maximum(chance[:, None], 1e-300))
    is_top = (top[..., None] == np.arange(n_labels)).astype(np.float64)
    share = is_top.mean(axis=1)
    first = share.argmax(axis=1)
    lead = is_top - (top == first[:, None])[..., None]
    rise, votes, weight = np.zeros(n_items), np.ones(n_items, np.int64), np.ones_like(plausibility)
    for m in range(1, MOST_VOTES + 1):
        weight *= plausibility
        open_ = rise == 0
        gain = np.maximum(np.einsum("isk,isk->ik", weight[open_], lead[open_]) / n_draws, 0.0).sum(axis=1) / m
        rise[open_] = gain
        votes[np.flatnonzero(open_)[gain > 0]] = m
    return right.mean(axis=2), after, chance, share.max(axis=1), rise, votes, right.sum(axis=1)


def _certainty_gain(shape: Floats) -> tuple[Floats, Integers]:
    """Return the rise of certainty per vote, and how many votes it takes."""
    rows, first = np.arange(len(shape)), shape.argmax(axis=1)
    *_, second, largest = np.sort(np.pad(shape, ((0, 0), (1, 0)), constant_values=-np.inf), axis=1).T
    lead = largest - second
    votes = np.where(np.isfinite(lead), np.floor(lead + _ROUNDING) + 1, 1)
    gain = np.zeros(len(shape))
    for label in range(shape.shape[1]):
        at = np.flatnonzero((first != label) & (shape[:, label] + votes > largest + _ROUNDING))
        moved = shape[at].copy()
        moved[:, label] += votes[at]
        top, total = argmax_probabilities(moved), shape[at].sum(axis=1)
        log_chance = sp.special.gammaln(moved[:, label]) - sp.special.gammaln(shape[at, label])
        log_chance += sp.special.gammaln(total) - sp.special.gammaln(total + votes[at])
        gain[at] += np.exp(log_chance) * (top[:, label] - top[rows[: at.size], first[at]])
    return np.maximum(gain, 0.0) / votes, votes.astype(np.int64)
