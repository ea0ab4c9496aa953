"""What the checks of an audit look at, and what one of them says."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Annotators, Comparisons, Labels, Predictions, Ratings
from bayesagree.annotations.gold import Gold
from bayesagree.comparisons._cells import outcome_probabilities
from bayesagree.comparisons.posterior import davidson
from bayesagree.errors import of_commands
from bayesagree.inference.streams import Seed

# Chance with which a test set without defects has any finding that is inferred.
CHANCE = 0.05
# Fewest answers that an annotator is judged by; where ratings are cut into codes.
ENOUGH, FIFTHS = 20, (0.2, 0.4, 0.6, 0.8)

# What to call, in Python and on the command line.
CALLS = {
    "weigh": ("ba.dawid_skene(labels)", "bayesagree annotators LABELS"),
    "score": ("ba.evaluate(labels, predictions)", "bayesagree evaluate LABELS PREDICTIONS"),
    "next": ("ba.annotate_next(labels)", "bayesagree next LABELS"),
    "plan": ("ba.plan(labels, predictions)", "bayesagree plan LABELS PREDICTIONS"),
    "groups": (
        "ba.group_posterior(...)",
        "bayesagree subjective LABELS PREDICTIONS --annotators PEOPLE --group AGE",
    ),
    "strengths": ('ba.davidson(..., order="annotator")', "bayesagree preferences LABELS --order annotator"),
    "skip": ('ba.evaluate(..., missing="skip")', "bayesagree evaluate LABELS PREDICTIONS --missing skip"),
    "merge": ("read_annotations(..., merge_similar=True)", "--merge-similar"),
    "no_answer": ("na_values=[...]", "--missing-labels"),
    "agreement": ("ba.agreement_table(labels)", "bayesagree agreement LABELS"),
}


def call(name: str) -> str:
    """Return what to call, in Python or on the command line."""
    return CALLS[name][of_commands.get()]


class Lacking(Exception):
    """What a check needs and the test set does not have."""


class Finding(NamedTuple):
    """What one check says; nothing, where it names nothing.

    `chance`: with which a test set without this defect shows as much, all that the check looked at together; None of
    what is counted and not inferred.
    """

    severity: str
    finding: str
    what_to_do: str
    where: Sequence[Any]
    chance: float | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """A test set; `time` (item, annotator, time, when) has the seconds of each answer and when it was given.

    Where there are predictions, the annotations are those of the predicted items among `every_item`. Comparisons are
    also labels of their pairs. `texts` is what each item shows.
    """

    annotations: Any
    every_item: NDArray[Any]
    predictions: Predictions | None = None
    people: Annotators | None = None
    gold: Gold | None = None
    time: pd.DataFrame | None = None
    random_seed: Seed = None
    texts: Any = None
    comparisons: Comparisons | None = None

    @property
    def labels(self) -> Labels:
        """The annotations, where they are labels."""
        if not isinstance(self.annotations, Labels):
            raise Lacking("labels")
        return self.annotations

    @cached_property
    def models(self) -> Predictions:
        """The predictions, of labels in the order of the annotations, where there are some."""
        if self.predictions is None:
            raise Lacking("predictions of models")
        if not isinstance(self.annotations, Labels):
            return self.predictions
        return self.predictions.aligned(self.annotations.items, self.annotations.categories)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """What each verdict gives the first of two models, a tie a half, and what strengths and care let expect."""
        games: Any = self.comparisons
        tree: Any = davidson(games, order=None, draws=500, random_seed=self.random_seed)[
            "posterior"
        ].to_dataset()
        mean = {str(name): value.mean(("chain", "draw")).values for name, value in tree.items()}
        care, tie = (
            mean.get(name, np.array(none)) for name, none in (("discrimination", 1.0), ("tie", -np.inf))
        )
        care, tie = (value[games.annotator_index] if value.ndim else value for value in (care, tie))
        ahead = care * (mean["strength"][games.first] - mean["strength"][games.second])
        win, _, tied = outcome_probabilities(ahead, np.exp(tie) + 0 * ahead)
        expected, won = win + tied / 2, np.array([1.0, 0.0, 0.5])[games.outcome]
        rows = {"who": games.annotator_index, "n": 1.0, "won": won, "expected": expected}
        return pd.DataFrame(rows | {"variance": win + tied / 4 - expected**2})

    @cached_property
    def code(self) -> NDArray[Any]:
        """Code of each answer, shape (row,): its label, or which fifth of the ratings it is in."""
        if not isinstance(self.annotations, Ratings):
            return self.labels.label_index
        rating = self.annotations.rating
        return np.searchsorted(np.quantile(rating, FIFTHS), rating)

    @cached_property
    def who(self) -> NDArray[Any]:
        """Annotator of each answer, where it is known."""
        if not self.annotations.annotators_known:
            raise Lacking("who gave each answer: one row per annotation")
        return self.annotations.annotator_index

    @cached_property
    def agrees(self) -> Floats:
        """Whether each answer is that of most others of its item, a half where of half of them; NaN without others."""
        item = self.annotations.item_index
        rest = np.bincount(item)[item] - 1.0
        if not rest.any():
            raise Lacking("items with two answers")
        same = table(item, self.code)[item, self.code] - 1
        return np.where(rest > 0, np.heaviside(same - rest / 2, 0.5), np.nan)

    @cached_property
    def told(self) -> Floats:
        """Number of answers of each annotator that others of the item can be compared with."""
        return np.bincount(self.who, ~np.isnan(self.agrees), len(self.given))

    @cached_property
    def by_chance(self) -> Floats:
        """Share of the answers of all that are those which each annotator gives, by his habits."""
        mine = self.given / np.maximum(self.given.sum(axis=1, keepdims=True), 1)
        return np.minimum(mine @ self.given.sum(axis=0) / self.given.sum(), 0.98)

    @cached_property
    def kappa(self) -> Floats:
        """Agreement of each annotator with most others, beyond chance."""
        agreed = np.bincount(self.who, np.nan_to_num(self.agrees), len(self.given)) / np.maximum(self.told, 1)
        return (agreed - self.by_chance) / (1 - self.by_chance)

    @cached_property
    def given(self) -> Floats:
        """How often each annotator gives each answer, shape (annotator, code)."""
        return table(self.who, self.code).toarray()


def table(row: NDArray[Any], column: NDArray[Any], shape: tuple[int, int] | None = None) -> Any:
    """Count pairs, sparse, shape (row, column)."""
    return sp.sparse.csr_array((np.ones(row.size), (row, column)), shape)


def share(part: Any, whole: Any) -> str:
    """Write a share with its 95 % interval.

    Examples
    --------
    >>> share(30, 40)
    '0.75 (0.60 to 0.86)'
    """
    return interval(part / whole, *sp.stats.beta.ppf([0.025, 0.975], part + 1, whole - part + 1))


def interval(value: float, low: float, high: float) -> str:
    """Write a number with its interval."""
    return f"{value:.2f} ({low:.2f} to {high:.2f})"
