"""Maximum likelihood for the Dawid-Skene model by expectation maximisation (Dawid and Skene 1979)."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree.errors import InputError, positive_int
from bayesagree.inference.streams import Seed, block_generators, map_blocks
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells, Candidates, annotation_cells

type EMVariant = Literal["full", "class_conditional", "one_coin"]


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
        """Pr(truth of item = label), shape (item, category)."""
        return self.cells.expand(self.candidate_probability, self.prevalence.size)

    def confusion(self, n_annotators: int) -> NDArray[np.float64]:
        """Return Pr(given label | true label) of every annotator, shape (annotator, category, observed label).

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
    random_seed: Seed = 0,
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
    codes, sizes = (item_index, annotator_index, label_index), (n_items, n_annotators, n_labels)
    cells = annotation_cells(*codes, *sizes, candidates=candidates, gold=gold)
    if variant not in ("full", "class_conditional", "one_coin"):
        raise InputError(f"variant={variant!r} has no EM; use 'full', 'class_conditional' or 'one_coin'")
    positive_int(max_iterations, "max_iterations")
    prior = np.zeros((n_labels, n_labels)) if prior_confusion is None else np.asarray(prior_confusion, np.float64)
    shares = vote_shares(cells, item_index, label_index)
    starts = [shares] + [_perturbed(shares, cells, rng) for rng in block_generators(random_seed, restarts)]

    def fit(start: NDArray[np.float64]) -> EMResult:
        steps = CellSteps(cells, start, variant, prior, float(prior_prevalence))
        history, converged = climb(steps, tolerance, max_iterations)
        return EMResult(
            cells, steps.probability, steps.prevalence, np.exp(steps.log_confusion), np.array(history), converged
        )

    return max(map_blocks(fit, starts, client), key=lambda fit: fit.log_likelihood[-1])


def climb(steps: "CellSteps", tolerance: float, max_iterations: int) -> tuple[list[float], bool]:
    """Return the log likelihood, with the log prior, of each iteration, and whether the last gain was small enough."""
    history: list[float] = []
    while len(history) < max_iterations:
        log_prior = steps.maximise()
        history.append(steps.expect() + log_prior)
        if len(history) > 1 and history[-1] - history[-2] <= tolerance * abs(history[-1]):
            return history, True
    return history, False


def vote_shares(cells: AnnotationCells, item: NDArray[Any], label: NDArray[Any]) -> NDArray[np.float64]:
    """Return the share of votes of each candidate label of each item, shape (candidate,)."""
    owner, width = cells.candidate_item(), max(int(cells.candidate.max()), int(np.max(label))) + 1
    known = owner * width + cells.candidate
    given = np.asarray(item, np.int64) * width + label
    place = np.minimum(np.searchsorted(known, given), known.size - 1)
    votes = np.bincount(place[known[place] == given], minlength=known.size)
    total = np.bincount(owner, votes, minlength=cells.n_items)[owner]
    return np.where(total > 0, votes / np.maximum(total, 1), 1 / np.diff(cells.candidate_start)[owner])


def _perturbed(shares: NDArray[np.float64], cells: AnnotationCells, rng: np.random.Generator) -> NDArray[np.float64]:
    noise, owner = rng.exponential(size=shares.size), cells.candidate_item()
    return 0.5 * shares + 0.5 * noise / np.bincount(owner, noise)[owner]


