"""Compiled Gibbs sampler of Plackett-Luce worths for partial rankings with ties; linear in the size of a block.

Notation: worth ``theta`` (the worths scaled to sum to one, which is the plausibility), ``remaining`` (W, the worth of
everything ranked later or not at all), ``exposure`` (how long a label was at risk of arriving, summed over annotators).
The scale of the worths is not identified, so a sweep works on ``theta`` and draws the total afresh: nothing overflows,
whatever the prior.
"""

import math

import numba
import numpy as np

LOG_HUGE = 700.0
TINY = 1e-290
"""Smallest share a label can have: below it only priors of shapes under 0.01 put weight."""


@numba.njit(cache=True, nogil=True)
def log_height(log_ratio, y):
    """Return log density, up to a constant, of y = log(W V): y - e^y + sum_k log(1 - e^-z_k), z_k = e^(y + ratio_k)."""
    total, product = y - math.exp(y), 1.0
    for ratio in log_ratio:
        z = math.exp(min(ratio + y, LOG_HUGE))
        if z < 1e-10:
            total += ratio + y
        else:
            product *= -math.expm1(-z)
            if product < 1e-200:
                total += math.log(product)
                product = 1.0
    return total + math.log(product)


@numba.njit(cache=True, nogil=True)
def slope_and_curvature(log_ratio, y):
    """Return the first two derivatives of `log_height`; the second is negative (the density is log-concave)."""
    slope, curvature = 1.0 - math.exp(y), -math.exp(y)
    for ratio in log_ratio:
        z = math.exp(min(ratio + y, LOG_HUGE))
        if z < 1e-10:
            slope += 1.0
        elif z < LOG_HUGE:
            g = z / math.expm1(z)
            slope += g
            curvature += g * (1.0 - z - g)
    return slope, curvature


@numba.njit(cache=True, nogil=True)
def near_mode(log_ratio):
    """Return a point near the mode of `log_height` and the curvature there; e^mode lies between 1 and 1 + |B|."""
    high = math.log1p(log_ratio.size)
    y, curvature = 0.5 * high, -1.0
    for _ in range(8):
        slope, curvature = slope_and_curvature(log_ratio, y)
        step = min(max(y - slope / curvature, 0.0), high) - y
        y += step
        if abs(step) < 0.05:
            break
    return y, curvature


@numba.njit(cache=True, nogil=True)
def hull(log_ratio):
    """Return three tangents (point, height, slope) of `log_height`: left of its mode, near it and right of it."""
    tangents = np.empty((3, 3))
    middle, curvature = near_mode(log_ratio)
    reach = 1.6 / math.sqrt(-curvature)
    for i in range(3):
        y = middle + (i - 1) * reach
        slope = slope_and_curvature(log_ratio, y)[0]
        while (i == 0 and slope <= 0.0) or (i == 2 and slope >= 0.0):
            y += (i - 1) * reach
            slope = slope_and_curvature(log_ratio, y)[0]
        tangents[i, 0], tangents[i, 1], tangents[i, 2] = y, log_height(log_ratio, y), slope
    return tangents


@numba.njit(cache=True, nogil=True)
def crossing(tangents, i):
    """Return where tangents i and i + 1 meet (their points lie in order, the function is concave)."""
    y0, h0, s0 = tangents[i]
    y1, h1, s1 = tangents[i + 1]
    if s0 - s1 < 1e-12:
        return 0.5 * (y0 + y1)
    return min(max((h1 - h0 + s0 * y0 - s1 * y1) / (s0 - s1), y0), y1)


@numba.njit(cache=True, nogil=True)
def draw_log_finish(log_ratio, tangents, rng):
    """Draw y = log(W V) by rejection from the tangent hull; exact for any tangents, fast for good ones."""
    left, right = crossing(tangents, 0), crossing(tangents, 1)
    top = tangents[1, 1]
    slope = tangents[1, 2]
    width = right - left
    low = math.exp(top + slope * (left - tangents[1, 0]) - top)
    growth = math.expm1(slope * width)
    flat = abs(slope * width) < 1e-9
    area_left = math.exp(tangents[0, 1] + tangents[0, 2] * (left - tangents[0, 0]) - top) / tangents[0, 2]
    area_middle = low * (width if flat else growth / slope)
    area_right = -math.exp(tangents[2, 1] + tangents[2, 2] * (right - tangents[2, 0]) - top) / tangents[2, 2]
    while True:
        u = rng.random() * (area_left + area_middle + area_right)
        if u < area_left:
            i, y = 0, left - rng.standard_exponential() / tangents[0, 2]
        elif u < area_left + area_middle:
            part = (u - area_left) / area_middle
            i, y = 1, left + (part * width if flat else math.log1p(part * growth) / slope)
        else:
            i, y = 2, right - rng.standard_exponential() / tangents[2, 2]
        line = tangents[i, 1] + tangents[i, 2] * (y - tangents[i, 0])
        if line - rng.standard_exponential() <= log_height(log_ratio, y):
            return y


