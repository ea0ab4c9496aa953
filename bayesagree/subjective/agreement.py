"""Agreement within and between groups of annotators."""

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pandas as pd

from bayesagree._types import Array, Floats, Pair
from bayesagree.agreement._coefficients import EQUAL_TAILS, FEWEST, SHORTEST, few, interval_of, replicated_sums
from bayesagree.agreement._items import PSEUDO_ITEMS, pseudo_codes
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.errors import probability
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations
from bayesagree.subjective.disagreement import Answers, require_one_each
from bayesagree.subjective.performance import as_groups

# Columns of an interval.
ENDS = ("lower", "upper", "note")


def group_agreement(
    annotations: Answers,
    annotators: Annotators | Groups,
    by: Sequence[str] = (),
    *,
    ci_prob: float = 0.95,
    random_seed: Seed = None,
) -> pd.DataFrame:
    """Compute Krippendorff's alpha within every group and between every two groups.

    alpha = 1 - (mean distance of two annotators of one item) / (mean distance of any two annotations), over pairs with
    one annotation from each group; distance 1 for different labels, squared difference for ratings. Every annotation
    counts once, compared with all others of its item: items that everybody annotated do not drown the rest. Groups that
    agree within and not between are camps, which a majority vote hides. Intervals are about these annotators: where few
    of them annotate all items, they hold the agreement of all others like them in half to nine tenths of the cases.

    Parameters
    ----------
    annotations
        Labels or ratings, one per (item, annotator).
    annotators, by
        Features of the annotators and which of them to group by; or ready `Groups`.
    ci_prob
        Probability of the intervals.
    random_seed
        Seed or generator of the replicates.

    Returns
    -------
    DataFrame
        One row per group and per pair of groups: group, other_group, pairs (of annotations of one item); alpha, 1 where
        all say the same thing, 0 as by chance, NaN without common items or where all annotations are equal; lower,
        upper, over the weights of a Dirichlet process over items with two pseudo-items, as in `agreement_table` (HDI,
        of labels equal tails; all pairs of groups have the same weights), NaN below three items with a pair; note.
        ``attrs`` have ci_kind and ci_prob.

    Raises
    ------
    InputError
        Unknown features or annotators, repeated annotations.

    See Also
    --------
    bayesagree.agreement_table : Coefficients of the whole crowd.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = Labels.from_matrix([["a", "a", "b", "b"], ["b", "b", "a", "a"]], annotators=list("wxyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("wxyz"), "camp": [1, 1, 2, 2]}))
    >>> group_agreement(votes, people, ["camp"])[["group", "other_group", "alpha"]].values.tolist()
    [['1', '1', 1.0], ['1', '2', -1.0], ['2', '2', 1.0]]

    References
    ----------
    Krippendorff, "Content analysis" (2004), chapter 11; within one group this is alpha as defined there. Ferguson, "A
    Bayesian analysis of some nonparametric problems", Annals of Statistics 1 (1973), doi:10.1214/aos/1176342360.
    """
    annotations = as_annotations(annotations, (Labels, Ratings))
    probability(ci_prob, "ci_prob")
    require_one_each(annotations, "agreement of groups")
    groups = as_groups(annotations, annotators, by)
    of_row = groups.of_rows(annotations)
    size = groups.names.size
    kept = of_row >= 0
    group = of_row[kept]
    # x is the rating, or an indicator of each label: two different labels are then sqrt(2) apart.
    if annotations.kind == "labels":
        code, x = annotations.label_index[kept].astype(int), np.eye(annotations.categories.size)
    else:
        values, code = np.unique(annotations.unit()[kept], return_inverse=True)
        x = values[:, None]
    # Of each value 1, x and |x|^2, shape (value, moment).
    moments = np.column_stack([np.ones(len(x)), x, (x**2).sum(axis=1)])
    # Sums over the annotations of each (group, item) and of each group: sums over pairs follow from them.
    by_cell = _sums((size, annotations.items.size), group, annotations.item_index[kept], moments[code])
    pairs = list(combinations_with_replacement(range(size), 2))
    parts = [_pair_sums(by_cell[g], by_cell[h], same=g == h) for g, h in pairs]
    given = np.bincount(code, minlength=len(moments)).astype(float)
    pseudo = [_pseudo_sums(by_cell[g], by_cell[h], given, moments, same=g == h) for g, h in pairs]
    weighted = replicated_sums(
        np.hstack(parts), np.hstack(pseudo), np.random.default_rng(seed_sequence(random_seed))
    )
    unordered = annotations.kind == "labels" or len(moments) == 2
    rows = []
    for (g, h), part, total in zip(pairs, parts, np.split(weighted, len(pairs), axis=1)):
        alpha = _alpha(total, same=g == h)
        items = int((part[:, 0] > 0).sum())
        drawn = alpha[1:] if np.isfinite(alpha[0]) and items >= FEWEST else alpha[:0]
        note = few(items) if items < FEWEST else "all annotations are equal" if np.isnan(alpha[0]) else ""
        found = interval_of(drawn, ci_prob, note, estimate=alpha[0], equal_tails=unordered)
        n = round(part[:, 0].sum() / (2 if g == h else 1))
        rows.append((groups.names[g], groups.names[h], n, alpha[0], *(found[name] for name in ENDS)))
    table = pd.DataFrame(rows, columns=["group", "other_group", "pairs", "alpha", *ENDS])
    table.attrs |= {"ci_kind": EQUAL_TAILS if unordered else SHORTEST, "ci_prob": ci_prob}
    return table


