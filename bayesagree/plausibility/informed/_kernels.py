"""Compiled likelihood, gradient and draws of the informed prior.

Parameters stand in one vector, in the order that `parameters.Layout` names:

    slope of each dense column | slope of each model's top label | level (K) | clarity of each label (K)
    | confusion of each pair of labels (K^2, or none) | log open concentration, its slope
    | log odds of clear, their slope | log clear concentration | logit blur

One item, with e the slopes and levels applied to its covariates, eta_k = e_k + sum_j softmax(e)_j confusion_jk,
m = (1 - FLOOR) softmax(eta) + FLOOR / K and h = ENTROPY_SCALE (entropy(m) / log K - ENTROPY_CENTRE):

    lambda ~ p_0 Dirichlet(s m) + sum_k p_k Dirichlet(S ((1 - blur) e_k + blur m)),
    log p_k - log p_0 = odds + odds_slope h + log m_k + clarity_k,      log s = concentration + concentration_slope h.

Rising factorials ln (a)_n = ln Gamma(a + n) - ln Gamma(a) are sums over the votes, of which there are few.
"""

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.draws import insert_best, normalise_logs
from bayesagree._numerics.gamma import gamma_constants, gamma_draw, log_gamma_draw, log_rising
from bayesagree._numerics.vectors import copy_to

type Floats = NDArray[np.float64]

FLOOR = 1e-3
"""Share of the prior mean that is spread over all labels, so that none is impossible."""
# Entropy as a share of its maximum is between 0 and 1 and about .4 for items of middling ambiguity: centred there, its
# slopes hardly correlate with their levels.
ENTROPY_CENTRE = 0.4
ENTROPY_SCALE = 3.0
N_SHAPES = 6
"""Parameters that all labels share, last in the vector."""
SUMS = {"reassoc", "contract"}
"""Sums over labels go several labels at a time."""
TAIL = 36.0
"""exp(-TAIL) is below the distance of neighbouring uniform random numbers."""


@numba.njit(cache=True, nogil=True, inline="always")
def _rise_slope(a, n):
    """Return the derivative of `log_rising` by a: sum of 1 / (a + r), r < n."""
    total = 0.0
    for r in range(n):
        total += 1.0 / (a + r)
    return total


@numba.njit(cache=True, nogil=True, inline="always")
def _softmax(x):
    """Replace logs by the shares they stand for."""
    top, total = x.max(), 0.0
    for k in range(x.size):
        x[k] = math.exp(x[k] - top)
        total += x[k]
    for k in range(x.size):
        x[k] /= total


@numba.njit(cache=True, nogil=True, fastmath=SUMS)
def _prior_mean(theta, dense, hit, said, soft, mean, log_mean):
    """Write what the models say together, softmax(eta), the floored mean and its logs; return the scaled entropy h."""
    n_dense, n_labels = dense.shape
    n_hits = hit.size
    base = n_dense + n_hits
    for k in range(n_labels):
        soft[k] = theta[base + k]
    for f in range(n_dense):
        slope = theta[f]
        for k in range(n_labels):
            soft[k] += slope * dense[f, k]
    for j in range(n_hits):
        if hit[j] >= 0:
            soft[hit[j]] += theta[n_dense + j]
    at = base + 2 * n_labels
    if theta.size - N_SHAPES > at:
        copy_to(said, soft)
        _softmax(said)
        for j in range(n_labels):
            for k in range(n_labels):
                soft[k] += said[j] * theta[at + j * n_labels + k]
    _softmax(soft)
    entropy = 0.0
    for k in range(n_labels):
        mean[k] = (1.0 - FLOOR) * soft[k] + FLOOR / n_labels
        log_mean[k] = math.log(mean[k])
        entropy -= mean[k] * log_mean[k]
    return ENTROPY_SCALE * (entropy / math.log(n_labels) - ENTROPY_CENTRE) if n_labels > 1 else 0.0


@numba.njit(cache=True, nogil=True)
def prior_means(theta, dense, hit, out):
    """Write the mean plausibilities of each item before its votes, shape (item, label)."""
    n_labels = out.shape[1]
    said, soft, log_mean = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    for i in range(out.shape[0]):
        _prior_mean(theta, dense[i], hit[i], said, soft, out[i], log_mean)


@numba.njit(cache=True, nogil=True)
def _clearness(thetas, first, n_labels):
    """Return exp(clarity) of each label, shape (row of `thetas`, label)."""
    out = np.empty((thetas.shape[0], n_labels))
    for j in range(thetas.shape[0]):
        for k in range(n_labels):
            out[j, k] = math.exp(thetas[j, first + n_labels + k])
    return out


