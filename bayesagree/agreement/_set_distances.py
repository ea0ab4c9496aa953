"""Alpha by a distance of one's own, of labels, ratings, or sets of labels of which an annotator may choose several."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from bayesagree._types import Floats
from bayesagree.agreement import _formulas as formula
from bayesagree.agreement._coefficients import Coefficient, why_undefined
from bayesagree.agreement._items import AgreementData, Items, items_of
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.sets import sets_and_members
from bayesagree.errors import InputError

# Distinct values of which there is a table of distances.
MOST_DISTINCT = 1000

Distance = Literal["masi", "jaccard"] | Callable[[Any, Any], float]


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


def set_coefficient(given: AgreementData, distance: Distance) -> tuple[str, Coefficient, Items]:
    """Name and alpha of a distance of two values, and the annotations item by item.

    Values are labels or ratings; sets of labels where an annotator chose several for an item, or the distance is named.
    """
    named = isinstance(distance, str)
    function = NAMED.get(distance) if named else distance
    if not callable(function) or (named and isinstance(given, Ratings)):
        raise InputError(
            f"distance={distance!r} is not 'masi' or 'jaccard' of labels, or a function of two values"
        )
    if isinstance(given, Labels) and (given.has_repeats or named):
        given, values = sets_and_members(given)
        items = items_of(given)
    else:
        items = items_of(given)
        values = (given.categories if isinstance(given, Labels) else items.values).tolist()
    if len(values) > MOST_DISTINCT:
        raise InputError(
            f"{len(values)} distinct values are more than {MOST_DISTINCT}, for a table of their distances"
        )
    table = np.array([[float(function(first, second)) for second in values] for first in values])
    name = distance if named else getattr(function, "__name__", "distance").strip("<>")
    if not (np.isfinite(table) & (table >= 0)).all() or table.diagonal().any() or (table != table.T).any():
        raise InputError(
            f"distance {name!r} must be finite, at least 0, the same both ways, and 0 for equal values"
        )
    counts, patterns = items.counts(), items.patterns

    def compute(weight: Floats) -> Floats:
        return formula.alpha(weight, counts, table, items.values)

    found = Coefficient(
        compute, patterns.weight, patterns.pattern_of_item, table.size, paired=patterns.size >= 2
    )
    return f"alpha_{name}", found.existing(why_undefined(items)), items
