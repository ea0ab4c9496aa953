"""Compiled draws from Dirichlet plausibilities, in log space, for items of which most labels are unnamed.

An item has a few named labels, each with a shape of its own, and many unnamed ones that share one small shape, in
random order. The log y of a gamma variable of shape a < 1 has the density exp(a y - e^y) / Gamma(a), which is at most
1 / Gamma(a), or exp(a y) / Gamma(a), below 0, and e^(y - e^y) / Gamma(a) above. With b the worth of the last of the
best labels so far, a label is among the best with at most the chance that these bounds have from b on. So most labels
take no random number: one uniform number says which is the next that may be among them, as it falls out of the product
of the chances that none is, and what is left of it serves the next draw. A draw from the bound is kept with the ratio
of the density to it.

Where only the best label is wanted, its probabilities cost less than a few draws of it: `best_label_draws`.
"""

import math

import numba
import numpy as np

from bayesagree._numerics.draws import insert_best, normalise_logs
from bayesagree._numerics.elementary import exp
from bayesagree._numerics.gamma import gamma_constants, gamma_draw, log_gamma_draw

# Mass of e^-x beyond 1.
FROM_ONE = math.exp(-1.0)
# A uniform number of which less is left has lost ten of its 53 bits.
LEAST_LEFT = 1e-3
# Sums of the shapes of an item whose best label is drawn by its probabilities: for them the nodes lie close enough.
LEAST_SUM, LARGEST_SUM = 0.5, 32.0
# Parts of (0, 1), for each of which the first label that a uniform number in it may mean is on record.
PARTS = 256


@numba.njit(cache=True, nogil=True, inline="always")
def _bounds(worth):
    """Return from where on a log gamma variable below 0 exceeds a worth, and e^y above, with the mass of e^-x there."""
    if worth <= 0.0:
        return worth, 1.0, FROM_ONE
    least = math.exp(worth)
    return 0.0, least, math.exp(-least)


@numba.njit(cache=True, nogil=True, inline="always")
def _bounded_draw(rng, a, lowest, start, below, tail):
    """Draw a log gamma variable of shape a from its bound on (lowest, 0) and e^y > start >= 1; -inf if not kept."""
    if rng.random() * (below + tail) >= below:
        worth = math.log(start + rng.standard_exponential())
        excess = (1.0 - a) * worth
    elif below * a < 1.0:
        worth = lowest * rng.random()
        excess = math.exp(worth) - a * worth
    else:
        worth = -rng.standard_exponential() / a
        excess = math.exp(worth)
    return worth if rng.standard_exponential() >= excess else -np.inf


