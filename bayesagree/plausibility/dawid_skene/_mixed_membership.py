"""Gibbs sampler of mixed-membership Dawid-Skene: item plausibilities joined with annotator confusion.

An item may be truly ambiguous: two careful annotators then see different labels, and no amount of labels makes it
certain. Stutz et al. give every item its own plausibilities lambda_i; Dawid and Skene give every annotator a confusion
matrix. Joined:

    lambda_i ~ Dirichlet(alpha prevalence)               alpha -> 0: one truth per item, Dawid-Skene
    c_t ~ lambda_i                                       latent label of annotation t = (i, j)
    l_t ~ confusion_j[c_t, .],   confusion_j[k, .] ~ Dirichlet(kappa_k phi_k)

lambda is integrated out. Its Dirichlet-multinomial is written as a Chinese restaurant: latent labels of an item sit at
tables, every table has one label drawn from the prevalence, and a new table opens with weight alpha. That changes
nothing about the model and two things about the sampler: a whole table changes its label in one step (so that small
alpha does not freeze the latent labels), and the prevalence depends on them through numbers of tables alone, where its
conditional is simple. alpha is drawn given the latent labels, with the tables integrated out.

A gold label is an expert's: one more draw from lambda_i, given without error. It teaches the annotators'
confusion and makes the label plausible; it does not make an ambiguous item certain.

Sources: Stutz et al., section 3; Dawid and Skene (1979); Teh et al., "Hierarchical Dirichlet processes", JASA 101
(2006), section 5.1 (tables).
"""

import math

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.draws import log_dirichlet_draw
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._confusion import Floats, HierarchicalRows, Rng
from bayesagree.plausibility.dawid_skene._gibbs import start_truth
from bayesagree.plausibility.dawid_skene._gibbs_kernels import draw_concentration, items_with_repeats
from bayesagree.plausibility.dawid_skene._mixed_membership_kernels import (
    NOTHING,
    count_latent,
    draw_dishes,
    draw_plausibility,
    draw_seats,
    draw_seats_given_labels,
)
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


class MixedMembershipSampler:
    """One chain: tables of latent labels, confusion, prevalence and alpha are drawn in turn."""

    def __init__(
        self,
        cells: AnnotationCells,
        n_annotators: int,
        prior: DawidSkenePrior,
        shares: Floats,
        n_labels: int,
        rng: Rng,
    ) -> None:
        self.cells, self.prior = cells, prior
        self.confusion = HierarchicalRows(cells, prior, n_labels, n_annotators)
        self.repeats = items_with_repeats(cells, self.confusion.row)
        self.alpha = prior.ambiguity
        n = int(cells.item_start[-1])
        # Every item starts with one table, as under Dawid-Skene; tables are numbered within their item.
        self.seat = np.zeros(n, np.int64)
        self.dish, self.guests = np.zeros(n, np.int64), np.zeros(n, np.int64)
        start = cells.item_start[:-1][cells.sizes > 0]
        self.dish[start] = start_truth(cells, shares, rng)[cells.sizes > 0]
        self.guests[start] = cells.sizes[cells.sizes > 0]
        self.tables = np.empty(n_labels)
        self.sizes = np.unique(cells.sizes, return_counts=True)
        self.weights, self.latent = np.empty(cells.cell_label.size), np.empty(cells.candidate.size)
        self.prevalence = np.full(n_labels, 1 / n_labels)
        self.surprise = np.zeros(n)

    def count(self) -> None:
        """Count latent labels and tables."""
        places = (self.seat, self.dish, self.guests)
        count_latent(self.cells, *places, self.weights, self.tables, self.latent)

    def sweep(self, rng: Rng) -> None:
        """Draw hyperparameters and prevalence given the tables, then tables and alpha."""
        cells = self.cells
        self.count()
        self.confusion.draw_hyperparameters(rng, self.weights)
        if (name := self.confusion.relabel(rng)) is not None:
            self.dish = name[self.dish]
            self.count()
        log_prevalence = log_dirichlet_draw(rng, self.prior.prevalence + self.tables)
        self.prevalence = np.maximum(np.exp(log_prevalence), NOTHING)
        counts, places = self.confusion.pseudo_counts(self.weights), (self.seat, self.dish, self.guests)
        row = self.confusion.row
        draw_seats(rng, cells, row, self.prevalence, self.alpha, *counts, *places, self.surprise)
        draw_dishes(rng, cells, row, self.repeats, log_prevalence, *counts, *places)
        self.count()
        self.draw_alpha(rng)
        draw_seats_given_labels(rng, cells, self.prevalence, self.alpha, *places)

    def draw_alpha(self, rng: Rng) -> None:
        """Draw alpha given the latent labels: a Dirichlet-multinomial likelihood of their counts in each item."""
        sizes, items = self.sizes
        # Equal factors (alpha prevalence_k)(alpha prevalence_k + 1)... of many items stand once, to a power.
        most = int(sizes[-1]) + 1
        times = np.bincount(self.cells.candidate * most + self.latent.astype(np.int64))
        key = np.flatnonzero(times)
        key = key[key % most > 0]
        scale = np.append(self.prevalence[key // most], np.ones(sizes.size))
        self.alpha = draw_concentration(
            rng, self.alpha, scale, np.append(key % most, sizes), np.append(times[key], -items).astype(np.float64),
            math.log(self.prior.ambiguity), self.prior.ambiguity_sd,
        )  # fmt: skip

    def shape(self) -> Floats:
        """Return the shapes of each item's Dirichlet given its latent labels, shape (candidate,)."""
        return np.maximum(self.alpha * self.prevalence[self.cells.candidate], NOTHING) + self.latent

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

    def diagonal(self, rng: Rng) -> Floats:
        """Draw the confusion; return the probability that an annotator gives the latent label, for each row."""
        self.confusion.draw_rows(rng, self.weights)
        return self.confusion.diagonal(rng)

    def expand(self, rng: Rng, right: Floats, out: NDArray[np.float32]) -> None:
        """Write whole confusion matrices."""
        self.confusion.expand(rng, right, out)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return alpha and the hyperparameters of the confusion."""
        return {"ambiguity": np.array(self.alpha)} | self.confusion.hyperparameters()
