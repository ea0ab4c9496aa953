"""What a reader finds in an export, and the containers made of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from bayesagree._types import Array
from bayesagree.annotations import Annotations, Comparisons, Labels, Rankings, Ratings
from bayesagree.annotations._columns import Duplicates, objects
from bayesagree.annotations._words import MISSING_CELLS, name_key, person_key, sides_of, similar, spelling_key
from bayesagree.annotations.predictions import Predictions
from bayesagree.annotations.spans import COLUMNS
from bayesagree.errors import InputError, place_of, say, shorten, warn
from bayesagree.io.formats._guess import Columns

Kind = Literal["labels", "ratings", "rankings", "comparisons"]

LISTS = {list, tuple, np.ndarray}
# What a rule for repeated pairs leaves out.
REPEATED = "repeated annotations of an item by an annotator"


class Wanted(NamedTuple):
    """How the answers are to be read: question, kind of annotations, scale, labels in order, repeats; or outputs."""

    question: str | None = None
    kind: Kind | None = None
    scale: tuple[float, float] | None = None
    step: float | None = None
    labels: Any = None
    duplicates: Duplicates = "error"
    na_values: Any = ()
    merge_similar: bool = False
    ordered: bool | None = None
    outputs: bool = False

    def scale_of(self, values: Any, way_out: str) -> tuple[float, float]:
        """Return the scale of ratings; where it is not known, the error says how far they reach."""
        if self.scale is not None:
            return self.scale
        numbers: Any = pd.to_numeric(pd.Series([] if values is None else values), errors="coerce")
        numbers = numbers.dropna()
        reach = f" (they are {numbers.min():g} to {numbers.max():g})" if len(numbers) else ""
        raise InputError(f"the scale of the ratings is not known{reach}; pass {say('scale')}{way_out}")

    def spelled(self, names: Iterable[Any], key: Any, listed: Any = None) -> Array:
        """Names of items or annotators, on request each in one spelling."""
        known = list(names)
        spelling = one_spelling(known, listed, key) if self.merge_similar else {}
        return objects([spelling.get(name, name) if isinstance(name, str) else name for name in known])

    def cleaned(self, values: Iterable[Any]) -> Array:
        """Values with None for words that are missing, and one spelling of each label."""
        words = [self.na_values] if isinstance(self.na_values, str) else [*map(str, self.na_values)]
        numbers: Any = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce")
        missing = {*words, *numbers.dropna()}
        known = list(values)
        seen = {value for value in known if value in missing or str(value) in missing} if missing else set()
        said = {*MISSING_CELLS, *map(str, seen)}
        if lacks := [word for word, number in zip(words, numbers) if word not in said and number not in seen]:
            warn(f"no answer is {shorten(lacks)}, which {say('na_values', lacks)} reads as missing")
        kept = [None if value in seen else value for value in known] if seen else known
        return self.spelled(kept, spelling_key, self.labels)


def one_spelling(
    values: Iterable[Any], labels: Sequence[Any] | None = None, key: Callable[[str], str] = spelling_key
) -> dict[str, str]:
    """Name of each spelling: the one that `labels` lists, else the most frequent, of several the first in order."""
    counts = Counter(value for value in values if isinstance(value, str))
    listed = {label for label in labels or () if isinstance(label, str)}
    groups = similar(counts.keys() | listed, key)
    best = [min(group, key=lambda one: (one not in listed, -counts[one], one)) for group in groups]
    return {label: name for name, group in zip(best, groups) for label in group}


def spelled_as(labels: Iterable[Any]) -> Callable[[Any], Any]:
    """Return the function that spells a label as these, where it differs from one in its spelling alone."""
    known = {spelling_key(str(label)): label for label in labels}
    return lambda value: known.get(spelling_key(str(value)), value)


@contextmanager
def naming(name: str, what: str) -> Iterator[None]:
    """Put the file and its assumed format in front of every error; refuse a file that lacks what these promise."""
    try:
        yield
    except InputError as error:
        text = str(error)
        raise InputError(text if text.startswith(name) else f"{name}, read as {what}: {text}") from error
    except (OSError, MemoryError, Warning):
        raise
    except Exception as error:  # whatever comes of a field that is not there, or of another kind
        raise InputError(
            f"{name}, read as {what}: a field is missing or of another kind than this format has ({error!r}); export "
            "the file again, or name its format"
        ) from error


@dataclass(eq=False)
class Found:
    """Answers and all else of one file, as a reader finds them."""

    # Rows (question, item, annotator, value): a label, a number, a list of labels, or of {"value": label, "rank": r}.
    answers: list[tuple[str, Any, Any, Any]] = field(default_factory=list)
    # Rows (question, document, annotator, start, end, label) of marked spans; who read what where none was.
    spans: list[tuple[str, Any, Any, int | None, int | None, Any]] = field(default_factory=list)
    # Rows (model, item, value, score) of models: hard labels where the score is None.
    outputs: list[tuple[str, Any, Any, Any]] = field(default_factory=list)
    # Run of each of them, where they are of other items and labels than the answers.
    runs: list[Any] = field(default_factory=list)
    # Label of an item by its name.
    gold: dict[Any, Any] = field(default_factory=dict)
    # Number of answers left out, by reason.
    left_out: Counter[str] = field(default_factory=Counter)
    # Names of the questions whose answers are ratings by their type.
    ratings: set[str] = field(default_factory=set)
    # Choices of the reader in words, such as a column taken for the annotator.
    notes: list[str] = field(default_factory=list)
    # The annotations themselves, from tables.
    container: Annotations | Comparisons | None = None
    # Rows of comparisons, and how `Comparisons.from_long` reads them.
    games: tuple[Any, dict[str, Any]] | None = None

    def annotations(self, wanted: Wanted, source: str) -> Annotations | Comparisons | None:
        """Make the container of the answers to one question, None where there are no answers."""
        if self.games is not None:
            return _compared(*self.games, wanted)
        if self.container is not None:
            return self.container
        questions = dict.fromkeys(name for name, _, _, start, *_ in self.spans if start is not None)
        if questions and (not self.answers or wanted.question in questions):
            return Labels.from_spans(self.marked(_one_question(questions, wanted.question, source)))
        if not self.answers:
            return None
        frame: Any = pd.DataFrame(
            self.answers, columns=["question", "item", "annotator", "label"], dtype=object
        )
        name = _one_question(frame["question"].unique(), wanted.question, source)
        frame, ranked = self._one_value_a_row(frame[frame["question"] == name])
        rated = wanted.kind == "ratings" or (wanted.kind is None and (name in self.ratings or wanted.scale))
        kind = "rankings" if ranked else "ratings" if rated else "labels"
        way_out = f" as the tool offered it, or {say('kind', 'labels')}"
        return self.made(frame, Columns(rating="label"), wanted, kind, way_out)

    def _one_value_a_row(self, frame: Any) -> tuple[Any, bool]:
        """One row for each element of the answers that are lists, and whether they are rankings; empty ones counted."""
        frame = frame.assign(_answer=range(len(frame)))
        if not LISTS.isdisjoint(map(type, frame["label"])):
            empty = frame["label"].map(lambda value: type(value) in LISTS and len(value) == 0)
            self.left_out["answers that chose nothing"] += int(empty.sum())
            frame = frame[~empty].explode("label", ignore_index=True)
        known = frame[frame["label"].notna()]
        nested = [value for value in known["label"] if type(value) is dict or type(value) in LISTS]
        if not nested:
            return frame, False
        if len(nested) < len(known) or not all(
            type(v) is dict and {"rank", "value"} <= v.keys() for v in nested
        ):
            raise InputError(
                f"an answer is {shorten(nested[:1])}, not a label or a number; choose another question"
            )
        return known.assign(label=objects([v["value"] for v in nested]), rank=[v["rank"] for v in nested]), True

    def made(self, frame: Any, columns: Columns, wanted: Wanted, kind: str, way_out: str = "") -> Annotations:
        """Make the container of rows; those without a value, and what the rule for repeats leaves out, are counted."""
        item, annotator, label, rating, rank = columns
        value = rating if kind == "ratings" else label
        names = {*frame.columns}
        if wanted.merge_similar:
            keys = {item: name_key, annotator: person_key}
            roles = keys.keys() & names
            frame = frame.assign(**{str(role): wanted.spelled(frame[role], keys[role]) for role in roles})
        if value in names:
            if len(wanted.na_values) or wanted.merge_similar:
                frame = frame.assign(**{value: wanted.cleaned(frame[value].tolist())})
            self.left_out[f"rows without a {kind.removesuffix('s')}"] += int(frame[value].isna().sum())
        if kind == "rankings" and {item, annotator, label, rank} <= names:
            frame = frame[frame[label].notna()]
            frame = frame if "_answer" in names else frame.assign(_answer=_readings(frame, columns))
        duplicates = wanted.duplicates
        if "_answer" in frame and kind != "ratings":
            frame, duplicates = self._whole_answers(frame, [item, annotator], kind, duplicates)
        how: Any = {"item": item, "annotator": annotator}
        if kind == "rankings":
            return Rankings.from_long(frame, **how, label=label, rank=rank, labels=wanted.labels)
        how["duplicates"] = duplicates
        if kind == "ratings":
            scale = wanted.scale_of(frame.get(value), way_out)
            of_ratings = Ratings.from_long(frame, **how, rating=rating, scale=scale, step=wanted.step)
            made: Annotations = in_levels(of_ratings, self.notes)
        else:
            made = Labels.from_long(frame, **how, label=label, labels=wanted.labels, ordered=wanted.ordered)
        self.left_out[REPEATED] += int(frame[value].notna().sum()) - made.n_annotations
        return made

    def _whole_answers(
        self, frame: Any, names: list[Any], kind: str, duplicates: Duplicates
    ) -> tuple[Any, Duplicates]:
        """Apply the rule for repeats to answers: several choices or ranks in one of them are none."""
        several = frame["_answer"].duplicated(keep=False)
        if kind == "labels" and (duplicates == "keep" or not several.any()):
            return frame, duplicates
        answers = frame.drop_duplicates("_answer")
        repeated = answers[answers.duplicated(names, keep="last" if duplicates == "last" else "first")]
        if kind == "labels":
            n = frame.loc[several, "_answer"].nunique()
            self.notes.append(f"{n} answers choose several labels: all choices are kept")
            if duplicates == "error":
                raise InputError(
                    f"{n} answers choose several labels, which are no repeats, and {len(repeated)} annotations are "
                    f"repeated; {say('duplicates', 'keep')} keeps all, {say('duplicates', 'first')} (or last) one "
                    "annotation of an item by an annotator, with all of its choices"
                )
        elif len(repeated) and duplicates in ("error", "keep"):
            what, who = repeated[names].iloc[0]
            raise InputError(
                f"{place_of(item=what, annotator=who)}: ranked more than once ({len(repeated)} repeated rankings in "
                f"all); {say('duplicates', 'first')} (or last) takes one of them"
            )
        self.left_out[REPEATED] += len(repeated)
        return frame[~frame["_answer"].isin(repeated["_answer"])], "keep"

    def marked(self, question: str | None) -> pd.DataFrame | None:
        """Make the table of spans that `Labels.from_spans` takes, None where the question has none.

        Who read a document and marked nothing of this question has a row without a span.
        """
        names = {name for name, _, _, start, *_ in self.spans if start is not None}
        name = next(iter(names)) if question is None and len(names) == 1 else question
        if name not in names:
            return None
        rows = [row if question == name else (*row[:2], None, None, None) for question, *row in self.spans]
        return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)

    def predictions(self, labels: Any, items: Iterable[Any] = ()) -> Predictions | None:
        """Make the predictions, None where the file holds none; other items have missing labels."""
        if not self.outputs:
            return None
        frame: Any = pd.DataFrame(self.outputs, columns=["model", "item", "label", "score"])
        if frame["score"].notna().all():
            return Predictions.from_long(frame, score="score", labels=labels)
        if self.runs:
            run = "run" if len({*self.runs}) > 1 else None
            return Predictions.from_long(frame.assign(run=self.runs), run=run)
        known = set(frame["item"])
        others = pd.DataFrame({"item": objects([item for item in items if item not in known])})
        frame = pd.concat([frame.drop(columns="score"), others.assign(model=self.outputs[0][0])])
        return Predictions.from_long(frame, labels=labels)


def _compared(rows: Any, how: dict[str, Any], wanted: Wanted) -> Comparisons:
    """Make comparisons of rows; on request models, annotators and items each have one spelling."""
    if wanted.merge_similar:
        sides = sides_of(rows.columns) or ()
        spelling = one_spelling(value for side in sides for value in rows[side])
        models = {name: rows[name].map(lambda value: spelling.get(value, value)) for name in (*sides, "winner")}
        keys = {"annotator": person_key, "item": name_key}
        who = {how[role]: wanted.spelled(rows[how[role]], key) for role, key in keys.items() if role in how}
        rows = rows.assign(**models, **who)
    return Comparisons.from_long(rows, **how)


def _readings(frame: Any, columns: Columns) -> Any:
    """Number of the ranking of each row: where the best rank comes again after others, a second one begins.

    Only where every ranking of an item by an annotator has ranks that rise in the order of the rows.
    """
    keys = [frame[columns.item], frame[columns.annotator]]
    ranks: Any = pd.to_numeric(frame[columns.rank], errors="coerce")
    best = ranks == ranks.groupby(keys).transform("min")
    starts = best & (best.groupby(keys).cumsum() > 1) & ~best.groupby(keys).shift(fill_value=True)
    reading = starts.groupby(keys).cumsum()
    of_reading = ranks.groupby([*keys, reading])
    rises = (of_reading.transform("nunique") > 1) & ~(of_reading.diff() < 0)
    reading = reading.where(rises.groupby(keys).transform("all"), 0)
    return frame.groupby([*keys, reading], dropna=False).ngroup()


def _one_question(questions: Iterable[str], wanted: str | None, source: str) -> str:
    names = list(questions)
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        raise InputError(f"{source} asks {len(names)} questions, {shorten(names)}; choose one with question=")
    if wanted not in names:
        raise InputError(f"{say('question', wanted)} is not in {source}; it asks {shorten(names)}")
    return wanted


def in_levels(ratings: Ratings, notes: list[str]) -> Ratings:
    """Return ratings in levels of a step of 1 where no step is known and all of them are whole numbers."""
    if ratings.step is not None or (np.concatenate([ratings.rating, ratings.scale]) % 1 != 0).any():
        return ratings
    notes.append("the ratings are whole numbers: they are read in levels, with step 1")
    return replace(ratings, step=1.0)