@numba.njit(cache=True, nogil=True, fastmath=SUMS)
def _components(theta, clearness, h, mean, label, count, own, chance):
    """Write the probabilities of the components given the votes, open first.

    Returns the log marginal likelihood, and what the probability of each clear component before the votes is divided
    by m_k exp(clarity_k). Labels without votes share all they need but that product, so that no label takes a log or
    an exponential. `own` is room for one number an entry.
    """
    n_labels = mean.size
    t = theta[theta.size - N_SHAPES :]
    odds, s = t[2] + t[3] * h, math.exp(t[0] + t[1] * h)
    S, blur = math.exp(t[4]), 1.0 / (1.0 + math.exp(-t[5]))
    votes = 0
    open_, clear = 0.0, odds
    for e in range(label.size):
        n, a = count[e], S * blur * mean[label[e]]
        votes += n
        open_ += log_rising(s * mean[label[e]], n)
        own[e] = log_rising(a, n)
        clear += own[e]
        own[e] = log_rising(S * (1.0 - blur) + a, n) - own[e]
    open_ -= log_rising(s, votes)
    clear -= log_rising(S, votes)
    top = max(open_, clear)
    for e in range(label.size):
        top = max(top, clear + own[e])
    total, weight = 0.0, 0.0
    chance[0], unvoted = math.exp(open_ - top), math.exp(clear - top)
    for k in range(n_labels):
        prior = mean[k] * clearness[k]
        weight += prior
        chance[k + 1] = unvoted * prior
    for e in range(label.size):
        k = label[e]
        chance[k + 1] = mean[k] * clearness[k] * math.exp(clear + own[e] - top)
    for c in range(n_labels + 1):
        total += chance[c]
    for c in range(n_labels + 1):
        chance[c] /= total
    # log(1 + e^odds weight), for odds of any size
    whole = math.log1p(math.exp(odds) * weight) if odds < 0.0 else odds + math.log(math.exp(-odds) + weight)
    return top + math.log(total) - whole, math.exp(odds - whole)


@numba.njit(cache=True, nogil=True)
def log_likelihood(theta, dense, hit, start, label, count, out):
    """Write the log marginal likelihood of the votes of each item, without multinomial coefficients."""
    n_labels, first = dense.shape[2], dense.shape[1] + hit.shape[1]
    said, soft, own, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    mean, log_mean = np.empty(n_labels), np.empty(n_labels)
    clearness = _clearness(theta.reshape(1, -1), first, n_labels)[0]
    for i in range(out.size):
        h = _prior_mean(theta, dense[i], hit[i], said, soft, mean, log_mean)
        votes = slice(start[i], start[i + 1])
        out[i], _ = _components(theta, clearness, h, mean, label[votes], count[votes], own, chance)


@numba.njit(cache=True, nogil=True, fastmath=SUMS)
def score_functions(theta, dense, hit, start, label, count, value, out):
    """Write each item's log marginal likelihood into `value` and add or write its gradient by theta.

    `out` has one row per item, or a single row that takes the sum.
    """
    n_items = value.size
    n_dense, n_labels = dense.shape[1], dense.shape[2]
    n_hits = hit.shape[1]
    first = n_dense + n_hits
    pairs, at = first + 2 * n_labels, theta.size - N_SHAPES
    said, soft, own, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    mean, log_mean = np.empty(n_labels), np.empty(n_labels)
    by_mean, moved = np.empty(n_labels), np.empty(n_labels)
    clearness = _clearness(theta.reshape(1, -1), first, n_labels)[0]
    S, blur = math.exp(theta[at + 4]), 1.0 / (1.0 + math.exp(-theta[at + 5]))
    for i in range(n_items):
        begin, end = start[i], start[i + 1]
        if begin == end:
            value[i] = 0.0
            continue
        g = out[0] if out.shape[0] == 1 else out[i]
        h = _prior_mean(theta, dense[i], hit[i], said, soft, mean, log_mean)
        names, counts = label[begin:end], count[begin:end]
        value[i], before = _components(theta, clearness, h, mean, names, counts, own, chance)
        clear, excess = 0.0, 0.0
        for k in range(n_labels):
            clear += chance[k + 1]
            change = chance[k + 1] - before * mean[k] * clearness[k]
            g[first + n_labels + k] += change
            excess += change
            by_mean[k] = change / mean[k]
        s = math.exp(theta[at] + theta[at + 1] * h)
        votes = 0
        by_s, by_S, by_blur = 0.0, 0.0, 0.0
        for e in range(names.size):
            k, n = names[e], counts[e]
            votes += n
            slope = chance[0] * _rise_slope(s * mean[k], n)
            by_s += mean[k] * slope
            by_mean[k] += s * slope
            a, r = S * blur * mean[k], chance[k + 1]
            slope, home = (clear - r) * _rise_slope(a, n), r * _rise_slope(S * (1.0 - blur) + a, n)
            by_S += blur * mean[k] * slope + (1.0 - blur + blur * mean[k]) * home
            by_blur += S * (mean[k] * slope + (mean[k] - 1.0) * home)
            by_mean[k] += S * blur * (slope + home)
        by_s = s * (by_s - chance[0] * _rise_slope(s, votes))
        g[at] += by_s
        g[at + 1] += h * by_s
        g[at + 2] += excess
        g[at + 3] += h * excess
        g[at + 4] += S * (by_S - clear * _rise_slope(S, votes))
        g[at + 5] += blur * (1.0 - blur) * by_blur
        if n_labels > 1:
            by_h = ENTROPY_SCALE / math.log(n_labels) * (theta[at + 1] * by_s + theta[at + 3] * excess)
            for k in range(n_labels):
                by_mean[k] -= by_h * (log_mean[k] + 1.0)
        centre = 0.0
        for k in range(n_labels):
            centre += soft[k] * by_mean[k]
        for k in range(n_labels):
            by_mean[k] = (1.0 - FLOOR) * soft[k] * (by_mean[k] - centre)
        if at > pairs:
            centre = 0.0
            for j in range(n_labels):
                total = 0.0
                for k in range(n_labels):
                    g[pairs + j * n_labels + k] += said[j] * by_mean[k]
                    total += theta[pairs + j * n_labels + k] * by_mean[k]
                moved[j] = total
                centre += said[j] * total
            for k in range(n_labels):
                by_mean[k] += said[k] * (moved[k] - centre)
        for k in range(n_labels):
            g[first + k] += by_mean[k]
        for f in range(n_dense):
            total = 0.0
            for k in range(n_labels):
                total += by_mean[k] * dense[i, f, k]
            g[f] += total
        for j in range(n_hits):
            if hit[i, j] >= 0:
                g[n_dense + j] += by_mean[hit[i, j]]


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
    said, soft, room, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    mean, log_mean, shapes = np.empty(n_labels), np.empty(n_labels), np.empty((2, n_labels))
    clearness = _clearness(thetas, dense.shape[1] + hit.shape[1], n_labels)
    for i in range(n_items):
        names, counts = label[start[i] : start[i + 1]], count[start[i] : start[i + 1]]
        for j in range(thetas.shape[0]):
            h = _prior_mean(thetas[j], dense[i], hit[i], said, soft, mean, log_mean)
            _components(thetas[j], clearness[j], h, mean, names, counts, room, chance)
            own = _shapes(thetas[j], h, mean, names, counts, shapes)
            for d in range(j * each, (j + 1) * each):
                component = _pick(rng, chance)
                shape, draw = shapes[min(component, 1)], out[i, d]
                for k in range(n_labels):
                    draw[k] = log_gamma_draw(rng, shape[k] + own if k == component - 1 else shape[k])
                normalise_logs(draw)


