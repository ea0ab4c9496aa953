"""Compiled Gibbs sweep of Plackett-Luce worths for partial rankings with ties; linear in the size of a block.

Notation: worth ``theta`` (the worths scaled to sum to one, which is the plausibility), ``exposure`` (how long a label
was at risk of arriving, summed over annotators, in units of 1 / `total`, the total worth). The scale of the worths is
not identified: a sweep draws the total afresh, and nothing overflows, whatever the prior.

The wait of a tied block has a log-concave density, from which y = log(W V) is drawn by rejection from a hull of
tangents: W. R. Gilks, P. Wild, "Adaptive rejection sampling for Gibbs sampling", Applied Statistics 41 (1992) 337-348.

Compilation is what a first call waits for: loops over numbers in arrays that are handed in, and exponentials as gammas
of shape 1 (the same draws), since each kind of draw, allocation and array expression has to be compiled.
"""

import math

import numba

# Smallest share a label can have: below it only priors of shapes under 0.01 put weight.
TINY = 1e-290
# Just below the largest logarithm whose exponential is finite (709.8).
LOG_HUGE = 700.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def log_density(log_ratio, size, y):
    """Return log density of y = log(W V), up to a constant, and its first two derivatives; it is concave.

    y - e^y + sum_k log(1 - e^-z_k), z_k = e^(y + log_ratio_k), over the first `size` labels.
    """
    rise = math.exp(y)
    height, slope, curvature = y - rise, 1.0 - rise, -rise
    for k in range(size):
        log_z = log_ratio[k] + y
        z = math.exp(log_z if log_z < LOG_HUGE else LOG_HUGE)
        if z < 1e-10:
            height += log_z
            slope += 1.0
        else:
            chance = -math.expm1(-z)
            g = z * math.exp(-z) / chance
            height += math.log(chance)
            slope += g
            curvature += g * (1.0 - z - g)
    return height, slope, curvature


@numba.njit(cache=True, nogil=True, error_model="numpy")
def tied_block(worth, size, remaining, times, rng, arrival, log_ratio):
    """Draw the arrivals of a tied block, `times` times: all of its labels come before any that remain.

    The moment V of the first arrival among the remaining has density W e^(-W v) prod_k (1 - e^(-worth_k v)); given V
    each label arrives by a truncated exponential. Two labels need no V: Pr(k, then l) is worth_k / (all) * worth_l /
    (worth_l + W), so that the last denominator tells the orders apart. Writes each label's summed arrival time, returns
    the sum of the last arrivals (V itself is forgotten: the race has no memory). `log_ratio` is scratch.
    """
    finish = 0.0
    for k in range(size):
        arrival[k] = 0.0
    if size == 2:
        for _ in range(times):
            first = 0 if rng.random() * (2 * remaining + worth[0] + worth[1]) < worth[0] + remaining else 1
            left = worth[1 - first] + remaining
            wait = rng.standard_gamma(1.0) / (worth[first] + left)
            arrival[first] += wait
            wait += rng.standard_gamma(1.0) / left
            arrival[1 - first] += wait
            finish += wait
        return finish
    low = high = top = low_slope = high_slope = 0.0
    if remaining > 0.0:
        for k in range(size):
            log_ratio[k] = math.log(worth[k]) - math.log(remaining)
        # The mode lies between 0 and log(1 + |B|); tangents 1.3 standard deviations beside it, and a flat top.
        most = math.log1p(size)
        mode, curvature = 0.5 * most, -1.0
        for _ in range(40):
            top, slope, curvature = log_density(log_ratio, size, mode)
            step = mode - slope / curvature
            step = (0.0 if step < 0.0 else most if step > most else step) - mode
            mode += step
            if abs(step) < 1e-7:
                break
        reach = 1.3 / math.sqrt(-curvature)
        height, low_slope, _c = log_density(log_ratio, size, mode - reach)
        low = mode - reach + (top - height) / low_slope
        height, high_slope, _c = log_density(log_ratio, size, mode + reach)
        high = mode + reach + (top - height) / high_slope
    for _ in range(times):
        limit, y = math.inf, math.inf
        while remaining > 0.0:
            u = rng.random() * (1.0 / low_slope + high - low - 1.0 / high_slope)
            fall = 0.0
            if u < high - low:
                y = low + u
            else:
                fall = rng.standard_gamma(1.0)
                y = low - fall / low_slope if u - (high - low) < 1.0 / low_slope else high - fall / high_slope
            if top - fall - rng.standard_gamma(1.0) <= log_density(log_ratio, size, y)[0]:
                limit = math.exp(y) / remaining
                break
        last = 0.0
        for k in range(size):
            z = math.exp(log_ratio[k] + y) if remaining > 0.0 and log_ratio[k] + y < LOG_HUGE else LOG_HUGE
            u = rng.random()
            if z > 1.0:
                time = -math.log1p(u * math.expm1(-z)) / worth[k]
            else:
                time = limit * (u if z < 1e-12 else -math.log1p(u * math.expm1(-z)) / z)
            arrival[k] += time
            last = time if time > last else last
        finish += last
    return finish


