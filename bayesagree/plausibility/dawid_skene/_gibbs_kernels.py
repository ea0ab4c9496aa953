"""Compiled Gibbs steps of the Dawid-Skene family; each draws one block of unknowns given all others.

`cells` is an `AnnotationCells`, `truth` the position of each item's drawn label among its candidates, `weights` how
many annotations fall into each confusion cell. `cell_counts` and `row_counts` are prior shapes plus these counts,
`chance` of a cell is their ratio, the chance of the next label with the confusion integrated out, and `chance_without`
that of a label which is counted in the cell, without itself. Drawn confusion is kept as logarithms: Dirichlet shapes of
0.01 give gamma draws that underflow.
"""

import math

import numba
import numpy as np

from bayesagree.inference.gamma import gamma_variate, log_gamma_draw
from bayesagree.inference.kernel_draws import log_dirichlet_draw, normalise_logs
from bayesagree.inference.vectors import copy_to
from bayesagree.plausibility.dawid_skene._population_kernels import draw_population, pseudo_counts, rename_labels

# Chance of a label that underflowed: it must keep an order and a logarithm.
NOTHING = 1e-150
# Products of chances below this are enlarged.
LEAST = 1e-100


@numba.njit(cache=True, nogil=True)
def count_truth(cells, truth, weights, count):
    """Count annotations per confusion cell and labelled items per label, given the true labels."""
    cell, candidate = cells.cell, cells.candidate
    weights[:] = 0.0
    count[:] = 0.0
    for i in range(cells.item_start.size - 1):
        first = cells.candidate_start[i]
        m = cells.candidate_start[i + 1] - first
        n = cells.item_start[i + 1] - cells.item_start[i]
        if n > 0 or m == 1:  # an item without labels says nothing, unless its truth is known
            count[candidate[first + truth[i]]] += 1.0
        position = cells.cell_start[i] + truth[i]
        for _ in range(n):
            weights[cell[position]] += 1.0
            position += m


@numba.njit(cache=True, nogil=True)
def draw_rows(rng, cells, weights, rows, confusion):
    """Draw every confusion row ~ Dirichlet(prior row + counts); its unseen labels are one share of the row."""
    for r in range(cells.row_label.size):
        k = cells.row_label[r]
        own = cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]
        if rows.expert[own[0]]:
            for cell in own:
                confusion[cell] = 1.0 if rows.names_truth[cell] else 0.0
            continue
        unseen, total = 1.0, 0.0
        for cell in own:
            share = rows.phi[k, cells.cell_label[cell]]
            unseen -= share
            confusion[cell] = gamma_variate(rng, rows.kappa[k] * share + weights[cell])
            total += confusion[cell]
        if unseen > 1e-9:
            total += gamma_variate(rng, rows.kappa[k] * unseen)
        if total < LEAST:  # shapes so small that all underflow: one label has the whole row
            total = draw_vertex(rng, cells, rows, own, k, confusion)
        for cell in own:
            confusion[cell] /= total


@numba.njit(cache=True, nogil=True)
def draw_vertex(rng, cells, rows, own, k, confusion):
    """Put a confusion row without annotations on one label, by its prior share; return the row's total."""
    left = rng.random()
    for cell in own:
        share = rows.phi[k, cells.cell_label[cell]]
        confusion[cell] = 1.0 if 0.0 <= left < share else 0.0
        left -= share
    return 1.0


@numba.njit(cache=True, nogil=True)
def draw_accuracies(rng, cells, rows, confusion):
    """Diagonal of each confusion row, shape (row,); where the right label was never given, a draw from the rest."""
    right = np.empty(cells.row_label.size)
    for r in range(cells.row_label.size):
        k = cells.row_label[r]
        unseen, left, found = 1.0, 1.0, False
        for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
            unseen -= rows.phi[k, cells.cell_label[cell]]
            left -= confusion[cell]
            if cells.cell_label[cell] == k:
                right[r] = confusion[cell]
                found = True
        if not found:
            rest = unseen - rows.phi[k, k]
            share = 1.0 if rest <= 1e-9 else rng.beta(rows.kappa[k] * rows.phi[k, k], rows.kappa[k] * rest)
            right[r] = max(left, 0.0) * share
    return right


