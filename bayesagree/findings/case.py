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
    """A test set; `time` (item, annotator, time) has the seconds of each answer, `texts` what each item shows.

    Where there are predictions, the annotations are those of the predicted items among `every_item`. Comparisons are
    also labels of their pairs.
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
    def beside(self) -> tuple[Floats, Any]:
        """How many other answers of its item equal each answer, and how many there are, shape (row,)."""
        item = self.annotations.item_index
        rest = np.bincount(item)[item] - 1.0
        if not rest.any():
            raise Lacking("items with two answers")
        return table(item, self.code)[item, self.code] - 1, rest

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
