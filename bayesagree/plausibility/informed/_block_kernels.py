"""Compiled likelihood of the votes of a block of items and its gradient, all items of the block at once.

The formulas are those of `_kernels`, which has the likelihood of one item. Here each step runs over the items of a
block, the last axis of every array, so that the processor computes several items in one instruction. Items without
votes, which fill the last block up, add nothing but rounding errors.
"""

import math
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Integers
from bayesagree.inference.beta import digamma
from bayesagree.inference.elementary import exp, log
from bayesagree.plausibility.informed._kernels import ENTROPY_CENTRE, ENTROPY_SCALE, FLOOR, N_SHAPES

# Larger blocks leave the processor's cache, smaller ones spend their time on the start of loops.
MOST_ITEMS = 64
# Factors of a rising factorial between two logarithms: none is above e^31, so that their product is finite.
FACTORS = 8
# So many factors are multiplied, and the rest is a difference of log gamma functions: items with a billion votes.
MULTIPLIED = 1024

_compiled = numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")


class Blocks(NamedTuple):
    """Covariates and votes of items in blocks, items last."""

    # (block, column, label, item)
    dense: NDArray[np.float32]
    # top label of each model, -1 for none: (block, model, item)
    hit: NDArray[np.int32]
    # votes: (block, label, item), their largest number (block, label), and the same of all labels together
    counts: Floats
    most: Integers
    votes: Floats
    most_votes: Integers
    # how many items are like this one: (block, item)
    weight: Floats


