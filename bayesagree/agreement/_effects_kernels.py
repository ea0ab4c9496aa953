"""Gibbs sweeps of common agreement with annotators' levels: every variable by slice sampling given all others.

    rating of item i by annotator j:  Beta(mu_ij p_j, (1 - mu_ij) p_j),
    logit(mu_ij) = z_i + shift_j,  p_j = p exp(-spread_j),  sum_j shift_j = sum_j spread_j = 0

The probability of a level is smooth in logit(mu) and log p: it is read from a table of both, by cubic interpolation,
instead of two incomplete beta functions for each rating and each evaluation.
"""

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from bayesagree._numerics.beta import SMALLEST
from bayesagree._numerics.draws import slice_step
from bayesagree._numerics.types import Floats
from bayesagree._numerics.vectors import copy_to

# log p of the table: Phi between -0.9965 and 1 - 2^-199. Draws stay inside.
LOG_PRECISION = (math.log(0.005), math.log(400.0))
# Logits beyond this are read as this: a level at the other end of the scale then has probability zero to 1e-20.
FARTHEST = 60.0
# Steps of 0.08 in log p and of 0.025 in asinh(logit / 2): the interpolated log probability errs by 1e-5 at Phi .99.
N_PRECISIONS, N_LOGITS = 142, 329
FARTHEST_U = math.asinh(FARTHEST / 2)
HALF_LOG_2 = math.log(2) / 2


class RatingArrays(NamedTuple):
    """Ratings sorted by item, and the prior of the items.

    Attributes
    ----------
    item_start, annotator, code
        First rating of each item (and the end), annotator and level of each rating.
    log_x, log_y
        log x and log(1 - x) of each rating on a continuous scale, read where the table is empty.
    row_of, annotator_start
        Ratings sorted by annotator, and where each annotator's begin.
    truth, truth_sd
        Known truth of each item on (0, 1), NaN without one; their standard deviation.
    table
        Log probability of each level, shape (level, log precision, logit); empty for continuous ratings.
    shapes
        Shapes of the Beta priors of (1 + Phi) / 2, m and s, shape (3, 2).
    scales
        Scales of the half-normal priors of the standard deviations of shifts and spreads.
    """

    item_start: Any
    annotator: Any
    code: Any
    log_x: Floats
    log_y: Floats
    row_of: Any
    annotator_start: Any
    truth: Floats
    truth_sd: float
    table: Floats
    shapes: Floats
    scales: Floats


@numba.njit(cache=True, nogil=True)
def _cubic(at, n):
    """Return the second of four neighbouring grid points and the weights of all four."""
    at = min(max(at, 0.0), n - 1.0)
    k = min(max(int(at), 1), n - 3)
    t = at - k
    inner, outer = (t - 1) * (t - 2), (t + 1) * t
    return k, -t * inner / 6, (t + 1) * inner / 2, -outer * (t - 2) / 2, outer * (t - 1) / 6


@numba.njit(cache=True, nogil=True)
def at_precision(table, log_precision, out):
    """Write the table at one precision, shape (level, logit)."""
    n = table.shape[1]
    place = (log_precision - LOG_PRECISION[0]) / (LOG_PRECISION[1] - LOG_PRECISION[0]) * (n - 1)
    k, u0, u1, u2, u3 = _cubic(place, n)
    for level in range(table.shape[0]):
        for c in range(table.shape[2]):
            rows = table[level, :, c]
            out[level, c] = u0 * rows[k - 1] + u1 * rows[k] + u2 * rows[k + 1] + u3 * rows[k + 2]


@numba.njit(cache=True, nogil=True)
def log_probability(code, log_x, log_y, logit, log_precision, line):
    """Return the log probability of one rating: a level's from `line`, a continuous one's by its density."""
    if line.shape[0] == 0:
        precision = math.exp(log_precision)
        a = max(precision / (1 + math.exp(-logit)), SMALLEST)
        b = max(precision / (1 + math.exp(logit)), SMALLEST)
        return math.lgamma(precision) - math.lgamma(a) - math.lgamma(b) + (a - 1) * log_x + (b - 1) * log_y
    n = line.shape[1]
    half = abs(logit) / 2
    u = math.log(half + math.sqrt(half * half + 1)) / FARTHEST_U
    j, w0, w1, w2, w3 = _cubic(((u if logit > 0 else -u) + 1) / 2 * (n - 1), n)
    row = line[code]
    return w0 * row[j - 1] + w1 * row[j] + w2 * row[j + 1] + w3 * row[j + 2]


