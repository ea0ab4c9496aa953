"""Sweeps of the ordered variant: `_ordered` has the model."""

import math

import numba
import numpy as np

# Prior: mu ~ N(1, 1) above 0; A and B ~ inverse gamma (2, 1/4); s^2 ~ Gamma(5, 5); tau ~ N(0, 1.5^2), in order.
MU, SPREAD, STRETCH, THRESHOLD_SD = 1.0, (2.0, 0.25), 5.0, 1.5
# Sweeps per proposal of thresholds, which costs two sweeps: of many labels it is nearly a draw given all else.
FEW, EVERY, EVERY_OF_MANY = 20_000, 2, 8
# Standard deviations of a step of a walk times the root of its dimension, the best (Roberts et al., 1997).
WALK = 2.4
# Least probability of a label in logarithms.
NO_CHANCE = 1e-100


@numba.njit(cache=True, nogil=True)
def chances(tau, at, stretch):
    """Return the probability of each label, shape (place, label), of responses around `at` with sds 1 / `stretch`."""
    out = np.empty((at.size, tau.size - 1))
    for i in range(at.size):
        below = 0.0
        for c in range(tau.size - 1):
            above = 0.5 * math.erfc((at[i] - tau[c + 1]) * stretch[i % stretch.size] * 0.7071067811865476)
            out[i, c] = above - below
            below = above
    return out


@numba.njit(cache=True, nogil=True)
def interval_chance(low, high):
    """Return Phi(high) - Phi(low) to full precision in either tail."""
    root = 0.7071067811865476
    if low > 0:
        return 0.5 * (math.erfc(low * root) - math.erfc(high * root))
    return 0.5 * (math.erfc(-high * root) - math.erfc(-low * root))


@numba.njit(cache=True, nogil=True)
def truncated_normal(rng, low, high):
    """Draw a standard normal number between two ends (Robert, 1995)."""
    if high < 0:
        return -truncated_normal_above(rng, -high, -low)
    if low > 0:
        return truncated_normal_above(rng, low, high)
    if high - low > 2.5:
        while True:
            x = rng.standard_normal()
            if low <= x <= high:
                return x
    while True:
        x = low + (high - low) * rng.random()
        if 2 * rng.standard_exponential() >= x * x:
            return x


@numba.njit(cache=True, nogil=True)
def truncated_normal_above(rng, low, high):
    """Draw a standard normal number between two positive ends."""
    rate = 0.5 * (low + math.sqrt(low * low + 4))
    if (high - low) * rate < 1:
        while True:
            x = low + (high - low) * rng.random()
            if 2 * rng.standard_exponential() >= x * x - low * low:
                return x
    while True:
        x = low + rng.standard_exponential() / rate
        if x <= high and 2 * rng.standard_exponential() >= (x - rate) ** 2:
            return x


@numba.njit(cache=True, nogil=True)
def label_density(item_start, annotator, label, u, people, stretch, tau, slope, curvature):
    """Return the log density of thresholds given latent truths and annotators.

    Its slope is written to `slope`, shape (threshold,), minus its second derivatives to `curvature`, shape
    (2, threshold): those of each threshold, and of each with the next.
    """
    total, product, n = 0.0, 1.0, tau.size - 2
    first, second = np.zeros(n + 2), np.zeros((2, n + 2))
    for i in range(u.size):
        for t in range(item_start[i], item_start[i + 1]):
            k, c = annotator[t], label[t]
            s = stretch[k]
            at = people[k, 0] + people[k, 1] * u[i]
            low, high = (tau[c] - at) * s, (tau[c + 1] - at) * s
            chance = interval_chance(low, high)
            product *= max(chance, NO_CHANCE)
            if product < NO_CHANCE**2:  # one logarithm for many factors
                total += math.log(product)
                product = 1.0
            if chance > NO_CHANCE:
                scale = s * 0.3989422804014327 / chance
                below = scale * math.exp(-0.5 * low * low) if c > 0 else 0.0
                above = scale * math.exp(-0.5 * high * high) if c < n else 0.0
                first[c] -= below
                first[c + 1] += above
                if c > 0:
                    second[0, c] += below * (below - s * low)
                if c < n:
                    second[0, c + 1] += above * (above + s * high)
                second[1, c] -= below * above
    total += math.log(product)
    for c in range(n):
        inner = tau[c + 1] / THRESHOLD_SD**2
        slope[c], curvature[0, c] = first[c + 1] - inner, second[0, c + 1] + THRESHOLD_SD**-2
        curvature[1, c] = second[1, c + 1]
        total -= 0.5 * inner * tau[c + 1]
    return total


