"""The exact engine of the group model: quadrature over the means of the groups and the three shared parameters."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats

# Cells per shared parameter: first over (0, 1), then, twice, over the range that holds the posterior.
COARSE, FINE = 24, 32
# Cells this many nats below the best one hold less than a millionth of the posterior.
NEGLIGIBLE = 14.0


class RisingCounts(NamedTuple):
    """How many annotators of each group have more than k agreements, disagreements, annotations: (group, k).

    They are all that the likelihood needs, since log (a)(a + 1)...(a + s - 1) is a sum over k < s.
    """

    agree: Floats
    disagree: Floats
    total: Floats


class Shared(NamedTuple):
    """Edges of the cells of the three shared parameters w, m and b, whose priors are uniform."""

    within: Any
    location: Any
    between: Any


@dataclass(frozen=True, eq=False)
class BetaBinomialPosterior:
    """Posterior on cells.

    Attributes
    ----------
    edges
        Edges of the cells of mu, shape (cell + 1,).
    likelihood
        Likelihood of each group's mu, largest value 1, shape (within, group, cell).
    prior
        Mass of each cell of mu, shape (location x between, cell).
    shared
        Edges of the shared parameters.
    log_weight
        Log posterior of the shared parameters, shape (within, location x between).
    """

    edges: Floats
    likelihood: Floats
    prior: Floats
    shared: Shared
    log_weight: Floats

    def sample(self, n_samples: int, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Draw independently: shared parameters, then the mean of every group given them."""
        weight = np.exp(self.log_weight - sp.special.logsumexp(self.log_weight)).ravel()
        cell = np.sort(rng.choice(weight.size, n_samples, p=weight / weight.sum()))
        within, hyper = np.divmod(cell, self.log_weight.shape[1])
        location, between = np.divmod(hyper, self.shared.between.size - 1)
        performance = np.empty((n_samples, self.likelihood.shape[1]))
        for w in np.unique(within):
            rows = np.flatnonzero(within == w)
            for g, likelihood in enumerate(self.likelihood[w]):
                mass = np.cumsum(self.prior[hyper[rows]] * likelihood, axis=1)
                requested = rng.random(rows.size) * mass[:, -1]
                found = (mass < requested[:, None]).sum(axis=1)
                performance[rows, g] = _inside(self.edges, found, rng)
        order = rng.permutation(n_samples)
        draws = {
            "performance": performance,
            "within_spread": _inside(self.shared.within, within, rng),
            "location": _inside(self.shared.location, location, rng),
            "between_spread": _inside(self.shared.between, between, rng),
        }
        return {name: values[order] for name, values in draws.items()}


def beta_binomial_posterior(
    agree: NDArray[np.int64], total: NDArray[np.int64], group: NDArray[np.int64], n_groups: int
) -> BetaBinomialPosterior:
    """Compute the posterior of group means from agreements and annotations of each annotator."""
    counts = RisingCounts(*(_more_than(v, group, n_groups) for v in (agree, total - agree, total)))
    everywhere = np.linspace(0, 1, COARSE + 1)
    # Unequal cells of mu: fine where some group's mean lies, whatever w is.
    whole = np.sin(np.linspace(0, np.pi / 2, 2001)) ** 2
    rough = _likelihood(counts, _middle(whole), _middle(everywhere))[0]
    shape = rough / rough.sum(axis=2, keepdims=True)
    density = shape.mean(axis=(0, 1)) + 0.2 / shape.shape[2]
    edges = np.interp(
        np.linspace(0, 1, 256 + 24 * n_groups + 1), np.append(0, np.cumsum(density) / density.sum()), whole
    )
    posterior = _on_cells(counts, edges, Shared(everywhere, everywhere, everywhere))
    for _ in range(2):
        posterior = _on_cells(counts, edges, _range_that_matters(posterior))
    return posterior


def _on_cells(counts: RisingCounts, edges: Floats, shared: Shared) -> BetaBinomialPosterior:
    likelihood, largest = _likelihood(counts, _middle(edges), _middle(shared.within))
    prior = _cell_mass(edges, _middle(shared.location), _middle(shared.between))
    evidence = np.einsum("wgc,hc->wgh", likelihood, prior, optimize=True)
    log_weight = largest[:, None] + np.log(np.maximum(evidence, 1e-300)).sum(axis=1)
    return BetaBinomialPosterior(edges, likelihood, prior, shared, log_weight)


def _range_that_matters(posterior: BetaBinomialPosterior) -> Shared:
    """Return finer cells over the box outside of which the posterior is negligible."""
    sizes = [edges.size - 1 for edges in posterior.shared]
    log_weight = posterior.log_weight.reshape(sizes)
    best, boxes = log_weight.max(), []
    for axis, edges in enumerate(posterior.shared):
        others = tuple(a for a in range(3) if a != axis)
        matters = np.flatnonzero(log_weight.max(axis=others) > best - NEGLIGIBLE)
        low, high = max(matters[0] - 1, 0), min(matters[-1] + 2, sizes[axis])
        boxes.append(np.linspace(edges[low], edges[high], FINE + 1))
    return Shared(*boxes)


def _likelihood(counts: RisingCounts, mean: Floats, within: Floats) -> tuple[Floats, Floats]:
    """Return the likelihood of each group's mean scaled to 1, (within, group, cell), and the log of the scale."""
    scaled = np.empty((within.size, counts.agree.shape[0], mean.size))
    largest = np.empty(within.size)
    for i, phi in enumerate(within**-2 - 1):
        log_likelihood = counts.agree @ _log_rising(mean * phi, counts.agree.shape[1])
        log_likelihood += counts.disagree @ _log_rising((1 - mean) * phi, counts.disagree.shape[1])
        log_likelihood -= counts.total @ _log_rising(np.array([phi]), counts.total.shape[1])
        top = log_likelihood.max(axis=1, keepdims=True)
        scaled[i], largest[i] = np.exp(log_likelihood - top), top.sum()
    return scaled, largest


def _log_rising(start: Floats, n_terms: int) -> Floats:
    return np.log(start[None, :] + np.arange(n_terms)[:, None])


def _cell_mass(edges: Floats, location: Floats, between: Floats) -> Floats:
    """Return the mass that Beta(m kappa, (1 - m) kappa) puts on each cell, shape (location x between, cell)."""
    m, b = (grid.ravel()[:, None] for grid in np.meshgrid(location, between, indexing="ij"))
    kappa = b**-2 - 1
    return np.diff(sp.special.betainc(m * kappa, (1 - m) * kappa, edges[None, :]), axis=1)


def _more_than(values: NDArray[np.int64], group: NDArray[np.int64], n_groups: int) -> Floats:
    """Count the annotators of each group whose value exceeds k = 0, 1, ..., shape (group, k)."""
    size = int(values.max()) + 1
    exactly = np.bincount(group * size + values, minlength=n_groups * size).reshape(n_groups, size)
    at_least = np.cumsum(exactly[:, ::-1], axis=1)[:, ::-1]
    return at_least[:, 1:].astype(np.float64)


def _middle(edges: Floats) -> Floats:
    return (edges[1:] + edges[:-1]) / 2


def _inside(edges: Floats, cell: NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """Draw uniformly within the given cells."""
    return edges[cell] + rng.random(cell.size) * np.diff(edges)[cell]
