"""Gibbs sampler of mixed-membership Dawid-Skene: item plausibilities joined with annotator confusion.

An item may be truly ambiguous: two careful annotators then read it differently, and no amount of labels makes it
certain. Stutz et al. give every item its own plausibilities lambda_i; Dawid and Skene give every annotator a confusion
matrix. Joined:

    lambda_i ~ Dirichlet(alpha prevalence)               alpha -> 0: one truth per item, Dawid-Skene
    c_t ~ lambda_i                                       what annotator j reads item i as, for annotation t = (i, j)
    l_t ~ confusion_j[c_t, .],   confusion_j[k, .] ~ Dirichlet(kappa_k phi_k)

lambda is integrated out. Its Dirichlet-multinomial is written as a Chinese restaurant: readings of an item sit at
tables, every table has one label drawn from the prevalence, and a new table opens with weight alpha. That changes
nothing about the model and two things about the sampler: a whole table changes its label in one step (so that small
alpha does not freeze the readings), and the prevalence depends on the readings through numbers of tables alone, where
its conditional is simple. alpha and the prevalence would move in small steps between readings that say how ambiguous
their items are; they are drawn given the confusion instead, with the readings summed out.

A gold label is what an expert reads: one more draw from lambda_i, given without error. It teaches the annotators'
confusion and makes the label plausible; it does not make an ambiguous item certain.

Sources: Stutz et al., section 3; Dawid and Skene (1979); Teh et al., "Hierarchical Dirichlet processes", JASA 101
(2006), section 5.1 (tables).
"""

import math

import numpy as np
from numpy.typing import NDArray

from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._confusion import Floats, HierarchicalRows, Rng
from bayesagree.plausibility.dawid_skene._gibbs import start_truth
from bayesagree.plausibility.dawid_skene._gibbs_kernels import items_with_repeats, log_dirichlet_draw
from bayesagree.plausibility.dawid_skene._latent_counts import (
    AmbiguityPrior,
    draw_ambiguity,
    expand_items,
    reading_sums,
)
from bayesagree.plausibility.dawid_skene._mixed_membership_kernels import (
    count_readings,
    draw_dishes,
    draw_plausibility,
    draw_readings,
    draw_seats,
)
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


class MixedMembershipSampler:
    """One chain: tables of readings, confusion, prevalence and alpha are drawn in turn."""

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
        self.ambiguity_prior = AmbiguityPrior(math.log(prior.ambiguity), prior.ambiguity_sd, prior.prevalence)
        self.ambiguity = prior.ambiguity
        n = int(cells.item_start[-1])
        # Every item starts with one table, as under Dawid-Skene; tables are numbered within their item.
        self.seat = np.zeros(n, np.int64)
        self.dish, self.guests = np.zeros(n, np.int64), np.zeros(n, np.int64)
        start = cells.item_start[:-1][cells.sizes > 0]
        self.dish[start] = start_truth(cells, shares, rng)[cells.sizes > 0]
        self.guests[start] = cells.sizes[cells.sizes > 0]
        self.sizes = np.unique(cells.sizes, return_counts=True)
        self.sums = reading_sums(cells, n_labels)
        self.weights, self.tables = np.empty(cells.cell_label.size), np.empty(n_labels)
        self.readings = np.empty(cells.candidate.size)
        self.prevalence = np.empty(n_labels)
        self.drawn, self.expected = np.empty(cells.candidate.size), np.empty(cells.candidate.size)

    def sweep(self, rng: Rng) -> None:
        """Draw crowd and prevalence given the tables, the tables, alpha and the readings, then the plausibilities."""
        cells = self.cells
        count_readings(cells, self.seat, self.dish, self.guests, self.weights, self.tables, self.readings)
        self.confusion.draw_crowd(rng, self.weights)
        if (name := self.confusion.rename(rng)) is not None:
            self.dish = name[self.dish]
            count_readings(cells, self.seat, self.dish, self.guests, self.weights, self.tables, self.readings)
        log_prevalence = log_dirichlet_draw(rng, self.prior.prevalence + self.tables)
        self.prevalence = np.exp(log_prevalence)
        mass, row_mass = self.confusion.masses(self.weights)
        places = (self.seat, self.dish, self.guests)
        draw_seats(rng, cells, self.confusion.row, self.prevalence, self.ambiguity, mass, row_mass, *places)
        draw_dishes(rng, cells, self.confusion.row, self.repeats, log_prevalence, mass, row_mass, *places)
        self.read_again(rng)
        count_readings(cells, self.seat, self.dish, self.guests, self.weights, self.tables, self.readings)
        draw_plausibility(rng, cells, self.prevalence, self.ambiguity, self.readings, self.drawn, self.expected)

    def read_again(self, rng: Rng) -> None:
        """Draw alpha and prevalence with the readings summed out, then plausibilities, readings and their tables."""
        cells = self.cells
        count_readings(cells, self.seat, self.dish, self.guests, self.weights, self.tables, self.readings)
        chance = np.exp(self.confusion.draw_rows(rng, self.weights))
        expand_items(cells, self.sums, chance)
        self.ambiguity = draw_ambiguity(
            rng, cells, self.sums, self.ambiguity_prior, self.prevalence, self.ambiguity, self.readings, *self.sizes
        )
        draw_plausibility(rng, cells, self.prevalence, self.ambiguity, self.readings, self.drawn, self.expected)
        places = (self.seat, self.dish, self.guests)
        draw_readings(rng, cells, self.prevalence, self.ambiguity, chance, self.drawn, *places)

    @property
    def plausibility(self) -> Floats:
        """The drawn lambda."""
        return self.drawn

    def right(self, rng: Rng) -> Floats:
        """Draw the confusion; return the probability that an annotator names what he reads, for each row."""
        self.confusion.draw_rows(rng, self.weights)
        return self.confusion.right(rng)

    def expand(self, rng: Rng, right: Floats, out: NDArray[np.float32]) -> None:
        """Write whole confusion matrices."""
        self.confusion.expand(rng, right, out)

    def crowd(self) -> dict[str, Floats]:
        """Return alpha and the crowd's confusion."""
        return {"ambiguity": np.array(self.ambiguity)} | self.confusion.crowd()
