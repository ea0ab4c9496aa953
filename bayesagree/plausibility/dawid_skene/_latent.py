"""The compiled steps of the Dawid-Skene family: what belongs to one item is drawn with other unknowns integrated out.

Drawn side by side in NumPy, given confusion rows or lambda, labels take several times as many sweeps for an effective
draw, and stand still where prior shapes are small: a label that the row's last draw gave e^-1000 cannot come back.
"""

import math

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def draw_latent(uniform, start, pair, log_chance, chance, shape, rising, fixed, choice, n, counts):
    """Draw every latent label given all others; then all equal ones of an item at once take a label that it has not.

    `choice` (chain, annotation), -1 of those held out, moves with its counts, `n` (chain, item, category) and `counts`
    (chain, pair, category). `rising` is the log of shape (shape + 1) ... (shape + n - 1), (chain, category, n).
    """
    n_labels, last = shape.shape[1], pair.size
    weight = np.empty(n_labels)
    for c, i in np.ndindex(shape.shape[0], start.size - 1):
        a, b = start[i], start[i + 1]
        for t in range(a, b):
            old, p, total = choice[c, t], pair[t], 0.0
            if old < 0:
                continue
            n[c, i, old] -= 1.0
            for k in range(n_labels):
                weight[k] = (n[c, i, k] + shape[c, k]) * chance[c, p, k]
                total += weight[k]
            left, new = uniform[c, t] * total - weight[0], 0
            while left >= 0.0 and new < n_labels - 1:
                new += 1
                left -= weight[new]
            n[c, i, new] += 1.0
            if new != old:
                choice[c, t] = new
                counts[c, p, old] -= 1.0
                counts[c, p, new] += 1.0
        if b - a < 2:
            continue
        old = choice[c, a + int(uniform[c, last + 2 * i] * (b - a))]
        if old < 0 or old == fixed[i] or n[c, i, old] < 2.0:
            continue
        size, largest, total = n[c, i, old], -math.inf, 0.0
        for k in range(n_labels):
            weight[k] = -math.inf
            if k == old or n[c, i, k] == 0.0:
                weight[k] = rising[c, k, int(size)]
        for t in range(a, b):
            if choice[c, t] == old:
                for k in range(n_labels):
                    weight[k] += log_chance[c, pair[t], k]
        for k in range(n_labels):
            largest = max(largest, weight[k])
        for k in range(n_labels):
            weight[k] = math.exp(weight[k] - largest)
            total += weight[k]
        left, new = uniform[c, last + 2 * i + 1] * total - weight[0], 0
        while left >= 0.0 and new < n_labels - 1:
            new += 1
            left -= weight[new]
        if new != old:
            n[c, i, old], n[c, i, new] = 0.0, size
            for t in range(a, b):
                if choice[c, t] == old:
                    choice[c, t] = new
                    counts[c, pair[t], old] -= 1.0
                    counts[c, pair[t], new] += 1.0


@numba.njit(cache=True, nogil=True)
def draw_truth(uniform, start, pair, annotator, log_share, shape, kappa, fixed, truth, counts, rows, expected):
    """Draw every item's true label with the confusion integrated out, and leave its conditional probabilities.

    `truth` (chain, item) moves with its counts, (chain, pair, category) and, in `rows`, (chain, annotator, category).
    An annotator with two labels for an item is expected to repeat the first: each is counted before the next.
    """
    n_labels = log_share.shape[1]
    for c, i in np.ndindex(truth.shape[0], start.size - 1):
        a, b, weight, old, total = start[i], start[i + 1], expected[c, i], truth[c, i], 0.0
        for t in range(a, b):
            counts[c, pair[t], old] -= 1.0
            rows[c, annotator[pair[t]], old] -= 1.0
        for k in range(n_labels):
            product, weight[k] = 1.0, log_share[c, k] if fixed[i] < 0 or fixed[i] == k else -math.inf
            for t in range(a, b):
                p, j = pair[t], annotator[pair[t]]
                product *= (counts[c, p, k] + shape[c, p, k]) / (rows[c, j, k] + kappa[c, k])
                counts[c, p, k] += 1.0
                rows[c, j, k] += 1.0
                if product < 1e-200:
                    weight[k] += math.log(product)
                    product = 1.0
            weight[k] += math.log(product)
            for t in range(a, b):
                counts[c, pair[t], k] -= 1.0
                rows[c, annotator[pair[t]], k] -= 1.0
        largest = weight.max()
        for k in range(n_labels):
            weight[k] = math.exp(weight[k] - largest)
            total += weight[k]
        left, new = uniform[c, i] * total - weight[0], 0
        while left >= 0.0 and new < n_labels - 1:
            new += 1
            left -= weight[new]
        weight /= total
        truth[c, i] = new
        for t in range(a, b):
            counts[c, pair[t], new] += 1.0
            rows[c, annotator[pair[t]], new] += 1.0