@numba.njit(cache=True, nogil=True)
def log_shares(z):
    """Return log mu and log(1 - mu) of z = logit(mu)."""
    tail = math.log1p(math.exp(-abs(z)))
    return (-tail, -z - tail) if z > 0 else (z - tail, -tail)


@numba.njit(cache=True, nogil=True)
def log_item_prior(z, a, b, truth, truth_sd):
    """Return the log density of z = logit(mu) up to a constant: mu ~ Beta(a, b), or normal around a known truth."""
    log_mu, log_rest = log_shares(z)
    if math.isnan(truth):
        return a * log_mu + b * log_rest
    return log_mu + log_rest - 0.5 * ((math.exp(log_mu) - truth) / truth_sd) ** 2


@numba.njit(cache=True, nogil=True)
def _of_item(z, i, data, shift, log_precision, lines, a, b):
    total = log_item_prior(z, a, b, data.truth[i], data.truth_sd)
    for r in range(data.item_start[i], data.item_start[i + 1]):
        j = data.annotator[r]
        line = lines[min(j, lines.shape[0] - 1)]
        total += log_probability(data.code[r], data.log_x[r], data.log_y[r], z + shift[j], log_precision[j], line)
    return total


@numba.njit(cache=True, nogil=True)
def _of_annotator(j, data, item, z, shift, log_precision, line):
    """Return the log likelihood of all ratings of one annotator."""
    total = 0.0
    for k in range(data.annotator_start[j], data.annotator_start[j + 1]):
        r = data.row_of[k]
        total += log_probability(data.code[r], data.log_x[r], data.log_y[r], z[item[r]] + shift, log_precision, line)
    return total


@numba.njit(cache=True, nogil=True)
def _of_shifts(move, j, k, sd, data, item, z, shift, log_precision, lines):
    """Return the log density of moving annotator j up and k down."""
    up, down, last = shift[j] + move, shift[k] - move, lines.shape[0] - 1
    likelihood = _of_annotator(j, data, item, z, up, log_precision[j], lines[min(j, last)])
    likelihood += _of_annotator(k, data, item, z, down, log_precision[k], lines[min(k, last)])
    return likelihood - (up**2 + down**2) / (2 * sd**2)


@numba.njit(cache=True, nogil=True)
def _of_spreads(move, j, k, sd, data, item, z, shift, spread, y, line):
    up, down = spread[j] + move, spread[k] - move
    at_precision(data.table, y - up, line)
    likelihood = _of_annotator(j, data, item, z, shift[j], y - up, line)
    at_precision(data.table, y - down, line)
    likelihood += _of_annotator(k, data, item, z, shift[k], y - down, line)
    return likelihood - (up**2 + down**2) / (2 * sd**2)


@numba.njit(cache=True, nogil=True)
def _of_all(data, item, z, shift, spread, y, lines):
    """Return the log likelihood of all ratings; `lines` is written anew for these precisions."""
    total = 0.0
    for j in range(shift.size):
        line = lines[min(j, lines.shape[0] - 1)]
        if j < lines.shape[0]:
            at_precision(data.table, y - spread[j], line)
        total += _of_annotator(j, data, item, z, shift[j], y - spread[j], line)
    return total


@numba.njit(cache=True, nogil=True)
def _of_precision(y, data, item, z, shift, spread, lines):
    """Return the log density of y = log p, Phi having its Beta prior."""
    if not LOG_PRECISION[0] < y < LOG_PRECISION[1]:
        return -math.inf
    power = math.exp(-HALF_LOG_2 * math.exp(y))  # (1 - Phi) / 2
    prior = y + data.shapes[0, 1] * math.log(power) + (data.shapes[0, 0] - 1) * math.log1p(-power)
    return prior + _of_all(data, item, z, shift, spread, y, lines)


