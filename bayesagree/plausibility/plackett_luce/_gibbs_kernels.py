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

from bayesagree.inference.gamma import gamma_variate
from bayesagree.inference.vectors import copy_to
from bayesagree.plausibility.plackett_luce._stages import Records, record
from bayesagree.plausibility.plackett_luce._tied_blocks import tied_block

# Smallest share a label can have: below it only priors of shapes under 0.01 put weight.
TINY = 1e-290
# State of a label: its share of the worth (theta), `arrivals` and `mean_rank_order` as in `Cases`, whether a sweep
# rescales its worth with others (in_tail), the shape of the worth's gamma prior, the prior's rate times the total
# worth, which counts like an exposure (prior_exposure), and exposures before and after only labels in
# the tail are left.
LABEL = record("theta arrivals:i8 mean_rank_order:i8 in_tail:? prior_shape prior_exposure exposure tail_exposure")


class SweepState(NamedTuple):
    """State of the sampler for one item of n named labels, and its work arrays.

    Attributes
    ----------
    labels
        Records `LABEL` of the named labels and, last, of all others together, shape (n + 1,).
    sets, extra, ties, tie_label
        As in `Stages`; the sets (a copy) and ties are those of the item.
    worth, time
        Work arrays of a tied block: worths and arrivals, shape (n,).
    """

    # Records: numba counts references to arrays, and an array for each field would make a sweep half as long again.
    labels: Records
    sets: Records
    extra: NDArray[np.int64]
    ties: Records
    tie_label: NDArray[np.int64]
    worth: NDArray[np.float64]
    time: NDArray[np.float64]


@numba.njit(cache=True, nogil=True)
def new_state(stages, item):
    """State for one item, its worths and their priors without values."""
    lo, n = stages.label_start[item], stages.label_start[item + 1] - stages.label_start[item]
    labels = np.zeros(n + 1, LABEL)
    for k in range(n):
        labels[k].arrivals, labels[k].mean_rank_order = stages.arrivals[lo + k], stages.mean_rank_order[lo + k]
    sets = stages.sets[stages.set_start[item] : stages.set_start[item + 1]].copy()
    ties = stages.ties[stages.tie_start[item] : stages.tie_start[item + 1]]
    return SweepState(labels, sets, stages.extra, ties, stages.tie_label, np.empty(n), np.empty(n))


@numba.njit(cache=True, nogil=True, inline="always")
def draw_theta(labels, rng):
    """Draw the worths given the exposures, scaled to sum to one.

    Worth k is Gamma(a + n_k, rate + exposure_k / S), S the total worth, exposures in units of 1 / S.
    """
    exposed = shapes = scale = 0.0
    for label in labels:
        exposed += label.prior_exposure + label.exposure
        shapes += label.prior_shape + label.arrivals
    for label in labels:
        # Nothing was observed if nothing is exposed: any scale will do.
        exposure = label.prior_exposure + label.exposure if exposed != 0.0 else 1.0
        label.theta = gamma_variate(rng, label.prior_shape + label.arrivals) / exposure
        scale += label.theta
    if scale == 0.0:
        # Nothing observed and shapes so small that every gamma underflows: one label has it all.
        left, k = rng.random() * shapes, 0
        while k < labels.size - 1 and left > labels[k].prior_shape + labels[k].arrivals:
            left -= labels[k].prior_shape + labels[k].arrivals
            k += 1
        labels[k].theta = 1.0
        return
    for label in labels:
        label.theta = max(label.theta / scale, TINY if label.prior_shape + label.arrivals > 0.0 else 0.0)


