"""Gibbs sampler of the variants with one true label per item, and how chains of any variant are run and kept."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.inference.blocks import label_dtype
from bayesagree.inference.kernel_draws import log_dirichlet_draw
from bayesagree.inference.streams import Seed, block_generators, map_blocks
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells, write_items
from bayesagree.plausibility.dawid_skene._confusion import Accuracies, ConfusionRows, draw_confusion, write_accuracies
from bayesagree.plausibility.dawid_skene._gibbs_kernels import (
    count_truth,
    items_with_repeats,
    sweep_truth,
)
from bayesagree.plausibility.dawid_skene.em import log_joint, normalised

# Mixing weight of the Rao-Blackwellised probabilities in a draw's plausibility; the drawn truth has the rest.
# The mean over draws is the posterior probability whatever the share; this one only orders the labels that were
# not drawn, for metrics that look at more than the best label.
CONDITIONAL_SHARE = 2.0**-10


class Written(NamedTuple):
    """Where a draw is written.

    Attributes
    ----------
    whole, items
        Of items the whole plausibilities, shape (item, category), or the best labels, (item, rank).
    accuracy, confusion
        Of annotators, shapes (annotator,) and (annotator, category, label); confusion may be of no annotators.
    """

    whole: bool
    items: NDArray[Any]
    accuracy: Floats
    confusion: NDArray[np.float32]


class Start(NamedTuple):
    """What a chain starts from.

    Attributes
    ----------
    cells, n_labels
        The labels.
    prevalence_shape
        Prior shape of each label's prevalence.
    shares
        Probabilities of the candidates, from which the first truth is drawn.
    rng
        Stream of the start.
    """

    cells: AnnotationCells
    prevalence_shape: float
    shares: Floats
    n_labels: int
    rng: Rng


class CrowdSampler(ABC):
    """One chain: `sweep` and `draw` move it, the rest reads its present draw.

    Attributes
    ----------
    prevalence
        Share of each label, shape (category,).
    expected
        Expectation of each item's plausibilities given the other unknowns, shape (candidate,).
    """

    cells: AnnotationCells
    prevalence: Floats
    expected: Floats

    @abstractmethod
    def plausibility(self, rng: Rng) -> Floats:
        """Return the present draw of each item's plausibilities, shape (candidate,)."""

    @abstractmethod
    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw every unknown, so many times."""

    def hyperparameters(self) -> dict[str, Floats]:
        """Return hyperparameters, and parameters of items."""
        return {}

    @abstractmethod
    def write_annotators(self, rng: Rng, accuracy: Floats, confusion: NDArray[np.float32]) -> None:
        """Write accuracies, shape (annotator,), and confusion, (annotator, category, label) or of no annotators."""

    def draw(self, rng: Rng, times: int, out: Written) -> None:
        """Sweep so many times and write the draw."""
        self.sweep(rng, times)
        write_items(self.cells, self.plausibility(rng), out.whole, out.items)
        self.write_annotators(rng, out.accuracy, out.confusion)


class TruthSampler(CrowdSampler):
    """One true label per item, for any model of the annotators: its draws, and the counts they give."""

    def __init__(self, start: Start) -> None:
        cells, self.prevalence_shape, shares, n_labels, rng = start
        self.cells = cells
        self.truth = start_truth(cells, shares, rng)
        self.weights, self.count = np.empty(cells.cell_label.size), np.empty(n_labels)
        self.expected, self.prevalence = np.empty(cells.candidate.size), np.empty(n_labels)
        count_truth(cells, self.truth, self.weights, self.count)

    def draw_prevalence(self, rng: Rng) -> Floats:
        """Draw the prevalence given the truth; return its logarithm."""
        log_prevalence = log_dirichlet_draw(rng, self.prevalence_shape + self.count)
        self.prevalence = np.exp(log_prevalence)
        return log_prevalence

    def plausibility(self, rng: Rng) -> Floats:
        """Nearly all on the drawn truth, the rest as the conditional probabilities have it."""
        return truth_plausibility(self.cells, self.truth, self.expected)


class RowSampler(TruthSampler):
    """Annotators have confusion rows, which are integrated out.

    Rows of many labels with small prior shapes would otherwise freeze the truth: a label that the row's last draw gave
    e^-1000 cannot become true again.
    """

    def __init__(self, start: Start, confusion: ConfusionRows) -> None:
        super().__init__(start)
        self.confusion = confusion
        self.repeats = items_with_repeats(start.cells, confusion.rows.row)

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw hyperparameters and prevalence given the truth, then the truth."""
        known = self.cells, self.confusion.rows, self.repeats, self.prevalence_shape, self.prevalence
        sweep_truth(rng, times, *known, self.truth, self.weights, self.count, self.expected)

    def write_annotators(self, rng: Rng, accuracy: Floats, confusion: NDArray[np.float32]) -> None:
        """Draw the confusion given the truth; write accuracies and whole matrices."""
        rows, drawn = self.confusion.rows, self.confusion.confusion
        draw_confusion(rng, self.cells, self.weights, rows, self.prevalence, drawn, accuracy, confusion)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return the hyperparameters of the confusion."""
        return self.confusion.hyperparameters()


class AccuracySampler(TruthSampler):
    """Annotators have accuracies, drawn in turn with the truth."""

    def __init__(self, start: Start, accuracies: Accuracies) -> None:
        super().__init__(start)
        self.accuracies, self.place = accuracies, start.cells.candidate_of_cell()

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw prevalence and accuracies given the truth, then the truth."""
        for _ in range(times):
            if (name := self.accuracies.relabel(rng, self.weights)) is not None:
                self.truth = name[self.truth]
                count_truth(self.cells, self.truth, self.weights, self.count)
            log_prevalence = self.draw_prevalence(rng)
            joint = log_joint(self.cells, self.place, log_prevalence, self.accuracies.draw(rng, self.weights))
            self.expected, _ = normalised(self.cells, joint)
            self.truth = start_truth(self.cells, self.expected, rng)
            count_truth(self.cells, self.truth, self.weights, self.count)

    def write_annotators(self, rng: Rng, accuracy: Floats, confusion: NDArray[np.float32]) -> None:
        """Write accuracies and whole confusion matrices."""
        right = self.accuracies.diagonal()
        write_accuracies(self.cells, right, self.prevalence, accuracy)
        if confusion.size:
            self.accuracies.expand(rng, right, confusion)


