"""Compiled Gibbs sweep of Plackett-Luce worths for partial rankings with ties; linear in the size of a block.

Notation: worth ``theta`` (the worths scaled to sum to one, which is the plausibility), ``exposure`` (how long a label
was at risk of arriving, summed over annotators, in units of 1 / `total`, the total worth). The scale of the worths is
not identified: a sweep draws the total afresh, and nothing overflows, whatever the prior.

The wait of a tied block has a log-concave density, from which y = log(W V) is drawn by rejection from a hull of
tangents: W. R. Gilks, P. Wild, "Adaptive rejection sampling for Gibbs sampling", Applied Statistics 41 (1992) 337-348.
"""

import math

import numba
import numpy as np

# Smallest share a label can have: below it only priors of shapes under 0.01 put weight.
TINY = 1e-290
# Just below the largest logarithm whose exponential is finite (709.8).
LOG_HUGE = 700.0


@numba.njit(cache=True, nogil=True)
def log_density(log_ratio, y):
    """Return log density of y = log(W V), up to a constant, and its first two derivatives; it is concave.

    y - e^y + sum_k log(1 - e^-z_k), z_k = e^(y + log_ratio_k).
    """
    height, slope, curvature = y - math.exp(y), 1.0 - math.exp(y), -math.exp(y)
    for ratio in log_ratio:
        z = math.exp(min(ratio + y, LOG_HUGE))
        if z < 1e-10:
            height += ratio + y
            slope += 1.0
            continue
        chance = -math.expm1(-z)
        g = z * math.exp(-z) / chance
        height += math.log(chance)
        slope += g
        curvature += g * (1.0 - z - g)
    return height, slope, curvature


@numba.njit(cache=True, nogil=True)
def tied_block(worth, remaining, times, rng, arrival):
    """Draw the arrivals of a tied block, `times` times: all of its labels come before any that remain.

    The moment V of the first arrival among the remaining has density W e^(-W v) prod_k (1 - e^(-worth_k v)); given V
    each label arrives by a truncated exponential. Two labels need no V: Pr(k, then l) is worth_k / (all) * worth_l /
    (worth_l + W), so that the last denominator tells the orders apart. Writes each label's summed arrival time, returns
    the sum of the last arrivals (V itself is forgotten: the race has no memory).
    """
    size, finish = worth.size, 0.0
    arrival[:size] = 0.0
    if size == 2:
        for _ in range(times):
            first = 0 if rng.random() * (2 * remaining + worth[0] + worth[1]) < worth[0] + remaining else 1
            left = worth[1 - first] + remaining
            wait = rng.standard_exponential() / (worth[first] + left)
            arrival[first] += wait
            wait += rng.standard_exponential() / left
            arrival[1 - first] += wait
            finish += wait
        return finish
    log_ratio = np.empty(size)
    low = high = top = low_slope = high_slope = 0.0
    if remaining > 0.0:
        for k in range(size):
            log_ratio[k] = math.log(worth[k]) - math.log(remaining)
        # The mode lies between 0 and log(1 + |B|); tangents 1.3 standard deviations beside it, and a flat top.
        mode, curvature, most = 0.5 * math.log1p(size), -1.0, math.log1p(size)
        for _ in range(40):
            top, slope, curvature = log_density(log_ratio, mode)
            step = min(max(mode - slope / curvature, 0.0), most) - mode
            mode += step
            if abs(step) < 1e-7:
                break
        reach = 1.3 / math.sqrt(-curvature)
        height, low_slope, _c = log_density(log_ratio, mode - reach)
        low = mode - reach + (top - height) / low_slope
        height, high_slope, _c = log_density(log_ratio, mode + reach)
        high = mode + reach + (top - height) / high_slope
    for _ in range(times):
        limit, y = math.inf, math.inf
        while remaining > 0.0:
            u = rng.random() * (1.0 / low_slope + high - low - 1.0 / high_slope)
            fall = 0.0
            if u < high - low:
                y = low + u
            else:
                fall = rng.standard_exponential()
                y = low - fall / low_slope if u - (high - low) < 1.0 / low_slope else high - fall / high_slope
            if top - fall - rng.standard_exponential() <= log_density(log_ratio, y)[0]:
                limit = math.exp(y) / remaining
                break
        last = 0.0
        for k in range(size):
            z = math.exp(min(log_ratio[k] + y, LOG_HUGE)) if remaining > 0.0 else LOG_HUGE
            u = rng.random()
            if z > 1.0:
                time = -math.log1p(u * math.expm1(-z)) / worth[k]
            else:
                time = limit * (u if z < 1e-12 else -math.log1p(u * math.expm1(-z)) / z)
            arrival[k] += time
            last = max(last, time)
        finish += last
    return finish