@numba.njit(cache=True, nogil=True)
def sweep_item(state, rng):
    """Draw the worths of one item given each label's `prior_exposure`.

    All in one function: handing on the arrays counts a reference to each, longer than any part of the sweep.
    """
    labels, sets, extra, ties, tie_label, worths, time = state

    # The tail: labels below a random place in the order of their mean ranks, and all that nobody named.
    n = labels.size - 1
    place, early = int(rng.random() * n), 0
    for k in range(n + 1):
        label = labels[k]
        label.in_tail = k == n or label.mean_rank_order > place
        early += label.in_tail * label.arrivals
        label.exposure = label.tail_exposure = 0.0

    # How long every set waited.
    for at_risk in sets:
        # Worths add up from the last labels on: subtracting from a total would lose every digit of a small remainder.
        worth, late = 0.0, True
        if at_risk.subset >= 0:
            worth, late = sets[at_risk.subset].worth, sets[at_risk.subset].late
        for e in range(at_risk.extra_start, at_risk.extra_stop):
            worth += labels[extra[e]].theta
            late = late and labels[extra[e]].in_tail
        at_risk.worth, at_risk.late = worth, late
        wait = 0.0
        if at_risk.singles == 1:
            wait = rng.standard_exponential() / worth
        elif at_risk.singles > 1:
            wait = gamma_variate(rng, at_risk.singles) / worth
        at_risk.wait, at_risk.tail_wait = (0.0, wait) if late else (wait, 0.0)
        if late:
            early -= at_risk.singles

    # When tied labels arrived.
    for tie in ties:
        block, rest, late = tie_label[tie.label_start : tie.label_stop], sets[tie.rest], sets[tie.come_from].late
        for j in range(block.size):
            worths[j] = labels[block[j]].theta
        finish = tied_block(worths[: block.size], rest.worth, tie.repeats, rng, time[: block.size])
        if late:
            early -= block.size * tie.repeats
            rest.tail_wait += finish
        else:
            rest.wait += finish
        for j in range(block.size):
            if late:
                labels[block[j]].tail_exposure += time[j]
            else:
                labels[block[j]].exposure += time[j]

    # What every label was exposed to: the waits of all sets that hold it, each handed down to its subset.
    for s in range(sets.size - 1, -1, -1):
        at_risk = sets[s]
        for e in range(at_risk.extra_start, at_risk.extra_stop):
            labels[extra[e]].exposure += at_risk.wait
            labels[extra[e]].tail_exposure += at_risk.tail_wait
        if at_risk.subset >= 0:
            sets[at_risk.subset].wait += at_risk.wait
            sets[at_risk.subset].tail_wait += at_risk.tail_wait

    # A common factor for the worths of the tail. Multiplying these by s and dividing by s all waits in which only the
    # tail is left changes no other density, so that s given everything else is a gamma variable (generalised Gibbs
    # step). Without it, labels that everybody ranks low move together in steps much smaller than their range.
    shape, rate = float(early), 0.0
    for label in labels:
        if label.in_tail:
            shape += label.prior_shape
            rate += label.theta * (label.prior_exposure + label.exposure)
    factor = gamma_variate(rng, shape) / rate if rate > 0.0 else 1.0
    # A factor this small has no finite reciprocal; any other value than its own is as good once in 10^250 draws.
    scale = 1.0 / factor if factor > 1e-250 else 1.0
    for label in labels:
        label.exposure += label.tail_exposure * scale
    draw_theta(labels, rng)


@numba.njit(cache=True, nogil=True)
def sample_item(stages, item, prior, run, rng, out):
    """Run the chains of one item; `out` has shape (chains * draws, n + 1), the last column for unnamed labels."""
    state = new_state(stages, item)
    labels = state.labels
    labels.prior_shape[:] = prior.shape
    labels[labels.size - 1].prior_shape = prior.unnamed[item]
    total_shape = labels.prior_shape.sum()
    row = 0
    for _ in range(run.chains):
        labels.exposure[:] = 1.0
        labels.prior_exposure[:] = gamma_variate(rng, total_shape)
        draw_theta(labels, rng)
        for sweep in range(run.tune + run.draws * run.thin):
            # The total is independent of theta a posteriori: drawn afresh.
            labels.prior_exposure[:] = gamma_variate(rng, total_shape)
            sweep_item(state, rng)
            if sweep >= run.tune and (sweep - run.tune + 1) % run.thin == 0:
                copy_to(out[row], labels.theta)
                row += 1
