"""Compiled comparison of each model's probabilities with the plausibilities of every draw, for a block of items."""

import math

import numba
import numpy as np

CROSS_ENTROPY, KL, JENSEN_SHANNON, JENSEN_SHANNON_DISTANCE, PO_JENSEN_SHANNON, TOTAL_VARIATION = range(6)
WASSERSTEIN, ENTROPY_GAP, ENTROPY_DIFFERENCE, RANK_MATCH, SOFT_ACCURACY, SOFT_BRIER, AGREEMENT = range(6, 13)
MODEL_ENTROPY, TRUTH_ENTROPY, MODEL_ENTROPY_SQUARED, TRUTH_ENTROPY_SQUARED, ENTROPY_PRODUCT = range(13, 18)


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
def _jensen_shannon(p, truth, mean_entropy):
    """Jensen-Shannon divergence in bits: the entropy of the middle beyond the mean of both entropies."""
    total = -mean_entropy
    for k in range(p.size):
        middle = 0.5 * (p[k] + truth[k])
        total -= middle * _log(middle)
    return max(total / math.log(2.0), 0.0)


@numba.njit(cache=True, nogil=True)
def _binary_entropy(x):
    return -x * _log(x) - (1.0 - x) * _log(1.0 - x)


@numba.njit(cache=True, nogil=True)
def _po_jensen_shannon(p, truth):
    """One minus the mean over labels of the divergence of "this label or not"."""
    total = 0.0
    for k in range(p.size):
        means = 0.5 * (_binary_entropy(p[k]) + _binary_entropy(truth[k]))
        total += max(_binary_entropy(0.5 * (p[k] + truth[k])) - means, 0.0)
    return 1.0 - total / (p.size * math.log(2.0))


@numba.njit(cache=True, nogil=True)
def _same_order(place, truth):
    """Return whether the plausibilities fall along the model's order of labels; equal ones in label order."""
    for r in range(place.size - 1):
        first, second = place[r], place[r + 1]
        if truth[first] < truth[second] or (truth[first] == truth[second] and first > second):
            return False
    return True


@numba.njit(cache=True, nogil=True)
def _values(kind, p, log_p, order, model_entropy, truth, truth_entropy, out):
    """Write one term of a metric for one item, its probabilities, their logs, order and entropy, in every draw.

    All draws in one call: a call with so many arrays counts references to each, which takes longer than most terms.
    """
    for s in range(out.size):
        total = 0.0
        if kind in (CROSS_ENTROPY, KL):
            for k in range(p.size):
                total -= truth[s, k] * log_p[k]
            if kind == KL:
                total -= truth_entropy[s]
        elif kind in (JENSEN_SHANNON, JENSEN_SHANNON_DISTANCE):
            total = _jensen_shannon(p, truth[s], 0.5 * (model_entropy + truth_entropy[s]))
            if kind == JENSEN_SHANNON_DISTANCE:
                total = math.sqrt(total)
        elif kind == PO_JENSEN_SHANNON:
            total = _po_jensen_shannon(p, truth[s])
        elif kind == TOTAL_VARIATION:
            for k in range(p.size):
                total += 0.5 * abs(p[k] - truth[s, k])
        elif kind == WASSERSTEIN:
            gap = 0.0
            for k in range(p.size - 1):
                gap += p[k] - truth[s, k]
                total += abs(gap)
        elif kind == ENTROPY_GAP:
            total = abs(model_entropy - truth_entropy[s])
        elif kind == ENTROPY_DIFFERENCE:
            total = model_entropy - truth_entropy[s]
        elif kind == RANK_MATCH:
            total = 1.0 if _same_order(order, truth[s]) else 0.0
        elif kind == SOFT_ACCURACY:
            for k in range(p.size):
                total += min(p[k], truth[s, k])
        elif kind == SOFT_BRIER:
            for k in range(p.size):
                total += (p[k] - truth[s, k]) ** 2
        elif kind == AGREEMENT:
            total = truth[s, order[0]] if order[0] >= 0 else 0.0
        elif kind == MODEL_ENTROPY:
            total = model_entropy
        elif kind == TRUTH_ENTROPY:
            total = truth_entropy[s]
        elif kind == MODEL_ENTROPY_SQUARED:
            total = model_entropy * model_entropy
        elif kind == TRUTH_ENTROPY_SQUARED:
            total = truth_entropy[s] * truth_entropy[s]
        else:
            total = model_entropy * truth_entropy[s]
        out[s] = total


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
        Squares over items and draws, shape (term, model), and sums over draws, shape (term, model, item); of no size
        where nobody needs them.
    """
    n_items, n_samples, _ = plausibility.shape
    truth_entropy, here = np.empty(n_samples), np.empty(n_samples)
    for i in range(n_items):
        for s in range(n_samples):
            truth_entropy[s] = entropy(plausibility[i, s])
        for m in range(p.shape[0]):
            model_entropy = entropy(p[m, i])
            for c in range(kinds.size):
                of_model = p[m, i], log_p[m, i], order[m, i], model_entropy
                _values(kinds[c], *of_model, plausibility[i], truth_entropy, here)
                for s in range(n_samples):
                    out[c, m, s] += here[s] * (weights[i, s] if weights.size else 1.0)
                if item.size:
                    for s in range(n_samples):
                        square[c, m] += here[s] * here[s]
                        item[c, m, i] += here[s]


@numba.njit(cache=True, nogil=True)
def add_soft_counts(plausibility, p, weights, right, true, given):
    """Add for each label what probability and plausibility share, the plausibility, and the probability.

    `right`, `given` (label, model, sample), `true` (label, sample): the counts of `hard_labels` for soft labels.
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
