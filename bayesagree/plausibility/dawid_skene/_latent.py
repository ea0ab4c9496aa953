"""The compiled sweep over latent labels, each drawn with the annotators' rows and the plausibilities integrated out.

Drawn side by side in NumPy, given confusion rows or plausibilities, labels take several times as many sweeps for an
effective draw, and stand still where prior shapes are small: a label that the row's last draw gave e^-1000 cannot come
back. Concentrations of small tables take five times as long there, of which each step is a call.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pick(weight, total, uniform):
    """Return a place by its weight."""
    left, place = uniform * total - weight[0], 0
    while left >= 0.0 and place < weight.size - 1:
        place += 1
        left -= weight[place]
    return place


@numba.njit(cache=True, nogil=True, error_model="numpy")
def draw_latent(
    votes, items, start, who, label, cell, row, step, urn, head, fixed, choice, n, answers, inverse, expected
):
    """Draw the latent labels of each item: of mixed membership one by one, then all equal ones at once.

    `votes` (chain, annotation), none of one truth, and `items` (chain, item, 2), none to leave the second step
    out, are uniform numbers. `choice` (chain, annotation), -1 of those held out, moves with its counts: `n` (chain,
    item, category), `answers` (chain, annotator, cell), in steps of `step`, and `inverse`, one over totals (chain,
    annotator, row), prior counts included. `urn` are prior counts of an item's labels, and `head` (chain, category, m)
    the weight of m equal ones. Equal ones take a label that the item has not; `expected` gets the probabilities of that
    label. An annotator with two labels for an item is expected to repeat the first: each is counted before the next.
    """
    n_labels, single = row.size, votes.size > 0
    for c in range(choice.shape[0]):
        mine, own, rows = choice[c], answers[c], inverse[c]
        for i in range(start.size - 1):
            a, b, place, weight = start[i], start[i + 1], n[c, i], expected[c, i]
            for t in range(a, b if single else a):
                old, j, said = mine[t], who[t], label[t]
                if old < 0:
                    continue
                place[old] -= 1.0
                own[j, cell[said, old]] -= step[cell[said, old]]
                rows[j, row[old]] /= 1.0 - rows[j, row[old]]
                whole = 0.0
                for k in range(n_labels):
                    weight[k] = (place[k] + urn[c, k]) * own[j, cell[said, k]] * rows[j, row[k]]
                    whole += weight[k]
                new = _pick(weight, whole, votes[c, t])
                place[new] += 1.0
                own[j, cell[said, new]] += step[cell[said, new]]
                rows[j, row[new]] /= 1.0 + rows[j, row[new]]
                mine[t] = new
            if a == b or items.size == 0:
                continue
            old = mine[a + int(items[c, i, 0] * (b - a))]
            if old < 0 or old == fixed[i] or (single and place[old] < 2.0):
                continue
            size, r = int(place[old]), row[old]
            for t in range(a, b):
                if mine[t] == old:
                    j, m = who[t], cell[label[t], old]
                    own[j, m] -= step[m]
                    rows[j, r] /= 1.0 - rows[j, r]
            for k in range(n_labels):
                weight[k] = head[c, k, size] if k == old or place[k] == 0.0 else 0.0
            for t in range(a, b):
                if mine[t] != old:
                    continue
                j = who[t]
                for k in range(n_labels):
                    r, m = row[k], cell[label[t], k]
                    same, seen, s = own[j, m], 1.0, t - 1
                    while s >= a and who[s] == j:
                        if mine[s] == old:
                            seen += rows[j, r]
                            same += step[m] * (cell[label[s], k] == m)
                        s -= 1
                    weight[k] *= same * rows[j, r] / seen
                weight /= weight.max()
            weight /= weight.sum()
            new = _pick(weight, 1.0, items[c, i, 1])
            r = row[new]
            place[old], place[new] = 0.0, size
            for t in range(a, b):
                if mine[t] == old:
                    j, m = who[t], cell[label[t], new]
                    own[j, m] += step[m]
                    rows[j, r] /= 1.0 + rows[j, r]
                    mine[t] = new


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _log_density(u, above, share, prior):
    """Return the log density of a log concentration."""
    value, x = -0.5 * ((u - prior[0]) / prior[1]) ** 2, np.exp(u)
    for k in range(share.size):
        m, sign = 0, 1.0 if k < share.size - 1 else -1.0
        while above[k, m] > 0.0:
            value += sign * above[k, m] * np.log(x * share[k] + m)
            m += 1
    return value


@numba.njit(cache=True, nogil=True, error_model="numpy")
def draw_concentration(counts, x, share, prior, above, drop, of_slices, of_counts, new):
    """Draw concentrations x of Dirichlet vectors, log x ~ N(prior), and how many draws are new ones from their mean.

    The vectors are integrated out: `counts` (chain, vector, row, column) are their draws, the last column their sums, x
    (chain, row), and `share` (chain, row, column) the mean, of the last column 1. A slice of width 3, below by `drop`
    (chain, row), is shrunk (Neal 2003), at points of the uniform numbers `of_slices` (chain, row, point). `new`, as
    `share`, gets for each vector a sum of Bernoulli(a / (a + m)), m = 0, ..., n - 1 (Antoniak 1974), by uniform numbers
    `of_counts` (chain, draw). `above` (column, m), of zeros, is for the numbers of vectors with more than m draws.
    """
    for c in range(x.shape[0]):
        coin = 0
        for r in range(x.shape[1]):
            for v in range(counts.shape[1]):
                for k in range(counts.shape[3]):
                    for m in range(int(counts[c, v, r, k])):
                        above[k, m] += 1.0
            u, mean = np.log(x[c, r]), share[c, r]
            level = _log_density(u, above, mean, prior) - drop[c, r]
            low = u - 3.0 * of_slices[c, r, 0]
            high = low + 3.0
            for uniform in of_slices[c, r, 1:]:
                tried = low + (high - low) * uniform
                if _log_density(tried, above, mean, prior) > level:
                    x[c, r] = np.exp(tried)
                    break
                low, high = (tried, high) if tried < u else (low, tried)
            for k in range(mean.size):
                a, m = x[c, r] * mean[k], 0
                while above[k, m] > 0.0:
                    for _ in range(int(above[k, m])):
                        new[c, r, k] += of_counts[c, coin] * (a + m) < a
                        coin += 1
                    above[k, m] = 0.0
                    m += 1
