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
counts of items with more than r equal labels: both cost nothing beside a pass over the annotations.

A gold label is an expert's: one more draw from lambda_i, given without error. It teaches the annotators'
confusion and makes the label plausible; it does not make an ambiguous item certain.

Sources: Stutz et al., section 3; Dawid and Skene (1979); Antoniak, Annals of Statistics 2 (1974); Teh et al.,
"Hierarchical Dirichlet processes", JASA 101 (2006), section 5.
"""

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._confusion import ConfusionRows, draw_confusion
from bayesagree.plausibility.dawid_skene._gibbs import CrowdSampler, start_truth
from bayesagree.plausibility.dawid_skene._gibbs_kernels import items_with_repeats
from bayesagree.plausibility.dawid_skene._mixed_membership_kernels import (
    count_latent,
    draw_plausibility,
    sweep_mixed_membership,
)
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


class MixedMembershipSampler(CrowdSampler):
    """One chain: latent labels, confusion, alpha and the prevalence are drawn in turn."""

    def __init__(
        self,
        cells: AnnotationCells,
        n_annotators: int,
        prior: DawidSkenePrior,
        shares: Floats,
        n_labels: int,
        rng: Rng,
    ) -> None:
        self.cells, self.alpha = cells, prior.ambiguity
        self.prevalence_shape = prior.prevalence
        self.confusion = ConfusionRows(cells, prior, n_labels, n_annotators, learnt=True)
        # All annotations of an item start with one latent label, as under Dawid-Skene.
        self.choice = np.repeat(start_truth(cells, shares, rng), cells.sizes)
        self.sizes_above = np.cumsum(np.bincount(cells.sizes)[:0:-1])[::-1].astype(np.float64)
        repeats = items_with_repeats(cells, self.confusion.rows.row)
        ambiguity = float(np.log(prior.ambiguity)), float(prior.ambiguity_sd), self.sizes_above
        self.known = cells, self.confusion.rows, repeats, *ambiguity
        self.weights, self.latent = np.empty(cells.cell_label.size), np.empty(cells.candidate.size)
        self.above = np.empty((n_labels, self.sizes_above.size))
        self.prevalence, self.expected = np.full(n_labels, 1 / n_labels), np.empty(cells.candidate.size)
        count_latent(cells, self.choice, self.weights, self.latent, self.above)

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw every unknown, so many times."""
        counted = self.choice, self.weights, self.latent, self.above
        means = self.prevalence_shape, self.prevalence
        self.alpha = sweep_mixed_membership(rng, times, *self.known, *means, self.alpha, *counted)

    def plausibility(self, rng: Rng) -> Floats:
        """Draw lambda of each item."""
        shape, drawn = self.alpha * self.prevalence[self.cells.candidate] + self.latent, np.empty(self.latent.size)
        total = np.add.reduceat(shape, self.cells.candidate_start[:-1])
        self.expected = shape / np.repeat(total, np.diff(self.cells.candidate_start))
        draw_plausibility(rng, self.cells, shape, drawn)
        return drawn

    def write_annotators(self, rng: Rng, accuracy: Floats, confusion: NDArray[np.float32]) -> None:
        """Draw the confusion given the latent labels; write accuracies and whole matrices."""
        rows, drawn = self.confusion.rows, self.confusion.confusion
        draw_confusion(rng, self.cells, self.weights, rows, self.prevalence, drawn, accuracy, confusion)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return alpha and the hyperparameters of the confusion."""
        return {"ambiguity": np.array(self.alpha)} | self.confusion.hyperparameters()