@numba.njit(cache=True, nogil=True)
def _of_sd_given_values(log_sd, values, scale):
    sd = math.exp(log_sd)
    square = 0.0
    for v in values:
        square += v**2
    return -(values.size - 1) * log_sd - square / (2 * sd**2) + log_sd - sd**2 / (2 * scale**2)


@numba.njit(cache=True, nogil=True)
def _of_sd_of_shifts(log_sd, unit, scale, data, item, z, spread, y, lines):
    sd = math.exp(log_sd)
    return log_sd - sd**2 / (2 * scale**2) + _of_all(data, item, z, sd * unit, spread, y, lines)


@numba.njit(cache=True, nogil=True)
def _of_sd_of_spreads(log_sd, unit, scale, data, item, z, shift, y, lines):
    sd = math.exp(log_sd)
    return log_sd - sd**2 / (2 * scale**2) + _of_all(data, item, z, shift, sd * unit, y, lines)


@numba.njit(cache=True, nogil=True)
def _of_location(logit_m, s, n, sum_log, sum_log_rest, shapes):
    return _of_means(logit_m, math.log(s) - math.log1p(-s), n, sum_log, sum_log_rest, shapes)


@numba.njit(cache=True, nogil=True)
def _of_spread_of_means(logit_s, m, n, sum_log, sum_log_rest, shapes):
    return _of_means(math.log(m) - math.log1p(-m), logit_s, n, sum_log, sum_log_rest, shapes)


@numba.njit(cache=True, nogil=True)
def _of_means(logit_m, logit_s, n, sum_log, sum_log_rest, shapes):
    """Return the log density of logit m and logit s given the item means."""
    if abs(logit_m) > 30 or abs(logit_s) > 15:
        return -math.inf
    (log_m, log_m_rest), (log_s, log_s_rest) = log_shares(logit_m), log_shares(logit_s)
    size = math.exp(-2 * log_s) - 1
    a, b = max(math.exp(log_m) * size, SMALLEST), max(math.exp(log_m_rest) * size, SMALLEST)
    prior = shapes[1, 0] * log_m + shapes[1, 1] * log_m_rest + shapes[2, 0] * log_s + shapes[2, 1] * log_s_rest
    norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return prior + n * norm + a * sum_log + b * sum_log_rest


@numba.njit(cache=True, nogil=True)
def _draw_hyper(rng, z, truth, shapes, m, s):
    """Draw (m, s) given the means of the items without a known truth."""
    n, sum_log, sum_rest = 0, 0.0, 0.0
    for i in range(z.size):
        if math.isnan(truth[i]):
            log_mu, log_rest = log_shares(z[i])
            n, sum_log, sum_rest = n + 1, sum_log + log_mu, sum_rest + log_rest
    wide = 4.0 / math.sqrt(n + 1)
    x = slice_step(rng, _of_location, math.log(m) - math.log1p(-m), wide, (s, n, sum_log, sum_rest, shapes))
    m = 1 / (1 + math.exp(-x))
    x = slice_step(rng, _of_spread_of_means, math.log(s) - math.log1p(-s), wide, (m, n, sum_log, sum_rest, shapes))
    return m, 1 / (1 + math.exp(-x))