@numba.njit(cache=True, nogil=True)
def truncated_exponential(rate, z, limit, rng):
    """Draw from Exp(rate) given that it is below `limit`, z = rate * limit."""
    u = rng.random()
    if z > 1.0:
        return -math.log1p(u * math.expm1(-z)) / rate
    return limit * (u if z < 1e-12 else -math.log1p(u * math.expm1(-z)) / z)


@numba.njit(cache=True, nogil=True)
def tied_pair(worth, remaining, copies, rng, time):
    """Draw the arrivals of two tied labels, as `tied_block`: which came first, then the two waits.

    Pr(k first, then l) = worth_k / (worth_k + worth_l + W) * worth_l / (worth_l + W), so that only the last factor's
    denominator tells the two orders apart.
    """
    left = (worth[1] + remaining, worth[0] + remaining)
    finish = 0.0
    for _ in range(copies):
        first = 0 if rng.random() * (left[0] + left[1]) < left[1] else 1
        wait = rng.standard_exponential() / (worth[first] + left[first])
        time[first] += wait
        wait += rng.standard_exponential() / left[first]
        time[1 - first] += wait
        finish += wait
    return finish


@numba.njit(cache=True, nogil=True)
def tied_block(worth, remaining, copies, rng, time):
    """Draw the arrivals of a tied block, `copies` times: all of its labels come before any that remain.

    The moment V of the first arrival among the remaining has density W e^(-W v) prod_k (1 - e^(-worth_k v)); given
    V each label arrives by a truncated exponential. Writes each label's summed arrival time, returns the sum of the
    last arrivals (V itself is forgotten: the race has no memory).
    """
    time[:] = 0.0
    finish = 0.0
    if worth.size == 2:
        return tied_pair(worth, remaining, copies, rng, time)
    if remaining == 0.0:
        for _ in range(copies):
            last = 0.0
            for k in range(worth.size):
                e = rng.standard_exponential() / worth[k]
                time[k] += e
                last = max(last, e)
            finish += last
        return finish
    log_ratio = np.log(worth) - math.log(remaining)
    tangents = hull(log_ratio)
    for _ in range(copies):
        y = draw_log_finish(log_ratio, tangents, rng)
        limit = math.exp(y) / remaining
        last = 0.0
        for k in range(worth.size):
            z = math.exp(min(log_ratio[k] + y, LOG_HUGE))
            e = truncated_exponential(worth[k], z, limit, rng)
            time[k] += e
            last = max(last, e)
        finish += last
    return finish


@numba.njit(cache=True, nogil=True)
def add_exposure(theta, blocks, entry_start, entry, copies, rng, in_tail, exposure, tail_exposure, scratch):
    """Draw the arrival times of one ranking, `copies` times, and add what every label was exposed to.

    From the moment on when only labels of the set `in_tail` are left, exposures go to `tail_exposure`. Returns how
    many labels of the set arrived before.
    """
    n = theta.size - 1
    named, remaining, worth, time = scratch
    named[:n] = False
    first, last = blocks
    for e in range(entry_start[first], entry_start[last]):
        named[entry[e]] = True
    # From the back: subtracting from a total would lose every digit of a small remainder.
    rest = theta[n]
    for k in range(n):
        if not named[k]:
            rest += theta[k]
    for b in range(last - 1, first - 1, -1):
        remaining[b - first] = rest
        for e in range(entry_start[b], entry_start[b + 1]):
            rest += theta[entry[e]]
    tail = tail_start(blocks, entry_start, entry, named, in_tail)
    elapsed, before_tail, early = 0.0, 0.0, 0
    target = exposure
    for b in range(first, last):
        if b == tail:
            before_tail, elapsed, target = elapsed, 0.0, tail_exposure
        at, size = entry_start[b], entry_start[b + 1] - entry_start[b]
        for e in range(at, at + size):
            if b >= tail:
                exposure[entry[e]] += before_tail
            elif in_tail[entry[e]]:
                early += copies
        if size == 1:
            k = entry[at]
            # Equal rankings repeat the same wait: their sum is one gamma.
            wait = rng.standard_exponential() if copies == 1 else rng.standard_gamma(copies)
            wait /= theta[k] + remaining[b - first]
            target[k] += elapsed + wait
            elapsed += wait
        else:
            for j in range(size):
                worth[j] = theta[entry[at + j]]
            finish = tied_block(worth[:size], remaining[b - first], copies, rng, time[:size])
            for j in range(size):
                target[entry[at + j]] += elapsed + time[j]
            elapsed += finish
    for k in range(n + 1):
        if k == n or not named[k]:
            target[k] += elapsed
            exposure[k] += before_tail
    return early


