"""Compiled comparison of each model's probabilities with the plausibilities of every draw, for a block of items."""

import math

import numba
import numpy as np

(
    CROSS_ENTROPY,
    KL,
    JENSEN_SHANNON,
    JENSEN_SHANNON_DISTANCE,
    PO_JENSEN_SHANNON,
    TOTAL_VARIATION,
    WASSERSTEIN,
    ENTROPY_GAP,
    ENTROPY_DIFFERENCE,
    RANK_MATCH,
    SOFT_ACCURACY,
    SOFT_BRIER,
    AGREEMENT,
    MODEL_ENTROPY,
    TRUTH_ENTROPY,
    MODEL_ENTROPY_SQUARED,
    TRUTH_ENTROPY_SQUARED,
    ENTROPY_PRODUCT,
) = range(18)


@numba.njit(cache=True, nogil=True)
def _log(x):
    return math.log(x) if x > 0.0 else 0.0


@numba.njit(cache=True, nogil=True)
def entropy(p):
    """Entropy in nats."""
    total = 0.0
    for k in range(p.size):
        total -= p[k] * _log(p[k])
    return total


@numba.njit(cache=True, nogil=True)
def _jensen_shannon(p, truth):
    """Jensen-Shannon divergence in bits."""
    total = 0.0
    for k in range(p.size):
        log_middle = _log(0.5 * (p[k] + truth[k]))
        total += p[k] * (_log(p[k]) - log_middle) + truth[k] * (_log(truth[k]) - log_middle)
    return max(0.5 * total / math.log(2.0), 0.0)


@numba.njit(cache=True, nogil=True)
def _po_jensen_shannon(p, truth):
    """One minus the mean over labels of the divergence of "this label or not"."""
    total = 0.0
    one, other = np.empty(2), np.empty(2)
    for k in range(p.size):
        one[0], one[1] = p[k], max(1.0 - p[k], 0.0)
        other[0], other[1] = truth[k], max(1.0 - truth[k], 0.0)
        total += _jensen_shannon(one, other)
    return 1.0 - total / p.size


@numba.njit(cache=True, nogil=True)
def _same_order(place, truth):
    """Return whether the plausibilities fall along the model's order of labels; equal ones in label order."""
    for r in range(place.size - 1):
        first, second = place[r], place[r + 1]
        if truth[first] < truth[second] or (truth[first] == truth[second] and first > second):
            return False
    return True


@numba.njit(cache=True, nogil=True)
def _value(kind, p, log_p, order, model_entropy, truth, truth_entropy):
    """Return one term of a metric for one item: probabilities, their logs, order and entropy, and a draw."""
    total = 0.0
    if kind in (CROSS_ENTROPY, KL):
        for k in range(p.size):
            total -= truth[k] * log_p[k]
        return total - truth_entropy if kind == KL else total
    if kind == JENSEN_SHANNON:
        return _jensen_shannon(p, truth)
    if kind == JENSEN_SHANNON_DISTANCE:
        return math.sqrt(_jensen_shannon(p, truth))
    if kind == PO_JENSEN_SHANNON:
        return _po_jensen_shannon(p, truth)
    if kind == TOTAL_VARIATION:
        for k in range(p.size):
            total += abs(p[k] - truth[k])
        return 0.5 * total
    if kind == WASSERSTEIN:
        gap = 0.0
        for k in range(p.size - 1):
            gap += p[k] - truth[k]
            total += abs(gap)
        return total
    if kind == ENTROPY_GAP:
        return abs(model_entropy - truth_entropy)
    if kind == ENTROPY_DIFFERENCE:
        return model_entropy - truth_entropy
    if kind == RANK_MATCH:
        return 1.0 if _same_order(order, truth) else 0.0
    if kind == SOFT_ACCURACY:
        for k in range(p.size):
            total += min(p[k], truth[k])
        return total
    if kind == SOFT_BRIER:
        for k in range(p.size):
            total += (p[k] - truth[k]) ** 2
        return total
    if kind == AGREEMENT:
        return truth[order[0]] if order[0] >= 0 else 0.0
    if kind == MODEL_ENTROPY:
        return model_entropy
    if kind == TRUTH_ENTROPY:
        return truth_entropy
    if kind == MODEL_ENTROPY_SQUARED:
        return model_entropy * model_entropy
    if kind == TRUTH_ENTROPY_SQUARED:
        return truth_entropy * truth_entropy
    return model_entropy * truth_entropy


@numba.njit(cache=True, nogil=True)
def add_terms(plausibility, p, log_p, order, kinds, weights, out, square, item):
    """Add every term of every model against every draw.

    Parameters
    ----------
    plausibility
        Draws, shape (item, sample, label).
    p, log_p, order
        Probabilities of each model, their clipped logs, and its labels best first, shape (model, item, label).
    kinds
        Codes of the terms.
    weights
        Of each item in each draw, shape (item, sample); empty where each counts once.
    out
        Shape (term, model, sample).
    square, item
        Squares over items and draws, shape (term, model), and sums over draws, shape (term, model, item).
    """
    n_items, n_samples, _ = plausibility.shape
    for i in range(n_items):
        for m in range(p.shape[0]):
            model_entropy = entropy(p[m, i])
            for s in range(n_samples):
                truth = plausibility[i, s]
                truth_entropy = entropy(truth)
                w = weights[i, s] if weights.size else 1.0
                for c in range(kinds.size):
                    here = _value(kinds[c], p[m, i], log_p[m, i], order[m, i], model_entropy, truth, truth_entropy)
                    out[c, m, s] += w * here
                    square[c, m] += here * here
                    item[c, m, i] += here


@numba.njit(cache=True, nogil=True)
def add_soft_counts(plausibility, p, weights, right, true, given):
    """Add for each label what probability and plausibility share, the plausibility, and the probability.

    `right`, `given` (label, model, sample), `true` (label, sample): the counts of `_confusion` for soft labels.
    """
    n_items, n_samples, n_labels = plausibility.shape
    for i in range(n_items):
        for s in range(n_samples):
            w = weights[i, s] if weights.size else 1.0
            for k in range(n_labels):
                truth = plausibility[i, s, k]
                true[k, s] += w * truth
                for m in range(p.shape[0]):
                    right[k, m, s] += w * min(truth, p[m, i, k])
                    given[k, m, s] += w * p[m, i, k]
