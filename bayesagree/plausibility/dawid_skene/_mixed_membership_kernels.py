"""Compiled Gibbs steps of mixed membership; see `mixed_membership` for the model and its tables.

`seat` is the table of each annotation, `dish` and `guests` the label (as position among the item's candidates) and the
number of readings of each table; the tables of an item stand at the positions of its annotations.
"""

import math

import numba
import numpy as np

from bayesagree.plausibility.dawid_skene._gibbs_kernels import add_log_chance, log_gamma_draw, move_answers


@numba.njit(cache=True, nogil=True)
def count_readings(cells, seat, dish, guests, weights, tables, readings):
    """Count readings per confusion cell and per (item, candidate), and tables per label."""
    weights[:] = 0.0
    tables[:] = 0.0
    readings[:] = 0.0
    for i in range(cells.item_start.size - 1):
        first, start = cells.candidate_start[i], cells.item_start[i]
        m = cells.candidate_start[i + 1] - first
        for t in range(start, cells.item_start[i + 1]):
            c = dish[start + seat[t]]
            weights[cells.cell[cells.cell_start[i] + (t - start) * m + c]] += 1.0
            readings[first + c] += 1.0
            if guests[t] > 0:  # table number t - start is taken
                tables[cells.candidate[first + dish[t]]] += 1.0


@numba.njit(cache=True, nogil=True)
def draw_seats(rng, cells, row, prevalence, ambiguity, mass, row_mass, seat, dish, guests):
    """Seat every reading again: at a table by its guests times the annotator's chance of the label, or at a new one.

    `mass` and `row_mass` hold prior shapes plus present counts; their ratio is the chance of a label with the
    confusion integrated out.
    """
    chance = np.empty(prevalence.size)
    for i in range(cells.item_start.size - 1):
        first, start = cells.candidate_start[i], cells.item_start[i]
        m, n = cells.candidate_start[i + 1] - first, cells.item_start[i + 1] - start
        for t in range(n):
            position = cells.cell_start[i] + t * m
            old = cells.cell[position + dish[start + seat[start + t]]]
            guests[start + seat[start + t]] -= 1
            mass[old] -= 1.0
            row_mass[row[old]] -= 1.0
            total = 0.0
            for c in range(m):
                cell = cells.cell[position + c]
                chance[c] = mass[cell] / row_mass[row[cell]]
                total += ambiguity * prevalence[cells.candidate[first + c]] * chance[c]
            empty = -1
            for table in range(n):
                if guests[start + table] > 0:
                    total += guests[start + table] * chance[dish[start + table]]
                elif empty < 0:
                    empty = table
            left = rng.random() * total
            chosen = -1
            for table in range(n):
                if guests[start + table] > 0:
                    left -= guests[start + table] * chance[dish[start + table]]
                    if left < 0.0:
                        chosen = table
                        break
            if chosen < 0:
                chosen = empty
                dish[start + empty] = m - 1
                for c in range(m):
                    left -= ambiguity * prevalence[cells.candidate[first + c]] * chance[c]
                    if left < 0.0:
                        dish[start + empty] = c
                        break
            seat[start + t] = chosen
            guests[start + chosen] += 1
            new = cells.cell[position + dish[start + chosen]]
            mass[new] += 1.0
            row_mass[row[new]] += 1.0


@numba.njit(cache=True, nogil=True)
def draw_dishes(rng, cells, row, repeats, log_prevalence, mass, row_mass, seat, dish, guests):
    """Draw the label of every table given all its readings at once, with the confusion integrated out."""
    joint = np.empty(log_prevalence.size)
    for i in range(cells.item_start.size - 1):
        first, start = cells.candidate_start[i], cells.item_start[i]
        m, n = cells.candidate_start[i + 1] - first, cells.item_start[i + 1] - start
        for table in range(n):
            if guests[start + table] == 0:
                continue
            move_answers(cells, row, i, seat, table, dish[start + table], -1.0, mass, row_mass)
            for c in range(m):
                joint[c] = log_prevalence[cells.candidate[first + c]]
            add_log_chance(cells, row, i, seat, table, repeats[i], mass, row_mass, joint)
            largest, total = joint[:m].max(), 0.0
            for c in range(m):
                joint[c] = math.exp(joint[c] - largest)
                total += joint[c]
            left = rng.random() * total
            dish[start + table] = m - 1
            for c in range(m):
                left -= joint[c]
                if left < 0.0:
                    dish[start + table] = c
                    break
            move_answers(cells, row, i, seat, table, dish[start + table], 1.0, mass, row_mass)


@numba.njit(cache=True, nogil=True)
def draw_plausibility(rng, cells, prevalence, ambiguity, readings, plausibility, expected):
    """Draw lambda_i ~ Dirichlet(alpha prevalence + readings of item i) over the candidates, and give its mean."""
    for i in range(cells.item_start.size - 1):
        first, last = cells.candidate_start[i], cells.candidate_start[i + 1]
        total, largest = 0.0, -math.inf
        for c in range(first, last):
            shape = max(ambiguity * prevalence[cells.candidate[c]], 1e-300) + readings[c]
            expected[c] = shape
            total += shape
            plausibility[c] = log_gamma_draw(rng, shape)
            largest = max(largest, plausibility[c])
        mass = 0.0
        for c in range(first, last):
            plausibility[c] = math.exp(plausibility[c] - largest)
            mass += plausibility[c]
        for c in range(first, last):
            plausibility[c] /= mass
            expected[c] /= total


@numba.njit(cache=True, nogil=True)
def draw_readings(rng, cells, prevalence, ambiguity, chance, plausibility, seat, dish, guests):
    """Draw every reading given plausibility and confusion, then who sits together among equal readings of an item."""
    weight = np.empty(prevalence.size)
    for i in range(cells.item_start.size - 1):
        first, start = cells.candidate_start[i], cells.item_start[i]
        m, n = cells.candidate_start[i + 1] - first, cells.item_start[i + 1] - start
        guests[start : start + n] = 0
        n_tables = 0
        for t in range(n):
            position, total = cells.cell_start[i] + t * m, 0.0
            for c in range(m):
                weight[c] = plausibility[first + c] * chance[cells.cell[position + c]]
                total += weight[c]
            read, left = 0, rng.random() * total - weight[0]
            while left >= 0.0 and read < m - 1:
                read += 1
                left -= weight[read]
            alike = 0
            for table in range(n_tables):
                if dish[start + table] == read:
                    alike += guests[start + table]
            left = rng.random() * (alike + ambiguity * prevalence[cells.candidate[first + read]])
            chosen = n_tables
            for table in range(n_tables):
                if dish[start + table] == read:
                    left -= guests[start + table]
                    if left < 0.0:
                        chosen = table
                        break
            if chosen == n_tables:
                dish[start + chosen] = read
                n_tables += 1
            guests[start + chosen] += 1
            seat[start + t] = chosen