@numba.njit(cache=True, nogil=True)
def newton_density(rng, tau, slope, curvature, other, draw):
    """Return the log density of the proposal from `tau` at `other`, drawn there first if `draw` says so.

    The proposal is normal around Newton's step, with the inverse of the curvature as its variance.
    """
    n = slope.size
    root, below, step = np.empty(n), np.zeros(n), np.empty(n)  # root of a matrix with one diagonal beside the main one
    for c in range(n):
        if c > 0:
            below[c] = curvature[1, c - 1] / root[c - 1]
        root[c] = math.sqrt(curvature[0, c] - below[c] ** 2)
        step[c] = (slope[c] - (below[c] * step[c - 1] if c > 0 else 0.0)) / root[c]
    if draw:
        last = 0.0
        for c in range(n - 1, -1, -1):
            rest = below[c + 1] * last if c < n - 1 else 0.0
            last = (step[c] + rng.standard_normal() - rest) / root[c]
            other[c + 1] = tau[c + 1] + last
    value = 0.0
    for c in range(n):
        rest = below[c + 1] * (other[c + 2] - tau[c + 2]) if c < n - 1 else 0.0
        z = root[c] * (other[c + 1] - tau[c + 1]) + rest - step[c]
        value += math.log(root[c]) - 0.5 * z * z
    return value


@numba.njit(cache=True, nogil=True)
def move_thresholds(rng, item_start, annotator, label, u, people, tau, walk):
    """Move the thresholds, responses integrated out, by one step of Newton's method with noise.

    Or by noise of the same shape alone (`walk`): around a label that nobody gave, thresholds press upon one another,
    and most of Newton's steps would cross them.
    """
    n = tau.size - 2
    slope, curvature, proposal, stretch = np.empty(n), np.empty((2, n)), tau.copy(), np.sqrt(people[:, 2])
    gain = -label_density(item_start, annotator, label, u, people, stretch, tau, slope, curvature)
    if walk:
        slope[:], curvature[:] = 0.0, curvature / (WALK**2 / n)
    gain -= newton_density(rng, tau, slope, curvature, proposal, True)
    for c in range(1, n):
        if proposal[c + 1] <= proposal[c]:
            return
    gain += label_density(item_start, annotator, label, u, people, stretch, proposal, slope, curvature)
    if walk:
        slope[:], curvature[:] = 0.0, curvature / (WALK**2 / n)
    gain += newton_density(rng, proposal, slope, curvature, tau, False)
    if -rng.standard_exponential() < gain:
        tau[:] = proposal


@numba.njit(cache=True, nogil=True)
def inverse_gamma(rng, shape, scale):
    """Draw an inverse gamma number."""
    return scale / rng.standard_gamma(shape)


@numba.njit(cache=True, nogil=True)
def sweep_ordered(rng, times, item_start, annotator, label, u, people, tau, crowd, n_people, gold):
    """Draw thresholds, responses with latent truths, annotators and their population, and move all at once."""
    sums, response = np.empty((people.shape[0], 6)), np.empty(np.diff(item_start).max())
    stretch = np.empty(people.shape[0])
    every = EVERY if label.size < FEW else EVERY_OF_MANY
    for _ in range(times):
        crowd[3] += 1
        if crowd[3] % every == 0:
            move_thresholds(rng, item_start, annotator, label, u, people, tau, crowd[3] % (3 * every) == 0)
        # Responses given latent truths, then latent truths given responses.
        sums[:] = 0.0
        stretch[:] = np.sqrt(people[:, 2])
        for i in range(u.size):
            precision, score, start = 1.0, 0.0, item_start[i]
            for t in range(start, item_start[i + 1]):
                k, c = annotator[t], label[t]
                alpha, beta, s = people[k, 0], people[k, 1], stretch[k]
                at = alpha + beta * u[i]
                z = at + truncated_normal(rng, (tau[c] - at) * s, (tau[c + 1] - at) * s) / s
                response[t - start] = z
                precision += people[k, 2] * beta * beta
                score += people[k, 2] * beta * (z - alpha)
            u[i] = score / precision + rng.standard_normal() / math.sqrt(precision)
            for t in range(start, item_start[i + 1]):
                own, z = sums[annotator[t]], response[t - start]
                own[0] += 1
                own[1] += u[i]
                own[2] += u[i] * u[i]
                own[3] += z
                own[4] += z * u[i]
                own[5] += z * z
        draw_people(rng, sums, people, crowd, n_people)
        move_together(rng, u, people, tau, crowd, n_people, gold)