def truth_plausibility(cells: AnnotationCells, truth: NDArray[Any], expected: Floats) -> Floats:
    """Return the plausibilities that stand for one drawn true label per item."""
    plausibility = CONDITIONAL_SHARE * expected
    plausibility[cells.candidate_start[:-1] + truth] += 1 - CONDITIONAL_SHARE
    return plausibility


def start_truth(cells: AnnotationCells, shares: Floats, rng: Rng) -> NDArray[np.int64]:
    """Draw each item's starting label from its vote shares: chains start apart."""
    start = cells.candidate_start[:-1]
    cumulative = np.cumsum(shares)
    before = cumulative[start] - shares[start]
    position = np.searchsorted(cumulative, before + rng.random(start.size) * (1 - 1e-9), side="right")
    return np.clip(position - start, 0, np.diff(cells.candidate_start) - 1)


@dataclass
class ChainDraws:
    """Kept draws of one chain; the keys of `variables` are those of the result."""

    variables: dict[str, NDArray[Any]]
    expected: Floats
    """Mean over draws of each candidate's conditional expectation."""
    monitored: Floats = field(default_factory=lambda: np.empty(0))
    """Conditional expectations of a few candidates in every draw, for convergence diagnostics, (draw, candidate)."""
    spread: Floats = field(default_factory=lambda: np.empty(0))
    """Variance over draws of each candidate's conditional expectation."""


@dataclass(frozen=True)
class Keep:
    """Kept of every draw: all plausibilities, or the best labels; whole confusion matrices or accuracies."""

    n_labels: int
    n_annotators: int
    top_labels: int | None
    confusion: bool
    monitored: NDArray[np.int64]


def run_chains(
    start: Callable[[Rng], CrowdSampler],
    keep: Keep,
    *,
    tune: int,
    draws: int,
    thin: int,
    chains: int,
    random_seed: Seed,
    client: Any = None,
    progress: Callable[[int], None] | None = None,
) -> list[ChainDraws]:
    """Run the chains in threads or on a cluster, each on its own stream."""

    def run(rng: Rng) -> ChainDraws:
        sampler = start(rng)
        sampler.sweep(rng, tune)
        kept = ChainDraws({}, np.zeros(sampler.cells.candidate.size), np.empty((draws, keep.monitored.size)))
        kept.spread = np.zeros_like(kept.expected)
        for draw in range(draws):
            _record(sampler, keep, kept, draw, draws, thin, rng)
            if progress is not None:
                progress(1)
        kept.expected /= draws
        kept.spread = np.maximum(kept.spread / draws - kept.expected**2, 0.0)
        return kept

    return list(map_blocks(run, block_generators(random_seed, chains), client))


def _record(sampler: CrowdSampler, keep: Keep, kept: ChainDraws, draw: int, draws: int, thin: int, rng: Rng) -> None:
    n_items = sampler.cells.n_items

    def slot(name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> NDArray[Any]:
        if draw == 0:
            kept.variables[name] = np.zeros((draws, *shape), dtype)
        return kept.variables[name]

    if keep.top_labels is None:
        items = slot("plausibility", (n_items, keep.n_labels))
    else:
        items = slot("top_label", (n_items, keep.top_labels), label_dtype(keep.n_labels))
    prevalence = slot("prevalence", (keep.n_labels,))
    accuracy, shape = slot("accuracy", (keep.n_annotators,))[draw], (keep.n_labels, keep.n_labels)
    if keep.confusion:
        confusion = slot("confusion", (keep.n_annotators, *shape), np.float32)[draw]
    else:
        confusion = np.empty((0, *shape), np.float32)
    sampler.draw(rng, thin, Written(keep.top_labels is None, items[draw], accuracy, confusion))
    expected, prevalence[draw] = sampler.expected, sampler.prevalence
    kept.expected += expected
    kept.spread += expected**2
    kept.monitored[draw] = expected[keep.monitored]
    for name, value in sampler.hyperparameters().items():
        slot(name, np.shape(value), value.dtype)[draw] = value
