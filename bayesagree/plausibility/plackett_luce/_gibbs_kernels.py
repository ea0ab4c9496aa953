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
    named, remaining, worth, time
        Work arrays of a ranking: which labels it names or was not offered, the worth left after each block, worths and
        arrivals of a block, shape (n,).
    """

    theta: NDArray[np.float64]
    prior_shape: NDArray[np.float64]
    posterior_shape: NDArray[np.float64]
    prior_exposure: NDArray[np.float64]
    exposure: NDArray[np.float64]
    tail_exposure: NDArray[np.float64]
    in_tail: NDArray[np.bool_]
    named: NDArray[np.bool_]
    remaining: NDArray[np.float64]
    worth: NDArray[np.float64]
    time: NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def new_state(n):
    """State for n named labels, without values."""
    # An array each: numba does not know that the rows of one are contiguous, and compiles everything twice.
    return SweepState(
        np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1),
        np.ones(n + 1, np.bool_), np.empty(n, np.bool_), np.empty(n), np.empty(n), np.empty(n),
    )  # fmt: skip


@numba.njit(cache=True, nogil=True)
def add_exposure(state, cases, r, rng):
    """Draw the arrival times of ranking r, as often as it was given, and add what every label was exposed to.

    From the moment on when only labels of the tail are left, exposures go to `tail_exposure`. Returns how many labels
    of the tail arrived before.
    """
    theta, exposure, in_tail, named = state.theta, state.exposure, state.in_tail, state.named
    entry_start, entry, multiplicity = cases.entry_start, cases.entry, cases.multiplicity[r]
    n = theta.size - 1
    limited = cases.offered.size > 0
    named[:] = limited
    if limited:
        for k in cases.offered[cases.offered_start[r] : cases.offered_start[r + 1]]:
            named[k] = False
    first, last = cases.block_start[r], cases.block_start[r + 1]
    for e in range(entry_start[first], entry_start[last]):
        named[entry[e]] = True
    # From the back: subtracting from a total would lose every digit of a small remainder.
    rest = 0.0 if limited else theta[n]
    for k in range(n):
        if not named[k]:
            rest += theta[k]
    for b in range(last - 1, first - 1, -1):
        state.remaining[b - first] = rest
        for e in range(entry_start[b], entry_start[b + 1]):
            rest += theta[entry[e]]
    tail = tail_start(state, cases, first, last)
    elapsed, before_tail, early = 0.0, 0.0, 0
    target = exposure
    for b in range(first, last):
        if b == tail:
            before_tail, elapsed, target = elapsed, 0.0, state.tail_exposure
        at, size = entry_start[b], entry_start[b + 1] - entry_start[b]
        for e in range(at, at + size):
            if b >= tail:
                exposure[entry[e]] += before_tail
            elif in_tail[entry[e]]:
                early += multiplicity
        if size == 1:
            k = entry[at]
            # Equal rankings repeat the same wait: their sum is one gamma.
            wait = rng.standard_exponential() if multiplicity == 1 else gamma_variate(rng, multiplicity)
            wait /= theta[k] + state.remaining[b - first]
            target[k] += elapsed + wait
            elapsed += wait
        else:
            for j in range(size):
                state.worth[j] = theta[entry[at + j]]
            finish = tied_block(state.worth[:size], state.remaining[b - first], multiplicity, rng, state.time[:size])
            for j in range(size):
                target[entry[at + j]] += elapsed + state.time[j]
            elapsed += finish
    for k in range(n if limited else n + 1):
        if k == n or not named[k]:
            target[k] += elapsed
            exposure[k] += before_tail
    return early


@numba.njit(cache=True, nogil=True)
def tail_start(state, cases, first, last):
    """Block of a ranking from which on only labels of the tail are left, or `last` if that never happens."""
    named, in_tail = state.named, state.in_tail
    if not in_tail[named.size]:
        return last
    for k in range(named.size):
        if not (named[k] or in_tail[k]):
            return last
    tail = last
    while tail > first:
        for e in range(cases.entry_start[tail - 1], cases.entry_start[tail]):
            if not in_tail[cases.entry[e]]:
                return tail
        tail -= 1
    return tail


@numba.njit(cache=True, nogil=True)
def rescale_tail(state, early, rng):
    """Draw a common factor for the worths of the tail, and add its late exposures divided by it.

    Multiplying the worths of the set by s and dividing by s all waits in which only the set is left changes no other
    density, so that s given everything else is a gamma variable (generalised Gibbs step). Without it, labels that
    everybody ranks low move together in steps much smaller than their range.
    """
    shape, rate = float(early), 0.0
    for k in range(state.theta.size):
        if state.in_tail[k]:
            shape += state.prior_shape[k]
            rate += state.theta[k] * (state.prior_exposure[k] + state.exposure[k])
    factor = gamma_variate(rng, shape) / rate if rate > 0.0 else 1.0
    # A factor this small has no finite reciprocal; any other value than its own is as good once in 10^250 draws.
    scale = 1.0 / factor if factor > 1e-250 else 1.0
    for k in range(state.theta.size):
        state.exposure[k] += state.tail_exposure[k] * scale


@numba.njit(cache=True, nogil=True)
def draw_theta(state, rng):
    """Draw the worths given the exposures, scaled to sum to one; return their sum.

    Worth k is Gamma(a + n_k, rate + exposure_k / S), S the total worth, exposures in units of 1 / S.
    """
    theta, posterior_shape = state.theta, state.posterior_shape
    if state.prior_exposure.max() == 0.0 and state.exposure.max() == 0.0:
        state.prior_exposure[:] = 1.0  # nothing was observed: any scale will do
    scale = 0.0
    for k in range(theta.size):
        theta[k] = gamma_variate(rng, posterior_shape[k]) / (state.prior_exposure[k] + state.exposure[k])
        scale += theta[k]
    if scale == 0.0:
        # Nothing observed and shapes so small that every gamma underflows: one label has it all.
        theta[np.searchsorted(np.cumsum(posterior_shape), rng.random() * posterior_shape.sum())] = 1.0
        return TINY
    for k in range(theta.size):
        theta[k] = max(theta[k] / scale, TINY if posterior_shape[k] > 0.0 else 0.0)
    return scale


@numba.njit(cache=True, nogil=True)
def sweep_item(state, cases, item, rng):
    """Draw the worths of one item, `state.theta`, given its `prior_exposure`; return their sum, as `draw_theta`.

    The one sweep of the package: `sample_item` (the sampler) and `sweep_items` (the PyMC step) both call it.
    """
    # The tail: labels below a random place in the order of their mean ranks, and all that nobody named.
    lo, n = cases.label_start[item], state.named.size
    place = int(rng.random() * n)
    for k in range(n):
        state.in_tail[k] = cases.mean_rank_order[lo + k] > place
    state.exposure[:] = 0.0
    state.tail_exposure[:] = 0.0
    early = 0
    for r in range(cases.ranking_start[item], cases.ranking_start[item + 1]):
        early += add_exposure(state, cases, r, rng)
    rescale_tail(state, early, rng)
    return draw_theta(state, rng)


@numba.njit(cache=True, nogil=True)
def sample_item(cases, item, prior, run, rng, out):
    """Run the chains of one item; `out` has shape (chains * draws, n + 1), the last column for unnamed labels."""
    lo, hi = cases.label_start[item], cases.label_start[item + 1]
    n = hi - lo
    state = new_state(n)
    state.prior_shape[:n] = prior.shape
    state.prior_shape[n] = prior.unnamed[item]
    copy_to(state.posterior_shape, state.prior_shape)
    for k in range(n):
        state.posterior_shape[k] += cases.arrivals[lo + k]
    total_shape = state.prior_shape.sum()
    row = 0
    for _ in range(run.chains):
        state.exposure[:] = 1.0
        state.prior_exposure[:] = gamma_variate(rng, total_shape)
        draw_theta(state, rng)
        for sweep in range(run.tune + run.draws * run.thin):
            # The total is independent of theta a posteriori: drawn afresh.
            state.prior_exposure[:] = gamma_variate(rng, total_shape)
            sweep_item(state, cases, item, rng)
            if sweep >= run.tune and (sweep - run.tune + 1) % run.thin == 0:
                copy_to(out[row], state.theta)
                row += 1


@numba.njit(cache=True, nogil=True)
def sweep_items(worth, shape, rate, cases, rng):
    """Redraw the worths, those of each item next to each other, in place: one sweep of each item, for the PyMC step.

    It stands beside `sweep_item` because numba compiles a cached kernel anew when its own file changes, and only then.
    """
    for i in range(cases.label_start.size - 1):
        lo, hi = cases.label_start[i], cases.label_start[i + 1]
        n = hi - lo
        if n == 0:
            continue
        state = new_state(n)
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
            state.posterior_shape[k] = shape[lo + k] + cases.arrivals[lo + k]
            state.prior_exposure[k] = rate[lo + k] * total
        state.posterior_shape[n] = 0.0
        scale = sweep_item(state, cases, i, rng)
        for k in range(n):
            worth[lo + k] = total * scale * state.theta[k]
