"""Compiled draws from Dirichlet plausibilities, in log space, for items of which most labels are unnamed.

An item has a few named labels, each with a shape of its own, and many unnamed ones that share one small shape. The
unnamed labels are not drawn one by one: their total is a single gamma, and its parts come in size-biased order by
breaking a stick, V_m ~ Beta(rest + 1, (n - m) rest), on a label picked uniformly from those left. As soon as what
remains of the stick cannot reach the current best labels, the draw is finished. This is exact, and takes about a
dozen steps instead of hundreds.
"""

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True, inline="always")
def log_gamma_draw(rng: np.random.Generator, shape: float) -> float:
    """Draw the log of a Gamma(shape, 1) variable; small shapes would underflow to zero and tie if not for the log."""
    if shape >= 1.0:
        return math.log(rng.standard_gamma(shape))
    return math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape


@numba.njit(cache=True, nogil=True, inline="always")
def _insert(values: NDArray[np.float64], labels: NDArray[Any], value: float, label: int) -> None:
    """Put a value into the descending list of the best ones; equal values keep their order of arrival."""
    place = values.size - 1
    if value <= values[place]:
        return
    while place > 0 and value > values[place - 1]:
        values[place] = values[place - 1]
        labels[place] = labels[place - 1]
        place -= 1
    values[place] = value
    labels[place] = label


@numba.njit(cache=True, nogil=True)
def top_label_draws(
    rng: np.random.Generator,
    start: NDArray[np.int64],
    label: NDArray[np.int32],
    shape: NDArray[np.float64],
    rest: float,
    n_labels: int,
    out: NDArray[Any],
) -> None:
    """Fill `out`, shape (item, sample, rank), with the best labels of each draw.

    Parameters
    ----------
    rng
        Stream of this block of items.
    start, label, shape
        Item i names ``label[start[i]:start[i + 1]]`` with these Dirichlet shapes.
    rest
        Shape of every label that the item does not name.
    n_labels
        Number of labels, named or not.
    out
        Written in place.
    """
    n_items, n_samples, depth = out.shape
    best = np.empty(depth)
    best_label = np.empty(depth, dtype=np.int32)
    unnamed = np.empty(n_labels, dtype=np.int32)
    is_named = np.zeros(n_labels, dtype=np.bool_)
    for i in range(n_items):
        begin, end = start[i], start[i + 1]
        is_named[:] = False
        for e in range(begin, end):
            is_named[label[e]] = True
        n_unnamed = 0
        for k in range(n_labels):
            if not is_named[k]:
                unnamed[n_unnamed] = k
                n_unnamed += 1
        for s in range(n_samples):
            best[:] = -np.inf
            best_label[:] = -1
            for e in range(begin, end):
                _insert(best, best_label, log_gamma_draw(rng, shape[e]), label[e])
            if n_unnamed > 0:
                left = log_gamma_draw(rng, n_unnamed * rest)
                remaining = n_unnamed
                while remaining > 0 and left > best[depth - 1]:
                    # Partial Fisher-Yates: any starting permutation gives uniform picks, so it is never reset.
                    pick = int(rng.random() * remaining)
                    picked = unnamed[pick]
                    remaining -= 1
                    unnamed[pick] = unnamed[remaining]
                    unnamed[remaining] = picked
                    piece = left
                    if remaining > 0:
                        log_x = math.log(rng.standard_gamma(rest + 1.0))
                        log_y = log_gamma_draw(rng, remaining * rest)
                        high = max(log_x, log_y)
                        total = high + math.log1p(math.exp(min(log_x, log_y) - high))
                        piece = left + log_x - total
                        left += log_y - total
                    _insert(best, best_label, piece, picked)
            for r in range(depth):
                out[i, s, r] = best_label[r]


@numba.njit(cache=True, nogil=True)
def plausibility_draws(
    rng: np.random.Generator,
    start: NDArray[np.int64],
    label: NDArray[np.int32],
    shape: NDArray[np.float64],
    rest: float,
    out: NDArray[np.float64],
) -> None:
    """Fill `out`, shape (item, sample, label), with plausibilities that sum to one over label."""
    n_items, n_samples, n_labels = out.shape
    shapes = np.empty(n_labels)
    for i in range(n_items):
        shapes[:] = rest
        for e in range(start[i], start[i + 1]):
            shapes[label[e]] = shape[e]
        for s in range(n_samples):
            draw = out[i, s]
            high = -np.inf
            for k in range(n_labels):
                draw[k] = log_gamma_draw(rng, shapes[k])
                high = max(high, draw[k])
            total = 0.0
            for k in range(n_labels):
                draw[k] = math.exp(draw[k] - high)
                total += draw[k]
            for k in range(n_labels):
                draw[k] /= total
