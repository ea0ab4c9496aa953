"""Variance of a coefficient over the annotators who return for every item: components of its pairs of annotators.

A coefficient (p_o - p_e) / (1 - p_e) of n annotators is, to first order, the mean over their pairs of

    h_ij = mean over common items of  [A(x_i, x_j) - (1 - kappa) (g(x_i) + g(x_j)) / 2] / (1 - p_e),    g = d p_e / d q,

a U-statistic of degree two of the annotators (Hoeffding 1948): h_ij = mu + a_i + a_j + e_ij. The two variances are
found from the sums of squares between and within annotators, less what the noise of the items adds to each.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bayesagree._types import Floats, Integers
from bayesagree.agreement import _formulas as formula
from bayesagree.agreement._items import Items
from bayesagree.errors import InputError

# Expected agreement, and its derivative by the share of each value, from these shares and the agreement weights.
type Chance = Callable[[Floats, Floats], tuple[Any, Floats]]

# Annotators whose pairs tell the two variances apart.
FEWEST = 4
# Annotators whose pairs are looked at, drawn without replacement: 435 pairs, whose covariance is a small matrix.
MOST = 30
# Items times pairs looked at together: a million items of 435 pairs would take gigabytes.
AT_ONCE = 2**20
# Items that a pair must share.
FEWEST_COMMON = 2


def _uniform(q: Floats, A: Floats) -> tuple[Any, Floats]:
    return A.mean(), np.zeros_like(q)


def _of_shares(q: Floats, A: Floats) -> tuple[Any, Floats]:
    return q @ A @ q, 2 * A @ q


def _gwet(q: Floats, A: Floats) -> tuple[Any, Floats]:
    scale = A.sum() / (q.size * (q.size - 1))
    return scale * (q @ (1 - q)), scale * (1 - 2 * q)


def _none(q: Floats, A: Floats) -> tuple[Any, Floats]:
    return 0.0, np.zeros_like(q)


# Coefficients that have a variance over annotators.
CHANCE: dict[str, Chance] = {
    "percent_agreement": _none,
    "fleiss_kappa": _of_shares,
    "alpha_nominal": _of_shares,
    "gwet_ac1": _gwet,
    "gwet_ac2": _gwet,
    "brennan_prediger": _uniform,
}
UNWEIGHTED = {"percent_agreement", "alpha_nominal"}


class AnnotatorVariance(NamedTuple):
    """Variance of an annotator's own part, and of what a pair has beyond both."""

    own: float
    pair: float

    def of(self, n: Integers | int) -> Floats | float:
        """Return the variance of the coefficient of n annotators."""
        return (4 * self.own + 2 * self.pair / (n - 1)) / n


def annotator_variance(code: Integers, n_values: int, name: str, A: Floats) -> AnnotatorVariance:
    """Find the components of the pairs of annotators, from the items that both annotated, (item, annotator)."""
    return _components(*pair_values(code, n_values, name, A))


def pair_values(code: Integers, n_values: int, name: str, A: Floats) -> tuple[Floats, Floats, Floats]:
    """Return h of the pairs, their covariance by the noise of the items, and who is in each pair, (pair, annotator)."""
    q = np.bincount(code[code >= 0], minlength=n_values) / (code >= 0).sum()
    A = np.eye(n_values) if name in UNWEIGHTED else A
    expected, gradient = CHANCE[name](q, A)
    first, second = np.triu_indices(code.shape[1], 1)
    sums = np.zeros((3, first.size))
    for one, other, both in _blocks(code, first, second):
        of_pairs = 1.0, A[one, other], gradient[one] + gradient[other]
        sums += [np.where(both, values, 0.0).sum(axis=0) for values in of_pairs]
    enough = sums[0] >= FEWEST_COMMON
    if enough.mean() < 0.5:
        raise InputError(
            "annotators='sample' is for annotators who return: fewer than half of their pairs share two items; where "
            "each item has annotators of its own, the interval over items (annotators='fixed') covers them as well"
        )
    first, second, (n, agreed, moved) = first[enough], second[enough], sums[:, enough]
    kappa = formula.chance_corrected(np.array(agreed.sum() / n.sum()), np.array(expected))
    mean = (agreed - (1 - kappa) / 2 * moved) / (1 - expected) / n
    noise = np.zeros((n.size, n.size))
    for one, other, both in _blocks(code, first, second):
        h = (A[one, other] - (1 - kappa) / 2 * (gradient[one] + gradient[other])) / (1 - expected)
        from_mean = np.where(both, h - mean, 0.0) / np.sqrt(n * (n - 1))
        noise += from_mean.T @ from_mean
    annotator = np.arange(code.shape[1])
    member = (first[:, None] == annotator).astype(float) + (second[:, None] == annotator)
    return mean, noise, member


def _blocks(code: Integers, first: Integers, second: Integers) -> Iterator[tuple[Integers, Integers, Any]]:
    """Yield the codes of both annotators of each pair, and whether both are there, a few items at a time."""
    rows = max(AT_ONCE // first.size, 1)
    for start in range(0, len(code), rows):
        some = code[start : start + rows]
        yield some[:, first], some[:, second], (some[:, first] >= 0) & (some[:, second] >= 0)


def codes_of_annotators(items: Items, rng: np.random.Generator) -> Integers:
    """Return the codes of (item, annotator), -1 where there is none, of `MOST` annotators at most."""
    named = (items.item < items.n_named) & (items.annotator >= 0)
    found, annotator = np.unique(items.annotator[named], return_inverse=True)
    if found.size < FEWEST:
        raise InputError(f"annotators='sample' needs {FEWEST} or more annotators with names, not {found.size}")
    if items.repeated:
        raise InputError("annotators='sample' needs one annotation at most of an annotator and item; some have more")
    chosen = np.arange(found.size) if found.size <= MOST else rng.permutation(found.size)[:MOST]
    code = np.full((items.n_named, chosen.size), -1, np.int64)
    for place, one in enumerate(chosen):
        code[items.item[named][annotator == one], place] = items.code[named][annotator == one]
    return code


def _components(h: Floats, noise: Floats, member: Floats) -> AnnotatorVariance:
    """Solve E h'Qh = tr Q(own MM' + pair I + noise) for the projections Q on the annotators and beside them."""
    all_of = member @ np.linalg.pinv(member)  # holds the mean: rows of `member` add up to 2
    within, between = np.eye(h.size) - all_of, all_of - 1 / h.size
    pair = max((h @ within @ h - np.sum(within * noise)) / np.trace(within), 0.0)
    rest = h @ between @ h - np.sum(between * noise) - pair * np.trace(between)
    return AnnotatorVariance(max(rest / np.sum(member * (between @ member)), 0.0), pair)
