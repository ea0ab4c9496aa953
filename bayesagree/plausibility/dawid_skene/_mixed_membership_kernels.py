"""Compiled Gibbs steps of mixed membership; see `_mixed_membership` for the model and its tables.

`seat` is the table of each annotation, `dish` and `guests` the label (as position among the item's candidates) and the
number of annotations at each table; the tables of an item stand at the positions of its annotations.
"""

import numba
import numpy as np

from bayesagree._numerics.draws import draw_category, normalise_logs
from bayesagree._numerics.gamma import log_gamma_draw
from bayesagree.plausibility.dawid_skene._gibbs_kernels import add_log_chance, move_annotations

NOTHING = 1e-300
"""Chance of a label that underflowed: it must keep an order and a logarithm."""


@numba.njit(cache=True, nogil=True)
def count_latent(cells, seat, dish, guests, weights, tables, latent):
    """Count latent labels per confusion cell and per (item, candidate), and tables per label."""
    weights[:] = 0.0
    tables[:] = 0.0
    latent[:] = 0.0
    for i in range(cells.item_start.size - 1):
        first, start = cells.candidate_start[i], cells.item_start[i]
        m = cells.candidate_start[i + 1] - first
        for t in range(start, cells.item_start[i + 1]):
            c = dish[start + seat[t]]
            weights[cells.cell[cells.cell_start[i] + (t - start) * m + c]] += 1.0
            latent[first + c] += 1.0
            if guests[t] > 0:  # table number t - start is taken
                tables[cells.candidate[first + dish[t]]] += 1.0


@numba.njit(cache=True, nogil=True)
def draw_seats(rng, cells, row, prevalence, alpha, cell_counts, row_counts, seat, dish, guests, surprise):
    """Seat every annotation again: at a table by its guests times the annotator's chance of the label, or at a new one.

    `cell_counts` and `row_counts` hold prior shapes plus present counts: their ratio is the chance of a label with the
    confusion integrated out. `surprise` grows by 1 / Pr(annotation given all others and their tables).
    """
    chance = np.empty(prevalence.size)
    for i in range(cells.item_start.size - 1):
        first, start = cells.candidate_start[i], cells.item_start[i]
        m, n = cells.candidate_start[i + 1] - first, cells.item_start[i + 1] - start
        used = 0  # tables beyond this one are empty
        for table in range(n):
            if guests[start + table] > 0:
                used = table + 1
        for t in range(n):
            position = cells.cell_start[i] + t * m
            old = cells.cell[position + dish[start + seat[start + t]]]
            guests[start + seat[start + t]] -= 1
            cell_counts[old] -= 1.0
            row_counts[row[old]] -= 1.0
            fresh = 0.0
            for c in range(m):
                cell = cells.cell[position + c]
                chance[c] = cell_counts[cell] / row_counts[row[cell]]
                fresh += prevalence[cells.candidate[first + c]] * chance[c]
            total = alpha * fresh
            empty = -1
            for table in range(used):
                if guests[start + table] > 0:
                    total += guests[start + table] * chance[dish[start + table]]
                elif empty < 0:
                    empty = table
            surprise[start + t] += (n - 1 + alpha) / max(total, NOTHING)
            left = rng.random() * total - alpha * fresh
            chosen = -1
            if left >= 0.0:
                for table in range(used):
                    if guests[start + table] > 0:
                        chosen = table  # the last one, should rounding leave something
                        left -= guests[start + table] * chance[dish[start + table]]
                        if left < 0.0:
                            break
            if chosen < 0:
                chosen = empty if empty >= 0 else used
                used = max(used, chosen + 1)
                left = rng.random() * fresh
                dish[start + chosen] = m - 1
                for c in range(m):
                    left -= prevalence[cells.candidate[first + c]] * chance[c]
                    if left < 0.0:
                        dish[start + chosen] = c
                        break
            seat[start + t] = chosen
            guests[start + chosen] += 1
            new = cells.cell[position + dish[start + chosen]]
            cell_counts[new] += 1.0
            row_counts[row[new]] += 1.0


@numba.njit(cache=True, nogil=True)
def draw_dishes(rng, cells, row, repeats, log_prevalence, cell_counts, row_counts, seat, dish, guests):
    """Draw the label of every table given all its latent labels at once, with the confusion integrated out."""
    joint = np.empty(log_prevalence.size)
    for i in range(cells.item_start.size - 1):
        first, start = cells.candidate_start[i], cells.item_start[i]
        m, n = cells.candidate_start[i + 1] - first, cells.item_start[i + 1] - start
        own = joint[:m]
        for table in range(n):
            if guests[start + table] == 0:
                continue
            move_annotations(cells, row, i, seat, table, dish[start + table], -1.0, cell_counts, row_counts)
            for c in range(m):
                own[c] = log_prevalence[cells.candidate[first + c]]
            add_log_chance(cells, row, i, seat, table, repeats[i], cell_counts, row_counts, own)
            normalise_logs(own)
            dish[start + table] = draw_category(rng, own, 1.0)
            move_annotations(cells, row, i, seat, table, dish[start + table], 1.0, cell_counts, row_counts)


@numba.njit(cache=True, nogil=True)
def draw_seats_given_labels(rng, cells, prevalence, alpha, seat, dish, guests):
    """Draw which equal latent labels of an item share a table: each joins one by its guests or opens another."""
    label = np.empty(seat.size, np.int64)
    for i in range(cells.item_start.size - 1):
        first, start, stop = cells.candidate_start[i], cells.item_start[i], cells.item_start[i + 1]
        for t in range(start, stop):
            label[t] = dish[start + seat[t]]
        guests[start:stop] = 0
        taken = start
        for t in range(start, stop):
            seated = 0.0
            for table in range(start, taken):
                if dish[table] == label[t]:
                    seated += guests[table]
            left = rng.random() * (seated + alpha * prevalence[cells.candidate[first + label[t]]])
            chosen = taken
            if left < seated:
                for table in range(start, taken):
                    if dish[table] == label[t]:
                        chosen = table
                        left -= guests[table]
                        if left < 0.0:
                            break
            if chosen == taken:
                dish[chosen] = label[t]
                taken += 1
            guests[chosen] += 1
            seat[t] = chosen - start


@numba.njit(cache=True, nogil=True)
def draw_plausibility(rng, cells, shape, plausibility):
    """Draw lambda_i ~ Dirichlet(shape_i) over its candidates, shape (candidate,)."""
    for i in range(cells.item_start.size - 1):
        first, last = cells.candidate_start[i], cells.candidate_start[i + 1]
        for c in range(first, last):
            plausibility[c] = log_gamma_draw(rng, shape[c])
        normalise_logs(plausibility[first:last])