@numba.njit(cache=True, nogil=True)
def draw_people(rng, sums, people, crowd, n_people):
    """Draw line and precision of every annotator's responses, then the population; the last row may be gold."""
    for k in range(n_people):
        n, x, xx, z, xz, zz = sums[k]
        p = people[k, 2]
        # Precision matrix of (intercept, slope) and its Cholesky root.
        a, b, d = p * n + 1 / crowd[1], p * x, p * xx + 1 / crowd[2]
        one, two = p * z, p * xz + crowd[0] / crowd[2]
        det = a * d - b * b
        root = math.sqrt(a)
        off, last = b / root, math.sqrt(det / a)
        second = rng.standard_normal() / last
        first = (rng.standard_normal() - off * second) / root
        i = people[k, 0] = (d * one - b * two) / det + first
        s = people[k, 1] = (a * two - b * one) / det + second
        residual = zz - 2 * i * z - 2 * s * xz + n * i * i + 2 * i * s * x + s * s * xx
        people[k, 2] = rng.standard_gamma(STRETCH + n / 2) / (STRETCH + max(residual, 0.0) / 2)
    alpha, beta = people[:n_people, 0], people[:n_people, 1]
    crowd[1] = inverse_gamma(rng, SPREAD[0] + n_people / 2, SPREAD[1] + (alpha**2).sum() / 2)
    crowd[2] = inverse_gamma(rng, SPREAD[0] + n_people / 2, SPREAD[1] + ((beta - crowd[0]) ** 2).sum() / 2)
    precision, score = 1.0 + n_people / crowd[2], MU + beta.sum() / crowd[2]
    if people.shape[0] > n_people:
        precision += sums[n_people, 2]
        score += sums[n_people, 4]
    centre, sd = score / precision, 1 / math.sqrt(precision)
    crowd[0] = centre + sd * truncated_normal(rng, -centre / sd, np.inf)
    people[n_people:, 1] = crowd[0]


@numba.njit(cache=True, nogil=True)
def gold_density(gold, u, tau, mu):
    """Return the log probability of the gold labels; gold holds items and labels."""
    total = 0.0
    for i, c in zip(*gold):
        total += math.log(max(interval_chance(tau[c] - mu * u[i], tau[c + 1] - mu * u[i]), NO_CHANCE))
    return total


@numba.njit(cache=True, nogil=True)
def move_together(rng, u, people, tau, crowd, n_people, gold):
    """Shift thresholds and annotators together, rescale both, and rescale latent truths against them.

    The annotators' labels stay as probable as they were, so that only priors, the Jacobian and gold decide.
    """
    inner, alpha, beta, precision = tau[1:-1], people[:n_people, 0], people[:n_people, 1], people[:n_people, 2]
    n_gold = gold[0].size
    total = n_people / crowd[1] + inner.size / THRESHOLD_SD**2
    centre = -(alpha.sum() / crowd[1] + inner.sum() / THRESHOLD_SD**2) / total
    known = gold_density(gold, u, tau, crowd[0])
    if n_gold:
        shift = rng.standard_normal() / math.sqrt(total + n_gold)
        new = gold_density(gold, u, tau + shift, crowd[0])
        gain = total * shift * (centre - 0.5 * shift) + new - known
        if -rng.standard_exponential() >= gain:
            shift = 0.0
        else:
            known = new
    else:  # a draw given all that it moves
        shift = centre + rng.standard_normal() / math.sqrt(total)
    alpha += shift
    inner += shift
    # tau, alpha, beta and mu times g, s^2 over g^2.
    log_g = rng.standard_normal() / math.sqrt(n_people + 1.0 + n_gold)
    g = math.exp(log_g)
    gain = (1 - g * g) * ((inner**2).sum() / THRESHOLD_SD**2 + (alpha**2).sum() / crowd[1]) / 2
    gain += (1 - g * g) * ((beta - crowd[0]) ** 2).sum() / crowd[2] / 2
    gain += ((crowd[0] - MU) ** 2 - (g * crowd[0] - MU) ** 2) / 2
    gain += STRETCH * precision.sum() * (1 - g**-2) - 2 * log_g * n_people * (STRETCH - 1)
    gain += log_g * (inner.size + 2 * n_people + 1 - 2 * n_people)
    gain += gold_density(gold, u, g * tau, g * crowd[0]) - known
    if -rng.standard_exponential() < gain:
        inner *= g
        alpha *= g
        beta *= g
        precision /= g * g
        crowd[0] *= g
        people[n_people:, 1] *= g
    # Latent truths times g, beta and mu over g.
    log_g = rng.standard_normal() / math.sqrt(u.size + n_people + 1.0)
    g = math.exp(log_g)
    gain = (1 - g * g) * (u**2).sum() / 2 + (1 - g**-2) * ((beta - crowd[0]) ** 2).sum() / crowd[2] / 2
    gain += ((crowd[0] - MU) ** 2 - (crowd[0] / g - MU) ** 2) / 2 + log_g * (u.size - n_people - 1)
    if -rng.standard_exponential() < gain:
        u *= g
        people[:, 1] /= g
        crowd[0] /= g
