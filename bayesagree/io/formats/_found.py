"""What a reader finds in an export, and the containers made of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from bayesagree.annotations import Annotations, Annotators, Labels, Rankings, Ratings
from bayesagree.annotations._columns import Duplicates
from bayesagree.errors import InputError, shorten
from bayesagree.predictions import Predictions

type Kind = Literal["labels", "ratings", "rankings"]

ANSWER = ["question", "item", "annotator", "value"]


class Wanted(NamedTuple):
    """How the answers are to be read: question, kind of annotations, scale, labels, repeated answers."""

    question: str | None = None
    kind: Kind | None = None
    scale: tuple[float, float] | None = None
    step: float | None = None
    labels: Any = None
    duplicates: Duplicates = "error"


@contextmanager
def naming(name: str, what: str) -> Iterator[None]:
    """Put the file and its assumed format in front of every error."""
    try:
        yield
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(name) else f"{name}, read as {what}: {text}") from error


@dataclass(eq=False)
class Found:
    """Answers and all else of one file, as a reader finds them.

    Attributes
    ----------
    answers
        Rows (question, item, annotator, value). A value is a label, a number, a list of labels, or a list of
        ``{"value": label, "rank": r}``.
    table
        Further answers as a frame with these columns.
    outputs
        Rows (model, item, value, score) of models: hard labels where the score is None.
    gold
        Label of an item by its name.
    features
        Features of annotators: a mapping for each.
    system
        System whose output an item is, by item.
    left_out
        Number of answers left out, by reason.
    ratings
        Names of the questions whose answers are ratings by their type.
    notes
        Choices of the reader in words, such as a column taken for the annotator.
    container
        The annotations themselves, from tables.
    layout
        Layout of the table they are from.
    """

    answers: list[tuple[str, Any, Any, Any]] = field(default_factory=list)
    table: pd.DataFrame | None = None
    outputs: list[tuple[str, Any, Any, Any]] = field(default_factory=list)
    gold: dict[Any, Any] = field(default_factory=dict)
    features: dict[Any, Mapping[str, Any]] = field(default_factory=dict)
    system: dict[Any, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    ratings: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    container: Annotations | None = None
    layout: str = ""

    def annotations(self, wanted: Wanted, source: str) -> Annotations | None:
        """Make the container of the answers to one question, None where there are no answers."""
        if self.container is not None:
            return self.container
        frame: Any = pd.DataFrame(self.answers, columns=ANSWER) if self.table is None else self.table
        if frame.empty:
            return None
        name = _one_question(frame["question"], wanted.question, source)
        frame = frame.loc[frame["question"] == name, ANSWER[1:]].reset_index(drop=True)
        lists = frame["value"].map(lambda value: isinstance(value, list | tuple | np.ndarray))
        if lists.any():
            frame, ranked = _exploded(frame, lists)
            if ranked:
                return Rankings.from_long(frame, label="value", rank="rank", labels=wanted.labels)
        if _as_ratings(frame["value"], wanted, name in self.ratings):
            return _ratings(frame, wanted, name)
        return Labels.from_long(frame, label="value", labels=wanted.labels, duplicates=wanted.duplicates)

    def predictions(self, labels: Any, probabilities: bool = False) -> Predictions | None:
        """Make the predictions, None where the file holds none."""
        if not self.outputs:
            return None
        frame: Any = pd.DataFrame(self.outputs, columns=["model", "item", "label", "score"])
        scored = frame["score"].notna()
        if scored.any() and not scored.all():
            frame, scored = frame.assign(score=None), scored & False
        score = "score" if scored.any() else None
        return Predictions.from_long(frame, score=score, labels=labels, probabilities=probabilities)

    def annotators(self) -> Annotators | None:
        """Make the table of the annotators' features, None where the file has none."""
        if not self.features:
            return None
        rows = [{"annotator": name, **features} for name, features in self.features.items()]
        return Annotators.from_table(pd.DataFrame(rows))


def _one_question(questions: Any, wanted: str | None, source: str) -> str:
    names = questions.unique().tolist()
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        raise InputError(f"{source} asks {len(names)} questions, {shorten(names)}; choose one with question=")
    if wanted not in names:
        raise InputError(f"question={wanted!r} is not in {source}; it asks {shorten(names)}")
    return wanted


def _exploded(frame: Any, lists: Any) -> tuple[Any, bool]:
    """One row for each element of the answers that are lists, and whether they are rankings."""
    frame = frame.assign(value=frame["value"].where(lists, frame["value"].map(lambda value: [value])))
    frame = frame.explode("value", ignore_index=True).dropna(subset="value").reset_index(drop=True)
    ranked = frame["value"].map(lambda value: isinstance(value, dict) and "rank" in value)
    if not ranked.all():
        return frame, False
    ranks = frame["value"].map(lambda value: value["rank"])
    return frame.assign(rank=ranks, value=frame["value"].map(lambda value: value["value"])), True


def _as_ratings(values: Any, wanted: Wanted, typed: bool) -> bool:
    if wanted.kind is not None:
        return wanted.kind == "ratings"
    return typed or wanted.scale is not None


def _ratings(frame: Any, wanted: Wanted, question: str) -> Ratings:
    if wanted.scale is None:
        numbers: Any = pd.to_numeric(frame["value"], errors="coerce")
        raise InputError(
            f"question {question!r} holds ratings from {numbers.min():g} to {numbers.max():g}; "
            "pass scale=(lowest, highest) as the tool offered it, and step=1 for levels (or kind='labels')"
        )
    rated = frame.rename(columns={"value": "rating"})
    return Ratings.from_long(rated, scale=wanted.scale, step=wanted.step, duplicates=wanted.duplicates)
