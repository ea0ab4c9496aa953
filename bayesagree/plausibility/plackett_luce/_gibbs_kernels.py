"""Compiled Gibbs sweep of Plackett-Luce worths for partial rankings with ties; linear in the size of a block.

Notation: worth ``theta`` (the worths scaled to sum to one, which is the plausibility), ``remaining`` (W, the worth of
everything ranked later or not at all), ``exposure`` (how long a label was at risk of arriving, summed over annotators).
The scale of the worths is not identified, so a sweep works on ``theta`` and draws the total afresh: nothing overflows,
whatever the prior.
"""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.gamma import gamma_variate
from bayesagree._numerics.vectors import copy_to
from bayesagree.plausibility.plackett_luce._tied_blocks import tied_block

TINY = 1e-290
"""Smallest share a label can have: below it only priors of shapes under 0.01 put weight."""


class SweepState(NamedTuple):
    """State of the sampler for one item of n named labels, and its work arrays; the last entry of n + 1 is the rest.

    Attributes
    ----------
    theta
        Share of the worth of each label, shape (n + 1,).
    prior_shape, posterior_shape
        Shapes of the worths' gamma priors, and the same plus the number of arrivals, shape (n + 1,).
    prior_exposure
        Rate of each prior times the total worth: the prior counts like an exposure, shape (n + 1,).
    exposure, tail_exposure
        Exposures before and after only labels in the tail are left, shape (n + 1,).
    in_tail
        Labels whose worths a sweep rescales together, shape (n + 1,).
    worth, time
        Work arrays of a tied block: worths and arrivals, shape (n,).
    at_risk, wait, tail_wait, late
        Of each set at risk: its worth, how long it waited before and after only labels in the tail were left, and
        whether it is of the tail, shape (set,).
    """

    theta: NDArray[np.float64]
    prior_shape: NDArray[np.float64]
    posterior_shape: NDArray[np.float64]
    prior_exposure: NDArray[np.float64]
    exposure: NDArray[np.float64]
    tail_exposure: NDArray[np.float64]
    in_tail: NDArray[np.bool_]
    worth: NDArray[np.float64]
    time: NDArray[np.float64]
    at_risk: NDArray[np.float64]
    wait: NDArray[np.float64]
    tail_wait: NDArray[np.float64]
    late: NDArray[np.bool_]


@numba.njit(cache=True, nogil=True)
def new_state(n, n_sets):
    """State for n named labels and so many sets at risk, without values."""
    # An array each: numba does not know that the rows of one are contiguous, and compiles everything twice.
    return SweepState(
        np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1),
        np.ones(n + 1, np.bool_), np.empty(n), np.empty(n), np.empty(n_sets), np.empty(n_sets), np.empty(n_sets),
        np.empty(n_sets, np.bool_),
    )  # fmt: skip


@numba.njit(cache=True, nogil=True, inline="always")
def draw_theta(theta, posterior_shape, prior_exposure, exposure, rng):
    """Draw the worths given the exposures, scaled to sum to one; return their sum.

    Worth k is Gamma(a + n_k, rate + exposure_k / S), S the total worth, exposures in units of 1 / S.
    """
    exposed = 0.0
    for k in range(theta.size):
        exposed += prior_exposure[k] + exposure[k]
    if exposed == 0.0:
        prior_exposure[:] = 1.0  # nothing was observed: any scale will do
    scale = 0.0
    for k in range(theta.size):
        theta[k] = gamma_variate(rng, posterior_shape[k]) / (prior_exposure[k] + exposure[k])
        scale += theta[k]
    if scale == 0.0:
        # Nothing observed and shapes so small that every gamma underflows: one label has it all.
        left, k = rng.random() * posterior_shape.sum(), 0
        while k < theta.size - 1 and left > posterior_shape[k]:
            left -= posterior_shape[k]
            k += 1
        theta[k] = 1.0
        return TINY
    for k in range(theta.size):
        theta[k] = max(theta[k] / scale, TINY if posterior_shape[k] > 0.0 else 0.0)
    return scale


