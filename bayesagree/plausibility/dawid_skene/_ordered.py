"""Gibbs sampler of the ordered variant: labels stand in an order, and annotators differ in how they use the scale.

Item i has a latent truth u_i ~ N(0, 1). Annotator k says at most c where a latent response is at most tau_c,

    z_ik ~ N(alpha_k + beta_k u_i, 1 / s_k^2),    alpha_k ~ N(0, A),  beta_k ~ N(mu, B),  s_k^2 ~ Gamma(5, 5),

which is Phi(tau_kc - a_k u_i) with discrimination a_k = s_k beta_k and thresholds tau_kc = s_k tau_c - s_k alpha_k:
those of the crowd, stretched and shifted. The plausibility of a label is the share of typical annotators (alpha = 0,
beta = mu, s = 1) who would give it, so that it rises and falls once along the labels. A gold label is that of one more
typical annotator: it teaches how the others use the scale, and an item stays as ambiguous as it is.

Source: Johnson, "On Bayesian analysis of multirater ordinal data", JASA 91 (1996); latent responses by Albert and Chib
(1993), thresholds without them by Cowles (1996), moves of location and scale by Liu and Sabatti (2000), steps of
thresholds by their slope and curvature by Girolami and Calderhead, JRSS B 73 (2011).
"""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.annotations import Labels
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._confusion import write_accuracies
from bayesagree.plausibility.dawid_skene._gibbs import CrowdSampler
from bayesagree.plausibility.dawid_skene._ordered_kernels import chances, sweep_ordered

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
ONE = np.ones(1)


class OrderedSampler(CrowdSampler):
    """One chain."""

    def __init__(
        self,
        cells: AnnotationCells,
        labels: Labels,
        rng: Rng,
        gold: NDArray[np.int64],
    ) -> None:
        known, self.n_annotators = np.flatnonzero(gold >= 0), labels.annotators.size
        order = np.argsort(np.append(labels.item_index, known), kind="stable")
        self.gold = known, gold[known]
        self.cells, self.label = cells, np.append(labels.label_index, gold[known]).astype(np.int64)[order]
        self.annotator = np.append(labels.annotator_index, np.full(known.size, self.n_annotators))[order]
        n_labels, item = labels.categories.size, np.repeat(np.arange(cells.n_items), cells.sizes)
        below = np.cumsum(np.bincount(self.label, minlength=n_labels) + 0.5)[:-1]
        start = np.array([NormalDist().inv_cdf(p) for p in below / (self.label.size + 0.5 * n_labels)]) * 1.4
        self.tau = np.concatenate([[-np.inf], start, [np.inf]])
        middle = np.bincount(item, self.label, cells.n_items) / np.maximum(cells.sizes, 1)
        spread = middle.std() or 1.0
        self.u = (middle - middle.mean()) / spread + 0.3 * rng.standard_normal(cells.n_items)
        # Annotators, and a typical one who gives the gold: intercept, slope, precision of the latent response.
        self.people = np.repeat([[0.0, 1.0, 1.0]], self.n_annotators + bool(known.size), axis=0)
        # Population: mean slope, variances of intercepts and slopes; the sweep.
        self.crowd = np.array([1.0, 0.25, 0.25, 0.0])

    def plausibility(self, rng: Rng) -> Floats:
        """Return the plausibilities of the present draw."""
        return self.expected

    def sweep(self, rng: Rng, times: int = 1) -> None:
        """Draw every unknown."""
        args = self.cells.item_start, self.annotator, self.label, self.u, self.people, self.tau, self.crowd
        sweep_ordered(rng, times, *args, self.n_annotators, self.gold)
        shares = chances(self.tau, self.crowd[0] * self.u, ONE)  # of typical annotators who give each label
        self.expected, self.prevalence = shares.ravel(), shares.mean(axis=0)

    def write_annotators(self, rng: Rng, accuracy: Floats, confusion: NDArray[np.float32]) -> None:
        """Write Pr(same label as a typical annotator), and of each label given that of a typical annotator."""
        drawn, label = self._confusion(), self.cells.row_label
        write_accuracies(self.cells, drawn[self.cells.row_annotator, label, label], self.prevalence, accuracy)
        confusion[...] = drawn[: len(confusion)]

    def _confusion(self) -> Floats:
        """Return Pr(label | label of a typical annotator) on a random item, shape (annotator, label, label)."""
        typical = chances(self.tau, self.crowd[0] * NODES, ONE) * WEIGHTS[:, None]
        alpha, beta, precision = self.people.T
        at = (alpha[:, None] + beta[:, None] * NODES).ravel()
        own = chances(self.tau, at, np.repeat(np.sqrt(precision), NODES.size)).reshape(alpha.size, NODES.size, -1)
        return np.einsum("nc,anl->acl", typical, own) / typical.sum(axis=0)[:, None]

    def hyperparameters(self) -> dict[str, Floats]:
        """Return thresholds, latent truths, and how each annotator uses the scale."""
        alpha, beta, precision = self.people[: self.n_annotators].T
        stretch, latent = np.sqrt(precision), self.u.astype(np.float32)
        found = {"threshold": self.tau[1:-1].copy(), "latent_truth": latent, "stretch": stretch}
        return found | {"discrimination": beta * stretch, "severity": -alpha * stretch}
