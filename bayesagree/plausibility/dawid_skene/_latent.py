"""The compiled sweep over latent labels, each drawn with the annotators' rows and the plausibilities integrated out.

Drawn side by side in NumPy, given confusion rows or plausibilities, labels take several times as many sweeps for an
effective draw, and stand still where prior shapes are small: a label that the row's last draw gave e^-1000 cannot come
back. Concentrations of small tables take five times as long there, of which each step is a call.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pick(weight, uniform):
    """Return a place by its weight, of weights whose sum becomes 1."""
    total, place = 0.0, 0
    for k in range(weight.size):
        total += weight[k]
    for k in range(weight.size):
        weight[k] /= total
    left = uniform - weight[0]
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
                for k in range(n_labels):
                    weight[k] = (place[k] + urn[c, k]) * own[j, cell[said, k]] * rows[j, row[k]]
                new = _pick(weight, votes[c, t])
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
                weight[k] = head[c, k, size - 1] if k == old or place[k] == 0.0 else 0.0
            for t in range(a, b):
                if mine[t] != old:
                    continue
                j, top = who[t], 0.0
                for k in range(n_labels):
                    r, m = row[k], cell[label[t], k]
                    same, seen, s = own[j, m], 1.0, t - 1
                    while s >= a and who[s] == j:
                        if mine[s] == old:
                            seen += rows[j, r]
                            same += step[m] * (cell[label[s], k] == m)
                        s -= 1
                    weight[k] *= same * rows[j, r] / seen
                    top = max(top, weight[k])
                for k in range(n_labels):
                    weight[k] /= top
            new = _pick(weight, items[c, i, 1])
            r = row[new]
            place[old], place[new] = 0.0, size
            for t in range(a, b):
                if mine[t] == old:
                    j, m = who[t], cell[label[t], new]
                    own[j, m] += step[m]
                    rows[j, r] /= 1.0 + rows[j, r]
                    mine[t] = new


@numba.njit(cache=True, nogil=True, error_model="numpy")
def draw_concentration(counts, x, share, prior, above, of_slices, of_counts, new):
    """Draw concentrations x of Dirichlet vectors, and how many draws are new ones from their mean.

    The vectors are integrated out: `counts` (chain, vector, row, column) are their draws, x (chain, row), and `share`
    (chain, row, column) the mean; log x has mean and precision `prior`. A slice of width 3 is shrunk (Neal 2003): its
    place, level and points by uniform numbers `of_slices` (chain, row, point). `new`, as `share`, gets for each vector
    a sum of Bernoulli(a / (a + m)), m = 0, ..., n - 1 (Antoniak 1974), by uniform numbers `of_counts` (chain, draw).
    `above` (column, m), of zeros, is for the numbers of vectors with more than m draws, in its last row less those of
    all.
    """
    chains, vectors, n_rows, columns = counts.shape
    for c in range(chains):
        coin = 0
        for r in range(n_rows):
            for v in range(vectors):
                size = 0
                for k in range(columns):
                    for m in range(int(counts[c, v, r, k])):
                        above[k, m] += 1.0
                        above[columns, size] -= 1.0
                        size += 1
            u = tried = np.log(x[c, r])
            low, level = u - 3.0 * of_slices[c, r, 0], np.log(of_slices[c, r, 1])
            high = low + 3.0
            for point in range(1, of_slices.shape[2] - 1):
                value, a = -0.5 * (tried - prior[0]) * (tried - prior[0]) * prior[1], np.exp(tried)
                for k in range(columns + 1):
                    m, whole = 0, a * share[c, r, k] if k < columns else a
                    while above[k, m] != 0.0:
                        value += above[k, m] * np.log(whole + m)
                        m += 1
                if point == 1:
                    level += value
                elif value > level:
                    x[c, r] = a
                    break
                elif tried < u:
                    low = tried
                else:
                    high = tried
                tried = low + (high - low) * of_slices[c, r, point + 1]
            for k in range(columns + 1):
                m, a = 0, x[c, r] * share[c, r, min(k, columns - 1)]
                while above[k, m] != 0.0:
                    for _ in range(int(above[k, m])):
                        new[c, r, k] += of_counts[c, coin] * (a + m) < a
                        coin += 1
                    above[k, m] = 0.0
                    m += 1
