"""Bins of Beta variables in compiled code: their log probability, and its derivatives by the shapes.

`scipy.special.betainc` has no derivatives. Here they are the imaginary parts of a continued fraction whose shapes are
a + ih and b + ih (Squire and Trapp, "Using complex variables to estimate derivatives", SIAM Review 40, 1998).
"""

import math

import numba
import numpy as np
import scipy as sp

from bayesagree.agreement._phi.likelihood import SMALLEST

# A tail below this has its own continued fraction: as one minus the other it would lose more than 4 of 16 digits.
CANCELS = 1e-4
# Imaginary part that carries a derivative; its square is nothing beside the real part.
STEP = 1e-100


def bins_log_probability(value, alpha, beta, edges):
    """Return log Pr(edges[v] <= X < edges[v + 1]) of each value and its derivatives by alpha and beta."""
    a, b = np.maximum(alpha, SMALLEST), np.maximum(beta, SMALLEST)
    logs = sp.special.betaln(a, b), sp.special.psi(a), sp.special.psi(b), sp.special.psi(a + b)
    return _of_bins(value, a, b, edges, np.stack(logs, axis=1))


@numba.njit(cache=True, nogil=True)
def _of_bins(value, a, b, edges, logs):
    """Values of one item follow each other and share their shapes: each edge is computed once for all of them."""
    out = np.zeros((3, value.size))
    tails, computed, first = np.empty((edges.size, 4)), np.full(edges.size, -1), 0
    for i in range(value.size):
        if a[i] != a[first] or b[i] != b[first]:
            first = i
        if value[i] < 0 or value[i] > edges.size - 2:
            out[0, i] = -np.inf
            continue
        for e in (value[i], value[i] + 1):
            if computed[e] != first:
                tails[e], computed[e] = tails_with_slopes(a[i], b[i], edges[e], logs[i]), first
        low, high = tails[value[i]], tails[value[i] + 1]
        # From the smaller tail, so that a bin far out keeps its digits.
        p = max(low[1] - high[1] if low[0] > 0.5 else high[0] - low[0], SMALLEST)
        out[0, i], out[1:, i] = math.log(p), (high[2:] - low[2:]) / p
    return out


@numba.njit(cache=True, nogil=True)
def tails_with_slopes(a, b, x, logs):
    """Return Pr(X <= x) and Pr(X > x) for X ~ Beta(a, b), and the derivatives of the first by a and b.

    `logs` are log B(a, b) and the digammas of a, b and a + b.
    """
    if x <= 0 or x >= 1:
        return (0.0, 1.0, 0.0, 0.0) if x <= 0 else (1.0, 0.0, 0.0, 0.0)
    y, turned = 1 - x, x >= (a + 1) / (a + b + 2)  # right of the mean
    of_a, of_b = logs[1], logs[2]
    if turned:
        a, b, x, y, of_a, of_b = b, a, y, x, of_b, of_a
    below, by_a, by_b = _left_tail(a, b, x, y, logs[0], of_a - logs[3], of_b - logs[3])
    above = 1 - below
    if above < CANCELS:
        above, by_b, by_a = _left_tail(b, a, y, x, logs[0], of_b - logs[3], of_a - logs[3])
        by_a, by_b = -by_a, -by_b
    return (above, below, -by_b, -by_a) if turned else (below, above, by_a, by_b)


@numba.njit(cache=True, nogil=True)
def _left_tail(a, b, x, y, log_beta, slope_a, slope_b):
    """Return Pr(X <= x = 1 - y) and its derivatives; those of log B(a, b) are `slope_a` and `slope_b`."""
    log_x, log_y = math.log(x), math.log(y)
    front = math.exp(a * log_x + b * log_y - log_beta) / a
    in_a, in_b = _fraction(complex(a, STEP), complex(b, 0.0), x), _fraction(complex(a, 0.0), complex(b, STEP), x)
    by_a = in_a.real * (log_x - slope_a - 1 / a) + in_a.imag / STEP
    return front * in_a.real, front * by_a, front * (in_a.real * (log_y - slope_b) + in_b.imag / STEP)


@numba.njit(cache=True, nogil=True)
def _fraction(a, b, x):
    """Return the continued fraction of complex shapes, by the recurrence of its numerators p and denominators q."""
    p_before, q_before, found = 1.0 + 0j, 1.0 + 0j, 0j
    p, q = 1.0 + 0j, 1 - x * (a + b) * _inverse(a + 1)
    for m in range(1, 2000):
        even = a + 2 * m
        t = (b - m) * (m * x * _inverse(even * (even - 1)))
        p_before, q_before = p + t * p_before, q + t * q_before
        t = (a + m) * (a + b + m) * (-x * _inverse(even * (even + 1)))
        p, q = p_before + t * p, q_before + t * q
        scale = _inverse(q)
        p, q, p_before, q_before = p * scale, 1.0 + 0j, p_before * scale, q_before * scale
        moved = p - found
        if abs(moved.real) < 1e-15 * abs(p.real) and abs(moved.imag) < 1e-13 * STEP:
            break
        found = p
    return p


@numba.njit(cache=True, nogil=True)
def _inverse(z):
    """Return 1 / z, the square of whose imaginary part is nothing."""
    r = 1 / z.real
    return complex(r, -z.imag * r * r)
