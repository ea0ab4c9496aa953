"""Incomplete beta function in compiled code: both tails of a Beta variable, and their derivatives by the shapes.

`scipy.special.betainc` has no derivatives.
"""

import math

import numba

# A tail below this has its own continued fraction: as one minus the other it would lose more than 4 of 16 digits.
CANCELS = 1e-4
# Shapes and probabilities are clipped here, above the smallest normal double, so that logs and ratios stay finite.
SMALLEST = 1e-300


@numba.njit(cache=True, nogil=True, fastmath=False, error_model="python")
def digamma(x):
    """Return the derivative of log Gamma at x > 0: recurrence to 10, then the asymptotic series, good to 1e-15."""
    value = 0.0
    while x < 10.0:
        value -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    tail = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760)))))
    return value + math.log(x) - 0.5 / x - tail


@numba.njit(cache=True, nogil=True)
def of_shapes(a, b):
    """Return log B(a, b) and the digammas of a, b and a + b, which all points of one distribution share."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b), digamma(a), digamma(b), digamma(a + b)


@numba.njit(cache=True, nogil=True)
def tails_with_slopes(a, b, x, shared):
    """Return Pr(X <= x) and Pr(X > x) for X ~ Beta(a, b), and the derivatives of the first by a and b.

    `shared` is ``of_shapes(a, b)``.
    """
    if x <= 0 or x >= 1:
        return (0.0, 1.0, 0.0, 0.0) if x <= 0 else (1.0, 0.0, 0.0, 0.0)
    if x < (a + 1) / (a + b + 2):
        return _tails_from_left(a, b, x, 1 - x, shared)
    above, below, by_b, by_a = _tails_from_left(b, a, 1 - x, x, _swapped(shared))
    return below, above, -by_a, -by_b


@numba.njit(cache=True, nogil=True)
def _swapped(shared):
    return shared[0], shared[2], shared[1], shared[3]


@numba.njit(cache=True, nogil=True)
def _tails_from_left(a, b, x, y, shared):
    """Return both tails and the derivatives of the left one, for x = 1 - y left of the mean."""
    below, by_a, by_b = _left_tail(a, b, x, y, shared)
    above = 1 - below
    if above < CANCELS:
        above, by_b, by_a = _left_tail(b, a, y, x, _swapped(shared))
        by_a, by_b = -by_a, -by_b
    return below, above, by_a, by_b


@numba.njit(cache=True, nogil=True)
def _left_tail(a, b, x, y, shared):
    log_beta, of_a, of_b, of_both = shared
    log_x, log_y = math.log(x), math.log(y)
    front = math.exp(a * log_x + b * log_y - log_beta) / a
    h, h_a, h_b = _fraction_with_slopes(a, b, x)
    by_a = front * (h * (log_x - of_a + of_both - 1 / a) + h_a)
    return front * h, by_a, front * (h * (log_y - of_b + of_both) + h_b)


@numba.njit(cache=True, nogil=True)
def _fraction_with_slopes(a, b, x):
    """Return the continued fraction and its derivatives by a and b, carried along every step: twice the time."""
    tiny = 1e-30
    c, c_a, c_b = 1.0, 0.0, 0.0
    first = 1 - (a + b) * x / (a + 1)
    first = first if abs(first) > tiny else tiny
    d = 1 / first
    d_a = d * d * x * (1 - b) / (a + 1) ** 2
    d_b = d * d * x / (a + 1)
    h, h_a, h_b = d, d_a, d_b
    for m in range(1, 2000):
        for even in (True, False):
            if even:
                u, v = a + 2 * m - 1, a + 2 * m
                per_uv = 1 / (u * v)
                t_b = m * x * per_uv
                t = t_b * (b - m)
                t_a = -t * (u + v) * per_uv
            else:
                u, v = a + 2 * m, a + 2 * m + 1
                per_uv = 1 / (u * v)
                t_b = -(a + m) * x * per_uv
                t = t_b * (a + b + m)
                t_a = -(2 * a + b + 2 * m) * x * per_uv - t * (u + v) * per_uv
            e = 1 + t * d
            e = e if abs(e) > tiny else tiny
            e_a, e_b = t_a * d + t * d_a, t_b * d + t * d_b
            d = 1 / e
            d_a, d_b = -e_a * d * d, -e_b * d * d
            per_c = 1 / c
            step = t * per_c
            g = 1 + step
            g = g if abs(g) > tiny else tiny
            g_a, g_b = (t_a - step * c_a) * per_c, (t_b - step * c_b) * per_c
            c, c_a, c_b = g, g_a, g_b
            ratio = d * c
            ratio_a, ratio_b = d_a * c + d * c_a, d_b * c + d * c_b
            h_a, h_b = h_a * ratio + h * ratio_a, h_b * ratio + h * ratio_b
            h *= ratio
        if abs(ratio - 1) < 1e-15 and abs(ratio_a) + abs(ratio_b) < 1e-13:
            break
    return h, h_a, h_b
