"""Maximum likelihood for the Dawid-Skene model by expectation maximisation (Dawid and Skene 1979)."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree._streams import Seed, block_generators, map_blocks
from bayesagree.errors import InputError
from bayesagree.plausibility._annotation_cells import AnnotationCells, Candidates, annotation_cells

type EMVariant = Literal["full", "class_conditional", "one_coin"]

SMALL = 200_000
"""Passes over fewer (annotation, candidate) pairs stay in one thread."""
BLOCK_CELLS = 2**24
"""Cells that all blocks of items together may sum into, beyond two blocks."""


class EMResult(NamedTuple):
    """The best of all starts.

    Attributes
    ----------
    cells
        The sparse layout of the annotations.
    candidate_probability
        Pr(truth of item = label) for each candidate label of each item, shape (candidate,).
    prevalence
        Share of each label among the items, shape (label,).
    confusion_cells
        Confusion probability of each cell, shape (cell,).
    log_likelihood
        Log likelihood (plus the log prior, where there is one) before each iteration, never decreasing.
    converged
        Whether the last gain fell below the tolerance.
    """

    cells: AnnotationCells
    candidate_probability: NDArray[np.float64]
    prevalence: NDArray[np.float64]
    confusion_cells: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]
    converged: bool

    @property
    def label_probability(self) -> NDArray[np.float64]:
        """Pr(truth of item = label), shape (item, label)."""
        return self.cells.expand(self.candidate_probability, self.prevalence.size)

    def confusion(self, n_annotators: int) -> NDArray[np.float64]:
        """Return Pr(given label | true label) of every annotator, shape (annotator, label, observed label).

        Labels that an annotator never gave have probability 0; a row whose true label was never met is NaN.
        """
        n_labels, cells = self.prevalence.size, self.cells
        dense = np.zeros((n_annotators, n_labels, n_labels))
        row = cells.row_of_cell()
        dense[cells.row_annotator[row], cells.row_label[row], cells.cell_label] = self.confusion_cells
        dense[~(dense.sum(axis=2) > 0)] = np.nan
        return dense


def dawid_skene_em(
    item_index: NDArray[np.integer[Any]],
    annotator_index: NDArray[np.integer[Any]],
    label_index: NDArray[np.integer[Any]],
    *,
    n_items: int,
    n_annotators: int,
    n_labels: int,
    variant: EMVariant = "full",
    prior_confusion: NDArray[np.float64] | None = None,
    prior_prevalence: float = 0.0,
    gold: NDArray[np.integer[Any]] | None = None,
    candidates: Candidates = "all",
    restarts: int = 0,
    seed: Seed = 0,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
    client: Any = None,
) -> EMResult:
    """Estimate true labels, prevalence and annotator confusion by expectation maximisation.

    log L = sum_i log sum_k prevalence_k prod_t confusion[annotator_t, k, label_t] is climbed from the vote shares,
    in log space, until an iteration gains less than ``tolerance * |log L|``.

    Parameters
    ----------
    item_index, annotator_index, label_index
        Codes of each annotation, shape (annotation,), in any order; repeated pairs are annotations of their own.
    n_items, n_annotators, n_labels
        Sizes of the axes.
    variant
        What an annotator is: a confusion matrix, one accuracy per true label, or one accuracy (wrong answers uniform).
    prior_confusion
        Pseudo-counts (true label, given label) added to every annotator, shape (label, label); None is maximum
        likelihood. The variants with accuracies use its diagonal and the rest of its rows.
    prior_prevalence
        Pseudo-count of each label.
    gold
        Known true label of each item, -1 where unknown, shape (item,).
    candidates
        Which labels may be true: all, or those that somebody gave the item.
    restarts
        How many further starts: vote shares mixed half and half with a random distribution per item, another in
        every restart. The best log likelihood wins.
    client
        A `distributed.Client` to climb on instead of threads of this process, one start a task.

    Returns
    -------
    EMResult

    References
    ----------
    .. [1] A. P. Dawid, A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
       Applied Statistics 28 (1979) 20-28, equations 2.3-2.5.

    Examples
    --------
    >>> item, annotator = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    >>> fit = dawid_skene_em(
    ...     item, annotator, np.array([0, 0, 1, 1, 1, 1, 0, 0, 0]), n_items=3, n_annotators=3, n_labels=2
    ... )
    >>> fit.label_probability.argmax(axis=1).tolist()
    [0, 1, 0]
    """
    cells = annotation_cells(
        item_index, annotator_index, label_index,
        n_items=n_items, n_annotators=n_annotators, n_labels=n_labels, candidates=candidates, gold=gold,
    )  # fmt: skip
    if variant not in ("full", "class_conditional", "one_coin"):
        raise InputError(f"variant={variant!r} has no EM; use 'full', 'class_conditional' or 'one_coin'")
    prior = np.zeros((n_labels, n_labels)) if prior_confusion is None else np.asarray(prior_confusion, np.float64)
    shares = vote_shares(cells, item_index, label_index, n_items, n_labels)
    starts = [shares] + [_perturbed(shares, cells, rng) for rng in block_generators(seed, restarts)]

    spread = map_blocks if len(starts) == 1 else map  # several starts climb side by side

    def climb(start: NDArray[np.float64]) -> EMResult:
        return _climb(cells, start, variant, prior, float(prior_prevalence), tolerance, max_iterations, spread)

    return max(map_blocks(climb, starts, client), key=lambda fit: fit.log_likelihood[-1])


def vote_shares(
    cells: AnnotationCells, item: NDArray[Any], label: NDArray[Any], n_items: int, n_labels: int
) -> NDArray[np.float64]:
    """Return the share of votes of each candidate label of each item, shape (candidate,)."""
    owner = np.repeat(np.arange(n_items), np.diff(cells.candidate_start))
    keys, position = owner * n_labels + cells.candidate, np.asarray(item, np.int64) * n_labels + label
    place = np.minimum(np.searchsorted(keys, position), keys.size - 1)
    votes = np.bincount(place[keys[place] == position], minlength=keys.size).astype(np.float64)
    total = np.bincount(owner, votes, minlength=n_items)[owner]
    return np.where(total > 0, votes / np.maximum(total, 1), 1 / np.diff(cells.candidate_start)[owner])


def _perturbed(shares: NDArray[np.float64], cells: AnnotationCells, rng: np.random.Generator) -> NDArray[np.float64]:
    noise = rng.exponential(size=shares.size)
    owner = np.repeat(np.arange(cells.n_items), np.diff(cells.candidate_start))
    return 0.5 * shares + 0.5 * noise / np.bincount(owner, noise)[owner]


def _climb(
    cells: AnnotationCells,
    start: NDArray[np.float64],
    variant: EMVariant,
    prior: NDArray[np.float64],
    prior_prevalence: float,
    tolerance: float,
    max_iterations: int,
    spread: Callable[..., Iterable[float]],
) -> EMResult:
    n_labels, blocks = prior.shape[0], _expectation_blocks(cells)
    # Every block of items sums into arrays of its own, so that the result is the same on any number of threads.
    block_weights, block_count = (np.empty((len(blocks), size)) for size in (cells.cell_label.size, n_labels))
    weights, probability = np.zeros(cells.cell_label.size), start.copy()
    count = _count_start(cells, probability, weights, n_labels)
    prevalence, log_prevalence, log_confusion = count / count.sum(), count, weights
    history: list[float] = []
    converged = False

    def expect(block: int) -> float:
        begin, end = blocks[block]
        sums = block_weights[block], block_count[block]
        return _expect(cells, begin, end, log_prevalence, log_confusion, probability, *sums)

    for _ in range(max_iterations):
        prevalence = (count + prior_prevalence) / (count + prior_prevalence).sum()
        log_confusion, log_prior = _maximise(cells, weights, prior, variant)
        with np.errstate(divide="ignore"):
            log_prevalence = np.log(prevalence)
        if prior_prevalence > 0:
            log_prior += prior_prevalence * log_prevalence.sum()
        log_likelihood = sum(spread(expect, list(range(len(blocks)))))
        np.sum(block_weights, axis=0, out=weights)
        np.sum(block_count, axis=0, out=count)
        history.append(log_likelihood + log_prior)
        converged = len(history) > 1 and history[-1] - history[-2] <= tolerance * abs(history[-1])
        if converged:
            break
    return EMResult(cells, probability, prevalence, np.exp(log_confusion), np.array(history), converged)


def _expectation_blocks(cells: AnnotationCells) -> list[tuple[int, int]]:
    """Cut the items into blocks of equal work, few where sums of cells are large; the data alone decide how."""
    work = cells.cell.size
    n_blocks = 1 if work < SMALL else max(2, min(8, BLOCK_CELLS // cells.cell_label.size))
    cuts = np.searchsorted(cells.cell_start, np.linspace(0, work, n_blocks + 1)[1:-1])
    return list(pairwise([0, *cuts.tolist(), cells.n_items]))


@numba.njit(cache=True, nogil=True)
def _count_start(cells, probability, weights, n_labels):
    """Sum the starting probabilities into confusion cells; return those of the labels."""
    count = np.zeros(n_labels)
    for i in range(cells.item_start.size - 1):
        n = cells.item_start[i + 1] - cells.item_start[i]
        if n > 0:
            _add_item(cells, i, n, probability, weights, count)
    return count


@numba.njit(cache=True, nogil=True)
def _add_item(cells, i, n, probability, weights, count):
    first = cells.candidate_start[i]
    m = cells.candidate_start[i + 1] - first
    for c in range(m):
        count[cells.candidate[first + c]] += probability[first + c]
    position = cells.cell_start[i]
    for _ in range(n):
        for c in range(m):
            weights[cells.cell[position + c]] += probability[first + c]
        position += m


@numba.njit(cache=True, nogil=True)
def item_log_joint(cells, i, log_prevalence, log_confusion, out):
    """Write log p(truth = candidate, annotations of item i) for every candidate; return the largest."""
    first = cells.candidate_start[i]
    m = cells.candidate_start[i + 1] - first
    for c in range(m):
        out[c] = log_prevalence[cells.candidate[first + c]]
    position = cells.cell_start[i]
    for _ in range(cells.item_start[i], cells.item_start[i + 1]):
        for c in range(m):
            out[c] += log_confusion[cells.cell[position + c]]
        position += m
    largest = -np.inf
    for c in range(m):
        largest = max(largest, out[c])
    return largest


@numba.njit(cache=True, nogil=True)
def _expect(cells, begin, end, log_prevalence, log_confusion, probability, weights, count):
    """Replace the probabilities of some items by their posterior, sum them into `weights` and `count`; return log L."""
    weights[:] = 0.0
    count[:] = 0.0
    joint = np.empty(log_prevalence.size)
    log_likelihood = 0.0
    for i in range(begin, end):
        largest = item_log_joint(cells, i, log_prevalence, log_confusion, joint)
        first = cells.candidate_start[i]
        m = cells.candidate_start[i + 1] - first
        total = 0.0
        for c in range(m):
            joint[c] = np.exp(joint[c] - largest)
            total += joint[c]
        for c in range(m):
            probability[first + c] = joint[c] / total
        n = cells.item_start[i + 1] - cells.item_start[i]
        if n > 0:  # an item without labels says nothing
            log_likelihood += largest + np.log(total)
            _add_item(cells, i, n, probability, weights, count)
    return log_likelihood


def _maximise(
    cells: AnnotationCells, weights: NDArray[np.float64], prior: NDArray[np.float64], variant: EMVariant
) -> tuple[NDArray[np.float64], float]:
    """Return log confusion of each cell, and the log prior of the maximum (0 without a prior)."""
    if variant == "full":
        return _maximise_rows(cells, weights, prior, prior.sum(axis=1))
    right, total = row_hits(cells, weights)
    return _maximise_accuracy(cells, right, total, prior, variant == "one_coin")


@numba.njit(cache=True, nogil=True)
def _maximise_rows(cells, weights, prior, prior_total):
    log_confusion = np.empty(weights.size)
    log_prior = 0.0
    for r in range(cells.row_label.size):
        k = cells.row_label[r]
        total = 0.0
        unseen = prior_total[k]
        for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
            total += weights[cell]
        total += unseen
        for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
            pseudo = prior[k, cells.cell_label[cell]]
            unseen -= pseudo
            value = weights[cell] + pseudo
            log_confusion[cell] = np.log(value / total) if value > 0 else -np.inf
            if pseudo > 0:
                log_prior += pseudo * log_confusion[cell]
        if unseen > 1e-12:
            # labels the annotator never gave keep the shares of their pseudo-counts: a constant, left out
            log_prior -= unseen * np.log(total)
    return log_confusion, log_prior


@numba.njit(cache=True, nogil=True)
def row_hits(cells, weights):
    """Return the weight of right answers and of all answers of each confusion row, both shape (row,)."""
    right, total = np.zeros(cells.row_label.size), np.zeros(cells.row_label.size)
    for r in range(cells.row_label.size):
        for cell in cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]:
            total[r] += weights[cell]
            if cells.cell_label[cell] == cells.row_label[r]:
                right[r] += weights[cell]
    return right, total


def _maximise_accuracy(
    cells: AnnotationCells,
    right: NDArray[np.float64],
    total: NDArray[np.float64],
    prior: NDArray[np.float64],
    one_coin: bool,
) -> tuple[NDArray[np.float64], float]:
    pseudo_right = np.diag(prior)[cells.row_label]
    pseudo_total = prior.sum(axis=1)[cells.row_label]
    group = cells.row_annotator if one_coin else np.arange(right.size)
    if one_coin:  # one coin is tossed once: its pseudo-counts are the mean over the rows
        right, total = np.bincount(group, right), np.bincount(group, total)
        pseudo_right = np.full(right.size, np.diag(prior).mean())
        pseudo_total = np.full(right.size, prior.sum(axis=1).mean())
    with np.errstate(divide="ignore", invalid="ignore"):
        accuracy = (right + pseudo_right) / (total + pseudo_total)
        used = pseudo_total > 0
        log_prior = float(
            np.sum(pseudo_right[used] * np.log(accuracy[used]))
            + np.sum((pseudo_total - pseudo_right)[used] * np.log1p(-accuracy[used]))
        )
        return accuracy_cells(cells, accuracy[group], prior.shape[0]), log_prior


def accuracy_cells(cells: AnnotationCells, accuracy: NDArray[np.float64], n_labels: int) -> NDArray[np.float64]:
    """Spread one accuracy per confusion row over its cells: log p where right, log (1 - p)/(K - 1) where wrong."""
    row = cells.row_of_cell()
    accuracy, right = accuracy[row], cells.cell_label == cells.row_label[row]
    with np.errstate(divide="ignore"):
        return np.nan_to_num(
            np.log(np.where(right, accuracy, (1 - accuracy) / max(n_labels - 1, 1))), nan=-np.inf, neginf=-np.inf
        )