@numba.njit(cache=True, nogil=True)
def sweep_item(state, stages, item, rng):
    """Draw the worths of one item, `state.theta`, given its `prior_exposure`; return their sum, as `draw_theta`.

    The one sweep of the package: `sample_item` (the sampler) and `sweep_items` (the PyMC step) both call it. All in one
    function: handing on both tuples counts a reference to each of their arrays, longer than any part of the sweep.
    """
    # The tail: labels below a random place in the order of their mean ranks, and all that nobody named.
    lo, n = stages.label_start[item], state.theta.size - 1
    place, early = int(rng.random() * n), 0
    state.exposure[n] = state.tail_exposure[n] = 0.0
    for k in range(n):
        state.in_tail[k] = stages.mean_rank_order[lo + k] > place
        early += state.in_tail[k] * stages.arrivals[lo + k]
        state.exposure[k] = state.tail_exposure[k] = 0.0

    # How long every set waited.
    first = stages.set_start[item]
    n_sets = stages.set_start[item + 1] - first
    for s in range(n_sets):
        below, singles = stages.subset[first + s], stages.singles[first + s]
        # Worths add up from the last labels on: subtracting from a total would lose every digit of a small remainder.
        worth, late = (state.at_risk[below], state.late[below]) if below >= 0 else (0.0, True)
        for e in range(stages.extra_start[first + s], stages.extra_start[first + s + 1]):
            worth += state.theta[stages.extra[e]]
            late = late and state.in_tail[stages.extra[e]]
        state.at_risk[s], state.late[s] = worth, late
        wait = 0.0
        if singles == 1:
            wait = rng.standard_exponential() / worth
        elif singles > 1:
            wait = gamma_variate(rng, singles) / worth
        state.wait[s], state.tail_wait[s] = (0.0, wait) if late else (wait, 0.0)
        if late:
            early -= singles

    # When tied labels arrived.
    for t in range(stages.tie_start[item], stages.tie_start[item + 1]):
        begin, rest, repeats = stages.tie_label_start[t], stages.tie_rest[t], stages.tie_repeats[t]
        size, late = stages.tie_label_start[t + 1] - begin, state.late[stages.tie_from[t]]
        for j in range(size):
            state.worth[j] = state.theta[stages.tie_label[begin + j]]
        finish = tied_block(state.worth[:size], state.at_risk[rest], repeats, rng, state.time[:size])
        if late:
            early -= size * repeats
            state.tail_wait[rest] += finish
        else:
            state.wait[rest] += finish
        for j in range(size):
            if late:
                state.tail_exposure[stages.tie_label[begin + j]] += state.time[j]
            else:
                state.exposure[stages.tie_label[begin + j]] += state.time[j]

    # What every label was exposed to: the waits of all sets that hold it, each handed down to its subset.
    for s in range(n_sets - 1, -1, -1):
        below, wait, tail_wait = stages.subset[first + s], state.wait[s], state.tail_wait[s]
        for e in range(stages.extra_start[first + s], stages.extra_start[first + s + 1]):
            state.exposure[stages.extra[e]] += wait
            state.tail_exposure[stages.extra[e]] += tail_wait
        if below >= 0:
            state.wait[below] += wait
            state.tail_wait[below] += tail_wait

    # A common factor for the worths of the tail. Multiplying these by s and dividing by s all waits in which only the
    # tail is left changes no other density, so that s given everything else is a gamma variable (generalised Gibbs
    # step). Without it, labels that everybody ranks low move together in steps much smaller than their range.
    shape, rate = float(early), 0.0
    for k in range(n + 1):
        if state.in_tail[k]:
            shape += state.prior_shape[k]
            rate += state.theta[k] * (state.prior_exposure[k] + state.exposure[k])
    factor = gamma_variate(rng, shape) / rate if rate > 0.0 else 1.0
    # A factor this small has no finite reciprocal; any other value than its own is as good once in 10^250 draws.
    scale = 1.0 / factor if factor > 1e-250 else 1.0
    for k in range(n + 1):
        state.exposure[k] += state.tail_exposure[k] * scale
    return draw_theta(state.theta, state.posterior_shape, state.prior_exposure, state.exposure, rng)


@numba.njit(cache=True, nogil=True)
def sample_item(stages, item, prior, run, rng, out):
    """Run the chains of one item; `out` has shape (chains * draws, n + 1), the last column for unnamed labels."""
    lo, hi = stages.label_start[item], stages.label_start[item + 1]
    n = hi - lo
    state = new_state(n, stages.set_start[item + 1] - stages.set_start[item])
    state.prior_shape[:n] = prior.shape
    state.prior_shape[n] = prior.unnamed[item]
    copy_to(state.posterior_shape, state.prior_shape)
    for k in range(n):
        state.posterior_shape[k] += stages.arrivals[lo + k]
    total_shape = state.prior_shape.sum()
    row = 0
    for _ in range(run.chains):
        state.exposure[:] = 1.0
        state.prior_exposure[:] = gamma_variate(rng, total_shape)
        draw_theta(state.theta, state.posterior_shape, state.prior_exposure, state.exposure, rng)
        for sweep in range(run.tune + run.draws * run.thin):
            # The total is independent of theta a posteriori: drawn afresh.
            state.prior_exposure[:] = gamma_variate(rng, total_shape)
            sweep_item(state, stages, item, rng)
            if sweep >= run.tune and (sweep - run.tune + 1) % run.thin == 0:
                copy_to(out[row], state.theta)
                row += 1


@numba.njit(cache=True, nogil=True)
def sweep_items(worth, shape, rate, stages, rng):
    """Redraw the worths, those of each item next to each other, in place: one sweep of each item, for the PyMC step.

    It stands beside `sweep_item` because numba compiles a cached kernel anew when its own file changes, and only then.
    """
    for i in range(stages.label_start.size - 1):
        lo, hi = stages.label_start[i], stages.label_start[i + 1]
        n = hi - lo
        if n == 0:
            continue
        state = new_state(n, stages.set_start[i + 1] - stages.set_start[i])
        total = worth[lo:hi].sum()
        for k in range(n):
            state.theta[k] = worth[lo + k] / total
        state.theta[n] = 0.0  # nobody but the labels of the model competes
        if (rate[lo:hi] == rate[lo]).all():
            # The total is independent of the shares: drawn afresh. With rates of different labels it is not.
            total = gamma_variate(rng, shape[lo:hi].sum()) / rate[lo]
        state.prior_shape[n] = 0.0
        state.prior_exposure[n] = rate[lo] * total
        for k in range(n):
            state.prior_shape[k] = shape[lo + k]
            state.posterior_shape[k] = shape[lo + k] + stages.arrivals[lo + k]
            state.prior_exposure[k] = rate[lo + k] * total
        state.posterior_shape[n] = 0.0
        scale = sweep_item(state, stages, i, rng)
        for k in range(n):
            worth[lo + k] = total * scale * state.theta[k]
