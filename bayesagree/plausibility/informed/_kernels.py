"""Compiled likelihood of the votes for one item; `_block_kernels` has its gradient, `_draw_kernels` the draws.

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

import numba
import numpy as np

from bayesagree.inference.gamma import log_rising
from bayesagree.inference.vectors import copy_to

# Share of the prior mean that is spread over all labels, so that none is impossible.
FLOOR = 1e-3
# Entropy as a share of its maximum is between 0 and 1 and about .4 for items of middling ambiguity: centred there, its
# slopes hardly correlate with their levels.
ENTROPY_CENTRE = 0.4
ENTROPY_SCALE = 3.0
# Parameters that all labels share, last in the vector.
N_SHAPES = 6
# Sums over labels go several labels at a time.
SUMS = {"reassoc", "contract"}


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
def prior_mean(theta, dense, hit, unmixed, soft, mean, log_mean):
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
        copy_to(unmixed, soft)
        _softmax(unmixed)
        for j in range(n_labels):
            for k in range(n_labels):
                soft[k] += unmixed[j] * theta[at + j * n_labels + k]
    _softmax(soft)
    entropy = 0.0
    for k in range(n_labels):
        mean[k] = (1.0 - FLOOR) * soft[k] + FLOOR / n_labels
        log_mean[k] = math.log(mean[k])
        entropy -= mean[k] * log_mean[k]
    return ENTROPY_SCALE * (entropy / math.log(n_labels) - ENTROPY_CENTRE) if n_labels > 1 else 0.0


@numba.njit(cache=True, nogil=True)
def clearness_of(thetas, first, n_labels):
    """Return exp(clarity) of each label, shape (row of `thetas`, label)."""
    out = np.empty((thetas.shape[0], n_labels))
    for j in range(thetas.shape[0]):
        for k in range(n_labels):
            out[j, k] = math.exp(thetas[j, first + n_labels + k])
    return out


@numba.njit(cache=True, nogil=True, fastmath=SUMS)
def components(theta, clearness, h, mean, label, count, own, chance):
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
    unmixed, soft, own, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    mean, log_mean = np.empty(n_labels), np.empty(n_labels)
    clearness = clearness_of(theta.reshape(1, -1), first, n_labels)[0]
    for i in range(out.size):
        h = prior_mean(theta, dense[i], hit[i], unmixed, soft, mean, log_mean)
        votes = slice(start[i], start[i + 1])
        out[i], _ = components(theta, clearness, h, mean, label[votes], count[votes], own, chance)


@numba.njit(cache=True, nogil=True)
def prior_means(theta, dense, hit, out):
    """Write the mean plausibilities of each item before its votes, open and clear items together, (item, label)."""
    n_labels, first = out.shape[1], dense.shape[1] + hit.shape[1]
    unmixed, soft, own, chance = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    mean, log_mean = np.empty(n_labels), np.empty(n_labels)
    clearness = clearness_of(theta.reshape(1, -1), first, n_labels)[0]
    no_label, no_count = np.empty(0, np.int32), np.empty(0, np.int64)
    blur = 1.0 / (1.0 + math.exp(-theta[theta.size - 1]))
    for i in range(out.shape[0]):
        h = prior_mean(theta, dense[i], hit[i], unmixed, soft, mean, log_mean)
        components(theta, clearness, h, mean, no_label, no_count, own, chance)
        for k in range(n_labels):
            out[i, k] = (chance[0] + (1.0 - chance[0]) * blur) * mean[k] + (1.0 - blur) * chance[k + 1]
