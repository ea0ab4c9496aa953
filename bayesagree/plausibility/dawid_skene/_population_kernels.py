"""Compiled steps of what annotators' confusion rows have in common: concentration, mean row, names of labels.

A confusion row of true label k is Dirichlet(kappa_k phi_k), integrated out. The full variant knows kappa and phi; the
hierarchical ones learn them. `cells` is an `AnnotationCells`, `weights` how many annotations fall into each cell.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.inference.gamma import log_rising
from bayesagree.inference.kernel_draws import log_dirichlet_draw, slice_step


class RowPrior(NamedTuple):
    """Prior of the confusion rows; `kappa` and `phi` are drawn in place where they are learnt.

    Attributes
    ----------
    row, expert, names_truth
        Of each cell: its confusion row, whether it is an expert's (who gives the latent label without error, outside of
        the population), and whether the given label is the true one.
    order, start
        Rows of true label k, without experts: ``order[start[k]:start[k + 1]]``.
    base
        Prior counts, shape (category, observed_category); the prior of phi_k is Dirichlet(base_k).
    kappa, phi
        Concentration and mean row of each true label.
    learnt, exchangeable
        Whether kappa and phi are drawn; whether labels may change names: every one may be the truth of every item.
    log_mean, log_sd
        Normal prior of log kappa.
    """

    row: NDArray[np.uint32]
    expert: NDArray[np.bool_]
    names_truth: NDArray[np.bool_]
    order: NDArray[np.int64]
    start: NDArray[np.int64]
    base: Floats
    kappa: Floats
    phi: Floats
    learnt: bool
    exchangeable: bool
    log_mean: float
    log_sd: float


# How often the full variant tries new names in a sweep: the chance of all names costs as much as half a sweep.
RENAMING_SHARE = 0.25


# So many single draws take as long as one binomial.
FEW = 12


@numba.njit(cache=True, nogil=True)
def row_sizes(cells, weights, own, n_labels):
    """Count rows `own`, those of one true label, with more than r annotations of a label, (label, r).

    The last line has those with more than r annotations of all labels.
    """
    total = np.zeros(own.size, np.int64)
    for place in range(own.size):
        for cell in cells.row_cell[cells.row_start[own[place]] : cells.row_start[own[place] + 1]]:
            total[place] += int(weights[cell])
    above = np.zeros((n_labels + 1, total.max() + 1 if own.size > 0 else 1))
    for place in range(own.size):
        for cell in cells.row_cell[cells.row_start[own[place]] : cells.row_start[own[place] + 1]]:
            if weights[cell] > 0.0:
                above[cells.cell_label[cell], int(weights[cell]) - 1] += 1.0
        if total[place] > 0:
            above[n_labels, total[place] - 1] += 1.0
    for r in range(above.shape[1] - 2, -1, -1):
        above[:, r] += above[:, r + 1]
    return above


@numba.njit(cache=True, nogil=True)
def row_factors(above, phi):
    """Return the factors in the likelihood of the concentration x of rows that are integrated out.

    Their annotations have probability prod (x phi_l)^(n_l rising) / x^(n rising); a factor is
    ``((scale x + start)^(size rising))^times``. Terms that equally many rows have are one factor.
    """
    n_labels, g, most = phi.size, 0, above.size
    scale, start, size, times = np.ones(most), np.zeros(most), np.zeros(most, np.int64), np.ones(most)
    for line in range(n_labels + 1):
        r = 0
        while above[line, r] > 0.0:
            start[g], same = r, above[line, r]
            while above[line, r] == same:
                r += 1
            size[g], times[g] = r - int(start[g]), same
            if line < n_labels:
                scale[g] = phi[line]
            else:
                times[g] = -same
            g += 1
    return scale[:g], start[:g], size[:g], times[:g]


@numba.njit(cache=True, nogil=True)
def concentration_density(u, scale, start, size, times, log_mean, log_sd):
    """Log density of u = log x: sum of times * log_rising(scale * x + start, size), with a normal prior on u."""
    x = math.exp(u)
    value = -0.5 * ((u - log_mean) / log_sd) ** 2
    for g in range(size.size):
        value += times[g] * log_rising(scale[g] * x + start[g], size[g])
    return value


@numba.njit(cache=True, nogil=True)
def draw_concentration(rng, value, scale, start, size, times, log_mean, log_sd):
    """Draw a concentration with a log-normal prior, given `row_factors`, by slice sampling on its log (Neal 2003)."""
    given = (scale, start, size, times, log_mean, log_sd)
    # Width 1: a concentration known to a factor of e takes no more than a few steps.
    return math.exp(slice_step(rng, concentration_density, math.log(value), 1.0, given))


@numba.njit(cache=True, nogil=True)
def count_new(rng, shape, r, n):
    """Draw how many of n annotations, each the one after r equal ones, are new: Binomial(n, shape / (shape + r))."""
    if r == 0:
        return n
    if n > FEW:
        return rng.binomial(n, shape / (shape + r))
    found = 0
    for _ in range(n):
        found += rng.random() * (shape + r) < shape
    return found


@numba.njit(cache=True, nogil=True)
def draw_tables(rng, above, shape):
    """Draw how many annotations of each given label are new draws from the population's row (Antoniak 1974).

    `shape` are the prior shapes of the rows.
    """
    tables = np.zeros(shape.size)
    for label in range(shape.size):
        r = 0
        while above[label, r] > 0.0:
            tables[label] += count_new(rng, shape[label], r, int(above[label, r]))
            r += 1
    return tables


@numba.njit(cache=True, nogil=True)
def draw_population(rng, cells, rows, weights):
    """Draw concentration kappa_k and mean row phi_k of every true label in place, all rows integrated out."""
    for k in range(rows.kappa.size):
        above = row_sizes(cells, weights, rows.order[rows.start[k] : rows.start[k + 1]], rows.kappa.size)
        factors = row_factors(above, rows.phi[k])
        rows.kappa[k] = draw_concentration(rng, rows.kappa[k], *factors, rows.log_mean, rows.log_sd)
        tables = draw_tables(rng, above, rows.kappa[k] * rows.phi[k])
        log_phi = log_dirichlet_draw(rng, rows.base[k] + tables)
        # A share of e^-300 is never drawn again, and 0 has no logarithm.
        for n in range(log_phi.size):
            rows.phi[k, n] = math.exp(max(log_phi[n], -300.0))


@numba.njit(cache=True, nogil=True)
def name_gains(cells, rows, weights):
    """Log density of the annotations of true label k under the name n, up to a constant, shape (category, category).

    All true labels are renamed at once. Where phi is learnt it takes the new name along, and its prior density
    phi_kn^(right - wrong) is all that changes. Where it is known, each row keeps its counts under another prior.
    """
    right, wrong = rows.base[0, 0], rows.base[0, 1]
    if rows.learnt:
        return (right - wrong) * np.log(rows.phi)
    gain = np.zeros(rows.phi.shape)
    for r in rows.order:
        for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
            n = int(weights[cell])
            if n > 0:
                gain[cells.row_label[r], cells.cell_label[cell]] += log_rising(right, n) - log_rising(wrong, n)
    return gain


@numba.njit(cache=True, nogil=True)
def draw_names(rng, gain):
    """Draw a permutation of the true labels, shape (label,), by swaps of two and turns of three: a relabelling move.

    True label k under the name n adds ``gain[k, n]`` to the log density. The rest of a sweep moves item by item and
    cannot relabel.
    """
    n_labels = gain.shape[0]
    name = np.arange(n_labels)
    for _ in range(n_labels * n_labels):
        a, b, c = rng.integers(0, n_labels), rng.integers(0, n_labels), rng.integers(0, n_labels)
        if a == b:
            continue
        if b == c:  # a swap is a turn whose third row stays
            c = a
        before = gain[a, name[a]] + gain[b, name[b]]
        after = gain[a, name[b]] + gain[b, name[c]]
        if c != a:
            before += gain[c, name[c]]
            after += gain[c, name[a]]
        if -rng.standard_exponential() < after - before:
            if c == a:
                name[a], name[b] = name[b], name[a]
            else:
                name[a], name[b], name[c] = name[b], name[c], name[a]
    return name


@numba.njit(cache=True, nogil=True)
def rename_labels(rng, cells, rows, weights, prevalence, place):
    """Draw new names of the true labels; they take prevalence, kappa and phi along, and `place`. Tell of any change."""
    if not rows.exchangeable or (not rows.learnt and rng.random() > RENAMING_SHARE):
        return False
    name = draw_names(rng, name_gains(cells, rows, weights))
    changed = False
    for k in range(name.size):
        changed |= name[k] != k
    if changed:
        before, kappa, phi = prevalence.copy(), rows.kappa.copy(), rows.phi.copy()
        for k in range(name.size):
            prevalence[name[k]] = before[k]
            if rows.learnt:
                rows.kappa[name[k]] = kappa[k]
                for n in range(name.size):
                    rows.phi[name[k], n] = phi[k, n]
        for t in range(place.size):
            place[t] = name[place[t]]
    return changed


@numba.njit(cache=True, nogil=True, error_model="numpy")
def pseudo_counts(cells, rows, weights, cell_counts, row_counts, chance, chance_without):
    """Write prior shape plus count of each cell and of each row, their ratio, and that without one annotation.

    The ratio is the chance of the next label; it is 1 or 0 for experts.
    """
    for r in range(cells.row_label.size):
        k = cells.row_label[r]
        own = cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]
        expert = rows.expert[own[0]]
        total = 1.0 if expert else rows.kappa[k] * rows.phi[k].sum()
        for cell in own:
            total += weights[cell]
            shape = rows.names_truth[cell] if expert else rows.kappa[k] * rows.phi[k, cells.cell_label[cell]]
            cell_counts[cell] = shape + weights[cell]
        row_counts[r] = total
        for cell in own:
            chance[cell] = cell_counts[cell] / total
            chance_without[cell] = (cell_counts[cell] - 1.0) / (total - 1.0)