@numba.njit(cache=True, nogil=True)
def gibbs(races, shape, item, tune, thin, rng, out):
    """Run one chain for an item: a draw of the shares every `thin` sweeps, after `tune`; `out` has shape (draw, slot).

    `shape` (slot,) are the gamma prior's.
    """
    start, stop = races.slot_start[item], races.slot_start[item + 1]
    n = stop - start
    place = races.place[start:stop]
    arrivals = races.arrivals[start:stop]
    prior = shape[start:stop]
    shapes = prior.sum() + arrivals.sum()
    theta, tail = np.empty(n), np.empty(n, np.bool_)
    exposure, late_exposure, worth, time, at_risk, late = np.empty((6, n + 1))
    for k in range(n):
        theta[k] = max(rng.standard_gamma(prior[k] + arrivals[k]), TINY if prior[k] > 0.0 else 0.0)
    theta /= theta.sum()
    for sweep in range(-tune, out.shape[0] * thin):
        total = rng.standard_gamma(prior.sum())
        # The tail: labels below a random place in the order of their mean ranks, and all that are not in play.
        cut, early = int(rng.random() * (n - 1)), 0
        for k in range(n):
            exposure[k] = late_exposure[k] = 0.0
            tail[k] = k == n - 1 or place[k] > cut
            if tail[k]:
                early += arrivals[k]
        for r in range(races.race_start[item], races.race_start[item + 1]):
            entry = races.entry[races.entry_start[r] : races.entry_start[r + 1]]
            block = races.block[races.entry_start[r] : races.entry_start[r + 1]]
            # Worths add up from the last labels on: a small remainder of a total would lose every digit.
            sum_, only_tail = 0.0, 1.0
            for e in range(entry.size - 1, -1, -1):
                k = entry[e]
                sum_ += theta[k]
                if not tail[k]:
                    only_tail = 0.0
                at_risk[block[e]], late[block[e]] = sum_, only_tail
            now = now_late = 0.0
            e, ranked = 0, block[entry.size - 1]
            while block[e] < ranked:
                b, size = block[e], 1
                while block[e + size] == b:
                    size += 1
                if size == 1:
                    wait = rng.standard_gamma(float(races.times[r])) / at_risk[b]
                else:
                    for j in range(size):
                        worth[j] = theta[entry[e + j]]
                    wait = tied_block(worth[:size], at_risk[b + 1], races.times[r], rng, time)
                for j in range(size):
                    k, after = entry[e + j], time[j] if size > 1 else wait
                    exposure[k] += now if late[b] else now + after
                    late_exposure[k] += now_late + after if late[b] else now_late
                if late[b]:
                    early -= size * races.times[r]
                    now_late += wait
                else:
                    now += wait
                e += size
            for j in range(e, entry.size):
                exposure[entry[j]] += now
                late_exposure[entry[j]] += now_late
        # A common factor for the worths of the tail: times s, with all waits in which only the tail is left divided
        # by s, changes no other density, so that s is a gamma variable (generalised Gibbs step). Without it, labels
        # that everybody ranks low move together in steps much smaller than their range.
        tail_shape, rate = float(early), 0.0
        for k in range(n):
            if tail[k]:
                tail_shape += prior[k]
                rate += theta[k] * (total + exposure[k])
        factor = rng.standard_gamma(tail_shape) / rate if rate > 0.0 else 1.0
        # A smaller factor has no finite reciprocal; any other value is as good once in 10^250 draws.
        factor = max(factor, 1e-250)
        scale = 0.0
        for k in range(n):
            exposed = total + exposure[k] + late_exposure[k] / factor
            # Nothing was observed if nothing is exposed: any scale will do.
            theta[k] = rng.standard_gamma(prior[k] + arrivals[k]) / (exposed if exposed > 0.0 else 1.0)
            scale += theta[k]
        if scale == 0.0:
            # Nothing observed and shapes so small that every gamma underflows: one label has it all.
            left, k = rng.random() * shapes, 0
            while k < n - 1 and left > prior[k] + arrivals[k]:
                left -= prior[k] + arrivals[k]
                k += 1
            theta[k] = scale = 1.0
        for k in range(n):
            theta[k] = max(theta[k] / scale, TINY if prior[k] + arrivals[k] > 0.0 else 0.0)
        if sweep >= 0 and (sweep + 1) % thin == 0:
            out[sweep // thin] = theta