@numba.njit(cache=True, nogil=True)
def top_label_draws(rng, start, label, shape, rest, n_labels, out):
    """Fill `out`, shape (item, sample, rank), with the best labels of each draw.

    Parameters
    ----------
    rng
        Stream of this block of items.
    start, label, shape
        Item i names ``label[start[i]:start[i + 1]]`` with these Dirichlet shapes.
    rest
        Shape of every label that the item does not name.
    n_labels
        Number of labels, named or not.
    out
        Written in place.
    """
    n_items, n_samples, depth = out.shape
    best = np.empty(depth)
    best_label = np.empty(depth, dtype=np.int32)
    unnamed = np.empty(n_labels, dtype=np.int32)
    is_named = np.empty(n_labels, dtype=np.bool_)
    constants = np.empty((n_labels, 3))
    thinned = 0.0 < rest <= 1.0  # otherwise the bound does not hold, and every unnamed label is drawn
    d, c = gamma_constants(rest + 1.0 if thinned else rest)
    density = 1.0 / math.gamma(rest) if thinned else 0.0
    # A uniform number below `none`, the chance that no label was among the best since it was drawn.
    uniform, none = rng.random(), 1.0
    for i in range(n_items):
        begin = start[i]
        own_shape, own_label = shape[begin : start[i + 1]], label[begin : start[i + 1]]
        order = np.argsort(-own_shape)
        for k in range(n_labels):
            is_named[k] = False
        for e in range(order.size):
            own, a = constants[e], own_shape[order[e]]
            is_named[own_label[e]] = True
            own[0], own[1] = gamma_constants(a + 1.0 if a < 1.0 else a)
            own[2] = 1.0 / math.gamma(a) if a < 1.0 else 0.0
        n_unnamed = 0
        for k in range(n_labels):
            if not is_named[k]:
                unnamed[n_unnamed] = k
                n_unnamed += 1
        for s in range(n_samples):
            for r in range(depth):
                best[r], best_label[r] = -np.inf, -1
            # What lies below 1 and among the best, and from where on what lies above.
            lowest, least, tail = _bounds(-np.inf)
            for e in range(order.size):
                a = own_shape[order[e]]
                if a < 1.0:
                    below = min(-lowest, 1.0 / a)
                    chance = (below + tail) * constants[e, 2]
                    if chance < 1.0:
                        none *= 1.0 - chance
                        if uniform < none:
                            continue
                        uniform, none = rng.random(), 1.0
                        worth = _bounded_draw(rng, a, lowest, least, below, tail)
                    else:
                        worth = math.log(gamma_draw(rng, constants[e, 0], constants[e, 1]))
                        worth -= rng.standard_exponential() / a
                else:
                    g = gamma_draw(rng, constants[e, 0], constants[e, 1])
                    if g - 1.0 < best[depth - 1]:  # log g is at most g - 1
                        continue
                    worth = math.log(g)
                if worth > best[depth - 1]:
                    insert_best(best, best_label, worth, int(own_label[order[e]]))
                    lowest, least, tail = _bounds(best[depth - 1])
            left = unpicked = n_unnamed
            while left > 0:
                below = min(-lowest, 1.0 / rest) if thinned else 0.0
                chance = (below + tail) * density
                if not thinned or chance >= 1.0:
                    left -= 1
                    worth = math.log(gamma_draw(rng, d, c))
                    if thinned:
                        worth -= rng.standard_exponential() / rest
                else:
                    if uniform < none * (1.0 - left * chance):
                        none *= 1.0 - left * chance
                        break
                    wait, rate = math.log(none) - math.log(uniform), -math.log1p(-chance)
                    uniform, none = rng.random(), 1.0
                    if wait >= left * rate:
                        break
                    left -= int(wait / rate) + 1
                    worth = _bounded_draw(rng, rest, lowest, least, below, tail)
                if not worth > best[depth - 1]:
                    continue
                # Partial Fisher-Yates: any starting permutation gives uniform picks, so it is never reset.
                pick = int(rng.random() * unpicked)
                unpicked -= 1
                picked = unnamed[pick]
                unnamed[pick] = unnamed[unpicked]
                unnamed[unpicked] = picked
                insert_best(best, best_label, worth, picked)
                lowest, least, tail = _bounds(best[depth - 1])
            for r in range(depth):
                out[i, s, r] = best_label[r]
            if none < LEAST_LEFT:
                uniform, none = rng.random(), 1.0


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def _interpolate(table, place, out):
    """Write what a table, a row for each place -1, 0, 1, ..., has at a place between them: cubic polynomials."""
    row = int(place)
    t = place - row
    first, last = -t * (t - 1.0) * (t - 2.0) / 6.0, (t + 1.0) * t * (t - 1.0) / 6.0
    second, third = (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0, -(t + 1.0) * t * (t - 2.0) / 2.0
    for j in range(out.size):
        near = second * table[row + 1, j] + third * table[row + 2, j]
        out[j] = first * table[row, j] + near + last * table[row + 3, j]


@numba.njit(cache=True, nogil=True, fastmath={"contract"})
def chances_up_to(shape, n_unnamed, unnamed, tables, room, out):
    """Write the chances that one of the first labels is the best, up to a factor; those of unnamed labels come last.

    The chance of label k is the integral of f_k prod F_j over j other than k: of prod F_j times f_k / F_k. `unnamed`
    has log F and f / F of an unnamed label, `room` is for as many numbers, and for a row of them for each named label.
    """
    table, log_weight, rows = tables
    log_one, product, ratios = room
    for j in range(product.size):
        product[j] = log_weight[j] + n_unnamed * unnamed[0, j]
    for e in range(shape.size):
        place = rows * math.sqrt(shape[e])
        _interpolate(table[0], place, log_one)
        _interpolate(table[1], place, ratios[e])
        for j in range(product.size):
            product[j] += log_one[j]
    for j in range(product.size):
        product[j] = exp(product[j])
    total = 0.0
    for e in range(shape.size + 1):
        own, part = ratios[e] if e < shape.size else unnamed[1], 0.0
        for j in range(product.size):
            part += product[j] * own[j]
        total += part if e < shape.size else n_unnamed * part
        out[e] = total


@numba.njit(cache=True, nogil=True)
def best_label_draws(rng, start, label, shape, rest, n_labels, tables, out):
    """Fill `out`, shape (item, sample, 1), with the best label of each draw, by the chance of each label to be it.

    Parameters are those of `top_label_draws`, which draws items of other sums of shapes, and the `tables` of
    `argmax_tables`; the labels of an item ascend.
    """
    n_items, n_samples, _ = out.shape
    table, log_weight, rows = tables
    n_nodes = log_weight.size
    room = np.empty(n_nodes), np.empty(n_nodes), np.empty((n_labels, n_nodes))
    unnamed, up_to, guide = np.empty((2, n_nodes)), np.empty(n_labels + 1), np.empty(PARTS, np.int32)
    for which in range(2):
        _interpolate(table[which], rows * math.sqrt(min(rest, LARGEST_SUM)), unnamed[which])
    for i in range(n_items):
        own_shape, own_label = shape[start[i] : start[i + 1]], label[start[i] : start[i + 1]]
        n_unnamed = n_labels - own_label.size
        if not LEAST_SUM <= own_shape.sum() + n_unnamed * rest <= LARGEST_SUM:
            top_label_draws(rng, start[i : i + 2], label, shape, rest, n_labels, out[i : i + 1])
            continue
        chances_up_to(own_shape, n_unnamed, unnamed, tables, room, up_to)
        total, at = up_to[own_label.size], 0
        for part in range(PARTS):
            while up_to[at] * PARTS <= part * total:
                at += 1
            guide[part] = at
        for s in range(n_samples):
            uniform = rng.random()
            at = guide[int(uniform * PARTS)]
            while up_to[at] <= uniform * total:
                at += 1
            if at < own_label.size:
                out[i, s, 0] = own_label[at]
                continue
            k = int(rng.random() * n_unnamed)
            for named in own_label:
                k += named <= k
            out[i, s, 0] = k


@numba.njit(cache=True, nogil=True)
def plausibility_draws(rng, start, label, shape, rest, out):
    """Fill `out`, shape (item, sample, label), with plausibilities that sum to one over label."""
    n_items, n_samples, n_labels = out.shape
    shapes = np.empty(n_labels)
    for i in range(n_items):
        for k in range(n_labels):
            shapes[k] = rest
        for e in range(start[i], start[i + 1]):
            shapes[label[e]] = shape[e]
        for s in range(n_samples):
            draw = out[i, s]
            for k in range(n_labels):
                draw[k] = log_gamma_draw(rng, shapes[k])
            normalise_logs(draw)