def _sums(shape: Any, first: Array, second: Array, values: Floats) -> Floats:
    """Sum rows (row, moment) by two codes, shape (*shape, moment)."""
    return np.stack([cell_sums(shape, first, second, weight=column) for column in values.T], axis=-1)


def _distance(x: Floats, y: Floats, *, same: bool) -> Pair:
    """Sum the squared distances over pairs of one annotation of x and one of y; also count the pairs."""
    n_x, n_y = x[:, 0], y[:, 0]
    n = n_x * n_y - (n_x if same else 0)
    return x[:, -1] * n_y + n_x * y[:, -1] - 2 * (x[:, 1:-1] * y[:, 1:-1]).sum(axis=1), n


def _pair_sums(x: Floats, y: Floats, *, same: bool) -> Floats:
    """Return per item: pairs, weighted pairs and distances within it, and the moments of both groups; (item, sum)."""
    distance, n = _distance(x, y, same=same)
    sizes = np.maximum([x[:, 0], y[:, 0]], 1)
    # Every annotation counts once: its distances to the others of the item are averaged.
    weight = np.where(n > 0, 1 / np.maximum(x[:, 0] - 1, 1) if same else (1 / sizes).mean(axis=0), 0)
    paired = (n > 0)[:, None]
    return np.column_stack([n, weight * n, weight * distance, paired * x, paired * y])


def _pseudo_sums(x: Floats, y: Floats, given: Floats, moments: Floats, *, same: bool) -> Floats:
    """Return `_pair_sums` of the pseudo-items of two groups, 0 where they have no pair; (pseudo-item, sum).

    Each has the numbers of annotations of an item with a pair; the value of each annotation is from `pseudo_codes`.
    """
    _, n = _distance(x, y, same=same)
    paired, half = np.flatnonzero(n > 0), PSEUDO_ITEMS // 2
    if not paired.size:
        return np.zeros((PSEUDO_ITEMS, 3 + 2 * x.shape[1]))
    by_size = paired[np.argsort(n[paired], kind="stable")]
    template = by_size[((np.arange(half) + 0.5) / half * by_size.size).astype(int)]
    first = x[template, 0].astype(int)
    size = first + (0 if same else y[template, 0].astype(int))
    rows = moments[pseudo_codes(size, given)]
    size = np.tile(size, 2)
    item = np.repeat(np.arange(PSEUDO_ITEMS), size)
    place = np.arange(item.size) - np.repeat(np.cumsum(size) - size, size)
    sides = _sums((2, PSEUDO_ITEMS), place >= np.tile(first, 2)[item], item, rows)
    return _pair_sums(sides[0], sides[0 if same else 1], same=same)


def _alpha(sums: Floats, *, same: bool) -> Floats:
    """Return alpha from sums over items (replicate, sum), NaN where there is no pair or no distance."""
    x, y = np.split(sums[:, 3:], 2, axis=1)
    expected, n_any = _distance(x, y, same=same)
    defined = (sums[:, 1] > 0) & (expected > 0) & (n_any > 0)
    share = np.divide(sums[:, 2], sums[:, 1], out=np.full(len(sums), np.nan), where=defined)
    return 1 - share / np.divide(expected, n_any, out=np.ones(len(sums)), where=defined)
