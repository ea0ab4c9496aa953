"""Errors that input can raise, each with the value, its place, the rule and the way out; renamed arguments."""

import functools
import warnings
from collections.abc import Callable


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