def blocks_of(
    dense: NDArray[np.float32], hit: NDArray[np.int32], start: Any, label: Any, count: Any, weight: Any = 1.0
) -> Blocks:
    """Lay out items in blocks: covariates (item, column, label), top labels (item, model), votes as `gather` has them.

    `weight` tells how many items are like each, shape (item,). Items stand in the order of their number of votes, so
    that those of a block have about the same.
    """
    n_items, n_labels = len(dense), dense.shape[2]
    item = np.repeat(np.arange(n_items), np.diff(start))
    counts = np.zeros((n_items, n_labels))
    counts[item, label] = count
    order = np.argsort(counts.sum(axis=1), kind="stable")
    dense, hit, counts, weight = dense[order], hit[order], counts[order], np.broadcast_to(weight, n_items)[order]
    size = min(MOST_ITEMS, max(8, -(-n_items // 8) * 8))
    n_blocks = -(-n_items // size)

    def laid_out(values: NDArray[Any], fill: float = 0.0) -> NDArray[Any]:
        padded = np.full((n_blocks * size, *values.shape[1:]), fill, values.dtype)
        padded[:n_items] = values
        return np.ascontiguousarray(np.moveaxis(padded.reshape(n_blocks, size, *values.shape[1:]), 1, -1))

    count = laid_out(counts)
    votes = count.sum(axis=1)
    most = count.max(axis=2).astype(np.int64)
    most_votes = votes.max(axis=1).astype(np.int64)
    return Blocks(laid_out(dense), laid_out(hit, -1), count, most, votes, most_votes, laid_out(weight.astype(float)))


@_compiled
def _softmax(x, top, total):
    """Replace logs by the shares over the rows that they stand for."""
    top[:] = x[0]
    for k in range(1, x.shape[0]):
        for b in range(top.size):
            top[b] = x[k, b] if x[k, b] > top[b] else top[b]
    total[:] = 0.0
    for k in range(x.shape[0]):
        row = x[k]
        for b in range(top.size):
            row[b] = exp(row[b] - top[b])
            total[b] += row[b]
    for b in range(top.size):
        total[b] = 1.0 / total[b]
    for k in range(x.shape[0]):
        row = x[k]
        for b in range(top.size):
            row[b] *= total[b]


@_compiled
def _rise(a, plus, count, most, product, log_rise, slope):
    """Write the logs of the rising factorials of ``a + plus`` by `count`, and the sums of 1 / (a + plus + r), r < n."""
    log_rise[:] = 0.0
    slope[:] = 0.0
    multiplied = min(most, MULTIPLIED)
    for begin in range(0, multiplied, FACTORS):
        product[:] = 1.0
        for r in range(begin, min(begin + FACTORS, multiplied)):
            for b in range(a.size):
                factor = a[b] + (plus + r)
                product[b] *= factor if count[b] > r else 1.0
                slope[b] += 1.0 / factor if count[b] > r else 0.0
        for b in range(a.size):
            log_rise[b] += log(product[b])
    if most > multiplied:
        for b in range(a.size):
            if count[b] > multiplied:
                low, high = a[b] + (plus + multiplied), a[b] + (plus + count[b])
                log_rise[b] += math.lgamma(high) - math.lgamma(low)
                slope[b] += digamma(high) - digamma(low)


@_compiled
def _block(theta, dense, hit, count, most, votes, most_votes, by_label, by_item, value, by_theta):
    """Write the log marginal likelihood of each item of one block and its gradient, shape (parameter, item).

    `by_label`, shape (10, label, item), and `by_item`, shape (17, item), are room.
    """
    n_dense, n_labels, n_items = dense.shape
    n_hits = hit.shape[0]
    first, at = n_dense + n_hits, theta.size - N_SHAPES
    clarity, pairs = first + n_labels, first + 2 * n_labels
    t = theta[at:]
    S, blur = math.exp(t[4]), 1.0 / (1.0 + math.exp(-t[5]))
    home = S * (1.0 - blur)
    unmixed, soft, mean, log_mean = by_label[0], by_label[1], by_label[2], by_label[3]
    own, chance, by_mean = by_label[4], by_label[5], by_label[6]
    rise_open, rise_other, rise_own = by_label[7], by_label[8], by_label[9]
    h, s, odds, weight = by_item[0], by_item[1], by_item[2], by_item[3]
    opened, clear, top, total, before, excess = by_item[4], by_item[5], by_item[6], by_item[7], by_item[8], by_item[9]
    shape, product, log_rise, rise_s, rise_S = by_item[10], by_item[11], by_item[12], by_item[13], by_item[14]
    by_s, by_S = by_item[15], by_item[16]

    # What the models predict together, its mean and entropy.
    for k in range(n_labels):
        row = soft[k]
        row[:] = theta[first + k]
        for f in range(n_dense):
            slope, column = theta[f], dense[f, k]
            for b in range(n_items):
                row[b] += slope * column[b]
    for j in range(n_hits):
        for b in range(n_items):
            if hit[j, b] >= 0:
                soft[hit[j, b], b] += theta[n_dense + j]
    if at > pairs:
        for k in range(n_labels):
            unmixed[k] = soft[k]
        _softmax(unmixed, top, total)
        for j in range(n_labels):
            for k in range(n_labels):
                confusion, row, source = theta[pairs + j * n_labels + k], soft[k], unmixed[j]
                for b in range(n_items):
                    row[b] += confusion * source[b]
    _softmax(soft, top, total)
    h[:] = 0.0
    weight[:] = 0.0
    for k in range(n_labels):
        source, row, logs, clearness = soft[k], mean[k], log_mean[k], math.exp(theta[clarity + k])
        for b in range(n_items):
            row[b] = (1.0 - FLOOR) * source[b] + FLOOR / n_labels
            logs[b] = log(row[b])
            h[b] -= row[b] * logs[b]
            weight[b] += clearness * row[b]
    scale = ENTROPY_SCALE / math.log(n_labels) if n_labels > 1 else 0.0
    offset = ENTROPY_SCALE * ENTROPY_CENTRE if n_labels > 1 else 0.0
    for b in range(n_items):
        h[b] = scale * h[b] - offset
        s[b] = exp(t[0] + t[1] * h[b])
        odds[b] = t[2] + t[3] * h[b]

    # Log probabilities of the votes under the components, and the sums that their derivatives need.
    _rise(s, 0.0, votes, most_votes, product, log_rise, rise_s)
    for b in range(n_items):
        opened[b] = -log_rise[b]
        shape[b] = S
    _rise(shape, 0.0, votes, most_votes, product, log_rise, rise_S)
    for b in range(n_items):
        clear[b] = odds[b] - log_rise[b]
        top[b] = 0.0
    for k in range(n_labels):
        if most[k] == 0:
            continue
        row, counts, gain = mean[k], count[k], own[k]
        for b in range(n_items):
            shape[b] = s[b] * row[b]
        _rise(shape, 0.0, counts, most[k], product, log_rise, rise_open[k])
        for b in range(n_items):
            opened[b] += log_rise[b]
            shape[b] = S * blur * row[b]
        _rise(shape, home, counts, most[k], product, gain, rise_own[k])
        _rise(shape, 0.0, counts, most[k], product, log_rise, rise_other[k])
        for b in range(n_items):
            clear[b] += log_rise[b]
            gain[b] -= log_rise[b]
            top[b] = gain[b] if gain[b] > top[b] else top[b]

    # Probabilities of the components given the votes: an open item in `opened`, a clear one of label k in chance[k].
    for b in range(n_items):
        top[b] = clear[b] + top[b] if clear[b] + top[b] > opened[b] else opened[b]
        opened[b] = exp(opened[b] - top[b])
        total[b] = opened[b]
        clear[b] -= top[b]
        shape[b] = exp(clear[b])
    for k in range(n_labels):
        row, gain, part, clearness = mean[k], own[k], chance[k], math.exp(theta[clarity + k])
        if most[k] == 0:
            for b in range(n_items):
                part[b] = clearness * row[b] * shape[b]
                total[b] += part[b]
        else:
            for b in range(n_items):
                part[b] = clearness * row[b] * exp(clear[b] + gain[b])
                total[b] += part[b]
    for b in range(n_items):
        high = odds[b] if odds[b] > 0.0 else 0.0
        whole = high + log(exp(-high) + exp(odds[b] - high) * weight[b])
        value[b] = top[b] + log(total[b]) - whole
        before[b] = exp(odds[b] - whole)
        total[b] = 1.0 / total[b]
        opened[b] *= total[b]
        excess[b] = 0.0
        clear[b] = 1.0 - opened[b]

    # Derivatives, by the components' shapes first, then back to the parameters.
    for k in range(n_labels):
        row, part, slopes, out, clearness = (
            mean[k],
            chance[k],
            by_mean[k],
            by_theta[clarity + k],
            math.exp(theta[clarity + k]),
        )
        for b in range(n_items):
            part[b] *= total[b]
            out[b] = part[b] - before[b] * row[b] * clearness
            excess[b] += out[b]
            slopes[b] = out[b] / row[b]
    by_blur = by_theta[at + 5]
    by_s[:] = 0.0
    by_S[:] = 0.0
    by_blur[:] = 0.0
    for k in range(n_labels):
        if most[k] == 0:
            continue
        row, part, slopes = mean[k], chance[k], by_mean[k]
        r_open, r_other, r_own = rise_open[k], rise_other[k], rise_own[k]
        for b in range(n_items):
            m = row[b]
            by_open = opened[b] * r_open[b]
            by_other, by_own = (clear[b] - part[b]) * r_other[b], part[b] * r_own[b]
            by_s[b] += m * by_open
            by_S[b] += blur * m * by_other + (1.0 - blur + blur * m) * by_own
            by_blur[b] += S * (m * by_other + (m - 1.0) * by_own)
            slopes[b] += s[b] * by_open + S * blur * (by_other + by_own)
    for b in range(n_items):
        slope = s[b] * (by_s[b] - opened[b] * rise_s[b])
        by_theta[at, b] = slope
        by_theta[at + 1, b] = h[b] * slope
        by_theta[at + 2, b] = excess[b]
        by_theta[at + 3, b] = h[b] * excess[b]
        by_theta[at + 4, b] = S * (by_S[b] - clear[b] * rise_S[b])
        by_blur[b] *= blur * (1.0 - blur)
        product[b] = scale * (t[1] * slope + t[3] * excess[b])
        total[b] = 0.0
    for k in range(n_labels):
        slopes, logs, share = by_mean[k], log_mean[k], soft[k]
        for b in range(n_items):
            slopes[b] -= product[b] * (logs[b] + 1.0)
            total[b] += share[b] * slopes[b]
    for k in range(n_labels):
        slopes, share = by_mean[k], soft[k]
        for b in range(n_items):
            slopes[b] = (1.0 - FLOOR) * share[b] * (slopes[b] - total[b])
    if at > pairs:
        total[:] = 0.0
        for j in range(n_labels):
            moved, share = own[j], unmixed[j]
            moved[:] = 0.0
            for k in range(n_labels):
                place = pairs + j * n_labels + k
                slopes, out, confusion = by_mean[k], by_theta[place], theta[place]
                for b in range(n_items):
                    out[b] = share[b] * slopes[b]
                    moved[b] += confusion * slopes[b]
            for b in range(n_items):
                total[b] += share[b] * moved[b]
        for k in range(n_labels):
            moved, share, slopes = own[k], unmixed[k], by_mean[k]
            for b in range(n_items):
                slopes[b] += share[b] * (moved[b] - total[b])
    for f in range(n_dense):
        by_theta[f] = 0.0
    for k in range(n_labels):
        slopes = by_mean[k]
        by_theta[first + k] = slopes
        for f in range(n_dense):
            out, column = by_theta[f], dense[f, k]
            for b in range(n_items):
                out[b] += slopes[b] * column[b]
    for j in range(n_hits):
        for b in range(n_items):
            by_theta[n_dense + j, b] = by_mean[hit[j, b], b] if hit[j, b] >= 0 else 0.0


@_compiled
def score_functions(theta, dense, hit, count, most, votes, most_votes, weight, slope, by_theta):
    """Return the log marginal likelihood of all items; write its gradient, and that of each into `by_theta`.

    `by_theta` has shape (block, parameter, item), or (1, parameter, item) where only the sum is needed.
    """
    n_blocks, _, n_labels, n_items = dense.shape
    by_label, by_item, value = np.empty((10, n_labels, n_items)), np.empty((17, n_items)), np.empty(n_items)
    log_likelihood = 0.0
    slope[:] = 0.0
    for i in range(n_blocks):
        out = by_theta[min(i, by_theta.shape[0] - 1)]
        _block(theta, dense[i], hit[i], count[i], most[i], votes[i], most_votes[i], by_label, by_item, value, out)
        log_likelihood += (value * weight[i]).sum()
        for j in range(theta.size):
            slope[j] += (out[j] * weight[i]).sum()
    return log_likelihood
