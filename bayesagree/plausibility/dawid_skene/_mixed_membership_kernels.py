"""Compiled Gibbs steps of mixed membership; see `_mixed_membership` for the model.

`choice` is the latent label of each annotation, as position among its item's candidates; `latent` how many annotations
of an item have each candidate, shape (candidate,); ``above[k, r]`` how many items have more than r latent labels k.
"""

import math

import numba
import numpy as np

from bayesagree.inference.gamma import log_gamma_draw
from bayesagree.inference.kernel_draws import normalise_logs, slice_step
from bayesagree.plausibility.dawid_skene._gibbs_kernels import (
    draw_position,
    draw_prevalence,
    move_annotation,
    multiply_chance,
    multiply_chance_of_repeats,
)
from bayesagree.plausibility.dawid_skene._population_kernels import (
    count_new,
    draw_population,
    pseudo_counts,
    rename_labels,
)


@numba.njit(cache=True, nogil=True)
def count_latent(cells, choice, weights, latent, above):
    """Count latent labels per confusion cell, per (item, candidate), and items by how many they have of a label."""
    weights[:] = 0.0
    latent[:] = 0.0
    above[:] = 0.0
    cell, candidate = cells.cell, cells.candidate
    for i in range(cells.item_start.size - 1):
        first, last, position = cells.candidate_start[i], cells.candidate_start[i + 1], cells.cell_start[i]
        for t in range(cells.item_start[i], cells.item_start[i + 1]):
            c = choice[t]
            weights[cell[position + c]] += 1.0
            above[candidate[first + c], int(latent[first + c])] += 1.0
            latent[first + c] += 1.0
            position += last - first


@numba.njit(cache=True, nogil=True, inline="always")
def move_latent(candidate, old, new, size, latent, above):
    """Count latent labels of an item, so many, for another of its candidates, given by their places in `candidate`."""
    for _ in range(size):
        latent[old] -= 1.0
        above[candidate[old], int(latent[old])] -= 1.0
        above[candidate[new], int(latent[new])] += 1.0
        latent[new] += 1.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def rising(shape, most):
    """Return shape (shape + 1) ... (shape + n - 1) / n! for n up to the most, shape (shape, n)."""
    product = np.ones((shape.size, most + 1))
    for k in range(shape.size):
        for r in range(most):
            product[k, r + 1] = product[k, r] * ((shape[k] + r) / (r + 1))
    return product


@numba.njit(cache=True, nogil=True, error_model="numpy")
def draw_latent(
    rng, cells, row, repeats, shape, joins, weights, cell_counts, row_counts, chance, chance_without, choice, latent,
    above,
):  # fmt: skip
    """Draw each latent label given all others; then all equal ones of an item at once take a label it has not.

    `shape` is alpha times the prevalence, shape (category,), and `joins` its `rising`.
    """
    n_labels = above.shape[0]
    weight, likely, seen = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels, np.bool_)
    cell, candidate, item_start, candidate_start = cells.cell, cells.candidate, cells.item_start, cells.candidate_start
    row_start, row_cell = cells.row_start, cells.row_cell
    for i in range(item_start.size - 1):
        first, start, stop, begin = candidate_start[i], item_start[i], item_start[i + 1], cells.cell_start[i]
        m, position = candidate_start[i + 1] - first, begin
        for c in range(m):
            likely[c] = latent[first + c] + shape[candidate[first + c]]
        for t in range(start, stop):
            old, total = choice[t], 0.0
            likely[old] -= 1.0
            for c in range(m):
                weight[c] = likely[c] * chance[cell[position + c]]
            weight[old] = likely[old] * chance_without[cell[position + old]]
            for c in range(m):
                total += weight[c]
            new = draw_position(rng, weight, m, total)
            likely[new] += 1.0
            if new != old:
                choice[t] = new
                move_latent(candidate, first + old, first + new, 1, latent, above)
                move_annotation(
                    row_start, row_cell, row, cell[position + old], cell[position + new], weights, cell_counts,
                    row_counts, chance, chance_without,
                )  # fmt: skip
            position += m
        # Renaming keeps who agrees with whom, so that visiting the groups by their first member visits each once.
        free = 0
        for c in range(m):
            seen[c] = False
            free += latent[first + c] == 0.0
        if free == 0:
            continue
        for t in range(start, stop):
            old = choice[t]
            size = int(latent[first + old])
            if seen[old] or size < 2:  # one alone has just been drawn
                continue
            for c in range(m):
                joined = joins[candidate[first + c], size]
                weight[c] = joined if latent[first + c] == 0.0 or c == old else 0.0
            ahead = begin + (t - start) * m
            if repeats[i]:
                multiply_chance_of_repeats(cells, row, i, choice, old, old, cell_counts, row_counts, weight)
            else:
                position = ahead
                for other in range(t, stop):
                    if choice[other] == old:
                        multiply_chance(cell, position, m, old, chance, chance_without, weight)
                    position += m
            total = 0.0
            for c in range(m):
                total += weight[c]
            new = draw_position(rng, weight, m, total)
            seen[new] = True
            if new == old:
                continue
            move_latent(candidate, first + old, first + new, size, latent, above)
            position = ahead
            for other in range(t, stop):
                if choice[other] == old:
                    choice[other] = new
                    move_annotation(
                        row_start, row_cell, row, cell[position + old], cell[position + new], weights, cell_counts,
                        row_counts, chance, chance_without,
                    )  # fmt: skip
                position += m


