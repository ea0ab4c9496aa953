"""The compiled sweep over latent labels, each drawn with the annotators' rows and the plausibilities integrated out.

Drawn side by side in NumPy, given confusion rows or plausibilities, labels take several times as many sweeps for an
effective draw, and stand still where prior shapes are small: a label that the row's last draw gave e^-1000 cannot come
back.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pick(weight, uniform):
    """Return a place by its weight."""
    total = 0.0
    for w in weight:
        total += w
    left, place = uniform * total - weight[0], 0
    while left >= 0.0 and place < weight.size - 1:
        place += 1
        left -= weight[place]
    return place


@numba.njit(cache=True, nogil=True, error_model="numpy")
def draw_latent(
    of_votes,
    of_items,
    start,
    annotator,
    label,
    cell,
    row,
    step,
    urn,
    head,
    fixed,
    choice,
    n,
    answers,
    total,
    expected,
):
    """Draw the latent labels of each item: of mixed membership one by one, then all equal ones at once.

    `of_votes` (chain, annotation), none of one truth, and `of_items` (chain, item, 2), none to leave the second step
    out, are uniform numbers. `choice` (chain, annotation), -1 of those held out, moves with its counts: `n` (chain,
    item, category), `answers` (chain, annotator, cell), in steps of `step`, and `total` (chain, annotator, row), prior
    counts included. `urn` are prior counts of an item's labels, and `head` (chain, category, m) the weight of m equal
    ones. Equal ones take a label that the item has not; `expected` gets the probabilities of that label. An annotator
    with two labels for an item is expected to repeat the first: each is counted before the next.
    """
    n_labels, single = row.size, of_votes.size > 0
    weight = np.empty(n_labels)
    inverse = 1.0 / total
    for c, i in np.ndindex(choice.shape[0], start.size - 1):
        a, b, mine, place = start[i], start[i + 1], choice[c], n[c, i]
        for t in range(a, b if single else a):
            old = mine[t]
            if old < 0:
                continue
            own = answers[c, annotator[t]]
            rows = inverse[c, annotator[t]]
            cells = cell[label[t]]
            before = rows[row[old]]
            place[old] -= 1.0
            own[cells[old]] -= step[cells[old]]
            rows[row[old]] = before / (1.0 - before)
            for k in range(n_labels):
                weight[k] = (place[k] + urn[c, k]) * own[cells[k]] * rows[row[k]]
            new = _pick(weight, of_votes[c, t])
            place[new] += 1.0
            own[cells[new]] += step[cells[new]]
            if row[new] == row[old]:
                rows[row[old]] = before
            else:
                rows[row[new]] /= 1.0 + rows[row[new]]
            mine[t] = new
        if a == b or of_items.size == 0:
            continue
        old = mine[a + int(of_items[c, i, 0] * (b - a))]
        if old < 0 or old == fixed[i] or (single and place[old] < 2.0):
            continue
        size, r = int(place[old]), row[old]
        for t in range(a, b):
            if mine[t] == old:
                m, rows = cell[label[t], old], inverse[c, annotator[t]]
                answers[c, annotator[t], m] -= step[m]
                rows[r] /= 1.0 - rows[r]
        for k in range(n_labels):
            weight[k] = head[c, k, size] if k == old or place[k] == 0.0 else 0.0
        for t in range(a, b):
            if mine[t] != old:
                continue
            j, top = annotator[t], 0.0
            for k in range(n_labels):
                r, m = row[k], cell[label[t], k]
                chance = answers[c, j, m] * inverse[c, j, r]
                if t > a and annotator[t - 1] == j:
                    same, seen, s = 0.0, 0.0, t - 1
                    while s >= a and annotator[s] == j:
                        seen += mine[s] == old
                        same += (mine[s] == old) * (cell[label[s], k] == m)
                        s -= 1
                    chance = (chance + same * step[m] * inverse[c, j, r]) / (1.0 + seen * inverse[c, j, r])
                weight[k] *= chance
                top = max(top, weight[k])
            for k in range(n_labels if top < 1e-100 else 0):
                weight[k] *= 1e100
        whole = weight.sum()
        for k in range(n_labels):
            expected[c, i, k] = weight[k] / whole
        new = _pick(weight, of_items[c, i, 1])
        r = row[new]
        place[old], place[new] = 0.0, size
        for t in range(a, b):
            if mine[t] == old:
                m, rows = cell[label[t], new], inverse[c, annotator[t]]
                answers[c, annotator[t], m] += step[m]
                rows[r] /= 1.0 + rows[r]
                mine[t] = new
