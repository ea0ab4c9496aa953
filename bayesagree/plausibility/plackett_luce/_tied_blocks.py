"""Compiled arrival times of tied labels: exact draws, linear in the size of the block.

The wait of a tied block has a log-concave density, from which y = log(W V) is drawn by rejection from a hull of
tangents: W. R. Gilks, P. Wild, "Adaptive rejection sampling for Gibbs sampling", Applied Statistics 41 (1992) 337-348.
"""

import math

import numba
import numpy as np

# Labels whose orders are summed, 2^6 sets of them, faster than rejection; of worths, that six factors stay finite.
FEW, LARGEST_RATIO = 6, 1e50
# Just below the largest logarithm whose exponential is finite (709.8).
LOG_HUGE = 700.0


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
    """Three tangents (point, height, slope) of `log_height`, left of its mode, near it and right of it.

    Gilks and Wild (1992) add a tangent at each rejected point; a hull of three good ones accepts nearly every proposal.
    """
    tangents = np.empty((3, 3))
    middle, curvature = near_mode(log_ratio)
    # 1.6 standard deviations of the normal density with that curvature: hulls reject least near there.
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
    """Draw y = log(W V) by rejection from the hull of tangents; exact for any tangents, fast for good ones."""
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
def tied_pair(worth, remaining, multiplicity, rng, time):
    """Draw the arrivals of two tied labels, as `tied_block`: which came first, then the two waits.

    Pr(k first, then l) = worth_k / (worth_k + worth_l + W) * worth_l / (worth_l + W), so that only the last factor's
    denominator tells the two orders apart.
    """
    left = (worth[1] + remaining, worth[0] + remaining)
    finish = 0.0
    for _ in range(multiplicity):
        first = 0 if rng.random() * (left[0] + left[1]) < left[1] else 1
        wait = rng.standard_exponential() / (worth[first] + left[first])
        time[first] += wait
        wait += rng.standard_exponential() / left[first]
        time[1 - first] += wait
        finish += wait
    return finish


@numba.njit(cache=True, nogil=True)
def ordered_block(worth, remaining, multiplicity, rng, time):
    """Draw the arrivals of a few tied labels, as `tied_block`: the order in which they came, then the waits.

    An order has the probability prod_k worth_k / (worth of all still to come + W): the chance of a label to come next
    is a sum over the orders of those after it, from one set of labels (the bits of `still`) to the next larger one.
    """
    everyone, total = 2**worth.size - 1, remaining + worth.sum()
    left, chance = np.empty((2, everyone + 1))
    left[0], chance[0] = remaining, 1.0
    for still in range(1, everyone + 1):
        left[still], chance[still] = remaining, 0.0
        for k in range(worth.size):
            if still >> k & 1:
                left[still] += worth[k]
                chance[still] += chance[still ^ (1 << k)]
        chance[still] *= total / left[still]
    finish = 0.0
    for _ in range(multiplicity):
        now, still = 0.0, everyone
        while still:
            now += rng.standard_exponential() / left[still]
            place, chosen = rng.random() * chance[still] * left[still] / total, -1
            for k in range(worth.size):
                if still >> k & 1 and (chosen < 0 or place > 0.0):
                    chosen = k
                    place -= chance[still ^ (1 << k)]
            time[chosen] += now
            still ^= 1 << chosen
        finish += now
    return finish


@numba.njit(cache=True, nogil=True)
def tied_block(worth, remaining, multiplicity, rng, time):
    """Draw the arrivals of a tied block, `multiplicity` times: all of its labels come before any that remain.

    The moment V of the first arrival among the remaining has density W e^(-W v) prod_k (1 - e^(-worth_k v)); given
    V each label arrives by a truncated exponential. Writes each label's summed arrival time, returns the sum of the
    last arrivals (V itself is forgotten: the race has no memory).
    """
    time[:] = 0.0
    finish = 0.0
    if worth.size == 2:
        return tied_pair(worth, remaining, multiplicity, rng, time)
    if worth.size <= FEW and (remaining + worth.min()) * LARGEST_RATIO > remaining + worth.sum():
        return ordered_block(worth, remaining, multiplicity, rng, time)
    if remaining == 0.0:
        for _ in range(multiplicity):
            last = 0.0
            for k in range(worth.size):
                e = rng.standard_exponential() / worth[k]
                time[k] += e
                last = max(last, e)
            finish += last
        return finish
    log_ratio = np.log(worth) - math.log(remaining)
    tangents = hull(log_ratio)
    for _ in range(multiplicity):
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
