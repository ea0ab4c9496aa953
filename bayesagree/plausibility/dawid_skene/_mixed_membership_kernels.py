"""Compiled Gibbs steps of mixed membership; see `_mixed_membership` for the model.

`choice` is the latent label of each annotation, as position among its item's candidates; `latent` how many annotations
of an item have each candidate, shape (candidate,); ``above[k, r]`` how many items have more than r latent labels k.
"""

import math

import numba
import numpy as np

from bayesagree._numerics.draws import normalise_logs, slice_step
from bayesagree._numerics.gamma import log_gamma_draw
from bayesagree.plausibility.dawid_skene._gibbs_kernels import (
    NOTHING,
    chance_left,
    chance_of_repeats,
    draw_position,
    draw_prevalence,
    move_annotation,
    move_together,
    multiply_chance,
    total_weight,
)
from bayesagree.plausibility.dawid_skene._population_kernels import draw_population, pseudo_counts, rename_labels


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


@numba.njit(cache=True, nogil=True, error_model="numpy")
def draw_latent(rng, cells, row, repeats, shape, rise, cell_counts, row_counts, chance, choice, latent, surprise):
    """Draw each latent label given all others; then all equal ones of an item at once take a label it has not.

    `shape` is alpha prevalence, ``rise[k, n]`` shape_k (shape_k + 1) ... (shape_k + n - 1) / n!; `cell_counts` and
    `row_counts` hold prior shapes plus present counts, and `chance` their ratio, the chance of a label with the
    confusion integrated out. `surprise` grows by 1 / Pr(annotation given all others and their latent labels).
    """
    weight, logs = np.empty(shape.size), np.empty(shape.size)
    seen, alpha = np.empty(shape.size, np.bool_), shape.sum()
    cell, candidate, item_start, candidate_start = cells.cell, cells.candidate, cells.item_start, cells.candidate_start
    for i in range(item_start.size - 1):
        first, start, stop, begin = candidate_start[i], item_start[i], item_start[i + 1], cells.cell_start[i]
        m, position = candidate_start[i + 1] - first, begin
        for t in range(start, stop):
            old, total = choice[t], 0.0
            latent[first + old] -= 1.0
            stays = chance_left(cell_counts, row_counts, row, cell[position + old])
            for c in range(m):
                likely = stays if c == old else chance[cell[position + c]]
                weight[c] = (latent[first + c] + shape[candidate[first + c]]) * likely
                total += weight[c]
            surprise[t] += (stop - start - 1 + alpha) / max(total, NOTHING)
            new = draw_position(rng, weight, m, total)
            latent[first + new] += 1.0
            if new != old:
                choice[t] = new
                before, after = cell[position + old], cell[position + new]
                move_annotation(cells, row, before, after, cell_counts, row_counts, chance)
            position += m
        # Renaming keeps who agrees with whom, so that visiting the groups by their first member visits each once.
        free = 0
        for c in range(m):
            seen[c] = False
            free += latent[first + c] == 0.0
        for t in range(start, stop):
            old = choice[t]
            size = latent[first + old]
            if free == 0 or seen[old] or size < 2.0:  # one alone has just been drawn
                continue
            for c in range(m):
                weight[c] = rise[candidate[first + c], int(size)] if latent[first + c] == 0.0 or c == old else 0.0
                logs[c] = 0.0
            if repeats[i]:
                chance_of_repeats(cells, row, i, choice, old, old, cell_counts, row_counts, logs[:m])
            else:
                position = begin
                for other in range(start, stop):
                    if choice[other] == old:
                        multiply_chance(cell, row, position, m, old, cell_counts, row_counts, chance, weight, logs)
                    position += m
            total = total_weight(weight, logs, m)
            new = draw_position(rng, weight, m, total)
            seen[new] = True
            if new != old:
                move_together(cells, row, i, choice, old, old, new, cell_counts, row_counts, chance)
                latent[first + old], latent[first + new] = 0.0, size
                for other in range(t, stop):
                    if choice[other] == old:
                        choice[other] = new


@numba.njit(cache=True, nogil=True)
def rising_factors(shape, most):
    """Return shape_k (shape_k + 1) ... (shape_k + n - 1) / n! for n = 0, ..., most, shape (category, n)."""
    rise = np.ones((shape.size, most + 1))
    for k in range(shape.size):
        for n in range(most):
            rise[k, n + 1] = rise[k, n] * (shape[k] + n) / (n + 1)
    return rise


@numba.njit(cache=True, nogil=True)
def draw_tables_of_items(rng, alpha, prevalence, above):
    """Draw how many latent labels of each label came fresh from the prevalence (Antoniak 1974), shape (category,).

    Of n equal latent labels of an item that is a sum of Bernoulli(a / (a + r)), r = 0..n-1, a = alpha prevalence.
    """
    tables = np.zeros(prevalence.size)
    for k in range(prevalence.size):
        shape, r = alpha * prevalence[k], 0
        while r < above.shape[1] and above[k, r] > 0.0:
            tables[k] += rng.binomial(int(above[k, r]), shape / (shape + r))
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
    rng, times, cells, rows, repeats, prevalence_shape, log_mean, log_sd, sizes_above, alpha, prevalence,
    choice, weights, latent, above, surprise,
):  # fmt: skip
    """Draw hyperparameters, names, prevalence, latent labels and alpha in turn, so many times; return alpha."""
    cell_counts, row_counts, chance = np.empty(weights.size), np.empty(cells.row_label.size), np.empty(weights.size)
    for _ in range(times):
        draw_population(rng, cells, rows, weights)
        if rename_labels(rng, cells, rows, weights, choice):
            count_latent(cells, choice, weights, latent, above)
        draw_prevalence(rng, prevalence_shape, draw_tables_of_items(rng, alpha, prevalence, above), prevalence)
        pseudo_counts(cells, rows, weights, cell_counts, row_counts, chance)
        shape = alpha * prevalence
        rise = rising_factors(shape, sizes_above.size)
        draw_latent(
            rng, cells, rows.row, repeats, shape, rise, cell_counts, row_counts, chance, choice, latent, surprise
        )  # fmt: skip
        count_latent(cells, choice, weights, latent, above)
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