@numba.njit(cache=True, nogil=True)
def top_label_draws(rng, thetas, dense, hit, start, label, count, out: NDArray[Any]):
    """Fill `out`, shape (item, sample, rank), with the best labels of each draw.

    Labels stand in falling order of their shapes. A label of shape a < 1 has worth G exp(-E / a), G ~ Gamma(a + 1),
    E ~ Exp(1): where even a G at the far end of its tail could not lift it among the best, G is not drawn. Nor is E:
    what one E exceeds its label's reach by is an E again, for the next label.
    """
    n_items, n_samples, depth = out.shape
    n_labels = dense.shape[2]
    each = n_samples // thetas.shape[0]
    said, soft, room, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    mean, log_mean, shapes = np.empty(n_labels), np.empty(n_labels), np.empty((2, n_labels))
    best, best_label = np.empty(depth), np.empty(depth, dtype=np.int32)
    clearness = _clearness(thetas, dense.shape[1] + hit.shape[1], n_labels)
    # Chernoff, Pr(Gamma(s) > s + sqrt(2 s t) + t) <= exp(-t), at the largest shape of such a G, 2.
    log_most = math.log(2.0 + math.sqrt(4.0 * TAIL) + TAIL)
    for i in range(n_items):
        names, counts = label[start[i] : start[i + 1]], count[start[i] : start[i + 1]]
        order, left = np.empty(0, dtype=np.int64), rng.standard_exponential()
        for j in range(thetas.shape[0]):
            h = _prior_mean(thetas[j], dense[i], hit[i], said, soft, mean, log_mean)
            _components(thetas[j], clearness[j], h, mean, names, counts, room, chance)
            own = _shapes(thetas[j], h, mean, names, counts, shapes)
            if j == 0:
                order = np.argsort(-shapes[0], kind="mergesort")
            for d in range(j * each, (j + 1) * each):
                component = _pick(rng, chance)
                shape = shapes[min(component, 1)]
                for r in range(depth):
                    best[r], best_label[r] = -np.inf, -1
                for k in order:
                    fall = 0.0
                    a = shape[k] + own if k == component - 1 else shape[k]
                    if a < 1.0:
                        reach = a * max(log_most - best[depth - 1], 0.0)
                        if left > reach:
                            left -= reach
                            continue
                        fall, left = left / a, rng.standard_exponential()
                        a += 1.0
                    first_, second = gamma_constants(a)
                    insert_best(best, best_label, math.log(gamma_draw(rng, first_, second)) - fall, int(k))
                for r in range(depth):
                    out[i, d, r] = best_label[r]