@numba.njit(cache=True, nogil=True)
def expand_rows(rng, cells, rows, confusion, right, out):
    """Write whole confusion matrices, shape (annotator, category, observed label), drawing the labels never given."""
    n_labels = rows.kappa.size
    shape = np.empty(n_labels)
    row_of = np.full((out.shape[0], n_labels), -1)
    for r in range(cells.row_label.size):
        if cells.row_annotator[r] < out.shape[0]:
            row_of[cells.row_annotator[r], cells.row_label[r]] = r
    value = np.empty(n_labels)
    for j in range(out.shape[0]):
        for k in range(n_labels):
            r = row_of[j, k]
            value[:] = -1.0
            left = 1.0
            if r >= 0:
                value[k] = right[r]
                for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
                    value[cells.cell_label[cell]] = confusion[cell]
                for v in value:
                    left -= max(v, 0.0)
            for n in range(n_labels):
                shape[n] = rows.kappa[k] * rows.phi[k, n]
            _fill_unseen(rng, value, max(left, 0.0), shape)
            copy_to(out[j, k], value)


@numba.njit(cache=True, nogil=True)
def _fill_unseen(rng, value, left, shape):
    """Split what is left of a row over its negative entries ~ Dirichlet(shape)."""
    if value.min() >= 0.0:
        return
    share = np.full(value.size, -math.inf)
    for k in range(value.size):
        if value[k] < 0.0:
            share[k] = log_gamma_draw(rng, shape[k])
    normalise_logs(share)
    for k in range(value.size):
        if value[k] < 0.0:
            value[k] = left * share[k]


@numba.njit(cache=True, nogil=True)
def items_with_repeats(cells, row):
    """Return which items some annotator labelled twice, shape (item,); annotations are sorted by annotator."""
    repeats = np.zeros(cells.item_start.size - 1, np.bool_)
    for i in range(repeats.size):
        m, position = cells.candidate_start[i + 1] - cells.candidate_start[i], cells.cell_start[i]
        for _ in range(1, cells.item_start[i + 1] - cells.item_start[i]):
            before, here = row[cells.cell[position]], row[cells.cell[position + m]]
            repeats[i] |= cells.row_annotator[before] == cells.row_annotator[here]
            position += m
    return repeats


@numba.njit(cache=True, nogil=True, error_model="numpy")
def move_annotation(row_start, row_cell, row, old, new, weights, cell_counts, row_counts, chance, chance_without):
    """Count an annotation in another cell, and renew the chances of the two confusion rows."""
    weights[old] -= 1.0
    cell_counts[old] -= 1.0
    row_counts[row[old]] -= 1.0
    weights[new] += 1.0
    cell_counts[new] += 1.0
    row_counts[row[new]] += 1.0
    for r in (row[old], row[new]):
        each, each_without = 1.0 / row_counts[r], 1.0 / (row_counts[r] - 1.0)
        for place in range(row_start[r], row_start[r + 1]):
            own = row_cell[place]
            chance[own] = cell_counts[own] * each
            chance_without[own] = (cell_counts[own] - 1.0) * each_without


# Inlined where every annotation comes by: a call, even one that is hardly ever made, costs more than the work itself.
@numba.njit(cache=True, nogil=True, inline="always", error_model="numpy")
def multiply_chance(cell, position, m, old, chance, chance_without, weight):
    """Multiply the weight of each candidate by the chance of an annotation that is counted for candidate `old`.

    Weights are relative: once all are small they grow together, and one that then underflows is never drawn.
    """
    stays = weight[old] * chance_without[cell[position + old]]
    for c in range(m):
        weight[c] *= chance[cell[position + c]]
    weight[old] = stays
    if stays < LEAST:
        enlarge(weight, m, old)


@numba.njit(cache=True, nogil=True, inline="always", error_model="numpy")
def enlarge(weight, m, old):
    """Divide the weights by the largest where that is small; `old` stays where no other candidate is possible."""
    largest = 0.0
    for c in range(m):
        largest = max(largest, weight[c])
    if largest == 0.0:
        weight[old] = 1.0
    elif largest < LEAST:
        for c in range(m):
            weight[c] /= largest


