"""The sampler of shares: Gibbs sweeps of a hierarchical probit regression of people's votes on verdicts.

Every vote has a latent utility w whose sign it is (Albert and Chib 1993). Given the utilities the coefficients are
normal; the scales of the hierarchy are drawn with the coefficients integrated out, so that few systems with little data
do not hold the chain at small scales.

Votes are draws from the share lambda_i of people who say positive; E lambda_i = Phi(m_i). Two people's utilities of an
item correlate by rho, through an effect of the item: at 0 the verdicts explain all that people agree on, at 1 people
never disagree. `free` is the log odds of rho.

Source: Albert and Chib, "Bayesian analysis of binary and polychotomous response data", JASA 88 (1993),
https://doi.org/10.1080/01621459.1993.10476321.
"""

import math

import numba
import numpy as np

from bayesagree._numerics.normal import ndtri
from bayesagree._numerics.types import Rng
from bayesagree.judges._regression import Draws, Regression

# Step of the random walk on the log of the scales: with it about a third is accepted for 5 to 20 systems.
SCALE_STEP = 0.9
# Joint moves per sweep: each evaluates the likelihood of all votes.
JOINT_MOVES = 2
# Sweeps before the first draw from which the joint moves learn their directions.
LEARNT_FROM = 100
# Lengths of joint moves, drawn at random, in units of the posterior's standard deviations: the largest is right where
# the other coefficients leave the three free, the others where they hold them.
LENGTHS = (1.2, 0.4, 0.12)


