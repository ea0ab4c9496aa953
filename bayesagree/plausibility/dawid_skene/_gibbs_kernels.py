"""Compiled Gibbs steps of the Dawid-Skene family; each draws one block of unknowns given all others.

`cells` is an `AnnotationCells`, `truth` the position of each item's drawn label among its candidates, `weights` how
many annotations fall into each confusion cell. Logarithms throughout: Dirichlet shapes of 0.01 give gamma draws that
underflow, and ten thousand annotations of one item multiply to less than the smallest number.
"""

import math

import numba
import numpy as np

from bayesagree._numerics.draws import draw_category, log_dirichlet_draw, normalise_logs, slice_step
from bayesagree._numerics.gamma import log_gamma_draw
from bayesagree._numerics.vectors import copy_to
from bayesagree.plausibility.dawid_skene._em_kernels import item_log_joint


@numba.njit(cache=True, nogil=True)
def count_truth(cells, truth, weights, count):
    """Count annotations per confusion cell and labelled items per label, given the true labels."""
    weights[:] = 0.0
    count[:] = 0.0
    for i in range(cells.item_start.size - 1):
        first = cells.candidate_start[i]
        m = cells.candidate_start[i + 1] - first
        n = cells.item_start[i + 1] - cells.item_start[i]
        if n > 0 or m == 1:  # an item without labels says nothing, unless its truth is known
            count[cells.candidate[first + truth[i]]] += 1.0
        position = cells.cell_start[i] + truth[i]
        for _ in range(n):
            weights[cells.cell[position]] += 1.0
            position += m


@numba.njit(cache=True, nogil=True)
def draw_candidate(rng, joint, probability, first):
    """Draw a candidate by its log weight, shape (candidate,); write the probabilities from position `first` on."""
    normalise_logs(joint)
    copy_to(probability[first : first + joint.size], joint)
    return draw_category(rng, joint, 1.0)


@numba.njit(cache=True, nogil=True)
def draw_truth(rng, cells, log_prevalence, log_confusion, truth, probability):
    """Draw every item's true label, and leave its conditional probabilities in `probability`."""
    joint = np.empty(log_prevalence.size)
    for i in range(cells.item_start.size - 1):
        own = item_log_joint(cells, i, log_prevalence, log_confusion, joint)
        truth[i] = draw_candidate(rng, own, probability, cells.candidate_start[i])


@numba.njit(cache=True, nogil=True)
def draw_rows(rng, cells, weights, prior, prior_total, log_confusion):
    """Draw every confusion row ~ Dirichlet(prior row + counts); its unseen labels are one share of the row."""
    for r in range(cells.row_label.size):
        k = cells.row_label[r]
        unseen = prior_total[k]
        row = cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]
        largest = -math.inf
        for cell in row:
            shape = prior[k, cells.cell_label[cell]]
            unseen -= shape
            log_confusion[cell] = log_gamma_draw(rng, shape + weights[cell])
            largest = max(largest, log_confusion[cell])
        rest = -math.inf
        if unseen > 1e-9 * prior_total[k]:
            rest = log_gamma_draw(rng, unseen)
            largest = max(largest, rest)
        total = math.exp(rest - largest)
        for cell in row:
            total += math.exp(log_confusion[cell] - largest)
        shift = largest + math.log(total)
        for cell in row:
            log_confusion[cell] -= shift


@numba.njit(cache=True, nogil=True)
def draw_accuracies(rng, cells, log_confusion, prior, prior_total):
    """Diagonal of each confusion row, shape (row,); where the right label was never given, a draw from the rest."""
    right = np.empty(cells.row_label.size)
    for r in range(cells.row_label.size):
        k = cells.row_label[r]
        unseen, left, found = prior_total[k], 1.0, False
        for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
            unseen -= prior[k, cells.cell_label[cell]]
            left -= math.exp(log_confusion[cell])
            if cells.cell_label[cell] == k:
                right[r] = math.exp(log_confusion[cell])
                found = True
        if not found:
            rest = unseen - prior[k, k]
            share = 1.0 if rest <= 1e-9 * prior_total[k] else rng.beta(prior[k, k], rest)
            right[r] = max(left, 0.0) * share
    return right


@numba.njit(cache=True, nogil=True)
def expand_rows(rng, cells, log_confusion, right, prior, out):
    """Write whole confusion matrices, shape (annotator, category, observed label), drawing the labels never given."""
    n_labels = prior.shape[0]
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
                    value[cells.cell_label[cell]] = math.exp(log_confusion[cell])
                for v in value:
                    left -= max(v, 0.0)
            _fill_unseen(rng, value, max(left, 0.0), prior[k])
            copy_to(out[j, k], value)


