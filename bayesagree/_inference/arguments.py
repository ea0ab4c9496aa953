"""What public functions are called with: objects of the wrong kind and wrong names are refused, with what is meant.

`checked` reads the kinds from the annotations of a function, so there is one list of them: the signature.
"""

import functools
import inspect
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeAliasType, Union, get_args, get_origin

from bayesagree.errors import InputError, shorten

KINDS = {
    "Labels", "Ratings", "Rankings", "Predictions", "Annotators", "LabelPatterns", "RatingPatterns", "RankingPatterns",
    "DataTree", "Dataset", "DataArray", "DataFrame",
}  # fmt: skip
"""Objects whose kind is checked; numbers, texts and choices are checked by the functions, which know their rules."""

SYNONYMS = {
    "label": "rating", "score": "rating", "worker": "annotator", "rater": "annotator", "coder": "annotator",
    "judge": "annotator", "task": "item", "unit": "item", "random_state": "seed", "random_seed": "seed",
    "rng": "seed", "n_draws": "draws", "num_samples": "draws", "n_chains": "chains", "hdi_prob": "ci_prob",
    "prob": "ci_prob", "alpha": "ci_prob", "categories": "labels", "classes": "labels", "metric": "metrics",
    "metrics": "metric", "ground_truth": "gold", "y_true": "truth", "y_pred": "predictions",
}  # fmt: skip
"""Names of arguments elsewhere, and ours."""


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
    majority_vote(labels=...): Labels are meant, not an array of shape (1, 2); Labels.from_matrix(array) reads one
    column per annotator, Labels.from_counts(array) one per label
    """
    signature = inspect.signature(function)
    name = getattr(function, "__name__", "")
    kinds: dict[str, tuple[type, ...]] = {}
    ready = False

    @functools.wraps(function)
    def call(*args: P.args, **given: P.kwargs) -> R:
        nonlocal ready
        if not ready:
            kinds.update(_kinds_of(function, signature))
            ready = True
        try:
            bound = signature.bind(*args, **given).arguments
        except TypeError as error:
            raise _nearly(name, signature, given, error) from None
        for parameter, meant in kinds.items():
            if parameter in bound and not isinstance(bound[parameter], meant):
                raise InputError(f"{name}({parameter}=...): {_meant(meant, bound[parameter])}")
        return function(*args, **given)

    return call


def _kinds_of(function: Any, signature: inspect.Signature) -> dict[str, tuple[type, ...]]:
    """Classes that each parameter takes, for parameters of which one is in `KINDS` and all are known."""
    found = {}
    for name, parameter in signature.parameters.items():
        classes = tuple(_classes(parameter.annotation, getattr(function, "__globals__", {})))
        if object not in classes and any(one.__name__ in KINDS for one in classes):
            found[name] = classes
    return found


def _classes(annotation: Any, known: dict[str, Any]) -> Iterator[type]:
    """Yield the classes of an annotation; `object` where it is more than classes."""
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, {}, _Names(known))  # names that the module imports for type checkers only
        except (NameError, AttributeError, TypeError):
            annotation = Any
    if isinstance(annotation, TypeAliasType):
        yield from _classes(annotation.__value__, known)
    elif isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        for part in get_args(annotation):
            yield from _classes(part, known)
    elif annotation is None:
        yield NoneType
    else:
        one = get_origin(annotation) or annotation
        yield one if isinstance(one, type) else object


class _Names(dict[str, Any]):
    """Names of a module, of this package and of xarray and pandas."""

    def __missing__(self, name: str) -> Any:
        for module in ("bayesagree", "xarray", "pandas", "builtins"):
            if hasattr(import_module(module), name):
                return getattr(import_module(module), name)
        raise NameError(name)


def _nearly(name: str, signature: inspect.Signature, given: dict[str, Any], error: TypeError) -> TypeError:
    """Say which argument is meant where a name is unknown; other errors of a call as Python says them."""
    takes = [p.name for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    unknown = [argument for argument in given if argument not in takes]
    if not unknown or any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
        return TypeError(f"{name}(): {error}; it takes {', '.join(takes)}")
    word = unknown[0]
    near = get_close_matches(word, takes, 1, 0.7) or [new for new in (SYNONYMS.get(word),) if new in takes]
    elsewhere = [] if near else _takers(word, name)
    meant = f"; {near[0]}= is meant?" if near else ""
    meant += f"; {word}= is an argument of {', '.join(elsewhere)}" if elsewhere else ""
    return TypeError(f"{name}() has no argument {word}={meant}; it takes {', '.join(takes)}")


def _takers(argument: str, name: str) -> list[str]:
    """Public functions that take an argument: those of a related name first, three at most."""
    package = import_module("bayesagree")
    functions = [other for other in package.__all__ if inspect.isfunction(getattr(package, other))]
    takers = [other for other in functions if argument in inspect.signature(getattr(package, other)).parameters]
    return sorted(takers, key=lambda other: (name not in other, other not in _FIRST))[:3]


_FIRST = ("evaluate", "annotation_certainty", "dirichlet", "dawid_skene", "common_agreement")


def _meant(kinds: tuple[type, ...], value: Any) -> str:
    names = [one.__name__ for one in kinds if one is not NoneType]
    verb = "are" if names[0].endswith("s") else "is"
    return f"{' or '.join(names)} {verb} meant, not {_said(value)}{_way(names, value)}"


def _said(value: Any) -> str:
    shape = getattr(value, "shape", None)
    if type(value).__name__ == "ndarray":
        return f"an array of shape {shape}"
    return {"list": "a list", "str": f"the text {value!r}", "NoneType": "None", "function": "a function"}.get(
        type(value).__name__, f"{type(value).__name__}"
    )


def _way(names: list[str], value: Any) -> str:
    """Return how an object of the kind that is meant is made of this one."""
    container, kind = names[0], type(value).__name__
    if container == "Mapping":
        return "; {item: label}, or a Series indexed by item" if "Series" in names else ""
    if container in ("DataTree", "Dataset"):
        if hasattr(value, "n_annotations"):
            return f"; a result is meant: draw a posterior first, such as dirichlet or common_agreement of the {kind}"
        return "; pass the whole result, not one of its groups or variables" if kind in KINDS else ""
    if kind in ("DataTree", "Dataset", "DataArray"):
        return "; pass the annotations themselves, not a result" if container != "Predictions" else ""
    if isinstance(value, str | Path):
        reader = "read_predictions" if container == "Predictions" else "read_annotations"
        return f"; {reader}(path) reads a file" if container in KINDS else ""
    if container == "Ratings" and kind == "Labels":
        numeric = getattr(value, "categories", None)
        seen = "" if numeric is None else f" (their labels are {shorten(numeric, 4)})"
        return f"{seen}; numbers on a scale are read as ratings with scale=(lowest, highest), and step=1 for levels"
    if container == "Labels" and kind == "Ratings":
        return "; recode(ratings, threshold) makes labels of them, read_annotations(..., kind='labels') reads labels"
    if container == "Predictions":
        return "; Predictions.from_labels({'name': labels}) or .from_scores({'name': scores}) makes them"
    table = kind == "DataFrame" or hasattr(value, "to_pandas")
    if container in ("Labels", "Ratings") and table:
        return (
            f"; {container}.from_long(table) reads one row per annotation, .from_matrix(table) one column per annotator"
        )
    if container == "Labels" and hasattr(value, "__len__"):
        return "; Labels.from_matrix(array) reads one column per annotator, Labels.from_counts(array) one per label"
    if container == "Ratings" and hasattr(value, "__len__"):
        return "; Ratings.from_matrix(array, scale=(lowest, highest)) reads one column per annotator"
    if container == "Rankings":
        return "; Rankings.from_long(table) or Rankings.from_blocks(lists) makes them"
    if container == "Annotators":
        return "; Annotators.from_table(table) reads one row per annotator"
    return ""
