"""Ambiguity and prevalence of mixed membership with all readings summed out, compiled.

Given the annotators' confusion, n annotations of an item have the probability

    sum over counts (n_1, ..., n_m) of n readings:  coefficient * prod_k (alpha pi_k)^(n_k rising) / alpha^(n rising)

where the coefficient of z_1^n_1 ... z_m^n_m in prod_t sum_k confusion[t, k] z_k sums over all readings with these
counts. It depends neither on alpha nor on the prevalence: it is expanded once, and then both move as if there were no
readings. Without that, they and the readings hold each other where they are.

Counts of s readings are numbered as sorted lists of labels in colexicographic order (largest label first), so that
lists over the first m labels are the first ones whatever the number of labels.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._gibbs_kernels import log_rising

MOST_WAYS, MOST_READINGS = 256, 100
"""Items with more counts or more readings (whose weights would overflow) keep their readings while alpha moves."""
MOST_COEFFICIENTS = 2**24
"""Coefficients kept for all items of a chain; above it items of many counts keep their readings too."""
WIDTH = 0.5
"""First width of a slice; stepping out and shrinking make any width valid."""
PAIRS = 2
"""Pairs of labels between which the prevalence moves in one sweep."""


class Counts(NamedTuple):
    """Ways to split readings over labels.

    Attributes
    ----------
    start
        Counts of s readings have the numbers ``start[s]:start[s + 1]``.
    ways
        How many of them there are over the first m labels, shape (s, m); MOST_WAYS + 1 where there are more than that.
    parent, last, taken
        Counts without one reading of their largest label, that label, and how many of it are left then.
    after
        Number of the counts with one more reading of label k, shape (counts, k), or -1 where it is not listed.
    """

    start: NDArray[np.int64]
    ways: NDArray[np.int64]
    parent: NDArray[np.int64]
    last: NDArray[np.int64]
    taken: NDArray[np.int64]
    after: NDArray[np.int64]


def reading_counts(n_labels: int, most: int) -> Counts:
    """List the counts of up to `most` readings over up to `n_labels` labels."""
    most = min(most, MOST_READINGS)
    n_labels = min(n_labels, MOST_WAYS)
    ways = np.array(
        [[min(math.comb(s + m - 1, s), MOST_WAYS + 1) if m else int(s == 0) for m in range(n_labels + 1)]
         for s in range(most + 1)]
    )  # fmt: skip
    listed = np.array([row[row <= MOST_WAYS].max() for row in ways])
    start = np.concatenate([[0], np.cumsum(listed)])
    pairs = int((ways[2] <= MOST_WAYS).sum()) - 1 if most > 1 else 0
    parent, last, taken = np.full((3, start[-1]), -1)
    after = np.full((start[-1], pairs), -1)
    _list_counts(start, ways, parent, last, taken, after)
    return Counts(start, ways, parent, last, taken, after)


@numba.njit(cache=True, nogil=True)
def _list_counts(start, ways, parent, last, taken, after):
    for s in range(1, start.size - 1):
        number = start[s]
        label = 0
        while number < start[s + 1]:
            for at in range(start[s - 1], start[s - 1] + ways[s - 1, label + 1]):
                parent[number], last[number] = at, label
                taken[number] = taken[at] + 1 if s > 1 and last[at] == label else 0
                number += 1
            label += 1
    for s in range(1, start.size - 2):
        for number in range(start[s], start[s + 1]):
            for k in range(after.shape[1]):
                # Put the larger of k and the list's own last label on top of a list of s labels.
                top, below = k, number
                if k < last[number]:
                    top, below = last[number], k if s == 1 else after[parent[number], k]
                    below += start[1] if s == 1 else 0
                if below >= 0 and ways[s + 1, top + 1] <= MOST_WAYS:
                    after[number, k] = start[s + 1] + ways[s + 1, top] + below - start[s]


class AmbiguityPrior(NamedTuple):
    """log alpha ~ N(log_ambiguity, ambiguity_sd^2), prevalence ~ Dirichlet(prevalence, ..., prevalence)."""

    log_ambiguity: float
    ambiguity_sd: float
    prevalence: float


class ReadingSums(NamedTuple):
    """Sums over the readings of all items.

    Attributes
    ----------
    counts
        How readings are split over labels.
    begin
        Where the coefficients of each item begin, shape (item + 1,); items that keep their readings have none.
    coefficient
        Coefficients of all items, one for each of an item's counts.
    leader
        The item whose weights serve all others, or -1 where items have candidates of their own.
    """

    counts: Counts
    begin: NDArray[np.int64]
    coefficient: NDArray[np.float64]
    leader: int


def reading_sums(cells: AnnotationCells, n_labels: int) -> ReadingSums:
    """Lay out the coefficients; `expand_items` fills them."""
    n, m = cells.sizes, np.diff(cells.candidate_start)
    counts = reading_counts(n_labels, int(n.max()))
    most, labels = (size - 1 for size in counts.ways.shape)
    ways = counts.ways[np.minimum(n, most), np.minimum(m, labels)]
    ways[(n > most) | (n == 0) | (m > labels) | (ways > MOST_WAYS)] = 0
    limit = MOST_WAYS
    while ways.sum() > MOST_COEFFICIENTS:
        limit //= 2
        ways[ways > limit] = 0
    alike = (m == n_labels).all() and ways.any()
    leader = int(np.argmax(n * (ways > 0))) if alike else -1
    begin = np.concatenate([[0], np.cumsum(ways)])
    return ReadingSums(counts, begin, np.empty(begin[-1]), leader)


@numba.njit(cache=True, nogil=True)
def expand_items(cells, sums, chance):
    """Write the coefficients of every item, up to a factor; `chance` is the confusion probability of each cell."""
    counts, begin = sums.counts, sums.begin
    now, then = np.empty(MOST_WAYS), np.empty(MOST_WAYS)
    for i in range(begin.size - 1):
        if begin[i] == begin[i + 1]:
            continue
        m, n = cells.candidate_start[i + 1] - cells.candidate_start[i], cells.item_start[i + 1] - cells.item_start[i]
        position = cells.cell_start[i]
        for s in range(n):
            largest = 0.0
            for c in range(m):
                largest = max(largest, chance[cells.cell[position + c]])
            if s == 0:
                for c in range(m):
                    then[c] = chance[cells.cell[position + c]] / largest
            else:
                then[: counts.ways[s + 1, m]] = 0.0
                for w in range(counts.ways[s, m]):
                    for c in range(m):
                        to = counts.after[counts.start[s] + w, c] - counts.start[s + 1]
                        then[to] += now[w] * chance[cells.cell[position + c]] / largest
            now, then = then, now
            position += m
        sums.coefficient[begin[i] : begin[i + 1]] = now[: begin[i + 1] - begin[i]]


@numba.njit(cache=True, nogil=True)
def fill_weights(cells, counts, i, prevalence, ambiguity, weight):
    """Write prod_k (alpha pi_k)^(n_k rising) of all counts that item i can have."""
    first, m = cells.candidate_start[i], cells.candidate_start[i + 1] - cells.candidate_start[i]
    weight[0] = 1.0
    for s in range(1, cells.item_start[i + 1] - cells.item_start[i] + 1):
        for number in range(counts.start[s], counts.start[s] + counts.ways[s, m]):
            share = prevalence[cells.candidate[first + counts.last[number]]]
            weight[number] = weight[counts.parent[number]] * (ambiguity * share + counts.taken[number])


@numba.njit(cache=True, nogil=True)
def reading_density(cells, sums, prevalence, ambiguity, readings, sizes, times, weight):
    """Log likelihood of alpha and the prevalence given the confusion; `times` items have each of the `sizes`."""
    counts, begin, leader, coefficient = sums.counts, sums.begin, sums.leader, sums.coefficient
    value = 0.0
    for g in range(sizes.size):
        value -= times[g] * log_rising(ambiguity, sizes[g])
    if leader >= 0:
        fill_weights(cells, counts, leader, prevalence, ambiguity, weight)
    for i in range(begin.size - 1):
        if begin[i] == begin[i + 1]:
            for c in range(cells.candidate_start[i], cells.candidate_start[i + 1]):
                if readings[c] > 0:
                    value += log_rising(ambiguity * prevalence[cells.candidate[c]], int(readings[c]))
            continue
        if leader < 0:
            fill_weights(cells, counts, i, prevalence, ambiguity, weight)
        first, total = counts.start[cells.item_start[i + 1] - cells.item_start[i]], 0.0
        for w in range(begin[i + 1] - begin[i]):
            total += coefficient[begin[i] + w] * weight[first + w]
        value += math.log(total) if total > 0.0 else -math.inf
    return value


@numba.njit(cache=True, nogil=True)
def _density(u, pair, prior, prevalence, ambiguity, given):
    """Log density of u = log alpha, or of u = log(pi_one / pi_other) for a pair, whose shares are written."""
    one, other = pair
    if one == other:
        ambiguity = math.exp(u)
        value = -0.5 * ((u - prior.log_ambiguity) / prior.ambiguity_sd) ** 2
    else:
        both = prevalence[one] + prevalence[other]
        prevalence[one], prevalence[other] = both / (1.0 + math.exp(-u)), both / (1.0 + math.exp(u))
        value = -prior.prevalence * (math.log1p(math.exp(-abs(u))) * 2.0 + abs(u))
    cells, sums, readings, sizes, times, weight = given
    return value + reading_density(cells, sums, prevalence, ambiguity, readings, sizes, times, weight)


@numba.njit(cache=True, nogil=True)
def _slice_step(rng, u, pair, prior, prevalence, ambiguity, given):
    """Draw u by slice sampling (Neal 2003); see `_density`."""
    rest = (pair, prior, prevalence, ambiguity, given)
    level = _density(u, *rest) - rng.standard_exponential()
    low = u - WIDTH * rng.random()
    high = low + WIDTH
    while _density(low, *rest) > level:
        low -= WIDTH
    while _density(high, *rest) > level:
        high += WIDTH
    while True:
        drawn = low + rng.random() * (high - low)
        if _density(drawn, *rest) > level:
            return drawn
        if drawn < u:
            low = drawn
        else:
            high = drawn


@numba.njit(cache=True, nogil=True)
def draw_ambiguity(rng, cells, sums, prior, prevalence, ambiguity, readings, sizes, times):
    """Draw alpha and the prevalence, then counts of readings for the items whose readings are summed out.

    Returned is alpha; written in place are `prevalence` and `readings` of each (item, candidate). The prevalence moves
    between a few pairs of labels.
    """
    counts, begin, leader = sums.counts, sums.begin, sums.leader
    weight = np.empty(counts.parent.size)
    given = (cells, sums, readings, sizes, times, weight)
    ambiguity = math.exp(_slice_step(rng, math.log(ambiguity), (0, 0), prior, prevalence, ambiguity, given))
    for _ in range(min(PAIRS, prevalence.size * (prevalence.size - 1) // 2)):
        one, other = rng.integers(0, prevalence.size), rng.integers(0, prevalence.size - 1)
        other += other >= one
        if prevalence[one] > 0.0 and prevalence[other] > 0.0:
            u = math.log(prevalence[one] / prevalence[other])
            _slice_step(rng, u, (one, other), prior, prevalence, ambiguity, given)
    if leader >= 0:
        fill_weights(cells, counts, leader, prevalence, ambiguity, weight)
    for i in range(begin.size - 1):
        if begin[i] < begin[i + 1]:
            if leader < 0:
                fill_weights(cells, counts, i, prevalence, ambiguity, weight)
            draw_counts(rng, cells, counts, i, sums.coefficient[begin[i] : begin[i + 1]], weight, readings)
    return ambiguity


@numba.njit(cache=True, nogil=True)
def draw_counts(rng, cells, counts, i, coefficient, weight, readings):
    """Draw how often each label is read in item i, in proportion to coefficient times weight."""
    number, total = counts.start[cells.item_start[i + 1] - cells.item_start[i]], 0.0
    for w in range(coefficient.size):
        total += coefficient[w] * weight[number + w]
    left = rng.random() * total
    for w in range(coefficient.size):
        left -= coefficient[w] * weight[number + w]
        if left < 0.0:
            number += w
            break
    readings[cells.candidate_start[i] : cells.candidate_start[i + 1]] = 0.0
    while number > 0:
        readings[cells.candidate_start[i] + counts.last[number]] += 1.0
        number = counts.parent[number]
