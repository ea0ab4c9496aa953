"""The compiled walk along the scores of a model; who counts no pairs waits for no compiler."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def walk_down(order, ends, positive, negative, out):
    """Walk from the highest score down, equal scores at one step, and add to `out` (sample,); see `walked`."""
    above = np.zeros_like(out)
    here = np.zeros_like(out)
    step = np.zeros_like(out)
    for at in range(order.size):
        plus, minus = positive[order[at]], negative[order[at]]
        for s in range(out.size):
            here[s] += plus[s]
            step[s] += minus[s]
        if ends[at]:
            for s in range(out.size):
                out[s] += step[s] * (above[s] + 0.5 * here[s])
                above[s] += here[s]
                here[s] = step[s] = 0.0
