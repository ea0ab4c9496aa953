"""Compiled draws from Dirichlet plausibilities, in log space, for items of which most labels are unnamed.

An item has a few named labels, each with a shape of its own, and many unnamed ones that share one small shape a, in
random order. With b the worth of the last of the best labels so far, an unnamed label is among the best with a chance
of at most p, the integral from b on of a bound of the gamma density x^(a - 1) e^-x / Gamma(a): x^(a - 1) below 1,
m^(a - 1) e^-x from m = max(b, 1) on. So the next label that may be among them is a geometric number of labels away,
nearly always beyond the last one, and a draw from the bound is kept with the ratio of the density to it.
"""

import math

import numba
import numpy as np

from bayesagree._numerics.draws import insert_best, normalise_logs
from bayesagree._numerics.gamma import gamma_constants, gamma_draw, log_gamma_draw


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
    gamma = math.gamma(rest) if thinned else 1.0
    for i in range(n_items):
        begin, end = start[i], start[i + 1]
        for k in range(n_labels):
            is_named[k] = False
        for e in range(begin, end):
            is_named[label[e]] = True
            small = shape[e] < 1.0
            own = constants[e - begin]
            own[0], own[1] = gamma_constants(shape[e] + 1.0 if small else shape[e])
            own[2] = 1.0 / shape[e] if small else 0.0
        n_unnamed = 0
        for k in range(n_labels):
            if not is_named[k]:
                unnamed[n_unnamed] = k
                n_unnamed += 1
        for s in range(n_samples):
            for r in range(depth):
                best[r], best_label[r] = -np.inf, -1
            for e in range(end - begin):
                g, fall = gamma_draw(rng, constants[e, 0], constants[e, 1]), 0.0
                if constants[e, 2] > 0.0:
                    fall = rng.standard_exponential() * constants[e, 2]
                if g - 1.0 - fall >= best[depth - 1]:  # log g is at most g - 1
                    insert_best(best, best_label, math.log(g) - fall, int(label[begin + e]))
            left = unpicked = n_unnamed
            while left > 0:
                below, beyond, least = 0.0, 1.0, max(best[depth - 1], 0.0)
                if thinned:
                    below = -math.expm1(rest * min(best[depth - 1], 0.0)) / rest
                    beyond = math.exp((rest - 1.0) * least - math.exp(least))
                chance = (below + beyond) / gamma
                if chance >= 1.0:
                    left -= 1
                    worth = math.log(gamma_draw(rng, d, c))
                    if thinned:
                        worth -= rng.standard_exponential() / rest
                else:
                    wait, rate = rng.standard_exponential(), -math.log1p(-chance)
                    if wait >= left * rate:
                        break
                    left -= int(wait / rate) + 1
                    if rng.random() * (below + beyond) < below:
                        worth = math.log1p(-rng.random() * below * rest) / rest
                        excess = math.exp(worth)
                    else:
                        worth = math.log(math.exp(least) + rng.standard_exponential())
                        excess = (1.0 - rest) * (worth - least)
                    if rng.standard_exponential() < excess:
                        continue
                # Partial Fisher-Yates: any starting permutation gives uniform picks, so it is never reset.
                pick = int(rng.random() * unpicked)
                unpicked -= 1
                picked = unnamed[pick]
                unnamed[pick] = unnamed[unpicked]
                unnamed[unpicked] = picked
                insert_best(best, best_label, worth, picked)
            for r in range(depth):
                out[i, s, r] = best_label[r]


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