def sample_chain(data: Regression, *, draws: int, tune: int, thin: int, rng: Rng) -> Draws:
    """Run a chain. The first shared column is the intercept's."""
    n_scales = data.scale_prior.size
    coefficients, scales = np.empty((draws, data.scale_index.size)), np.empty((draws, n_scales))
    correlation = np.empty(draws)
    effect = rng.standard_normal(data.votes.size)
    scale = np.maximum(np.abs(rng.standard_normal(n_scales)) * data.scale_prior, 1e-3)
    votes = data.shared, data.own, data.system, data.votes, data.positive
    prior = data.products, data.scale_index, data.scale_prior
    _run(rng, tune, thin, votes, prior, scale, effect, coefficients, scales, correlation)
    return Draws(coefficients, scales, {"vote_correlation": correlation})


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _run(rng, tune, thin, data, prior, scale, effect, coefficients, scales, correlation):
    """Write the draws of a chain: coefficients (draw, column), scales (draw, scale) and rho (draw,)."""
    shared, own, system, votes, positive = data
    products, scale_index, scale_prior = prior
    n_items, n_shared, n_own = votes.size, shared.shape[1], own.shape[1]
    known, past, root = scale_index < 0, np.empty((LEARNT_FROM, 3)), np.zeros((3, 3))
    root[0, 0], root[1, 1], root[2, 2] = 0.1, 0.1, 0.3
    free, rho, mean, coefficient = 0.0, 0.5, np.zeros(n_items), np.empty(scale_index.size)
    average, precision = np.empty(n_items), np.empty(n_items)
    n_systems = (scale_index.size - n_shared) // max(n_own, 1)
    room = np.empty((2, n_systems, n_own, n_own + n_shared + 1)), np.empty((2, n_shared, n_shared + 1))
    for sweep in range(tune + correlation.size * thin):
        _average_utilities(rng, rho, mean, effect, votes, positive, average, precision)
        crossed = _crossed(shared, own, system, precision * average, n_systems)
        _draw_coefficients(rng, products, precision, crossed, scale_index, scale_prior, room, scale, coefficient)
        for i in range(n_items):
            mean[i] = 0.0
            for a in range(n_shared):
                mean[i] += shared[i, a] * coefficient[a]
            for a in range(n_own):
                mean[i] += own[i, a] * coefficient[n_shared + system[i] * n_own + a]
            total = 1 - rho + votes[i] * rho
            centre = math.sqrt(rho) * votes[i] * (average[i] - mean[i]) / total
            effect[i] = centre + math.sqrt((1 - rho) / total) * rng.standard_normal()
        given = mean, effect, positive, votes, known, scale_prior, coefficient, scale
        height = _log_posterior(0.0, 1.0, free, shared[0, 0], *given)
        for _ in range(JOINT_MOVES):
            length = LENGTHS[rng.integers(0, len(LENGTHS))]
            drawn = length * rng.standard_normal(), length * rng.standard_normal(), length * rng.standard_normal()
            free, height = _moved(drawn, math.log(rng.random()), root, shared[0, 0], free, height, *given)
        rho = _inside(free)
        if sweep < tune:
            size = 0.0
            for a in range(n_shared):
                size += coefficient[a] ** 2
            place = past[sweep % LEARNT_FROM]
            place[0], place[1], place[2] = coefficient[0], math.log(math.sqrt(size) + 1e-9), free
            if sweep + 1 >= LEARNT_FROM:
                _covariance(past, root)
                _eliminate(root)
        elif (sweep - tune) % thin == thin - 1:
            row = (sweep - tune) // thin
            coefficients[row], scales[row], correlation[row] = coefficient, scale, rho


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _average_utilities(rng, rho, mean, effect, votes, positive, average, precision):
    """Draw the utility of every vote; write their mean in each item and its precision."""
    spread = math.sqrt(1 - rho)
    for i in range(votes.size):
        centre, total = mean[i] + math.sqrt(rho) * effect[i], 0.0
        for vote in range(votes[i]):
            # On the side of zero in which it lies a utility is |.|: below sign * centre / spread, by its distribution.
            sign = 1.0 if vote < positive[i] else -1.0
            share = rng.random() * 0.5 * math.erfc(-sign * centre / spread * math.sqrt(0.5))
            total -= sign * ndtri(max(share, 1e-300))
        average[i], precision[i] = centre + spread * total / votes[i], 1 / (rho + (1 - rho) / votes[i])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _crossed(shared, own, system, weighted, n_systems):
    """Return the products of the columns with a weighted vector: shared (column,), own (system, own)."""
    by_shared, by_own = np.zeros(shared.shape[1]), np.zeros((n_systems, own.shape[1]))
    for i in range(weighted.size):
        by_shared += weighted[i] * shared[i]
        if n_systems:
            by_own[system[i]] += weighted[i] * own[i]
    return by_shared, by_own


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _covariance(past, covariance):
    """Write the covariance of past points, shape (point, 3), away from singular ones."""
    for a in range(3):
        for b in range(3):
            product = mean_a = mean_b = 0.0
            for point in past:
                product += point[a] * point[b]
                mean_a += point[a] / LEARNT_FROM
                mean_b += point[b] / LEARNT_FROM
            covariance[a, b] = (product - LEARNT_FROM * mean_a * mean_b) / (LEARNT_FROM - 1) + (1e-6 if a == b else 0.0)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _moved(
    drawn, level, root, column, free, height, mean, effect, positive, votes, known, scale_prior, coefficient, scale
):  # fmt: skip
    """Move the intercept, all coefficients and scales by one factor, and `free`, together, where accepted.

    Coefficients, scales and means move in place; `free` and the log posterior are returned. Utilities are integrated
    out: given these none of the three would move far, and with judges that predict people well the factor hardly at
    all.
    """
    given = column, mean, effect, positive, votes, known, scale_prior, coefficient, scale
    shift, log_factor = root[0, 0] * drawn[0], root[1, 0] * drawn[0] + root[1, 1] * drawn[1]
    factor, other = math.exp(log_factor), free + root[2, 0] * drawn[0] + root[2, 1] * drawn[1] + root[2, 2] * drawn[2]
    # Each coefficient and each log scale is mapped: own ones with their scales, of which the prior knows the ratio
    # only, so that the Jacobian of the shared ones with a known scale is left.
    reached = _log_posterior(shift, factor, other, *given)
    if level >= reached - height + known.sum() * log_factor:
        return free, height
    coefficient *= factor
    coefficient[0] += shift
    scale *= factor
    mean *= factor
    mean += shift * column
    return other, reached


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _log_posterior(shift, factor, free, column, mean, effect, positive, votes, known, scale_prior, coefficient, scale):
    """Log density of votes, `free`, coefficients of known scale and log scales, after a move by shift and factor.

    Rho is uniform; the votes are taken given the items' effects.
    """
    rho = _inside(free)
    height, root, spread = math.log(rho * (1.0 - rho)), math.sqrt(rho), math.sqrt(1.0 - rho)
    for k in range(known.size):
        if known[k]:
            height -= 0.5 * (factor * coefficient[k] + (shift if k == 0 else 0.0)) ** 2
    for k in range(scale.size):
        height += math.log(factor * scale[k]) - 0.5 * (factor * scale[k] / scale_prior[k]) ** 2
    for i in range(votes.size):
        z = (factor * mean[i] + shift * column + root * effect[i]) / spread
        if positive[i] > 0:
            height += positive[i] * _log_ndtr(z)
        if votes[i] > positive[i]:
            height += (votes[i] - positive[i]) * _log_ndtr(-z)
    return height


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _log_ndtr(z):
    """Log of the normal distribution function; below -37, where erfc underflows, by its asymptotic series."""
    if z > -37.0:
        return math.log(0.5 * math.erfc(-z * math.sqrt(0.5)))
    q = 1.0 / (z * z)
    return -0.5 * z * z - math.log(-z * math.sqrt(2.0 * math.pi)) + math.log1p(-q * (1.0 - q * (3.0 - q * 15.0)))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _draw_coefficients(rng, products, precision, crossed, scale_index, scale_prior, room, scale, coefficient):
    """Draw the scales, in place, with the coefficients integrated out, then the coefficients.

    The systems' own coefficients are eliminated first. `room` has room for the root of each system's precision beside
    what the shared ones, and the data, say about its coefficients; and for the root of what is left, and the data.
    """
    items, by_shared, by_own, between = products
    own, shared = room
    n_systems, n_own, n_shared = own.shape[1], own.shape[2], shared.shape[1]
    first, other = n_own + n_shared, np.empty(scale.size)
    for k in range(scale.size):
        other[k] = scale[k] * math.exp(SCALE_STEP / math.sqrt(scale.size) * rng.standard_normal())
    level = math.log(rng.random()) if scale.size else 0.0
    for k in range(coefficient.size):
        coefficient[k] = rng.standard_normal()
    now, chosen = 0.0, 0
    for side in range(2 if scale.size else 1):
        scales = other if side else scale
        root, height = shared[side], 0.0
        root[:] = 0.0
        root[:, n_shared] = crossed[0]
        own[side] = 0.0
        for v in range(items.size):
            root[:, :n_shared] += precision[items[v]] * by_shared[v]
            own[side, :, :, :n_own] += precision[items[v]] * by_own[v]
            own[side, :, :, n_own:first] += precision[items[v]] * between[v]
        for k in range(scales.size):
            height += math.log(scales[k]) - 0.5 * (scales[k] / scale_prior[k]) ** 2
        for k in range(scale_index.size):
            height -= math.log(scales[scale_index[k]]) if scale_index[k] >= 0 else 0.0
        for a in range(n_shared):
            root[a, a] += scales[scale_index[a]] ** -2.0 if scale_index[a] >= 0 else 1.0
        for s in range(n_systems):
            part = own[side, s]
            part[:, first] = crossed[1][s]
            for a in range(n_own):
                index = scale_index[n_shared + s * n_own + a]
                part[a, a] += scales[index] ** -2.0 if index >= 0 else 1.0
            height -= _eliminate(part)
            for b in range(n_shared):
                for a in range(n_own):
                    for k in range(n_shared + 1):
                        root[b, k] -= part[a, n_own + b] * part[a, n_own + k]
            for a in range(n_own):
                height += 0.5 * part[a, first] ** 2
        height -= _eliminate(root)
        for a in range(n_shared):
            height += 0.5 * root[a, n_shared] ** 2
        chosen = 1 if side and level < height - now else 0
        now = height
    if chosen:
        scale[:] = other
    root = shared[chosen]
    coefficient[:n_shared] += root[:, n_shared]
    _solve_back(root, coefficient[:n_shared])
    for s in range(n_systems):
        mine, part = coefficient[n_shared + s * n_own : n_shared + (s + 1) * n_own], own[chosen, s]
        for a in range(n_own):
            mine[a] += part[a, first]
            for b in range(n_shared):
                mine[a] -= part[a, n_own + b] * coefficient[b]
        _solve_back(part, mine)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _eliminate(rows):
    """Replace rows [A, B] by [L, L^-1 B], A = L L'; return the sum of the logs of L's diagonal."""
    n, log_det = rows.shape[0], 0.0
    for a in range(n):
        for b in range(a):
            for k in range(b):
                rows[a, b] -= rows[a, k] * rows[b, k]
            rows[a, b] /= rows[b, b]
            rows[a, a] -= rows[a, b] ** 2
        rows[a, a] = math.sqrt(rows[a, a])
        log_det += math.log(rows[a, a])
        for k in range(n, rows.shape[1]):
            for b in range(a):
                rows[a, k] -= rows[a, b] * rows[b, k]
            rows[a, k] /= rows[a, a]
    return log_det


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _solve_back(root, x):
    """Replace x by L'^-1 x."""
    for a in range(x.size - 1, -1, -1):
        for b in range(a + 1, x.size):
            x[a] -= root[b, a] * x[b]
        x[a] /= root[a, a]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _inside(free):
    """Return the share of these log odds, away from 0 and 1."""
    return min(max(1.0 / (1.0 + math.exp(-free)), 1e-9), 1 - 1e-9)
