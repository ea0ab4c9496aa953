"""Confusion of the annotators in each variant: drawn, or integrated out, given the true labels."""

import numpy as np
from numpy.typing import NDArray

from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._em_kernels import row_hits
from bayesagree.plausibility.dawid_skene._gibbs_kernels import (
    draw_accuracies,
    draw_population_rows,
    draw_relabelling,
    draw_rows,
    expand_rows,
)
from bayesagree.plausibility.dawid_skene.em import accuracy_cells
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

type Rng = np.random.Generator
type Floats = NDArray[np.float64]


class FullRows:
    """Every row of every annotator has its own Dirichlet distribution."""

    def __init__(self, cells: AnnotationCells, prior: DawidSkenePrior, n_labels: int) -> None:
        self.cells = cells
        self.row = cells.row_of_cell()
        self.shape = prior.confusion(n_labels)
        self.log_confusion = np.empty(cells.cell_label.size)

    def draw_hyperparameters(self, rng: Rng, weights: Floats) -> None:
        """No hyperparameters to draw."""

    def relabel(self, rng: Rng) -> NDArray[np.int64] | None:
        """Draw a permutation of the true labels, shape (label,), or None where they stay."""

    def pseudo_counts(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return prior shape plus count of each cell and of each row: their ratio is the chance of the next label."""
        row = self.row
        shape = self.shape[self.cells.row_label[row], self.cells.cell_label]
        total = np.bincount(row, weights, minlength=self.cells.row_label.size)
        return shape + weights, self.shape.sum(axis=1)[self.cells.row_label] + total

    def draw_rows(self, rng: Rng, weights: Floats) -> Floats:
        """Draw the rows given the annotations of each cell."""
        draw_rows(rng, self.cells, weights, self.shape, self.shape.sum(axis=1), self.log_confusion)
        return self.log_confusion

    def diagonal(self, rng: Rng) -> Floats:
        """Return the accuracy of each confusion row."""
        return draw_accuracies(rng, self.cells, self.log_confusion, self.shape, self.shape.sum(axis=1))

    def expand(self, rng: Rng, right: Floats, out: NDArray[np.float32]) -> None:
        """Write whole matrices."""
        expand_rows(rng, self.cells, self.log_confusion, right, self.shape, out)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return no hyperparameters: annotators are independent."""
        return {}


class HierarchicalRows(FullRows):
    """Rows vary around the population's phi_k with concentration kappa_k, both learnt with the rows integrated out.

    Annotators from number `n_annotators` on are experts, outside of the population: they give the latent label
    without error.
    """

    def __init__(self, cells: AnnotationCells, prior: DawidSkenePrior, n_labels: int, n_annotators: int) -> None:
        super().__init__(cells, prior, n_labels)
        self.expert = (cells.row_annotator >= n_annotators)[self.row]
        self.names_truth = cells.cell_label == cells.row_label[self.row]
        # Labels are exchangeable where every one may be the truth of every item and no expert named any.
        self.exchangeable = not self.expert.any() and (np.diff(cells.candidate_start) == n_labels).all()
        self.prior = prior
        self.base = self.shape
        self.kappa = np.full(n_labels, prior.concentration)
        self.phi = self.base / prior.strength
        self.shape = self.kappa[:, None] * self.phi
        self.rows = (
            np.argsort(cells.row_label, kind="stable"),
            np.searchsorted(np.sort(cells.row_label), np.arange(n_labels + 1)),
        )

    def draw_hyperparameters(self, rng: Rng, weights: Floats) -> None:
        """Draw phi and kappa with the rows integrated out."""
        draw_population_rows(
            rng, self.cells, np.where(self.expert, 0.0, weights), *self.rows, self.base, self.kappa, self.phi,
            np.log(self.prior.concentration), self.prior.concentration_sd,
        )  # fmt: skip
        self.shape = self.kappa[:, None] * self.phi

    def relabel(self, rng: Rng) -> NDArray[np.int64] | None:
        """Draw a permutation of the true labels, shape (label,), or None where they stay."""
        if not self.exchangeable:
            return None
        name = draw_relabelling(rng, np.log(self.phi), self.base[0, 0] - self.base[0, 1])
        if (np.diff(name) > 0).all():
            return None
        old = np.argsort(name)
        self.kappa, self.phi = self.kappa[old], self.phi[old]
        self.shape = self.kappa[:, None] * self.phi
        return name

    def pseudo_counts(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return prior shape plus count of each cell and of each row; their ratio is 1 or 0 for experts."""
        cell_counts, row_counts = super().pseudo_counts(weights)
        cell_counts[self.expert] = (weights + self.names_truth)[self.expert]
        expert_row = self.row[self.expert]
        row_counts[expert_row] = 1 + np.bincount(self.row, weights, minlength=row_counts.size)[expert_row]
        return cell_counts, row_counts

    def draw_rows(self, rng: Rng, weights: Floats) -> Floats:
        """Draw the rows given the annotations of each cell."""
        super().draw_rows(rng, weights)
        self.log_confusion[self.expert] = np.where(self.names_truth, 0.0, -np.inf)[self.expert]
        return self.log_confusion

    def hyperparameters(self) -> dict[str, Floats]:
        """Return concentration and mean row of the population."""
        return {"concentration": self.kappa.copy(), "crowd_confusion": self.phi.copy()}


class Accuracies:
    """One accuracy per annotator, or per annotator and true label; wrong answers are uniform."""

    def __init__(self, cells: AnnotationCells, prior: DawidSkenePrior, n_labels: int, *, one_coin: bool) -> None:
        self.cells, self.n_labels = cells, n_labels
        self.right_count, self.wrong_count = prior.strength * prior.accuracy, prior.strength * (1 - prior.accuracy)
        self.coin = cells.row_annotator if one_coin else np.arange(cells.row_label.size)
        self.one_coin = one_coin
        self.accuracy = np.empty(0)

    def draw(self, rng: Rng, weights: Floats) -> Floats:
        """Draw the accuracies."""
        right, total = row_hits(self.cells, weights)
        right, total = np.bincount(self.coin, right), np.bincount(self.coin, total)
        self.accuracy = rng.beta(self.right_count + right, self.wrong_count + total - right)
        return accuracy_cells(self.cells, self.accuracy[self.coin], self.n_labels)

    def diagonal(self, rng: Rng) -> Floats:
        """Return the accuracies."""
        return self.accuracy[self.coin]

    def expand(self, rng: Rng, right: Floats, out: NDArray[np.float32]) -> None:
        """Write whole matrices; an annotator without labels has the prior's accuracy."""
        shape = (out.shape[0],) if self.one_coin else out.shape[:2]
        drawn = rng.beta(self.right_count, self.wrong_count, size=shape)
        accuracy = np.array(np.broadcast_to(drawn[:, None] if self.one_coin else drawn, out.shape[:2]))
        accuracy[self.cells.row_annotator, self.cells.row_label] = right
        out[...] = ((1 - accuracy) / max(self.n_labels - 1, 1))[:, :, None]
        diagonal = np.arange(self.n_labels)
        out[:, diagonal, diagonal] = accuracy
