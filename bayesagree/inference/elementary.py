"""Exponential and logarithm of plain arithmetic, which compilers turn into instructions for several numbers at once.

The functions of the system's library are called for one number after the other. These are inlined, and a loop over
an array that calls them takes a fifth of the time. They are inlined before compilation: numba would compile them with
the ``fastmath`` of whichever function called them first, and their last digits would depend on it. The caller must not
be compiled with reassociation (``fastmath={"contract"}`` is fine): rounding to an integer adds and subtracts a large
number.

Source: FDLIBM (Sun Microsystems, 1993), e_log.c, for the logarithm; Taylor's series for the exponential.
"""

import numba
import numpy as np

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOG2_E = 1.4426950408889634
# 1.5 * 2^52: a number of moderate size added to it is rounded to an integer, which stands in the lowest bits.
_ROUND = 6755399441055744.0
_EXPONENT_OF_ONE = 1023
_BITS_OF_ROUND, _BITS_OF_ROOT_HALF = 0x4338000000000000, 0x3FE6A09E667F3BCD
# Arguments of `exp` beyond plus or minus this count as this: the result is finite and positive.
LARGEST = 708.0


@numba.njit(cache=True, nogil=True, inline="always")
def exp(x):
    """Return e^x, with a relative error of at most 3e-16."""
    x = x if x < LARGEST else LARGEST
    x = x if x > -LARGEST else -LARGEST
    rounded = x * _LOG2_E + _ROUND
    whole = rounded - _ROUND
    r = (x - whole * _LN2_HIGH) - whole * _LN2_LOW
    p = 1.6059043836821613e-10  # 1 / 13!
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r * r + r + 1.0
    bits = (np.float64(rounded).view(np.int64) + _EXPONENT_OF_ONE) << 52
    return p * np.int64(bits).view(np.float64)


@numba.njit(cache=True, nogil=True, inline="always")
def log(x):
    """Return ln x of a positive normal number, with an error of at most an ulp."""
    bits = np.float64(x).view(np.int64)
    power = (bits - _BITS_OF_ROOT_HALF) >> 52
    m = np.int64(bits - (power << 52)).view(np.float64)
    exponent = np.int64(power + _BITS_OF_ROUND).view(np.float64) - _ROUND
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 1.479819860511658591e-01
    p = p * z + 1.531383769920937332e-01
    p = p * z + 1.818357216161805012e-01
    p = p * z + 2.222219843214978396e-01
    p = p * z + 2.857142874366239149e-01
    p = p * z + 3.999999999940941908e-01
    p = p * z + 6.666666666666735130e-01
    half = 0.5 * f * f
    return exponent * _LN2_HIGH - ((half - (s * (half + p * z) + exponent * _LN2_LOW)) - f)
