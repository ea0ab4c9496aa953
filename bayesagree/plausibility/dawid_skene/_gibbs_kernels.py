"""Compiled Gibbs steps of the Dawid-Skene family; each draws one block of unknowns given all others.

`cells` is an `AnnotationCells`, `truth` the position of each item's drawn label among its candidates, `weights` how
many annotations fall into each confusion cell. Logarithms throughout: Dirichlet shapes of 0.01 give gamma draws that
underflow, and ten thousand annotations of one item multiply to less than the smallest number.
"""

import math

import numba
import numpy as np

from bayesagree.plausibility.dawid_skene._em_kernels import item_log_joint


@numba.njit(cache=True, nogil=True)
def log_gamma_draw(rng, shape):
    """Draw log G, G ~ Gamma(shape, 1), without underflow at small shapes."""
    if shape < 1.0:
        return math.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential() / shape
    return math.log(rng.standard_gamma(shape))


@numba.njit(cache=True, nogil=True)
def log_dirichlet_draw(rng, shape):
    """Draw log p, p ~ Dirichlet(shape), shape (label,)."""
    out = np.empty(shape.size)
    for k in range(shape.size):
        out[k] = log_gamma_draw(rng, shape[k])
    largest = out.max()
    return out - largest - math.log(np.exp(out - largest).sum())


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
def draw_candidate(rng, joint, m, largest, probability, first):
    """Draw one of m candidates by its log weight; write the probabilities from position `first` on."""
    total = 0.0
    for c in range(m):
        joint[c] = math.exp(joint[c] - largest)
        total += joint[c]
    left = rng.random() * total
    drawn = -1
    for c in range(m):
        probability[first + c] = joint[c] / total
        left -= joint[c]
        if left < 0.0 and drawn < 0:
            drawn = c
    return drawn if drawn >= 0 else m - 1


@numba.njit(cache=True, nogil=True)
def draw_truth(rng, cells, log_prevalence, log_confusion, truth, probability):
    """Draw every item's true label, and leave its conditional probabilities in `probability`."""
    joint = np.empty(log_prevalence.size)
    for i in range(cells.item_start.size - 1):
        first = cells.candidate_start[i]
        m = cells.candidate_start[i + 1] - first
        largest = item_log_joint(cells, i, log_prevalence, cells.cell, log_confusion, joint)
        truth[i] = draw_candidate(rng, joint, m, largest, probability, first)


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
def draw_right(rng, cells, log_confusion, prior, prior_total):
    """Return Pr(right answer) of each row, shape (row,); a right answer never given is drawn from what is left."""
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
            out[j, k] = value


@numba.njit(cache=True, nogil=True)
def _fill_unseen(rng, value, left, shape):
    """Split what is left of a row over its negative entries ~ Dirichlet(shape)."""
    drawn = np.full(value.size, -math.inf)
    for k in range(value.size):
        if value[k] < 0.0:
            drawn[k] = log_gamma_draw(rng, shape[k])
    largest = drawn.max()
    if largest == -math.inf:
        return
    share = np.exp(drawn - largest)
    share *= left / share.sum()
    for k in range(value.size):
        if value[k] < 0.0:
            value[k] = share[k]


@numba.njit(cache=True, nogil=True)
def draw_tables(rng, cells, weights, prior):
    """Draw, for every confusion row, how many of its annotations came fresh from the crowd's row (Antoniak 1974).

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
    u = math.log(value)
    level = concentration_density(u, scale, size, times, log_mean, log_sd) - rng.standard_exponential()
    low = u - rng.random()
    high = low + 1.0
    while concentration_density(low, scale, size, times, log_mean, log_sd) > level:
        low -= 1.0
    while concentration_density(high, scale, size, times, log_mean, log_sd) > level:
        high += 1.0
    while True:
        proposal = low + rng.random() * (high - low)
        if concentration_density(proposal, scale, size, times, log_mean, log_sd) > level:
            return math.exp(proposal)
        if proposal < u:
            low = proposal
        else:
            high = proposal


@numba.njit(cache=True, nogil=True)
def row_factors(cells, weights, rows, phi):
    """Return scale, size and power of each factor in the likelihood of the concentration of some rows.

    With a row integrated out its answers have probability prod (x phi_l)^(n_l rising) / x^(n rising).
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
def draw_crowd_rows(rng, cells, weights, rows, rows_start, base, kappa, phi, log_mean, log_sd):
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
        phi[k] = np.exp(np.maximum(log_phi, -600.0))


@numba.njit(cache=True, nogil=True)
def draw_names(rng, log_phi, gain):
    """Draw which true label each of the crowd's rows stands for, shape (row,), by swaps of two and turns of three.

    Renaming all true labels at once changes the density in one place: row phi_k under the name n has the prior density
    phi_kn^gain, up to a factor. The rest of a sweep moves item by item and cannot rename.
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
def move_answers(cells, row, i, seat, table, c, amount, mass, row_mass):
    """Add or take away an item's answers for candidate c, those at one table.

    `mass` and `row_mass` hold prior shapes plus counts; their ratio is the chance of an answer with the confusion
    integrated out.
    """
    start = cells.item_start[i]
    m = cells.candidate_start[i + 1] - cells.candidate_start[i]
    for t in range(cells.item_start[i + 1] - start):
        if seat[start + t] == table:
            cell = cells.cell[cells.cell_start[i] + t * m + c]
            mass[cell] += amount
            row_mass[row[cell]] += amount


@numba.njit(cache=True, nogil=True)
def add_log_chance(cells, row, i, seat, table, repeats, mass, row_mass, log_chance):
    """Add to `log_chance` the log chance of an item's answers at one table under each of its candidates.

    One answer after the other: an annotator with two answers is expected to repeat his first.
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
            product[c] *= mass[cell] / row_mass[row[cell]]
            if product[c] < 1e-200:
                log_chance[c] += math.log(product[c])
                product[c] = 1.0
            if repeats:
                mass[cell] += 1.0
                row_mass[row[cell]] += 1.0
    for c in range(m):
        log_chance[c] += math.log(product[c])
        if repeats:
            move_answers(cells, row, i, seat, table, c, -1.0, mass, row_mass)


@numba.njit(cache=True, nogil=True)
def draw_truth_collapsed(rng, cells, row, repeats, log_prevalence, mass, row_mass, truth, probability):
    """Draw every item's true label with the confusion integrated out, and leave its conditional probabilities."""
    joint = np.empty(log_prevalence.size)
    together = np.zeros(cells.item_start[-1], np.int64)  # all answers of an item sit at one table
    for i in range(cells.item_start.size - 1):
        first = cells.candidate_start[i]
        m = cells.candidate_start[i + 1] - first
        move_answers(cells, row, i, together, 0, truth[i], -1.0, mass, row_mass)
        for c in range(m):
            joint[c] = log_prevalence[cells.candidate[first + c]]
        add_log_chance(cells, row, i, together, 0, repeats[i], mass, row_mass, joint)
        truth[i] = draw_candidate(rng, joint, m, joint[:m].max(), probability, first)
        move_answers(cells, row, i, together, 0, truth[i], 1.0, mass, row_mass)