@numba.njit(cache=True, nogil=True, error_model="numpy")
def multiply_chance_of_repeats(cells, row, i, seat, table, old, cell_counts, row_counts, weight):
    """Multiply the weight of each candidate by the chance of an item's annotations at one table, counted for `old`.

    An annotator with two labels for an item is expected to repeat the first: each is added to the counts before the
    next one's chance. Candidates have confusion rows of their own, so that all are counted side by side.
    """
    m = cells.candidate_start[i + 1] - cells.candidate_start[i]
    for step in range(3):  # take them out of the counts; count them for all candidates; leave them with `old`
        position = cells.cell_start[i]
        for t in range(cells.item_start[i], cells.item_start[i + 1]):
            if seat[t] == table:
                for c in range(m):
                    own = cells.cell[position + c]
                    if step == 1:
                        weight[c] *= cell_counts[own] / row_counts[row[own]]
                        amount = 1.0
                    else:
                        amount = -1.0 if (step == 0) == (c == old) else 0.0
                    cell_counts[own] += amount
                    row_counts[row[own]] += amount
                if weight[old] < LEAST:
                    enlarge(weight, m, old)
            position += m


@numba.njit(cache=True, nogil=True, inline="always")
def draw_position(rng, weight, m, total):
    """Draw one of the first m positions by its weight."""
    left, c = rng.random() * total, 0
    while c < m - 1:
        left -= weight[c]
        if left < 0.0:
            break
        c += 1
    return c


@numba.njit(cache=True, nogil=True, error_model="numpy")
def draw_truth_collapsed(
    rng, cells, row, repeats, together, prevalence, weights, count, cell_counts, row_counts, chance,
    chance_without, truth, probability,
):  # fmt: skip
    """Draw every item's true label with the confusion integrated out, and leave its conditional probabilities.

    All annotations of an item sit `together`.
    """
    weight = np.empty(prevalence.size)
    cell, candidate, item_start, candidate_start = cells.cell, cells.candidate, cells.item_start, cells.candidate_start
    row_start, row_cell = cells.row_start, cells.row_cell
    for i in range(item_start.size - 1):
        first, start, stop, begin = candidate_start[i], item_start[i], item_start[i + 1], cells.cell_start[i]
        m, old, position = candidate_start[i + 1] - first, truth[i], begin
        for c in range(m):
            weight[c] = prevalence[candidate[first + c]]
        if repeats[i]:
            multiply_chance_of_repeats(cells, row, i, together, 0, old, cell_counts, row_counts, weight)
        else:
            for _ in range(start, stop):
                multiply_chance(cell, position, m, old, chance, chance_without, weight)
                position += m
        total = 0.0
        for c in range(m):
            total += weight[c]
        new = draw_position(rng, weight, m, total)
        for c in range(m):
            weight[c] /= total
            probability[first + c] = weight[c]
        if new != old:
            truth[i], position = new, begin
            if stop > start:
                count[candidate[first + old]] -= 1.0
                count[candidate[first + new]] += 1.0
            for _ in range(start, stop):
                move_annotation(
                    row_start, row_cell, row, cell[position + old], cell[position + new], weights, cell_counts,
                    row_counts, chance, chance_without,
                )  # fmt: skip
                position += m


@numba.njit(cache=True, nogil=True)
def sweep_truth(rng, times, cells, rows, repeats, prevalence_shape, prevalence, truth, weights, count, probability):
    """Draw hyperparameters, names of labels and prevalence given the truth, then the truth; so many times.

    The counts move with the labels.
    """
    cell_counts, row_counts = np.empty(weights.size), np.empty(cells.row_label.size)
    chance, chance_without = np.empty(weights.size), np.empty(weights.size)
    together = np.zeros(cells.item_start[-1], np.int64)
    for _ in range(times):
        if rows.learnt:
            draw_population(rng, cells, rows, weights)
        if rename_labels(rng, cells, rows, weights, prevalence, truth):
            count_truth(cells, truth, weights, count)
        draw_prevalence(rng, prevalence_shape, count, prevalence)
        pseudo_counts(cells, rows, weights, cell_counts, row_counts, chance, chance_without)
        draw_truth_collapsed(
            rng, cells, rows.row, repeats, together, prevalence, weights, count, cell_counts, row_counts, chance,
            chance_without, truth, probability,
        )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def draw_prevalence(rng, shape, count, prevalence):
    """Draw the prevalence ~ Dirichlet(shape + count) in place."""
    log_prevalence = log_dirichlet_draw(rng, shape + count)
    for k in range(count.size):
        prevalence[k] = max(math.exp(log_prevalence[k]), NOTHING)
