"""What the checks of an audit look at, and what one of them says."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import SAMPLE, Array, Floats
from bayesagree.agreement._patterns import pair_counts
from bayesagree.annotations import Annotators, Labels, Predictions, Ratings
from bayesagree.comparisons._cells import outcome_probabilities
from bayesagree.comparisons.posterior import davidson
from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed

# Chance with which a test set without defects has any finding that is inferred.
CHANCE = 0.05
# Fewest answers that an annotator is judged by; where ratings are cut into codes.
ENOUGH, FIFTHS = 20, (0.2, 0.4, 0.6, 0.8)


def need(there: Any, what: str) -> None:
    """Refuse a test set that lacks what a check needs."""
    if not there:
        raise InputError(what)


class Finding(NamedTuple):
    """What one check says; nothing, where it names nothing.

    `where`: items, annotators, models or labels. `said`: one sentence. `chance`: with which a test set without this
    defect shows as much, all that the check looked at together; None of what is counted and not inferred. `severity`:
    where it is not the usual one of the check.
    """

    where: Sequence[Any]
    said: str = ""
    chance: float | None = None
    severity: str | None = None


class Check(NamedTuple):
    """A check: usual severity (critical, warning, note), what to do with calls by name, and what looks for it."""

    severity: str
    what_to_do: str
    look: "Callable[[Case], Finding]"


class Checks(dict[str, Check]):
    """Checks by name, those of most worth first."""

    def add(self, severity: str, what_to_do: str) -> Callable[..., Any]:
        """Add the function that stands below."""
        return lambda look: self.update({look.__name__: Check(severity, what_to_do, look)}) or look


def surest(names: Any, chance: Floats, say: Callable[[int], str]) -> Finding:
    """Return a finding about those of whom it is sure, the surest first, with what is said of the first."""
    order = np.argsort(chance, kind="stable")[: (chance < CHANCE).sum()].tolist()
    return Finding([names[k] for k in order], say(order[0]) if order else "", float(chance.min(initial=1.0)))


@dataclass(frozen=True, eq=False)
class Case:
    """A test set; `time` (item, annotator, time, when) has the seconds of each answer and when it was given.

    Where there are predictions, the annotations are those of the predicted items among `every_item`. Comparisons are
    also labels of their pairs.
    """

    annotations: Any
    every_item: Array
    predictions: Predictions | None
    people: Annotators | None
    gold: Any
    time: pd.DataFrame
    random_seed: Seed
    comparisons: Any

    @property
    def labels(self) -> Labels:
        """The annotations, where they are labels."""
        need(isinstance(self.annotations, Labels), "labels")
        return self.annotations

    @cached_property
    def models(self) -> Predictions:
        """The predictions, of labels in the order of the annotations, where there are some."""
        if self.predictions is None:
            raise InputError("predictions of models")
        if not isinstance(self.annotations, Labels):
            return self.predictions
        return self.predictions.aligned(self.annotations.items, self.annotations.categories)

    @cached_property
    def votes(self) -> Labels:
        """The labels, where they are of items."""
        need(self.comparisons is None, "labels of items")
        return self.labels

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """What each verdict gives the first of two models, a tie a half, and what strengths and care let expect."""
        games = self.comparisons
        tree = davidson(games, order=None, draws=500, random_seed=self.random_seed)["posterior"].to_dataset()
        mean = {str(name): value.mean(SAMPLE).values for name, value in tree.items()}
        care, tie = (
            mean.get(name, np.array(none)) for name, none in (("discrimination", 1.0), ("tie", -np.inf))
        )
        care, tie = (value[games.annotator_index] if value.ndim else value for value in (care, tie))
        ahead = care * (mean["strength"][games.first] - mean["strength"][games.second])
        win, _, tied = outcome_probabilities(ahead, np.exp(tie) + 0 * ahead)
        expected = win + tied / 2
        won = np.array([1.0, 0.0, 0.5])[games.outcome]
        rows = {"who": games.annotator_index, "n": 1.0, "won": won, "expected": expected}
        return pd.DataFrame(rows | {"variance": win + tied / 4 - expected**2})

    @cached_property
    def code(self) -> Array:
        """Code of each answer, shape (row,): its label, or which fifth of the ratings it is in."""
        if not isinstance(self.annotations, Ratings):
            return self.labels.label_index
        rating = self.annotations.rating
        return np.searchsorted(np.quantile(rating, FIFTHS), rating)

    @cached_property
    def who(self) -> Array:
        """Annotator of each answer, where it is known."""
        need(self.annotations.annotators_known, "who gave each answer: one row per annotation")
        return self.annotations.annotator_index

    @cached_property
    def agrees(self) -> Floats:
        """Whether each answer is that of most others of its item, a half where of half of them; NaN without others."""
        item = self.annotations.item_index
        rest = np.bincount(item)[item] - 1.0
        need(rest.any(), "items with two answers")
        same = pair_counts(item, self.code)[item, self.code] - 1
        return np.where(rest > 0, np.heaviside(same - rest / 2, 0.5), np.nan)

    @cached_property
    def given(self) -> Floats:
        """How often each annotator gives each answer, shape (annotator, code)."""
        return pair_counts(self.who, self.code).toarray()


def share(part: Any, whole: Any) -> str:
    """Write a share with its 95 % interval.

    Examples
    --------
    >>> share(30, 40)
    '0.75 (0.60 to 0.86)'
    """
    return interval(part / whole, *sp.stats.beta.interval(0.95, part + 1, whole - part + 1))


def interval(value: float, low: float, high: float) -> str:
    """Write a number with its interval, which holds it."""
    return f"{value:.2f} ({min(low, value):.2f} to {max(high, value):.2f})"