@numba.njit(cache=True, nogil=True)
def draw_tables_of_items(rng, alpha, prevalence, above):
    """Draw how many latent labels of each label are new draws from the prevalence (Antoniak 1974), shape (category,).

    Of n equal latent labels of an item that is a sum of Bernoulli(a / (a + r)), r = 0..n-1, a = alpha prevalence.
    """
    tables = np.zeros(prevalence.size)
    for k in range(prevalence.size):
        shape, r = alpha * prevalence[k], 0
        while r < above.shape[1] and above[k, r] > 0.0:
            tables[k] += count_new(rng, shape, r, int(above[k, r]))
            r += 1
    return tables


@numba.njit(cache=True, nogil=True)
def ambiguity_density(u, prevalence, above, sizes_above, log_mean, log_sd):
    """Log density of u = log alpha: Dirichlet-multinomial likelihoods of latent labels, and a normal prior on u."""
    alpha = math.exp(u)
    value = -0.5 * ((u - log_mean) / log_sd) ** 2
    for r in range(sizes_above.size):
        value -= sizes_above[r] * math.log(alpha + r)
    for k in range(prevalence.size):
        for r in range(sizes_above.size):
            if above[k, r] == 0.0:
                break
            value += above[k, r] * math.log(alpha * prevalence[k] + r)
    return value


@numba.njit(cache=True, nogil=True)
def draw_ambiguity(rng, alpha, prevalence, above, sizes_above, log_mean, log_sd):
    """Draw alpha given the latent labels by slice sampling on its logarithm."""
    given = (prevalence, above, sizes_above, log_mean, log_sd)
    # Width .5: with a thousand items alpha is known to a tenth, with a hundred to a half.
    return math.exp(slice_step(rng, ambiguity_density, math.log(alpha), 0.5, given))


@numba.njit(cache=True, nogil=True)
def sweep_mixed_membership(
    rng, times, cells, rows, repeats, log_mean, log_sd, sizes_above, prevalence_shape, prevalence, alpha,
    choice, weights, latent, above,
):  # fmt: skip
    """Draw hyperparameters, names, prevalence, latent labels and alpha in turn, so many times; return alpha.

    The counts move with the latent labels.
    """
    cell_counts, row_counts = np.empty(weights.size), np.empty(cells.row_label.size)
    chance, chance_without = np.empty(weights.size), np.empty(weights.size)
    for _ in range(times):
        draw_population(rng, cells, rows, weights)
        if rename_labels(rng, cells, rows, weights, prevalence, choice):
            count_latent(cells, choice, weights, latent, above)
        draw_prevalence(rng, prevalence_shape, draw_tables_of_items(rng, alpha, prevalence, above), prevalence)
        pseudo_counts(cells, rows, weights, cell_counts, row_counts, chance, chance_without)
        shape = alpha * prevalence
        draw_latent(
            rng, cells, rows.row, repeats, shape, rising(shape, sizes_above.size), weights, cell_counts,
            row_counts, chance, chance_without, choice, latent, above,
        )  # fmt: skip
        alpha = draw_ambiguity(rng, alpha, prevalence, above, sizes_above, log_mean, log_sd)
    return alpha


@numba.njit(cache=True, nogil=True)
def draw_plausibility(rng, cells, shape, plausibility):
    """Draw lambda_i ~ Dirichlet(shape_i) over its candidates, shape (candidate,)."""
    for i in range(cells.item_start.size - 1):
        first, last = cells.candidate_start[i], cells.candidate_start[i + 1]
        for c in range(first, last):
            plausibility[c] = log_gamma_draw(rng, shape[c])
        normalise_logs(plausibility[first:last])
