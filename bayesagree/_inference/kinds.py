"""Kinds of values: whether a value is of the kind that an annotation says, and the kind in words."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, TypeAliasType, TypeVar, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

type Numbers = ArrayLike
"""Numbers in any form that NumPy reads."""

_SCALARS = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    bool: (bool, "True or False"),
    str: (str, "a text"),
}
MOST_CHECKED = 1000
"""Elements of a longer sequence are checked by the functions, as arrays."""


def parts_of(annotation: Any) -> Iterator[Any]:
    """Yield what an annotation is made of: the members of unions, the values of aliases, the class of None."""
    if annotation in (Numbers, ArrayLike):
        yield annotation
    elif isinstance(annotation, TypeAliasType):
        yield from parts_of(annotation.__value__)
    elif isinstance(annotation, UnionType | TypeVar) or get_origin(annotation) is Union:
        for part in getattr(annotation, "__constraints__", ()) or get_args(annotation) or (Any,):
            yield from parts_of(part)
    else:
        yield NoneType if annotation is None else annotation


def fits(annotation: Any, value: Any) -> bool:
    """Whether a value is of the kind that an annotation says; True where it says more than kinds."""
    return any(_fits_part(part, value) for part in parts_of(annotation))


def _opened(part: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the class of an annotation and what stands in its brackets."""
    return (part, ()) if part is ArrayLike else (get_origin(part) or part, get_args(part))


def _fits_part(part: Any, value: Any) -> bool:
    kind, inner = _opened(part)
    if getattr(value, "ndim", None) == 0 and kind in (*_SCALARS, Literal):
        value = value.item()  # of NumPy and xarray
    if kind in _SCALARS:
        logical = isinstance(value, bool) and kind in (int, float)
        return isinstance(value, _SCALARS[kind][0]) and not logical and value == value  # not NaN
    if kind is Literal:
        return any(value is one or (isinstance(value, str) and value == one) for one in inner)
    if kind in (ArrayLike, Numbers):
        array = isinstance(value, Real) or (isinstance(value, Iterable) and not isinstance(value, str | Mapping))
        return array and (kind is ArrayLike or _are_numbers(value))
    if kind in (np.ndarray, NDArray):
        return hasattr(value, "shape") and (not inner or "float" not in str(inner[-1]) or _are_numbers(value))
    if kind is Mapping or kind is dict:
        numbers = inner[1:] == (float,) and isinstance(value, Mapping)
        return hasattr(value, "keys") and (not numbers or all(fits(float, one) for one in value.values()))
    if kind in (Sequence, Collection, tuple, list) and inner:
        return _fits_each(kind, inner, value)
    try:
        return not isinstance(kind, type) or isinstance(value, kind)
    except TypeError:  # a protocol that only type checkers know
        return True


def _are_numbers(value: Any) -> bool:
    try:
        return np.asarray(value, dtype=np.float64).ndim >= 0
    except (TypeError, ValueError):
        return False


def _fits_each(kind: Any, inner: tuple[Any, ...], value: Any) -> bool:
    """Whether a value is a sequence of the right elements; texts are sequences of texts."""
    if not hasattr(value, "__len__") or isinstance(value, Mapping):
        return False
    if kind is tuple and Ellipsis not in inner:
        return len(value) == len(inner) and all(map(fits, inner, value))
    if isinstance(value, str):
        return inner[0] in (str, Any)
    return inner[0] not in _SCALARS or len(value) > MOST_CHECKED or all(fits(inner[0], one) for one in value)


def words_of(annotation: Any) -> str:
    """Return what an annotation requires, in words."""
    words = []
    for part in parts_of(annotation):
        kind, inner = _opened(part)
        if kind in _SCALARS:
            words.append(_SCALARS[kind][1])
        elif kind is Literal:
            words.append(f"one of {', '.join(map(repr, inner))}")
        elif kind is tuple and Ellipsis not in inner:
            words.append(f"({', '.join(map(words_of, inner))})")
        elif kind in (Sequence, Collection, tuple, list):
            words.append("a sequence" if Any in inner else f"a sequence, each {words_of(inner[0])}")
        elif kind in (ArrayLike, Numbers, NDArray, np.ndarray):
            words.append("numbers" if kind is Numbers else "an array")
        else:
            own = {Callable: "a function", NoneType: "None"}
            words.append(own.get(kind) or getattr(kind, "__name__", "an object"))
    return " or ".join(dict.fromkeys(words))
