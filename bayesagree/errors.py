"""Errors of input, each with the value, its place, the rule and the way out; checks of arguments; renamed arguments."""

import functools
import math
import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any


class InputError(ValueError):
    """Input that breaks a rule of its container; nothing was computed or written."""


class SizeError(ValueError):
    """A result that would not fit the stated memory; the message names its size and the way out."""


class ConvergenceError(RuntimeError):
    """An iteration or a refinement that did not reach its stated accuracy."""


def shorten(values: object, most: int = 5) -> str:
    """Text with the first few values of a sequence, for an error message."""
    items = list(values)  # type: ignore[call-overload]
    shown = ", ".join(repr(as_python(v)) for v in items[:most])
    return shown if len(items) <= most else f"{shown}, ... ({len(items)} in all)"


def as_python(value: object) -> object:
    """Python value of a numpy scalar, so that messages read 'q17' and not np.str_('q17')."""
    item = getattr(value, "item", None)
    return item() if callable(item) else value


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


def probability(value: Any, name: str) -> float:
    """Number above 0 and below 1, or `InputError`."""
    if not 0 < value < 1:
        raise InputError(f"{name}={value!r} must lie between 0 and 1")
    return float(value)


def renamed[**P, R](**new_name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Accept old names of keyword arguments for one release, with a DeprecationWarning that names the new one.

    Examples
    --------
    >>> @renamed(depth="k")
    ... def best(*, k: int) -> int:
    ...     return k
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     best(depth=3), str(seen[0].message)
    (3, 'best(depth=) is now best(k=)')
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = getattr(function, "__name__", "")

        @functools.wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> R:
            for old in new_name.keys() & given.keys():
                new = new_name[old]
                if new in given:
                    raise TypeError(f"{name}() got both {new}= and {old}=, its former name")
                warnings.warn(f"{name}({old}=) is now {name}({new}=)", DeprecationWarning, stacklevel=2)
                given[new] = given.pop(old)
            return function(*args, **given)

        return call

    return decorate