@numba.njit(cache=True, nogil=True)
def run_chain(rng, data, item, start, hierarchical, with_spread, tune, thin, hyper, z_drawn, shifts, spreads):
    """Write draws: hyper (draw, y m s sd_shift sd_spread), z (draw or 0, item), shifts and spreads (draw, annotator).

    `start` holds the first z of the items and after them the first y.
    """
    n_items, n_annotators = data.item_start.size - 1, shifts.shape[1]
    z, y = start[:n_items].copy(), start[n_items]
    shift, spread = np.zeros(n_annotators), np.zeros(n_annotators)
    sd, sd_spread, m, s = 0.3, 0.2, 0.5, 3**-0.5  # Beta(1, 1): the flat prior of the means
    typical = max(1.0, item.size / n_annotators)
    lines = np.empty((n_annotators if with_spread else 1, data.table.shape[0], data.table.shape[2]))
    line = np.empty(lines.shape[1:])
    for sweep in range(tune + hyper.shape[0] * thin):
        precision, size = math.exp(y), s**-2 - 1
        log_precision = y - spread
        for j in range(lines.shape[0]):
            at_precision(data.table, log_precision[j], lines[j])
        for i in range(n_items):
            wide = 4.0 / math.sqrt(1 + (data.item_start[i + 1] - data.item_start[i]) * precision / 2)
            z[i] = slice_step(
                rng, _of_item, z[i], wide, (i, data, shift, log_precision, lines, m * size, (1 - m) * size)
            )
        # Pairs keep the sum at zero; a random cycle of all annotators carries levels everywhere.
        order = rng.permutation(n_annotators)
        wide = 3.0 / math.sqrt(1 + typical * precision / 2)
        for k in range(n_annotators):
            j, other = order[k], order[k - 1]
            move = slice_step(rng, _of_shifts, 0.0, wide, (j, other, sd, data, item, z, shift, log_precision, lines))
            shift[j] += move
            shift[other] -= move
        if with_spread:
            wide = 3.0 / math.sqrt(1 + typical / 2)
            for k in range(n_annotators):
                j, other = order[k], order[k - 1]
                given = (j, other, sd_spread, data, item, z, shift, spread, y, line)
                move = slice_step(rng, _of_spreads, 0.0, wide, given)
                spread[j] += move
                spread[other] -= move
        # A standard deviation given the values, and given the values in units of it: where one of the two moves slowly
        # the other does not.
        x = slice_step(rng, _of_sd_given_values, math.log(sd), 1.0, (shift, data.scales[0]))
        unit = shift / math.exp(x)
        x = slice_step(rng, _of_sd_of_shifts, x, 0.5, (unit, data.scales[0], data, item, z, spread, y, lines))
        sd = math.exp(x)
        shift = sd * unit
        if with_spread:
            x = slice_step(rng, _of_sd_given_values, math.log(sd_spread), 1.0, (spread, data.scales[1]))
            unit = spread / math.exp(x)
            x = slice_step(rng, _of_sd_of_spreads, x, 0.5, (unit, data.scales[1], data, item, z, shift, y, lines))
            sd_spread = math.exp(x)
            spread = sd_spread * unit
        y = slice_step(rng, _of_precision, y, 4.0 / math.sqrt(1 + item.size / 2), (data, item, z, shift, spread, lines))
        if hierarchical:
            m, s = _draw_hyper(rng, z, data.truth, data.shapes, m, s)
        if sweep >= tune and (sweep - tune) % thin == 0:
            d = (sweep - tune) // thin
            hyper[d, 0], hyper[d, 1], hyper[d, 2], hyper[d, 3], hyper[d, 4] = y, m, s, sd, sd_spread
            copy_to(shifts[d], shift)
            copy_to(spreads[d], spread)
            if z_drawn.shape[0]:
                copy_to(z_drawn[d], z)


@numba.njit(cache=True, nogil=True)
def item_evidence(data, prior_of_item, shift, spread, y, at, log_weight, out):
    """Write log Pr(ratings of each item | everything but its mean) by a rule with nodes logit(mu), shape (item,).

    `log_weight` holds the log prior mass at each node, shape (prior, node).
    """
    n_items, n_nodes = out.size, at.size
    n_levels = data.table.shape[0]
    of_annotator = np.empty((shift.size, n_levels, n_nodes))
    line = np.empty((n_levels, data.table.shape[2]))
    for j in range(shift.size):
        at_precision(data.table, y - spread[j], line)
        for level in range(n_levels):
            for k in range(n_nodes):
                of_annotator[j, level, k] = log_probability(level, 0.0, 0.0, at[k] + shift[j], y - spread[j], line)
    total = np.empty(n_nodes)
    for i in range(n_items):
        for k in range(n_nodes):
            total[k] = log_weight[prior_of_item[i], k]
        for r in range(data.item_start[i], data.item_start[i + 1]):
            j = data.annotator[r]
            if n_levels:
                for k in range(n_nodes):
                    total[k] += of_annotator[j, data.code[r], k]
            else:
                for k in range(n_nodes):
                    total[k] += log_probability(0, data.log_x[r], data.log_y[r], at[k] + shift[j], y - spread[j], line)
        top = total.max()
        mass = 0.0
        for k in range(n_nodes):
            mass += math.exp(total[k] - top)
        out[i] = top + math.log(mass)