@numba.njit(cache=True, nogil=True)
def _fill_unseen(rng, value, left, shape):
    """Split what is left of a row over its negative entries ~ Dirichlet(shape)."""
    share = np.full(value.size, -math.inf)
    for k in range(value.size):
        if value[k] < 0.0:
            share[k] = log_gamma_draw(rng, shape[k])
    normalise_logs(share)
    for k in range(value.size):
        if value[k] < 0.0:
            value[k] = left * share[k]


@numba.njit(cache=True, nogil=True)
def draw_tables(rng, cells, weights, prior):
    """Draw how many annotations of every confusion row came fresh from the population's row (Antoniak 1974).

    Of n annotations in a cell of shape a the number of fresh ones is a sum of Bernoulli(a / (a + r)), r = 0..n-1.
    Returned is their sum over annotators, shape (label, observed label).
    """
    tables = np.zeros(prior.shape)
    for r in range(cells.row_label.size):
        k = cells.row_label[r]
        for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
            label = cells.cell_label[cell]
            shape = prior[k, label]
            for taken in range(int(weights[cell])):
                if taken == 0 or rng.random() * (shape + taken) < shape:
                    tables[k, label] += 1.0
    return tables


@numba.njit(cache=True, nogil=True)
def log_rising(a, n):
    """Return log a (a + 1) ... (a + n - 1) = log Gamma(a + n) - log Gamma(a)."""
    if n > 30:
        # far from both ends lgamma loses its digits: Stirling's difference
        return n * math.log(a) + 0.5 * n * (n - 1.0) / a if a > 1e8 * n else math.lgamma(a + n) - math.lgamma(a)
    product, total = 1.0, 0.0
    for r in range(n):
        product *= a + r
        if product > 1e250 or product < 1e-250:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@numba.njit(cache=True, nogil=True)
def concentration_density(u, scale, size, times, log_mean, log_sd):
    """Log density of u = log x: sum of times * log_rising(scale * x, size), with a normal prior on u."""
    x = math.exp(u)
    value = -0.5 * ((u - log_mean) / log_sd) ** 2
    for g in range(size.size):
        value += times[g] * log_rising(scale[g] * x, size[g])
    return value


@numba.njit(cache=True, nogil=True)
def draw_concentration(rng, value, scale, size, times, log_mean, log_sd):
    """Draw a concentration with a log-normal prior by slice sampling on its logarithm (Neal 2003).

    Its likelihood is a product of rising factorials (scale x)(scale x + 1)...(scale x + size - 1), each to a power.
    """
    given = (scale, size, times, log_mean, log_sd)
    # Width 1: a concentration known to a factor of e takes no more than a few steps.
    return math.exp(slice_step(rng, concentration_density, math.log(value), 1.0, given))


@numba.njit(cache=True, nogil=True)
def row_factors(cells, weights, rows, phi):
    """Return scale, size and power of each factor in the likelihood of the concentration of some rows.

    With a row integrated out its annotations have probability prod (x phi_l)^(n_l rising) / x^(n rising).
    """
    most = rows.size
    for r in rows:
        most += cells.row_start[r + 1] - cells.row_start[r]
    scale, size, times = np.ones(most), np.zeros(most, np.int64), np.ones(most)
    g = 0
    for r in rows:
        total = 0
        for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
            n = int(weights[cell])
            if n > 0:
                scale[g], size[g] = phi[cells.cell_label[cell]], n
                g += 1
                total += n
        if total > 0:
            size[g], times[g] = total, -1.0
            g += 1
    return scale[:g], size[:g], times[:g]


@numba.njit(cache=True, nogil=True)
def draw_population_rows(rng, cells, weights, rows, rows_start, base, kappa, phi, log_mean, log_sd):
    """Draw concentration kappa_k and mean row phi_k of every true label in place, all annotators' rows integrated out.

    ``rows[rows_start[k]:rows_start[k + 1]]`` are the confusion rows of true label k.
    """
    for k in range(kappa.size):
        scale, size, times = row_factors(cells, weights, rows[rows_start[k] : rows_start[k + 1]], phi[k])
        kappa[k] = draw_concentration(rng, kappa[k], scale, size, times, log_mean, log_sd)
    tables = draw_tables(rng, cells, weights, kappa.reshape(-1, 1) * phi)
    for k in range(kappa.size):
        log_phi = log_dirichlet_draw(rng, base[k] + tables[k])
        # A share of e^-600 is never drawn again, and 0 has no logarithm.
        for n in range(log_phi.size):
            phi[k, n] = math.exp(max(log_phi[n], -600.0))


