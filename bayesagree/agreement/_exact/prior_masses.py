"""Compiled evidence of the ratings under many priors of the item means, from one table of the log likelihood.

The nodes of every prior lie on a lattice in z, logit(mu) = 2 sinh(z), whose steps are those of the table or halvings of
it: between the nodes of the table, where a narrow prior needs them, the log likelihood is a polynomial through eight.
"""

import math

import numba
import numpy as np

from bayesagree._numerics.beta import SMALLEST
from bayesagree._numerics.elementary import exp, log

# Nodes of the table on either side of a place between them, for the polynomial.
REACH = 4
WEIGHTS = np.array([(-1.0) ** (7 - i) / (math.factorial(i) * math.factorial(7 - i)) for i in range(8)])
# Log density below that at the centre from which on a prior is 0: an item that lies there is not of this prior.
NEGLIGIBLE = -60.0
# Patterns whose likelihoods stay in the processor's cache while all priors come by.
BLOCK = 64
# Distance in logit from which on expm1 would overflow, and is exp.
FAR = 600.0


@numba.njit(cache=True, nogil=True)
def evidence_of_priors(table, weight, begin, step, pitch, m, s, first, last, groups):
    """Return sum_pattern weight log sum_node likelihood x prior mass, shape (prior,).

    `table` has shape (pattern, node), its nodes are ``z = step (begin + k)``. Prior Beta(m t, (1 - m) t), t = s^-2 - 1,
    needs the nodes `first` to `last` of the lattice whose step is ``pitch step``; those of one of `groups`, each from
    its number to the next, share their nodes.
    """
    total = np.zeros(m.size)
    for start, stop in zip(groups[:-1], groups[1:]):  # noqa: RUF007 (numba has no pairwise)
        low, high = first[start:stop].min(), last[start:stop].max()
        mass = _prior_masses(pitch[start] * step, low, high, m[start:stop], s[start:stop])
        for top_row in range(0, weight.size, BLOCK):
            likelihood, top = _at_nodes(table[top_row : top_row + BLOCK], low, high, pitch[start], begin)
            share = np.dot(likelihood, mass.T)
            for p in range(top.size):
                for c in range(stop - start):
                    total[start + c] += weight[top_row + p] * (log(max(share[p, c], SMALLEST)) + top[p])
    return total


@numba.njit(cache=True, nogil=True)
def _prior_masses(step, low, high, m, s):
    """Return the masses of the priors at the nodes ``z = step j``, shape (prior, node)."""
    mass = np.zeros((m.size, high - low + 1))
    at, slope, log_shape = np.empty((3, high - low + 1))
    for j in range(at.size):
        z = step * (low + j)
        at[j], slope[j] = 2 * math.sinh(z), math.cosh(z)
    for c in range(m.size):
        if c == 0 or m[c] != m[c - 1]:
            _log_shape(m[c], at, log_shape)
        t = (1 - s[c]) * (1 + s[c]) / (s[c] * s[c])
        for j in range(at.size):
            if t * log_shape[j] >= NEGLIGIBLE:
                mass[c, j] = slope[j] * exp(t * log_shape[j])
        mass[c] /= mass[c].sum()
    return mass


@numba.njit(cache=True, nogil=True)
def _at_nodes(table, low, high, pitch, begin):
    """Return the likelihood at the nodes over its largest, shape (pattern, node), and the logarithm of that."""
    relative, share, top = np.empty((table.shape[0], high - low + 1)), np.empty(2 * REACH), np.empty(table.shape[0])
    for j in range(relative.shape[1]):
        place = (low + j) * pitch - begin
        k = int(place)
        if place == k:
            for p in range(table.shape[0]):
                relative[p, j] = table[p, k]
            continue
        product = 1.0
        for i in range(2 * REACH):
            product *= place - (k - REACH + 1 + i)
        for i in range(2 * REACH):
            share[i] = WEIGHTS[i] * product / (place - (k - REACH + 1 + i))
        for p in range(table.shape[0]):
            value = 0.0
            for i in range(2 * REACH):
                value += share[i] * table[p, k - REACH + 1 + i]
            relative[p, j] = value
    for p in range(table.shape[0]):
        top[p] = relative[p].max()
        for j in range(relative.shape[1]):
            relative[p, j] = exp(relative[p, j] - top[p])
    return relative, top


@numba.njit(cache=True, nogil=True)
def _log_shape(m, at, out):
    """Write m u - log(1 + m (e^u - 1)), u = logit(mu) - logit(m): the log density over t, exact at large t."""
    centre = math.log(m) - math.log1p(-m)
    for j in range(out.size):
        away = at[j] - centre
        far = max(away - FAR, 0.0)
        out[j] = m * away - math.log1p(m * math.expm1(min(away, FAR))) - far