class CellSteps:
    """The two steps of EM, of any variant."""

    def __init__(
        self,
        cells: AnnotationCells,
        start: NDArray[np.float64],
        variant: EMVariant,
        prior: NDArray[np.float64],
        prior_prevalence: float,
    ) -> None:
        self.cells, self.prior, self.prior_prevalence = cells, prior, prior_prevalence
        self.variant: EMVariant = variant
        self.row, self.place = cells.row_of_cell(), cells.candidate_of_cell()
        self.says = np.repeat(cells.counted, np.diff(cells.candidate_start))
        self.probability, self.prevalence, self.log_confusion = start, np.empty(0), np.empty(0)

    def maximise(self) -> float:
        """Estimate prevalence and confusion from expected counts; return their log prior."""
        cells, n_labels = self.cells, self.prior.shape[0]
        count = np.bincount(cells.candidate, self.probability * self.says, n_labels) + self.prior_prevalence
        self.prevalence = count / count.sum()
        weights = np.bincount(cells.cell, self.probability[self.place], cells.cell_label.size)
        if self.variant == "full":
            self.log_confusion, log_prior = _maximise_rows(cells, self.row, weights, self.prior)
        else:
            right, total = row_hits(cells, self.row, weights)
            one_coin = self.variant == "one_coin"
            self.log_confusion, log_prior = _maximise_accuracy(cells, right, total, self.prior, one_coin)
        if self.prior_prevalence > 0:
            log_prior += self.prior_prevalence * float(np.log(self.prevalence).sum())
        return log_prior

    def expect(self) -> float:
        """Compute the probability of each candidate; return the log likelihood."""
        with np.errstate(divide="ignore"):
            log_prevalence = np.log(self.prevalence)
        joint = log_joint(self.cells, self.place, log_prevalence, self.log_confusion)
        self.probability, log_total = normalised(self.cells, joint)
        return float(log_total[self.cells.counted].sum())


def log_joint(
    cells: AnnotationCells,
    place: NDArray[np.int64],
    log_prevalence: NDArray[np.float64],
    log_confusion: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return log p(truth = candidate, annotations of its item) of each candidate, shape (candidate,)."""
    return np.bincount(place, log_confusion[cells.cell], cells.candidate.size) + log_prevalence[cells.candidate]


def normalised(
    cells: AnnotationCells, log_weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return probabilities from log weights, shape (candidate,), and the log of their sum, shape (item,)."""
    start, size = cells.candidate_start[:-1], np.diff(cells.candidate_start)
    top = np.maximum.reduceat(log_weight, start)
    weight = np.exp(log_weight - np.repeat(np.maximum(top, -1e300), size))
    total = np.add.reduceat(weight, start)
    with np.errstate(divide="ignore", invalid="ignore"):
        return weight / np.repeat(total, size), top + np.log(total)


def _maximise_rows(
    cells: AnnotationCells, row: NDArray[np.int64], weights: NDArray[np.float64], prior: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the log confusion of each cell, and the log prior of the maximum (0 without a prior)."""
    pseudo, whole = prior[cells.row_label[row], cells.cell_label], prior.sum(axis=1)[cells.row_label]
    total = np.bincount(row, weights, whole.size) + whole
    with np.errstate(divide="ignore", invalid="ignore"):
        log_confusion = np.log((weights + pseudo) / total[row])
    if not prior.any():
        return np.nan_to_num(log_confusion, nan=-np.inf, neginf=-np.inf), 0.0
    # Labels the annotator never gave keep the shares of their pseudo-counts, but for a constant.
    unseen = whole - np.bincount(row, pseudo, whole.size)
    return log_confusion, float(pseudo @ log_confusion - unseen @ np.log(total))


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


def row_hits(
    cells: AnnotationCells, row: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of right answers and of all answers of each confusion row, both shape (row,)."""
    right, n_rows = cells.cell_label == cells.row_label[row], cells.row_label.size
    return np.bincount(row, weights * right, n_rows), np.bincount(row, weights, n_rows)


def accuracy_cells(cells: AnnotationCells, accuracy: NDArray[np.float64], n_labels: int) -> NDArray[np.float64]:
    """Spread one accuracy per confusion row over its cells: log p where right, log (1 - p)/(K - 1) where wrong."""
    row = cells.row_of_cell()
    accuracy, right = accuracy[row], cells.cell_label == cells.row_label[row]
    with np.errstate(divide="ignore"):
        return np.nan_to_num(
            np.log(np.where(right, accuracy, (1 - accuracy) / max(n_labels - 1, 1))), nan=-np.inf, neginf=-np.inf
        )
