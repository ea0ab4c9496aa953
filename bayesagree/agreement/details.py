"""Agreement in detail: of each pair of annotators, each label, each item, each annotator; and the table of two."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayesagree._types import Floats, Rng
from bayesagree.agreement import _formulas as formula
from bayesagree.agreement._coefficients import (
    Coefficient,
    Row,
    Weights,
    add_notes,
    against,
    cluster_codes,
    coefficients,
    replicated,
    row_of,
)
from bayesagree.agreement._items import MOST_VALUES, AgreementData, Items, items_of
from bayesagree.agreement._patterns import pair_counts
from bayesagree.annotations import Labels, Ratings
from bayesagree.errors import InputError, as_python, one_of, shorten
from bayesagree.io.doors import as_annotations

Detail = Literal["pair", "category", "item", "annotator"]


def confusion(annotations: AgreementData, first: Any = None, second: Any = None) -> pd.DataFrame:
    """Count how often two annotators gave each two labels to the same item.

    Parameters
    ----------
    annotations
        Labels, or ratings of up to 150 distinct values, by known annotators.
    first, second
        Names of two annotators; without both, all pairs of annotators together, each in both orders, so that the table
        is symmetric.

    Returns
    -------
    DataFrame
        One row for each label of the first, one column for each of the second.

    Raises
    ------
    InputError
        Unknown annotators, one name without the other, or too many values.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a"], ["a", "b"], ["b", "b"]], annotators=["ann", "bob"])
    >>> confusion(votes, "ann", "bob").values.tolist(), confusion(votes).values.tolist()
    ([[1, 1], [0, 1]], [[2, 1], [1, 2]])
    """
    annotations = as_annotations(annotations, (Labels, Ratings))
    if not annotations.annotators_known:
        raise InputError("the annotators are unknown, and a confusion is of two of them; give their names")
    items = items_of(annotations)
    if items.values.size > MOST_VALUES:
        raise InputError(
            f"{items.values.size} distinct values are more than {MOST_VALUES}; round the ratings first"
        )
    names = annotations.categories if isinstance(annotations, Labels) else items.values
    known = [as_python(name) for name in annotations.annotators]
    if strange := [name for name in (first, second) if name not in (*known, None)]:
        raise InputError(f"annotator {strange[0]!r} is not one of {shorten(known)}")
    if (first is None) != (second is None):
        raise InputError("a confusion is of two annotators, or of all: name both, or none")
    every = range(len(known)) if first is None else (known.index(first), known.index(second))
    given = [_given(items, items.annotator == j)[: items.n_named] for j in every]
    table = given[0].T @ given[-1]
    if first is None:
        total = np.sum(given, axis=0)
        table = total.T @ total - np.sum([one.T @ one for one in given], axis=0)
    rows, columns = (pd.Index(names, name=name) for name in (first or "label", second or "other_label"))
    return pd.DataFrame(np.rint(table).astype(int), index=rows, columns=columns)


def detail_rows(
    annotations: AgreementData,
    by: Detail,
    kind: Weights,
    cluster: Any,
    ci_prob: float,
    rng: Rng,
) -> Iterator[Row]:
    """Yield the rows of `agreement_table` with ``by=``, in the order of the annotations."""
    one_of(by, "by", ("pair", "category", "item", "annotator"))
    if by in ("pair", "annotator") and not annotations.annotators_known:
        raise InputError(f"by={by!r} needs annotators with names; these annotations have none")

    def row(items: Items, name: str, found: Coefficient, of: AgreementData, **who: Any) -> Row:
        codes = None if cluster is None else cluster_codes(cluster, of.items)
        ((_, sides, drawn),) = replicated(items, [(name, found)], rng, codes)
        sizes = {"n_items": items.patterns.n_items, "n_annotations": items.n_annotations}
        one = row_of(sides, drawn, ci_prob) | sizes
        add_notes({name: one}, items, of.annotators)
        return who | {"coefficient": name} | one

    names = annotations.annotators
    item = annotations.item_index
    who = annotations.annotator_index
    if by == "pair":
        for a, b in combinations(range(names.size), 2):
            both = np.intersect1d(item[who == a], item[who == b])
            of = annotations.select(np.isin(who, (a, b)) & np.isin(item, both))
            if both.size:
                items = items_of(of)
                found = against(items, a, kind)
                yield row(items, "cohen_kappa", found, of, annotator=names[a], other_annotator=names[b])
    elif by == "annotator":
        repeated = annotations.has_repeats
        for j in np.unique(who):
            of = annotations.select((who == j) if repeated else np.isin(item, item[who == j]))
            items = items_of(of)
            # With repeats, how far the answers of one annotator to one item agree.
            name, other = ("fleiss_kappa", "self") if repeated else ("cohen_kappa", "the others")
            found = dict(coefficients(items, kind))[name] if repeated else against(items, j, kind)
            yield row(items, name, found, of, annotator=names[j], against=other)
    else:
        items = items_of(annotations)
        if items.values.size > MOST_VALUES:
            raise InputError(f"by={by!r}: {items.values.size} distinct values are more than {MOST_VALUES}")
        counts = items.counts()
        if by == "item":
            # Items without annotations have the pattern -1, the last one here.
            squares, n = (np.append(v, 0) for v in ((counts**2).sum(axis=1), items.patterns.size))
            share = formula.ratio(squares - n, n * (n - 1))
            for one, pattern in zip(annotations.items, items.patterns.pattern_of_item):
                note = "" if n[pattern] > 1 else "fewer than two annotations"
                known = {"estimate": share[pattern], "n_annotations": int(n[pattern]), "note": note}
                yield {"item": one, "coefficient": "percent_agreement"} | known
        for k in range(items.values.size if by == "category" else 0):
            of_label = _specific(counts[:, k], items.patterns.size, items)
            label = annotations.categories[k] if isinstance(annotations, Labels) else items.values[k]
            yield row(items, "specific_agreement", of_label, annotations, category=label)


def _given(items: Items, rows: Any) -> Floats:
    """Count the values of some annotations by item, pseudo-items too, shape (item, value)."""
    shape = items.patterns.pattern_of_item.size, items.values.size
    return pair_counts(items.item[rows], items.code[rows], shape).toarray()


def _specific(count: Floats, n: Floats, items: Items) -> Coefficient:
    """Share of the other annotations of an item that are this label too, over all annotations that are."""
    together, possible = count * (count - 1), count * (n - 1)

    def compute(W: Floats) -> Floats:
        return formula.ratio(W @ together, W @ possible)

    found = Coefficient(compute, items.patterns.weight, items.patterns.pattern_of_item, 1, paired=n >= 2)
    return found.existing("no other annotation beside this label")
