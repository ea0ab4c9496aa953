"""Alpha of sets of labels, of which an annotator may choose several, by a distance of two sets."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from bayesagree._types import Floats
from bayesagree.agreement import _formulas as formula
from bayesagree.agreement._coefficients import Coefficient
from bayesagree.agreement._items import AgreementData, Items, items_of
from bayesagree.annotations import Labels
from bayesagree.annotations.sets import sets_and_members
from bayesagree.errors import InputError

type Distance = Literal["masi", "jaccard"] | Callable[[frozenset[Any], frozenset[Any]], float]


def jaccard(first: frozenset[Any], second: frozenset[Any]) -> float:
    """Return 1 - |A and B| / |A or B|."""
    return 1 - len(first & second) / len(first | second)


def masi(first: frozenset[Any], second: frozenset[Any]) -> float:
    """Return the distance of Passonneau (2006): 1 - m (1 - Jaccard distance).

    m is 1 for equal sets, 2/3 where one holds the other, 1/3 where they only share labels, and 0 where they do not.
    """
    if first == second:
        return 0.0
    shared = first & second
    monotonicity = 2 / 3 if shared in (first, second) else 1 / 3
    return 1 - monotonicity * (1 - jaccard(first, second)) if shared else 1.0


NAMED: dict[str, Callable[[frozenset[Any], frozenset[Any]], float]] = {"masi": masi, "jaccard": jaccard}


def set_coefficient(labels: AgreementData, distance: Distance) -> tuple[str, Coefficient, Items]:
    """Name and alpha of a distance of sets, and the sets item by item."""
    if not isinstance(labels, Labels):
        raise InputError(f"distance= compares sets of labels, and the annotations are {type(labels).__name__}")
    function = NAMED.get(distance) if isinstance(distance, str) else distance
    if not callable(function):
        raise InputError(f"distance={distance!r} is not 'masi', 'jaccard' or a function of two frozensets")
    as_sets, sets = sets_and_members(labels)
    table = np.array([[float(function(first, second)) for second in sets] for first in sets])
    name = distance if isinstance(distance, str) else getattr(function, "__name__", "distance")
    _require_distance(table, name)
    items = items_of(as_sets)
    counts, patterns = items.counts(), items.patterns

    def compute(weight: Floats) -> Floats:
        return formula.distance_alpha(weight, counts, table)

    return f"alpha_{name}", Coefficient(compute, patterns.weight, patterns.pattern_of_item, table.size), items


def _require_distance(table: Floats, name: str) -> None:
    valid = np.isfinite(table).all() and (table >= 0).all() and not table.diagonal().any()
    if not valid or (table != table.T).any():
        raise InputError(f"distance {name!r} must be finite, at least 0, the same both ways, and 0 for equal sets")
