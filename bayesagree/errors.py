"""Errors and warnings, each with the value, its place, the rule and the way out; checks of files and arguments."""

import math
import os
import warnings
from collections.abc import Callable, Collection, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from pathlib import Path
from typing import Any


class InputError(ValueError):
    """Input that breaks a rule of its container; nothing was computed or written."""


class SizeError(ValueError):
    """A result that would not fit the stated memory; the message names its size and the way out."""


class ConvergenceError(RuntimeError):
    """An iteration that did not reach its stated accuracy, or Markov chains that did not reach one distribution."""


_PACKAGE = os.fspath(Path(__file__).parent) + os.sep


_kept: ContextVar[list[str] | None] = ContextVar("_kept", default=None)


# Whether messages are for the command line.
of_commands: ContextVar[bool] = ContextVar("of_commands", default=False)
# Options that do not have the names of their arguments.
_OPTIONS = {"na_values": "missing_labels", "random_seed": "seed", "ordered=False": "unordered"}
_OPTIONS |= {"annotator=None": "no_annotator"}
# How the values of some arguments look.
_SHOWN = {"scale": "(lowest, highest)", "labels": "[...]"}


def say(name: str, *value: Any) -> str:
    """Write an argument as the reader of the message passes it: in Python, or on the command line.

    Examples
    --------
    >>> say("merge_similar", True), say("labels")
    ('merge_similar=True', 'labels=[...]')
    """
    text = f"{name}={value[0]!r}" if value else f"{name}={_SHOWN.get(name, '...')}"
    if not of_commands.get():
        return text
    option = "--" + _OPTIONS.get(text, _OPTIONS.get(name, name)).replace("_", "-")
    if not value or isinstance(value[0], bool | None):
        return option
    listed = value[0] if isinstance(value[0], list | tuple) else value
    return f"{option} {','.join(map(str, listed))}"


def warn(message: str) -> None:
    """Give a UserWarning that names the line outside of this package from which it was called."""
    if (kept := _kept.get()) is not None:
        kept.append(message)
    else:
        warnings.warn(message, UserWarning, skip_file_prefixes=(_PACKAGE,))


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Keep the warnings of a thread or worker, whose stack lacks the user's line, for whoever waits for it to give."""
    token = _kept.set(kept := [])
    try:
        yield kept
    finally:
        _kept.reset(token)


def require_file(path: Path, *, folder: bool = False) -> None:
    """Refuse what is no regular file (or, if allowed, folder): reading a pipe would wait for ever."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if not (path.is_file() or (folder and path.is_dir())):
        raise InputError(f"{str(path)!r} is not a regular file; name a file")


@contextmanager
def opening(path: object, what: str) -> Iterator[None]:
    """Turn whatever a library raises while it reads a file into an error that names the file and what it should be.

    Libraries raise any kind of error on a broken file: KeyError, RuntimeError, struct.error, MemoryError, ...
    """
    try:
        yield
    except (InputError, SizeError, FileNotFoundError):
        raise
    except Exception as error:
        raise InputError(
            f"{str(path)!r}: not a whole {what} ({type(error).__name__}: {error}); write or download it again"
        ) from error


def shorten(values: object, most: int = 5) -> str:
    """Text with the first few values of a sequence, for an error message."""
    items = list(values)  # type: ignore[call-overload]
    shown = ", ".join(repr(as_python(v)) for v in items[:most])
    return shown if len(items) <= most else f"{shown}, ... ({len(items)} in all)"


def as_python(value: object) -> object:
    """Python value of a numpy scalar, so that messages read 'q17' and not np.str_('q17')."""
    item = getattr(value, "item", None)
    return item() if callable(item) and getattr(value, "size", 1) == 1 else value


def place_of(**names: object) -> str:
    """Name a place for an error message.

    Examples
    --------
    >>> place_of(item="q17", annotator="ann")
    "item 'q17', annotator 'ann'"
    """
    return ", ".join(f"{role} {as_python(name)!r}" for role, name in names.items())


def refuse(bad: Any, text: Callable[[int], str]) -> None:
    """Refuse values of which some are bad: `text` says what the first of them is, where, the rule and the way out.

    Examples
    --------
    >>> import numpy as np
    >>> refuse(np.array([1, -2]) < 0, lambda row: f"row {row}: a count is not negative; correct the row")
    Traceback (most recent call last):
    bayesagree.errors.InputError: row 1: a count is not negative; correct the row
    """
    if bad.any():
        raise InputError(text(int(bad.argmax())))


# How containers are made, by their names.
WAYS = {
    "Labels": "Labels.from_long(table) reads one row per annotation, Labels.from_matrix(array) one column per "
    "annotator, Labels.from_counts(array) one per label, read_annotations(table) a table or a file of any layout",
    "Ratings": "Ratings.from_long(table, scale=(lowest, highest)) reads one row per rating, Ratings.from_matrix(array, "
    "scale=...) one column per annotator, read_annotations(table, scale=...) a table or a file of any layout",
    "Rankings": "Rankings.from_long(table) reads one row per label and rank, Rankings.from_blocks(lists) nested lists",
    "Comparisons": "Comparisons.from_long(table) reads one row per comparison",
    "Predictions": "Predictions.from_scores(table) reads the scores of a model, Predictions.from_labels(table) one "
    "column of labels per model, read_predictions(table) a table or a file of any layout",
    "Annotators": "Annotators.from_table(table) reads one row per annotator",
    "DataTree": "pass the whole result of a posterior such as dirichlet, or of evaluate",
}


def require(value: Any, kinds: type | tuple[type, ...], name: str) -> None:
    """Refuse an argument of another kind, with the way to make one of the right kind.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> require([1, 2], Labels, "labels")
    Traceback (most recent call last):
    bayesagree.errors.InputError: labels=...: expected Labels, got list; Labels.from_long(table) reads one row per \
annotation, Labels.from_matrix(array) one column per annotator, Labels.from_counts(array) one per label, \
read_annotations(table) a table or a file of any layout
    """
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(value, kinds):
        names = ["None" if kind is type(None) else kind.__name__ for kind in kinds]
        way_out = f"; {WAYS[names[0]]}" if names[0] in WAYS else ""
        got = "None" if value is None else type(value).__name__
        raise InputError(f"{name}=...: expected {' or '.join(names)}, got {got}{way_out}")


def positive_int(value: Any, name: str) -> int:
    """Count of draws, chains, labels, ...: a whole number of at least 1, or `InputError`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name}={value!r} must be a whole number of at least 1")
    return int(value)


def positive(value: Any, name: str, *, zero: bool = False) -> float:
    """Finite number above zero (or, if allowed, zero), or `InputError`."""
    number = float(value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise InputError(f"{name}={value!r} must be a {'finite number >= 0' if zero else 'positive number'}")
    return number


def one_of[T](value: T, name: str, known: Collection[Any]) -> T:
    """One of the known values, or `InputError`."""
    if not isinstance(value, Hashable) or value not in known:
        raise InputError(f"{say(name, value)} is not one of {', '.join(map(repr, known))}")
    return value


def probability(value: Any, name: str) -> float:
    """Number above 0 and below 1, or `InputError`."""
    if not 0 < value < 1:
        raise InputError(f"{name}={value!r} must lie between 0 and 1")
    return float(value)
