"""The exact engine of the group model: quadrature over the means of the groups and the three shared parameters."""

import numpy as np
import scipy as sp

from bayesagree._types import Array, Floats, Integers, Pair, Rng, Triple
from bayesagree.inference.cells import cell_sums, row_shares

# Cells per shared parameter: first over (0, 1), then, twice, over the range that holds the posterior.
COARSE, FINE = 24, 32
# Cells this many nats below the best one hold less than a millionth of the posterior.
NEGLIGIBLE = 14.0
# Of each group how many annotators have more than k agreements, disagreements and annotations, each (group, k): all
# that the likelihood needs, since log (a)(a + 1)...(a + s - 1) is a sum over k < s.
Counts = list[Floats]
# Edges of the cells of w, m and b, whose priors are uniform.
Shared = list[Floats]


def group_draws(
    agree: Integers,
    total: Integers,
    group: Integers,
    n_groups: int,
    n_samples: int,
    rng: Rng,
) -> dict[str, Floats]:
    """Draw independently, from agreements and annotations of each annotator: w, m, b, then the mean of every group."""
    counts = [_more_than(values, group, n_groups) for values in (agree, total - agree, total)]
    shared = [np.linspace(0, 1, COARSE + 1)] * 3
    edges = _cells_of_means(counts, n_groups)
    for _ in range(2):
        shared = _range_that_matters(shared, _on_cells(counts, edges, shared)[2])
    likelihood, prior, log_weight = _on_cells(counts, edges, shared)
    weight = np.exp(log_weight - sp.special.logsumexp(log_weight)).ravel()
    within, hyper = np.divmod(np.sort(rng.choice(weight.size, n_samples, p=weight / weight.sum())), len(prior))
    means = np.empty((n_samples, n_groups))
    for w in np.unique(within):
        rows = np.flatnonzero(within == w)
        for g in range(n_groups):
            mass = np.cumsum(prior[hyper[rows]] * likelihood[w, g], axis=1)
            requested = rng.random(rows.size) * mass[:, -1]
            means[rows, g] = _inside(edges, (mass < requested[:, None]).sum(axis=1), rng)
    order, (of_m, of_b) = rng.permutation(n_samples), np.divmod(hyper, shared[2].size - 1)
    draws = {"performance": means[order]}
    for name, of, cells in zip(("within_spread", "location", "between_spread"), shared, (within, of_m, of_b)):
        draws[name] = _inside(of, cells, rng)[order]
    return draws


def _cells_of_means(counts: Counts, n_groups: int) -> Floats:
    """Return edges of unequal cells of mu: fine where some group's mean lies, whatever w is."""
    whole = np.sin(np.linspace(0, np.pi / 2, 2001)) ** 2
    rough = _likelihood(counts, _middle(whole), _middle(np.linspace(0, 1, COARSE + 1)))[0]
    density = row_shares(rough).mean(axis=(0, 1)) + 0.2 / rough.shape[2]
    below = np.append(0, np.cumsum(density) / density.sum())
    return np.interp(np.linspace(0, 1, 256 + 24 * n_groups + 1), below, whole)


def _on_cells(counts: Counts, edges: Floats, shared: Shared) -> Triple:
    """Return the likelihood, (w, group, cell); the prior mass of each cell, (m x b, cell); the log weight, (w, m x b).

    The prior is Beta(m kappa, (1 - m) kappa).
    """
    within, location, between = map(_middle, shared)
    likelihood, largest = _likelihood(counts, _middle(edges), within)
    m, b = (grid.ravel()[:, None] for grid in np.meshgrid(location, between, indexing="ij"))
    kappa = b**-2 - 1
    prior = np.diff(sp.special.betainc(m * kappa, (1 - m) * kappa, edges[None, :]), axis=1)
    evidence = np.einsum("wgc,hc->wgh", likelihood, prior, optimize=True)
    return likelihood, prior, largest[:, None] + np.log(np.maximum(evidence, 1e-300)).sum(axis=1)


def _range_that_matters(shared: Shared, log_weight: Floats) -> Shared:
    """Return finer cells over the box outside of which the posterior is negligible."""
    matters = log_weight.reshape([edges.size - 1 for edges in shared]) > log_weight.max() - NEGLIGIBLE
    return [
        np.linspace(edges[max(at.min() - 1, 0)], edges[min(at.max() + 2, edges.size - 1)], FINE + 1)
        for edges, at in zip(shared, np.nonzero(matters))
    ]


def _likelihood(counts: Counts, mean: Floats, within: Floats) -> Pair:
    """Return the likelihood of each group's mean scaled to 1, (within, group, cell), and the log of the scale."""
    scaled = np.empty((within.size, len(counts[0]), mean.size))
    largest = np.empty(within.size)
    for i, phi in enumerate(within**-2 - 1):
        agree, disagree, all_ = (
            count @ np.log(start + np.arange(count.shape[1])[:, None])
            for count, start in zip(counts, (mean * phi, (1 - mean) * phi, phi))
        )
        log_likelihood = agree + disagree - all_
        top = log_likelihood.max(axis=1, keepdims=True)
        scaled[i], largest[i] = np.exp(log_likelihood - top), top.sum()
    return scaled, largest


def _more_than(values: Integers, group: Integers, n_groups: int) -> Floats:
    """Count the annotators of each group whose value exceeds k = 0, 1, ..., shape (group, k)."""
    exactly = cell_sums((n_groups, int(values.max()) + 1), group, values)
    return np.cumsum(exactly[:, ::-1], axis=1)[:, -2::-1].astype(float)


def _middle(edges: Floats) -> Floats:
    return (edges[1:] + edges[:-1]) / 2


def _inside(edges: Floats, cell: Array, rng: Rng) -> Floats:
    """Draw uniformly within the given cells."""
    return edges[cell] + rng.random(cell.size) * np.diff(edges)[cell]
