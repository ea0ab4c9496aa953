"""Chance-corrected agreement as functions of weighted items: one formula for estimate and replicates.

C : counts of values in each distinct item pattern, shape (P, V).   n : ratings per pattern, (P,).
W : weights of the patterns, shape (B, P): numbers of items for the estimate, Bayesian-bootstrap weights for replicates.
A : agreement weights of pairs of values in [0, 1], (V, V), the identity for nominal data.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesagree._types import Floats, Integers, Triple
from bayesagree.agreement._patterns import pair_counts
from bayesagree.errors import InputError
from bayesagree.inference.cells import row_shares

# Largest table of (replicate, pattern) held at once: 32 MB.
CELLS = 4_000_000


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide; NaN where the denominator vanishes."""
    # Weighted sums that are 0 in theory are rounding errors in practice.
    zero = np.abs(denominator) < 1e-12
    return np.where(zero, np.nan, numerator / np.where(zero, 1.0, denominator))


def chance_corrected(observed: Floats, expected: Floats) -> Floats:
    """Return (p_o - p_e) / (1 - p_e)."""
    return ratio(observed - expected, 1 - expected)


def pair_sum(x: Floats, A: Floats) -> Floats:
    """Return sum_ck x_c A_ck x_k of every row, shape (B,)."""
    return np.sum((x @ A) * x, axis=1)


def observed_agreement(W: Floats, C: Floats, A: Floats) -> Floats:
    """Return the weighted share of agreeing pairs, averaged over items with two or more ratings."""
    n = C.sum(axis=1)
    pairs = n >= 2
    inside = np.sum(C * (C @ A - 1), axis=1)[pairs] / (n * (n - 1))[pairs]
    return ratio(W[:, pairs] @ inside, W[:, pairs].sum(axis=1))


# Agreement by chance, from the share of each value (B, V) and A: what tells the coefficients of all annotators apart.
CHANCE: dict[str, Callable[[Floats, Floats], Floats]] = {
    # Fleiss' kappa, Scott's pi for two annotators.
    "fleiss": pair_sum,
    # Gwet's AC1, or AC2 with agreement weights.
    "gwet": lambda share, A: (
        np.sum(share * (1 - share), axis=1) * A.sum() / max(len(A) * (len(A) - 1), 1) + (len(A) == 1)
    ),
    # Brennan and Prediger's coefficient (Bennett's S, Randolph's kappa).
    "brennan_prediger": lambda share, A: np.full(len(share), A.mean()),
}


def beyond_chance(W: Floats, C: Floats, A: Floats, chance: str) -> Floats:
    """Return a coefficient of all annotators together, every item counting once, any number of ratings per item."""
    share = W @ row_shares(C) / W.sum(axis=1, keepdims=True)
    return chance_corrected(observed_agreement(W, C, A), CHANCE[chance](share, A))


def alpha(W: Floats, C: Any, level: Any, values: Floats) -> Floats:
    """Return Krippendorff's alpha = 1 - D_o / D_e.

    D_o and D_e are the mean squared distances of two values of one item, and of any two values of items with two or
    more ratings, at the ratio level those of (x - y) / (x + y). `level` may also be a table of distances, shape (V, V).
    At the nominal and the interval level there is no table of pairs of values, and C may be sparse.
    """
    rated = C.sum(axis=1) >= 2
    W, C = W[:, rated], C[rated]
    n = C.sum(axis=1)
    N = W @ n
    if isinstance(level, str) and level == "interval":
        _, first, second = moments(C, values)
        observed = W @ ((n * second - first**2) / (n - 1))
        expected = N * (W @ second) - (W @ first) ** 2
        return 1 - ratio(observed * (N - 1), expected)
    total = W @ C
    if not isinstance(level, str) or level == "ratio":
        distance = ratio_distance(values) if isinstance(level, str) else level
        observed = W @ (pair_sum(C, distance) / (n - 1))
        expected = pair_sum(total, distance)
    elif level == "nominal":
        observed = W @ ((n**2 - (C * C).sum(axis=1)) / (n - 1))
        expected = N**2 - np.sum(total**2, axis=1)
    else:
        # The distance is that of ranks, which differ between replicates.
        rank = np.cumsum(total, axis=1) - total / 2 - N[:, None] / 2
        observed = np.sum(W * (n * (rank**2 @ C.T) - (rank @ C.T) ** 2) / (n - 1), axis=1)
        expected = N * np.sum(total * rank**2, axis=1) - np.sum(total * rank, axis=1) ** 2
    return 1 - ratio(observed * (N - 1), expected)


def moments(C: Any, values: Floats) -> Triple:
    """Return n, sum x and sum x^2 of every pattern, x centred at the mean of the values."""
    x = values - values.mean()
    return C.sum(axis=1), C @ x, C @ x**2


def ratio_distance(values: Floats) -> Floats:
    """Return ((x - y) / (x + y))^2 of pairs of values, 0 of two zeros.

    Raises
    ------
    InputError
        A value below 0, which has no ratio to one above.
    """
    if values.min() < 0:
        raise InputError(
            f"ratio distances need values of at least 0, and there is {values.min():g}; take level='interval'"
        )
    both = values[:, None] + values
    return np.divide(values[:, None] - values, both, out=np.zeros_like(both), where=both != 0) ** 2


def conger(W: Floats, C: Floats, A: Floats, used: Floats, annotator: Integers, value: Integers) -> Floats:
    """Return Conger's kappa: every annotator has their own distribution of values.

    `used` counts the weighted annotations for each value that an annotator uses, shape (use, B).
    """
    uses = np.arange(value.size)
    of, values = (pair_counts(column, uses) for column in (annotator, value))
    n = of @ used
    share, r = used / np.where(n > 0, n, 1)[annotator], len(n)
    total = values @ share
    pairs = (of.T @ of).tocoo()
    pairs.data = A[value[pairs.row], value[pairs.col]]
    same = np.einsum("ub,ub->b", pairs.tocsr() @ share, share)
    expected = (pair_sum(total.T, A[: len(total), : len(total)]) - same) / (r * (r - 1))
    return chance_corrected(observed_agreement(W, C, A), expected)


def icc_one_way(W: Floats, C: Any, values: Floats) -> Floats:
    """Return ICC(1): the share of the variance of a rating that lies between items, any number of ratings per item."""
    n, first, second = moments(C, values)
    items, N = W.sum(axis=1), W @ n
    between = ratio(W @ (first**2 / n) - (W @ first) ** 2 / N, items - 1)
    within = ratio(W @ (second - first**2 / n), N - items)
    size = ratio(N - (W @ n**2) / N, items - 1)
    return ratio(between - within, between + (size - 1) * within)


def agreement_weights(kind: str, values: Floats) -> Floats:
    """Return Gwet's agreement weights of pairs of values: 1 on the diagonal, 0 for the pair farthest apart."""
    v = values.size
    if kind == "identity" or v < 2:
        return np.eye(v)
    apart = np.abs(values[:, None] - values)
    if kind == "ordinal":
        steps = np.abs(np.arange(v)[:, None] - np.arange(v)) + 1
        return 1 - steps * (steps - 1) / (v * (v - 1))
    if kind in ("linear", "quadratic"):
        return 1 - (apart / apart.max()) ** {"linear": 1, "quadratic": 2}[kind]
    return 1 - ratio_distance(values) / ratio_distance(values[[0, -1]])[0, 1]