@numba.njit(cache=True, nogil=True)
def tail_start(blocks, entry_start, entry, named, in_tail):
    """Return the block of a ranking from which on only labels of a set are left, or the end if that never happens."""
    first, last = blocks
    if not in_tail[named.size]:
        return last
    for k in range(named.size):
        if not (named[k] or in_tail[k]):
            return last
    tail = last
    while tail > first:
        for e in range(entry_start[tail - 1], entry_start[tail]):
            if not in_tail[entry[e]]:
                return tail
        tail -= 1
    return tail


@numba.njit(cache=True, nogil=True)
def rescale_tail(theta, total, in_tail, prior_shape, early, exposure, tail_exposure, rng):
    """Draw a common factor for the worths of a set of labels, and add the set's late exposures divided by it.

    Multiplying the worths of the set by s and dividing by s all waits in which only the set is left changes no other
    density, so that s given everything else is a gamma variable (generalised Gibbs step). Without it, labels that
    everybody ranks low move together in steps much smaller than their range.
    """
    shape, rate = float(early), 0.0
    for k in range(theta.size):
        if in_tail[k]:
            shape += prior_shape[k]
            rate += theta[k] * (total + exposure[k])
    factor = draw_gamma(shape, rng) / rate if rate > 0.0 else 1.0
    scale = 1.0 / factor if factor > 1e-250 else 1.0
    for k in range(theta.size):
        exposure[k] += tail_exposure[k] * scale


@numba.njit(cache=True, nogil=True)
def draw_gamma(shape, rng):
    """Draw from Gamma(shape, 1); below shape 1 through Gamma(shape + 1), which does not underflow early."""
    if shape <= 0.0:
        return 0.0
    if shape >= 1.0:
        return rng.standard_gamma(shape)
    return rng.standard_gamma(shape + 1.0) * math.exp(-rng.standard_exponential() / shape)


@numba.njit(cache=True, nogil=True)
def draw_theta(theta, total, exposure, posterior_shape, rng):
    """Draw the worths given the exposures, scaled to sum to one.

    Worth k is Gamma(a + n_k, 1 + exposure_k / S), S the total worth, exposures in units of 1 / S.
    """
    if total == 0.0 and exposure.max() == 0.0:
        total = 1.0  # nothing was observed: any scale will do
    scale = 0.0
    for k in range(theta.size):
        theta[k] = draw_gamma(posterior_shape[k], rng) / (total + exposure[k])
        scale += theta[k]
    if scale == 0.0:
        # Nothing observed and shapes so small that every gamma underflows: one label has it all.
        theta[np.searchsorted(np.cumsum(posterior_shape), rng.random() * posterior_shape.sum())] = 1.0
        return
    for k in range(theta.size):
        theta[k] = max(theta[k] / scale, TINY if posterior_shape[k] > 0.0 else 0.0)


@numba.njit(cache=True, nogil=True)
def sample_item(cases, item, shape, unnamed_shape, chains, tune, draws, thin, rng, out):
    """Run the chains of one item; `out` has shape (chains * draws, n + 1), the last column for unnamed labels."""
    label_start, _, ranking_start, copies, block_start, entry_start, entry, arrivals, standing, _, _ = cases
    lo, hi = label_start[item], label_start[item + 1]
    n = hi - lo
    prior_shape, posterior_shape = np.full(n + 1, shape), np.empty(n + 1)
    prior_shape[n] = unnamed_shape
    posterior_shape[:] = prior_shape
    posterior_shape[:n] += arrivals[lo:hi]
    total_shape = prior_shape.sum()
    theta, exposure, tail_exposure = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    in_tail = np.ones(n + 1, np.bool_)
    scratch = (np.empty(n, np.bool_), np.empty(n), np.empty(n), np.empty(n))
    row = 0
    for _ in range(chains):
        exposure[:] = 1.0
        draw_theta(theta, draw_gamma(total_shape, rng), exposure, posterior_shape, rng)
        for sweep in range(tune + draws * thin):
            # The labels below a random place in the order of their average ranks, and all that nobody named.
            place = int(rng.random() * n)
            for k in range(n):
                in_tail[k] = standing[lo + k] > place
            exposure[:] = 0.0
            tail_exposure[:] = 0.0
            early = 0
            for r in range(ranking_start[item], ranking_start[item + 1]):
                blocks = (block_start[r], block_start[r + 1])
                early += add_exposure(
                    theta, blocks, entry_start, entry, copies[r], rng, in_tail, exposure, tail_exposure, scratch
                )
            # The total is independent of theta a posteriori: drawn afresh.
            total = draw_gamma(total_shape, rng)
            rescale_tail(theta, total, in_tail, prior_shape, early, exposure, tail_exposure, rng)
            draw_theta(theta, total, exposure, posterior_shape, rng)
            if sweep >= tune and (sweep - tune + 1) % thin == 0:
                out[row] = theta
                row += 1