@numba.njit(cache=True, nogil=True, error_model="numpy")
def gibbs(entry, block, start, times, prior, arrivals, place, tune, thin, rng, out, theta, scratch):
    """Run one chain for an item: a draw of the shares every `thin` sweeps, after `tune`; `out` has shape (draw, slot).

    First the races of the item, then what its slots have (see `Races`); `prior` are the shapes of the gamma prior. The
    chain begins at `theta`, which it moves; `scratch`: six arrays of a number for each slot, and one more.
    """
    exposure, late_exposure, at_risk, worth, time, log_ratio = scratch
    n, prior_sum = prior.size, 0.0
    for k in range(n):
        prior_sum += prior[k]
    for sweep in range(-tune, out.shape[0] * thin):
        total = rng.standard_gamma(prior_sum)
        # The tail: labels below a random place in the order of their mean ranks, and all that are not in play.
        cut, early = rng.random() * (n - 1), 0.0
        for k in range(n):
            exposure[k] = late_exposure[k] = 0.0
            if place[k] > cut:
                early += arrivals[k]
        for r in range(times.size):
            # Worths add up from the last labels on: a small remainder of a total would lose every digit.
            sum_, late = 0.0, 0
            for e in range(start[r + 1] - 1, start[r] - 1, -1):
                k, b = entry[e], block[e]
                sum_ += theta[k]
                at_risk[b] = sum_
                if late == 0 and place[k] <= cut:
                    late = b + 1
            # From block `late` on only the tail is left.
            now = now_late = 0.0
            e, ranked = start[r], block[start[r + 1] - 1]
            while block[e] < ranked:
                b, size = block[e], 1
                while block[e + size] == b:
                    size += 1
                if size == 1:
                    time[0] = wait = rng.standard_gamma(1.0 * times[r]) / at_risk[b]
                else:
                    for j in range(size):
                        worth[j] = theta[entry[e + j]]
                    wait = tied_block(worth, size, at_risk[b + 1], times[r], rng, time, log_ratio)
                for j in range(size):
                    k = entry[e + j]
                    exposure[k] += now if b >= late else now + time[j]
                    late_exposure[k] += now_late + time[j] if b >= late else now_late
                if b >= late:
                    early -= size * times[r]
                    now_late += wait
                else:
                    now += wait
                e += size
            for j in range(e, start[r + 1]):
                exposure[entry[j]] += now
                late_exposure[entry[j]] += now_late
        # A common factor for the worths of the tail: times s, with all waits in which only the tail is left divided
        # by s, changes no other density, so that s is a gamma variable (generalised Gibbs step). Without it, labels
        # that everybody ranks low move together in steps much smaller than their range.
        rate = 0.0
        for k in range(n):
            if place[k] > cut:
                early += prior[k]
                rate += theta[k] * (total + exposure[k])
        # A smaller factor has no finite reciprocal; any other value is as good once in 10^250 draws.
        factor = rng.standard_gamma(early) / rate if rate > 0.0 else 1.0
        factor = 1e-250 if factor < 1e-250 else factor
        scale = 0.0
        for k in range(n):
            exposed = total + exposure[k] + late_exposure[k] / factor
            # Nothing was observed if nothing is exposed: any scale will do.
            theta[k] = rng.standard_gamma(prior[k] + arrivals[k]) / (exposed if exposed > 0.0 else 1.0)
            scale += theta[k]
        if scale == 0.0:
            # Nothing observed and shapes so small that every gamma underflows: one label has it all.
            left, k = rng.random() * prior_sum, 0
            while k < n - 1 and left > prior[k]:
                left -= prior[k]
                k += 1
            theta[k] = scale = 1.0
        for k in range(n):
            share = theta[k] / scale
            theta[k] = TINY if share < TINY and prior[k] + arrivals[k] > 0.0 else share
            if sweep >= 0 and (sweep + 1) % thin == 0:
                out[sweep // thin, k] = theta[k]
