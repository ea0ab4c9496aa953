"""Compiled draws of the informed prior's plausibilities, given its parameters and the votes; model in `_kernels`."""

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree.inference.gamma import gamma_constants, gamma_draw, log_gamma_draw
from bayesagree.inference.kernel_draws import insert_best, normalise_logs
from bayesagree.plausibility.informed._kernels import N_SHAPES, clearness_of, components, prior_mean

# exp(-TAIL) is below the distance of neighbouring uniform random numbers.
TAIL = 36.0


@numba.njit(cache=True, nogil=True)
def _shapes(theta, h, mean, label, count, shapes):
    """Write the shapes of an open and of a clear item given the votes.

    Returns what a clear item has on its own label beside.
    """
    t = theta[theta.size - N_SHAPES :]
    s, S, blur = math.exp(t[0] + t[1] * h), math.exp(t[4]), 1.0 / (1.0 + math.exp(-t[5]))
    for k in range(mean.size):
        shapes[0, k] = s * mean[k]
        shapes[1, k] = S * blur * mean[k]
    for e in range(label.size):
        shapes[0, label[e]] += count[e]
        shapes[1, label[e]] += count[e]
    return S * (1.0 - blur)


@numba.njit(cache=True, nogil=True, inline="always")
def _pick(rng, probability):
    """Draw a component."""
    left = rng.random()
    for c in range(probability.size):
        left -= probability[c]
        if left < 0.0:
            return c
    return 0


@numba.njit(cache=True, nogil=True)
def plausibility_draws(rng, thetas, dense, hit, start, label, count, out):
    """Fill `out`, shape (item, sample, label); equal shares of the samples go to each row of `thetas`, in order."""
    n_items, n_samples, n_labels = out.shape
    each = n_samples // thetas.shape[0]
    unmixed, soft, room, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    mean, log_mean, shapes = np.empty(n_labels), np.empty(n_labels), np.empty((2, n_labels))
    clearness = clearness_of(thetas, dense.shape[1] + hit.shape[1], n_labels)
    for i in range(n_items):
        names, counts = label[start[i] : start[i + 1]], count[start[i] : start[i + 1]]
        for j in range(thetas.shape[0]):
            h = prior_mean(thetas[j], dense[i], hit[i], unmixed, soft, mean, log_mean)
            components(thetas[j], clearness[j], h, mean, names, counts, room, chance)
            own = _shapes(thetas[j], h, mean, names, counts, shapes)
            for d in range(j * each, (j + 1) * each):
                component = _pick(rng, chance)
                shape, draw = shapes[min(component, 1)], out[i, d]
                for k in range(n_labels):
                    draw[k] = log_gamma_draw(rng, shape[k] + own if k == component - 1 else shape[k])
                normalise_logs(draw)


@numba.njit(cache=True, nogil=True)
def _shapes_from(shape, order, rest):
    """Write the sum of the shapes from each place of `order` on, infinity where one of them is 1 or more."""
    total = 0.0
    for r in range(order.size - 1, -1, -1):
        total = total + shape[order[r]] if shape[order[r]] < 1.0 else math.inf
        rest[r] = total


@numba.njit(cache=True, nogil=True)
def top_label_draws(rng, thetas, dense, hit, start, label, count, out: NDArray[Any]):
    """Fill `out`, shape (item, sample, rank), with the best labels of each draw.

    Labels stand in falling order of their shapes. A label of shape a < 1 has worth G exp(-E / a), G ~ Gamma(a + 1),
    E ~ Exp(1): where even a G at the far end of its tail could not lift it among the best, G is not drawn. Nor is E:
    what one E exceeds its label's reach by is an E again, for the next label, or for all that are left together.
    """
    n_items, n_samples, depth = out.shape
    n_labels = dense.shape[2]
    each = n_samples // thetas.shape[0]
    unmixed, soft, room, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    mean, log_mean, shapes = np.empty(n_labels), np.empty(n_labels), np.empty((2, n_labels))
    best, best_label, rest = np.empty(depth), np.empty(depth, dtype=np.int32), np.empty((2, n_labels))
    clearness = clearness_of(thetas, dense.shape[1] + hit.shape[1], n_labels)
    # Chernoff, Pr(Gamma(s) > s + sqrt(2 s t) + t) <= exp(-t), at the largest shape of such a G, 2.
    log_most = math.log(2.0 + math.sqrt(4.0 * TAIL) + TAIL)
    for i in range(n_items):
        names, counts = label[start[i] : start[i + 1]], count[start[i] : start[i + 1]]
        order, place, left = np.empty(0, np.int64), np.empty(0, np.int64), rng.standard_exponential()
        for j in range(thetas.shape[0]):
            h = prior_mean(thetas[j], dense[i], hit[i], unmixed, soft, mean, log_mean)
            components(thetas[j], clearness[j], h, mean, names, counts, room, chance)
            own = _shapes(thetas[j], h, mean, names, counts, shapes)
            if j == 0:
                order = np.argsort(-shapes[0], kind="mergesort")
                place = np.argsort(order, kind="mergesort")
            for kind in range(2):
                _shapes_from(shapes[kind], order, rest[kind])
            for d in range(j * each, (j + 1) * each):
                component = _pick(rng, chance)
                kind, own_place = min(component, 1), place[component - 1] if component > 0 else -1
                for r in range(depth):
                    best[r], best_label[r] = -np.inf, -1
                for at in range(n_labels):
                    k, fall = order[at], 0.0
                    a = shapes[kind, k] + own if at == own_place else shapes[kind, k]
                    if a < 1.0:
                        reach = max(log_most - best[depth - 1], 0.0)
                        if at > own_place and left > rest[kind, at] * reach:
                            left -= rest[kind, at] * reach
                            break
                        if left > a * reach:
                            left -= a * reach
                            continue
                        fall, left = left / a, rng.standard_exponential()
                        a += 1.0
                    first_, second = gamma_constants(a)
                    insert_best(best, best_label, math.log(gamma_draw(rng, first_, second)) - fall, int(k))
                for r in range(depth):
                    out[i, d, r] = best_label[r]
