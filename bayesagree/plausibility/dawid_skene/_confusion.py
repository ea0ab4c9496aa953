"""Confusion of the annotators in each variant: drawn, or integrated out, given the true labels."""

import numba
import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._gibbs_kernels import (
    draw_accuracies,
    draw_rows,
    expand_rows,
)
from bayesagree.plausibility.dawid_skene._population_kernels import RENAMING_SHARE, RowPrior, draw_names
from bayesagree.plausibility.dawid_skene.em import accuracy_cells, row_hits
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


class ConfusionRows:
    """Rows vary around the mean row phi_k of their true label with concentration kappa_k; they are integrated out.

    Both are the prior's, or learnt. Annotators from number `n_annotators` on are experts, outside of the population:
    they give the latent label without error.
    """

    def __init__(
        self, cells: AnnotationCells, prior: DawidSkenePrior, n_labels: int, n_annotators: int, *, learnt: bool = False
    ) -> None:
        row, base = cells.row_of_cell(), prior.confusion(n_labels)
        people = np.flatnonzero(cells.row_annotator < n_annotators)
        order = people[np.argsort(cells.row_label[people], kind="stable")]
        # Labels are exchangeable where every one may be the truth of every item and no expert named any.
        exchangeable = people.size == cells.row_label.size and (np.diff(cells.candidate_start) == n_labels).all()
        self.rows = RowPrior(
            row=row.astype(np.uint32),
            expert=(cells.row_annotator >= n_annotators)[row],
            names_truth=cells.cell_label == cells.row_label[row],
            order=order,
            start=np.searchsorted(cells.row_label[order], np.arange(n_labels + 1)),
            base=base,
            kappa=np.full(n_labels, prior.concentration) if learnt else base.sum(axis=1),
            phi=base / base.sum(axis=1, keepdims=True),
            learnt=learnt,
            exchangeable=bool(exchangeable),
            log_mean=float(np.log(prior.concentration)),
            log_sd=float(prior.concentration_sd),
        )
        self.confusion = np.empty(cells.cell_label.size)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return concentration and mean row of the population, where they are learnt."""
        rows = self.rows
        return {"concentration": rows.kappa.copy(), "crowd_confusion": rows.phi.copy()} if rows.learnt else {}


@numba.njit(cache=True, nogil=True)
def draw_confusion(rng, cells, weights, rows, prevalence, drawn, accuracy, confusion):
    """Draw every confusion row and write it. In one call: to hand a generator over takes 20 us."""
    draw_rows(rng, cells, weights, rows, drawn)
    write_confusion(rng, cells, rows, prevalence, drawn, accuracy, confusion)


@numba.njit(cache=True, nogil=True)
def write_confusion(rng, cells, rows, prevalence, drawn, accuracy, confusion):
    """Write accuracies, shape (annotator,), and matrices, (annotator, category, observed label), of drawn rows."""
    right = draw_accuracies(rng, cells, rows, drawn)
    write_accuracies(cells, right, prevalence, accuracy)
    expand_rows(rng, cells, rows, drawn, right, confusion)


@numba.njit(cache=True, nogil=True)
def write_accuracies(cells, right, prevalence, out):
    """Write the probability of a right answer of each annotator, NaN of one without labels, shape (annotator,)."""
    known, hits = np.zeros(out.size), np.zeros(out.size)
    for r in range(right.size):
        j, share = cells.row_annotator[r], prevalence[cells.row_label[r]]
        if j < out.size:
            known[j] += share
            hits[j] += right[r] * share
    for j in range(out.size):
        out[j] = hits[j] / known[j] if known[j] > 0 else np.nan


class Accuracies:
    """One accuracy per annotator, or per annotator and true label; wrong answers are uniform."""

    def __init__(self, cells: AnnotationCells, prior: DawidSkenePrior, n_labels: int, *, one_coin: bool) -> None:
        self.cells, self.n_labels = cells, n_labels
        self.right_count, self.wrong_count = prior.strength * prior.accuracy, prior.strength * (1 - prior.accuracy)
        self.coin = cells.row_annotator if one_coin else np.arange(cells.row_label.size)
        self.one_coin, self.row = one_coin, cells.row_of_cell()
        self.accuracy = np.empty(0)
        # One accuracy for all labels: only with two labels do other names suit the same answers.
        self.exchangeable = bool((np.diff(cells.candidate_start) == n_labels).all()) and (not one_coin or n_labels == 2)

    def relabel(self, rng: Rng, weights: Floats) -> NDArray[np.int64] | None:
        """Draw new names of the true labels, shape (label,), with the accuracies integrated out; None: they stay."""
        if not self.exchangeable or rng.random() > RENAMING_SHARE:
            return None
        return draw_names(rng, self.name_gains(weights))

    def name_gains(self, weights: Floats) -> Floats:
        """Log density of the annotations of true label k under the name n, up to a constant, (category, category)."""
        cells, n = self.cells, self.n_labels

        def log_density(right: Floats, total: Floats) -> Floats:
            wrong = total - right
            return sp.special.betaln(self.right_count + right, self.wrong_count + wrong) - wrong * np.log(max(n - 1, 1))

        if self.one_coin:  # both labels share the accuracy: the gain of the swap stands in one place
            right, total = (np.bincount(self.coin, each) for each in row_hits(cells, self.row, weights))
            gain = np.zeros((n, n))
            gain[0, 1] = (log_density(total - right, total) - log_density(right, total)).sum()
            return gain
        total = np.bincount(self.row, weights)[self.row]
        # A name that an annotator never gave to items of a row gains nothing over no right answer at all.
        gain = log_density(weights, total) - log_density(np.zeros_like(total), total)
        return np.bincount(cells.row_label[self.row] * n + cells.cell_label, gain, n * n).reshape(n, n)

    def draw(self, rng: Rng, weights: Floats) -> Floats:
        """Draw the accuracies."""
        right, total = row_hits(self.cells, self.row, weights)
        right, total = np.bincount(self.coin, right), np.bincount(self.coin, total)
        self.accuracy = rng.beta(self.right_count + right, self.wrong_count + total - right)
        return accuracy_cells(self.cells, self.accuracy[self.coin], self.n_labels)

    def diagonal(self) -> Floats:
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
