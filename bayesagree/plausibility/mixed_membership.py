"""Gibbs sampler of mixed-membership Dawid-Skene: item plausibilities joined with annotator confusion.

An item may be truly ambiguous: two careful annotators then read it differently, and no amount of labels makes it
certain. Stutz et al. give every item its own plausibilities lambda_i; Dawid and Skene give every annotator a confusion
matrix. Joined:

    lambda_i ~ Dirichlet(alpha prevalence)               alpha -> 0: one truth per item, Dawid-Skene
    c_t ~ lambda_i                                       what annotator j reads item i as, for annotation t = (i, j)
    l_t ~ confusion_j[c_t, .],   confusion_j[k, .] ~ Dirichlet(kappa_k phi_k)

lambda is integrated out. Its Dirichlet-multinomial is written as a Chinese restaurant: readings of an item sit at
tables, every table has one label drawn from the prevalence, and a new table opens with weight alpha. That changes
nothing about the model and two things about the sampler: a whole table changes its label in one step (so that small
alpha does not freeze the readings), and alpha and prevalence depend on the readings through numbers of tables alone,
where their conditionals are simple.

Sources: Stutz et al., section 3; Dawid and Skene (1979); Teh et al., "Hierarchical Dirichlet processes", JASA 101
(2006), section 5.1 (tables).
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree.plausibility._annotation_cells import AnnotationCells
from bayesagree.plausibility._dawid_skene_confusion import Floats, HierarchicalRows, Rng
from bayesagree.plausibility._dawid_skene_gibbs import start_truth
from bayesagree.plausibility._dawid_skene_numba import (
    draw_concentration,
    log_dirichlet_draw,
    log_gamma_draw,
    move_answers,
)
from bayesagree.plausibility.dawid_skene_prior import CrowdPrior


class MixedMembershipSampler:
    """One chain: tables of readings, confusion, prevalence and alpha are drawn in turn."""

    def __init__(self, cells: AnnotationCells, prior: CrowdPrior, shares: Floats, n_labels: int, rng: Rng) -> None:
        self.cells, self.prior = cells, prior
        self.confusion = HierarchicalRows(cells, prior, n_labels)
        self.ambiguity = prior.ambiguity
        n = int(cells.item_start[-1])
        # Every item starts with one table, as under Dawid-Skene; tables are numbered within their item.
        self.seat = np.zeros(n, np.int64)
        self.dish, self.guests = np.zeros(n, np.int64), np.zeros(n, np.int64)
        start = cells.item_start[:-1][cells.sizes > 0]
        self.dish[start] = start_truth(cells, shares, rng)[cells.sizes > 0]
        self.guests[start] = cells.sizes[cells.sizes > 0]
        # alpha^tables prod_i Gamma(alpha) / Gamma(alpha + n_i), as rising factorials; alpha itself is that of size 1.
        sizes, times = np.unique(cells.sizes[cells.sizes > 0], return_counts=True)
        self.sizes, self.times = np.append(sizes, 1), times.astype(np.float64)
        self.weights, self.tables = np.empty(cells.cell_label.size), np.empty(n_labels)
        self.readings = np.empty(cells.candidate.size)
        self.prevalence = np.empty(n_labels)
        self.drawn, self.expected = np.empty(cells.candidate.size), np.empty(cells.candidate.size)

    def sweep(self, rng: Rng) -> None:
        """Draw prevalence, alpha and confusion given the tables, then the tables, then the plausibilities."""
        cells, prior = self.cells, self.prior
        count_readings(cells, self.seat, self.dish, self.guests, self.weights, self.tables, self.readings)
        log_prevalence = log_dirichlet_draw(rng, prior.prevalence + self.tables)
        self.prevalence = np.exp(log_prevalence)
        times = np.append(-self.times, self.tables.sum())
        self.ambiguity = draw_concentration(
            rng, self.ambiguity, np.ones(times.size), self.sizes, times, math.log(prior.ambiguity), prior.ambiguity_sd
        )
        self.confusion.draw_crowd(rng, self.weights)
        mass, row_mass = self.confusion.masses(self.weights)
        places = (self.seat, self.dish, self.guests)
        draw_seats(rng, cells, self.confusion.row, self.prevalence, self.ambiguity, mass, row_mass, *places)
        draw_dishes(rng, cells, self.confusion.row, log_prevalence, mass, row_mass, *places)
        count_readings(cells, self.seat, self.dish, self.guests, self.weights, self.tables, self.readings)
        draw_plausibility(rng, cells, self.prevalence, self.ambiguity, self.readings, self.drawn, self.expected)

    @property
    def plausibility(self) -> Floats:
        """The drawn lambda."""
        return self.drawn

    def right(self, rng: Rng) -> Floats:
        """Draw the confusion; return the probability that an annotator names what he reads, for each row."""
        self.confusion.draw_rows(rng, self.weights)
        return self.confusion.right(rng)

    def expand(self, rng: Rng, right: Floats, out: NDArray[np.float32]) -> None:
        """Write whole confusion matrices."""
        self.confusion.expand(rng, right, out)

    def crowd(self) -> dict[str, Floats]:
        """Return alpha and the crowd's confusion."""
        return {"ambiguity": np.array(self.ambiguity)} | self.confusion.crowd()


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
def draw_dishes(rng, cells, row, log_prevalence, mass, row_mass, seat, dish, guests):
    """Draw the label of every table given all its readings at once, with the confusion integrated out."""
    joint = np.empty(log_prevalence.size)
    for i in range(cells.item_start.size - 1):
        first, start = cells.candidate_start[i], cells.item_start[i]
        m, n = cells.candidate_start[i + 1] - first, cells.item_start[i + 1] - start
        for table in range(n):
            if guests[start + table] == 0:
                continue
            move_answers(cells, row, i, seat, table, dish[start + table], -1.0, mass, row_mass)
            largest = -math.inf
            for c in range(m):
                # One guest after the other: an annotator with two readings at the table learns from his first.
                joint[c] = log_prevalence[cells.candidate[first + c]]
                joint[c] += move_answers(cells, row, i, seat, table, c, 1.0, mass, row_mass)
                move_answers(cells, row, i, seat, table, c, -1.0, mass, row_mass)
                largest = max(largest, joint[c])
            total = 0.0
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
