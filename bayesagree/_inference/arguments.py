"""Arguments of public functions: a value of the wrong kind or an unknown name is an error that names the right one.

`checked` reads the kinds from the annotations of a function, so there is one list of them: the signature.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from numbers import Real
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

from bayesagree._inference.kinds import fits, parts_of, words_of
from bayesagree.errors import InputError, as_python, positive_int, probability, shorten

_CONTAINERS = {
    "Labels",
    "Ratings",
    "Rankings",
    "Predictions",
    "Annotators",
    "Groups",
    "Comparisons",
    "LabelPatterns",
    "RatingPatterns",
}
# Objects that an error tells how to make; of other arguments it tells the kind.
KINDS = _CONTAINERS | {"DataTree", "Dataset", "DataArray", "DataFrame"}

_RULES = dict.fromkeys(("draws", "chains", "thin", "k", "replicates"), positive_int) | {"ci_prob": probability}
# Correlations, which equal scores do not have.
_MAY_BE_NAN = ("r_xy", "r_xz", "r_yz")

_THEIRS = {
    "rating": "label score",
    "annotator": "worker rater coder judge",
    "item": "task unit",
    "seed": "random_state random_seed rng",
    "draws": "n_draws num_samples",
    "chains": "n_chains",
    "ci_prob": "hdi_prob prob alpha",
    "labels": "categories classes",
    "metric": "metrics",
    "metrics": "metric",
    "gold": "ground_truth",
    "truth": "y_true",
    "predictions": "y_pred",
}
# Names of arguments in other packages, and ours.
SYNONYMS = {word: ours for ours, words in _THEIRS.items() for word in words.split()}


def checked[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Refuse objects of another kind than the annotations of the function say, and unknown names of arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesagree import InputError, majority_vote
    >>> try:
    ...     majority_vote(np.array([["a", "b"]]))
    ... except InputError as error:
    ...     print(error)
    majority_vote(labels=...): expected Labels, got an array of shape (1, 2); Labels.from_matrix(array) reads one
    column per annotator, Labels.from_counts(array) one per label
    """
    signature = inspect.signature(function)
    name = getattr(function, "__qualname__", "").rpartition("<locals>.")[2]
    kinds: dict[str, tuple[type, ...]] = {}
    annotations: dict[str, Any] = {}

    @functools.wraps(function)
    def call(*args: P.args, **given: P.kwargs) -> R:
        if not annotations:
            kinds.update(_kinds_of(function, signature))
            annotations.update({n: a for n, a in _annotations_of(function, signature).items() if n not in kinds})
        try:
            bound = signature.bind(*args, **given).arguments
        except TypeError as error:
            raise _call_error(name, signature, given, error) from None
        for parameter, classes in kinds.items():
            if parameter in bound and not isinstance(bound[parameter], classes):
                raise InputError(f"{name}({parameter}=...): {_wrong_kind(classes, bound[parameter])}")
        for parameter, annotation in annotations.items():
            value = bound.get(parameter, default := signature.parameters[parameter].default)
            if value is default:
                continue
            if not fits(annotation, value) and not (parameter in _MAY_BE_NAN and value != value):
                raise InputError(f"{parameter}={_brief(value)} is not {words_of(annotation)}, in {name}()")
            if value is not None and parameter in _RULES:
                _RULES[parameter](value, parameter)
        return function(*args, **given)

    return call


