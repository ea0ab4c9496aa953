"""Gibbs sampler of mixed-membership Dawid-Skene: item plausibilities joined with annotator confusion.

An item may be truly ambiguous: two careful annotators then see different labels, and no amount of labels makes it
certain. Stutz et al. give every item its own plausibilities lambda_i; Dawid and Skene give every annotator a confusion
matrix. Joined:

    lambda_i ~ Dirichlet(alpha prevalence)               alpha -> 0: one truth per item, Dawid-Skene
    c_t ~ lambda_i                                       latent label of annotation t = (i, j)
    l_t ~ confusion_j[c_t, .],   confusion_j[k, .] ~ Dirichlet(kappa_k phi_k)

lambda is integrated out. Each latent label is drawn given all others; then all equal ones of an item together, which
may take a label that the item has not, so that small alpha does not freeze them. The prevalence depends on the latent
labels through how many of them are new draws from it, drawn with them (Antoniak 1974), and alpha through the same
counts of items with more than r equal labels: both cost nothing beside a pass over the annotations. With predictions
every item has a mean of its own in the place of the prevalence (`_item_prior`), learnt from the same new labels.

A gold label is an expert's: one more draw from lambda_i, given without error. It teaches the annotators'
confusion and makes the label plausible; it does not make an ambiguous item certain.

Sources: Stutz et al., section 3; Dawid and Skene (1979); Antoniak, Annals of Statistics 2 (1974); Teh et al.,
"Hierarchical Dirichlet processes", JASA 101 (2006), section 5.
"""

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats, Rng
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._confusion import ConfusionRows
from bayesagree.plausibility.dawid_skene._gibbs import CellItems, start_truth
from bayesagree.plausibility.dawid_skene._gibbs_kernels import NOTHING, items_with_repeats
from bayesagree.plausibility.dawid_skene._item_prior import DrawnPrior
from bayesagree.plausibility.dawid_skene._mixed_membership_kernels import (
    count_latent,
    draw_new,
    draw_plausibility,
    sweep_mixed_membership,
    sweep_with_means,
)
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


class MixedMembershipSampler(CellItems):
    """One chain: latent labels, confusion, alpha and the prevalence, or the prior of each item, are drawn in turn."""

    def __init__(
        self,
        cells: AnnotationCells,
        n_annotators: int,
        prior: DawidSkenePrior,
        shares: Floats,
        n_labels: int,
        rng: Rng,
        item_prior: DrawnPrior | None = None,
    ) -> None:
        self.cells, self.prior, self.alpha, self.item_prior = cells, prior, prior.ambiguity, item_prior
        self.confusion = ConfusionRows(cells, prior, n_labels, n_annotators, learnt=True)
        self.repeats = items_with_repeats(cells, self.confusion.rows.row)
        # All annotations of an item start with one latent label, as under Dawid-Skene.
        self.choice = np.repeat(start_truth(cells, shares, rng), cells.sizes)
        self.sizes_above = np.cumsum(np.bincount(cells.sizes)[:0:-1])[::-1].astype(np.float64)
        self.weights, self.latent = np.empty(cells.cell_label.size), np.empty(cells.candidate.size)
        self.above = np.empty((n_labels, self.sizes_above.size))
        self.prevalence = np.full(n_labels, 1 / n_labels)
        count_latent(cells, self.choice, self.weights, self.latent, self.above)

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw every unknown, so many times."""
        ambiguity = float(np.log(self.prior.ambiguity)), float(self.prior.ambiguity_sd), self.sizes_above
        counted = self.choice, self.weights, self.latent, self.above
        if self.item_prior is None:
            known = self.cells, self.confusion.rows, self.repeats, self.prior.prevalence, *ambiguity
            self.alpha = sweep_mixed_membership(rng, times, *known, self.alpha, self.prevalence, *counted)
            return
        for _ in range(times):
            self.item_prior.draw(rng, draw_new(rng, self.alpha * self.mean, self.latent))
            self.prevalence = self.item_prior.prevalence()
            self.alpha = sweep_with_means(
                rng, self.cells, self.confusion.rows, self.repeats, *ambiguity, self.alpha, self.mean, *counted
            )

    @property
    def mean(self) -> Floats:
        """Mean of each item's plausibilities given prevalence or predictions, shape (candidate,)."""
        if self.item_prior is None:
            return np.maximum(self.prevalence[self.cells.candidate], NOTHING)
        return np.maximum(np.exp(self.item_prior.log_prior), NOTHING)

    def shape(self) -> Floats:
        """Return the shapes of each item's Dirichlet given its latent labels, shape (candidate,)."""
        return self.alpha * self.mean + self.latent

    @property
    def expected(self) -> Floats:
        """Mean of each item's plausibilities given its latent labels, shape (candidate,)."""
        cells = self.cells
        shape = self.shape()
        return shape / np.repeat(np.add.reduceat(shape, cells.candidate_start[:-1]), np.diff(cells.candidate_start))

    def plausibility(self, rng: Rng) -> Floats:
        """Draw lambda."""
        drawn = np.empty(self.cells.candidate.size)
        draw_plausibility(rng, self.cells, self.shape(), drawn)
        return drawn

    def write_annotators(self, rng: Rng, accuracy: Floats, confusion: NDArray[np.float32]) -> None:
        """Draw the confusion given the latent labels; write accuracies and whole matrices."""
        self.confusion.write(rng, self.weights, self.prevalence, accuracy, confusion)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return alpha and the hyperparameters of the confusion."""
        return {"ambiguity": np.array(self.alpha)} | self.confusion.hyperparameters()