@numba.njit(cache=True, nogil=True)
def draw_relabelling(rng, log_phi, gain):
    """Draw a permutation of the true labels, shape (label,), by swaps of two and turns of three: a relabelling move.

    Relabelling all true labels at once changes the density in one place: row phi_k under label n has the prior density
    phi_kn^gain, up to a factor. The rest of a sweep moves item by item and cannot relabel.
    """
    n_labels = log_phi.shape[0]
    name = np.arange(n_labels)
    for _ in range(n_labels * n_labels):
        a, b, c = rng.integers(0, n_labels), rng.integers(0, n_labels), rng.integers(0, n_labels)
        if a == b:
            continue
        if b == c:  # a swap is a turn whose third row stays
            c = a
        before = log_phi[a, name[a]] + log_phi[b, name[b]]
        after = log_phi[a, name[b]] + log_phi[b, name[c]]
        if c != a:
            before += log_phi[c, name[c]]
            after += log_phi[c, name[a]]
        if -rng.standard_exponential() < gain * (after - before):
            if c == a:
                name[a], name[b] = name[b], name[a]
            else:
                name[a], name[b], name[c] = name[b], name[c], name[a]
    return name


@numba.njit(cache=True, nogil=True)
def items_with_repeats(cells, row):
    """Tell which items some annotator labelled twice, shape (item,); annotations are sorted by annotator."""
    repeats = np.zeros(cells.item_start.size - 1, np.bool_)
    for i in range(repeats.size):
        m, position = cells.candidate_start[i + 1] - cells.candidate_start[i], cells.cell_start[i]
        for _ in range(1, cells.item_start[i + 1] - cells.item_start[i]):
            before, here = row[cells.cell[position]], row[cells.cell[position + m]]
            repeats[i] |= cells.row_annotator[before] == cells.row_annotator[here]
            position += m
    return repeats


@numba.njit(cache=True, nogil=True)
def move_annotations(cells, row, i, seat, table, c, amount, cell_counts, row_counts):
    """Add or take away an item's annotations for candidate c, those at one table.

    `cell_counts` and `row_counts` hold prior shapes plus counts: their ratio is the chance of a label with the
    confusion integrated out.
    """
    start = cells.item_start[i]
    m = cells.candidate_start[i + 1] - cells.candidate_start[i]
    for t in range(cells.item_start[i + 1] - start):
        if seat[start + t] == table:
            cell = cells.cell[cells.cell_start[i] + t * m + c]
            cell_counts[cell] += amount
            row_counts[row[cell]] += amount


@numba.njit(cache=True, nogil=True)
def add_log_chance(cells, row, i, seat, table, repeats, cell_counts, row_counts, log_chance):
    """Add to `log_chance` the log chance of an item's annotations at one table under each of its candidates.

    One after the other: an annotator with two labels for an item is expected to repeat the first.
    """
    start = cells.item_start[i]
    m = cells.candidate_start[i + 1] - cells.candidate_start[i]
    product = np.ones(m)
    for t in range(cells.item_start[i + 1] - start):
        if seat[start + t] != table:
            continue
        position = cells.cell_start[i] + t * m
        for c in range(m):
            cell = cells.cell[position + c]
            product[c] *= cell_counts[cell] / row_counts[row[cell]]
            if product[c] < 1e-200:
                log_chance[c] += math.log(product[c])
                product[c] = 1.0
            if repeats:
                cell_counts[cell] += 1.0
                row_counts[row[cell]] += 1.0
    for c in range(m):
        log_chance[c] += math.log(product[c])
        if repeats:
            move_annotations(cells, row, i, seat, table, c, -1.0, cell_counts, row_counts)


@numba.njit(cache=True, nogil=True)
def draw_truth_collapsed(
    rng, cells, row, repeats, log_prevalence, cell_counts, row_counts, truth, probability, surprise
):
    """Draw every item's true label with the confusion integrated out, and leave its conditional probabilities.

    `surprise` grows by 1 / Pr(annotation given all others), the truth of its item summed out.
    """
    joint = np.empty(log_prevalence.size)
    together = np.zeros(cells.item_start[-1], np.int64)  # all annotations of an item sit at one table
    for i in range(cells.item_start.size - 1):
        first = cells.candidate_start[i]
        m = cells.candidate_start[i + 1] - first
        move_annotations(cells, row, i, together, 0, truth[i], -1.0, cell_counts, row_counts)
        own = joint[:m]
        for c in range(m):
            own[c] = log_prevalence[cells.candidate[first + c]]
        add_log_chance(cells, row, i, together, 0, repeats[i], cell_counts, row_counts, own)
        truth[i] = draw_candidate(rng, own, probability, first)
        position = cells.cell_start[i]
        for t in range(cells.item_start[i], cells.item_start[i + 1]):
            for c in range(m):
                cell = cells.cell[position + c]
                surprise[t] += own[c] * row_counts[row[cell]] / cell_counts[cell]
            position += m
        move_annotations(cells, row, i, together, 0, truth[i], 1.0, cell_counts, row_counts)