def called_like[**P, R](other: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Give a function of ``**options`` the parameters of another one, and check them as `checked` does."""

    def decorate(function: Callable[..., R]) -> Callable[P, R]:
        given = inspect.signature(function).return_annotation
        function.__signature__ = inspect.signature(other).replace(return_annotation=given)  # type: ignore[attr-defined]
        return checked(function)

    return decorate


# How a result is drawn and kept comes last in every signature, in this order.
LAST = ("draws", "chains", "tune", "thin", "seed", "engine", "sampler", "top_labels", "max_bytes", "client", "to")


def handing_on[**P, R](record: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Write out ``**how: Unpack[T]`` of a function that hands these arguments on to a dataclass, with its defaults.

    Type checkers read them from the typed dictionary T; help, documentation and `checked` from the signature.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        *own, how = signature.parameters.values()
        (keys,) = get_args(how.annotation)
        shared = [
            inspect.Parameter(name, how.KEYWORD_ONLY, default=getattr(record, name), annotation=kind)
            for name, kind in keys.__annotations__.items()
        ]
        # Stable: what the model is keeps its order before.
        ordered = sorted([*own, *shared], key=lambda p: LAST.index(p.name) if p.name in LAST else -1)
        function.__signature__ = signature.replace(parameters=ordered)  # type: ignore[attr-defined]
        return checked(function)

    return decorate


def _annotations_of(function: Any, signature: inspect.Signature) -> dict[str, Any]:
    """Annotations of the parameters by name, `Any` where a name is known to type checkers only."""
    known, found = _Names(getattr(function, "__globals__", {})), {}
    for name, parameter in signature.parameters.items():
        found[name] = parameter.annotation
        if isinstance(parameter.annotation, str):
            try:
                found[name] = eval(parameter.annotation, {}, known)
            except (NameError, AttributeError, TypeError):
                found[name] = Any
        if parameter.annotation is parameter.empty or parameter.kind in (
            parameter.VAR_KEYWORD,
            parameter.VAR_POSITIONAL,
        ):
            found[name] = Any
    return found


def _kinds_of(function: Any, signature: inspect.Signature) -> dict[str, tuple[type, ...]]:
    """Classes that each parameter takes, for parameters of which one is in `KINDS` and all are known."""
    found = {}
    for name, annotation in _annotations_of(function, signature).items():
        classes = tuple(get_origin(part) or part for part in parts_of(annotation))
        if all(isinstance(one, type) for one in classes) and any(one.__name__ in KINDS for one in classes):
            found[name] = classes
    return found


def _brief(value: Any) -> str:
    """Show a number or text as it is written, of other objects the kind."""
    scalar = isinstance(value, Real | str) or value is None or getattr(value, "ndim", None) == 0
    return repr(as_python(value))[:80] if scalar else _shown(value)


class _Names(dict[str, Any]):
    """Names of a module, of this package and of xarray and pandas."""

    def __missing__(self, name: str) -> Any:
        for module in ("bayesagree", "xarray", "pandas", "builtins"):
            if hasattr(import_module(module), name):
                return getattr(import_module(module), name)
        raise NameError(name)


def _call_error(name: str, signature: inspect.Signature, given: dict[str, Any], error: TypeError) -> TypeError:
    """Name the nearest argument where one is unknown; report other errors of a call as Python does."""
    takes = [p.name for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    takes = takes[takes[:1] in (["cls"], ["self"]) :]
    unknown = next((argument for argument in given if argument not in takes), None)
    if unknown is None:
        return TypeError(f"{name}(): {error}; it takes {', '.join(takes)}")
    return unknown_argument(name, unknown, takes)


def unknown_argument(name: str, unknown: str, takes: Sequence[str]) -> TypeError:
    """Return the error of a function without such an argument, with the nearest one of those that it takes."""
    synonym = SYNONYMS.get(unknown)
    near = get_close_matches(unknown, takes, 1, 0.65) or [own for own in takes if own == synonym or len(takes) == 1]
    if near:
        return TypeError(f"{name}() has no argument {unknown}=; did you mean {near[0]}=?")
    others = _takers(unknown, name)
    elsewhere = f"; {unknown}= is an argument of {', '.join(others)}" if others else ""
    return TypeError(f"{name}() has no argument {unknown}={elsewhere}; it takes {', '.join(takes)}")


def _takers(argument: str, name: str) -> list[str]:
    """Public functions that take an argument: those of a related name first, three at most."""
    package = import_module("bayesagree")
    functions = [other for other in package.__all__ if inspect.isfunction(getattr(package, other))]
    takers = [other for other in functions if argument in inspect.signature(getattr(package, other)).parameters]
    return sorted(takers, key=lambda other: (name not in other, other not in _FIRST))[:3]


_FIRST = ("evaluate", "annotation_certainty", "dirichlet", "dawid_skene", "common_agreement")


def _wrong_kind(classes: tuple[type, ...], value: Any) -> str:
    names = [one.__name__ for one in classes if one is not NoneType]
    return f"expected {' or '.join(names)}, got {_shown(value)}{_way_out(names, value)}"


def _shown(value: Any) -> str:
    kind = type(value).__name__
    if kind == "ndarray":
        return f"an array of shape {value.shape}"
    words = {"list": "a list", "str": f"the text {value!r}", "NoneType": "None", "function": "a function"}
    return words.get(kind, kind)


def _way_out(names: list[str], value: Any) -> str:
    """Return how to make an object of the expected kind from this one."""
    container, kind = names[0], type(value).__name__
    if container == "Mapping":
        return "; {item: label}, or a Series indexed by item" if "Series" in names else ""
    if container in ("DataTree", "Dataset"):
        if hasattr(value, "n_annotations"):
            return f"; a result comes from a posterior: call dirichlet or common_agreement with the {kind} first"
        return "; pass the whole result, not one of its groups or variables" if kind in KINDS else ""
    if kind in ("DataTree", "Dataset", "DataArray"):
        return "; pass the annotations themselves, not a result" if container != "Predictions" else ""
    if isinstance(value, str | Path):
        reader = "read_predictions" if container == "Predictions" else "read_annotations"
        return f"; {reader}(path) reads a file" if container in KINDS else ""
    if container == "Ratings" and kind == "Labels":
        names_ = getattr(value, "categories", None)
        shown = "" if names_ is None else f" (their labels are {shorten(names_, 4)})"
        return f"{shown}; numbers on a scale are read as ratings with scale=(lowest, highest), and step=1 for levels"
    if container == "Labels" and kind == "Ratings":
        return "; recode(ratings, threshold) makes labels of them, read_annotations(..., kind='labels') reads labels"
    if container in KINDS and container != "Annotators" and (kind == "DataFrame" or hasattr(value, "to_pandas")):
        return f"; {'read_predictions' if container == 'Predictions' else 'read_annotations'}(table) reads a table"
    ways = {
        "Predictions": "; Predictions.from_labels({'name': labels}) or .from_scores({'name': scores}) makes them",
        "Rankings": "; Rankings.from_long(table) or Rankings.from_blocks(lists) makes them",
        "Comparisons": "; Comparisons.from_long(table) makes them",
        "Annotators": "; Annotators.from_table(table) reads one row per annotator",
    }
    if hasattr(value, "__len__"):
        ways |= {
            "Labels": "; Labels.from_matrix(array) reads one column per annotator, Labels.from_counts(array) one per "
            "label",
            "Ratings": "; Ratings.from_matrix(array, scale=(lowest, highest)) reads one column per annotator",
        }
    return ways.get(container, "")
