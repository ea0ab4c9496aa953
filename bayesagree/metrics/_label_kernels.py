"""Compiled sums over a block of items for metrics against one true label per item.

Every kernel adds to `out`, whose last axis is the draw, so that the inner loop runs along it. The true labels of the
draws have shape (item, sample); `weights` of the same shape, or empty where every item counts once.
"""

import numba


@numba.njit(cache=True, nogil=True)
def add_confusion(truth, predicted, weights, right, true, given):
    """Add, for each label, the items that have it and are given it, have it, and are given it.

    `predicted` (model, item), -1 for none; `right`, `given` (label, model, sample), `true` (label, sample).
    """
    n_items, n_samples = truth.shape
    for i in range(n_items):
        row = truth[i]
        if weights.size:
            for s in range(n_samples):
                true[row[s], s] += weights[i, s]
        else:
            for s in range(n_samples):
                true[row[s], s] += 1.0
        for m in range(predicted.shape[0]):
            p = predicted[m, i]
            if p < 0:
                continue
            hit, all_given = right[p, m], given[p, m]
            if weights.size:
                for s in range(n_samples):
                    all_given[s] += weights[i, s]
                    hit[s] += weights[i, s] if row[s] == p else 0.0
            else:
                for s in range(n_samples):
                    all_given[s] += 1.0
                    hit[s] += 1.0 if row[s] == p else 0.0


@numba.njit(cache=True, nogil=True)
def add_values(truth, values, weights, out, square, item):
    """Add the value that each label has, `values` (metric, model, item, label), to `out` (metric, model, sample).

    Without weights also its square to `square` (metric, model) and, over draws, to `item` (metric, model, item).
    """
    n_items, n_samples = truth.shape
    for i in range(n_items):
        row = truth[i]
        for c in range(values.shape[0]):
            for m in range(values.shape[1]):
                value, total = values[c, m, i], out[c, m]
                if weights.size:
                    for s in range(n_samples):
                        total[s] += value[row[s]] * weights[i, s]
                    continue
                first, second = 0.0, 0.0
                for s in range(n_samples):
                    here = value[row[s]]
                    total[s] += here
                    first += here
                    second += here * here
                item[c, m, i] += first
                square[c, m] += second


@numba.njit(cache=True, nogil=True)
def add_gaps(truth, predicted, confidence, bins, weights, out):
    """Add right minus confidence to the bin of each item, `out` (bin, model, sample)."""
    n_items, n_samples = truth.shape
    for i in range(n_items):
        for m in range(predicted.shape[0]):
            total, label, sure = out[bins[m, i], m], predicted[m, i], confidence[m, i]
            for s in range(n_samples):
                gap = (1.0 if truth[i, s] == label else 0.0) - sure
                total[s] += gap * weights[i, s] if weights.size else gap


@numba.njit(cache=True, nogil=True)
def pick_labels(plausibility, uniform, out):
    """Fill `out` (item, sample) with labels drawn from plausibilities (item, sample, label)."""
    n_items, n_samples, n_labels = plausibility.shape
    for i in range(n_items):
        for s in range(n_samples):
            left, label = uniform[i, s], 0
            for k in range(n_labels):
                if plausibility[i, s, k] > 0.0:
                    label = k  # rounding may leave a little of the last one
                    left -= plausibility[i, s, k]
                    if left < 0.0:
                        break
            out[i, s] = label
