"""Fit of the informed prior: the parameters that make the votes most probable, and how well the votes know them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Integers
from bayesagree.annotations import Labels
from bayesagree.inference.multisets import words
from bayesagree.inference.streams import item_blocks, n_threads, one_blas_thread
from bayesagree.plausibility.informed._block_kernels import Blocks, blocks_of, score_functions
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.prior import Layout

# Items per task: large enough that threads outweigh their overhead, small enough that the gradients of a block of
# items with hundreds of labels stay in memory.
ITEMS_PER_TASK = 512
# Ten steps reach the region where the information is that of the mode; with it, 40 gradients do what 200 did.
# Most steps of the climb in each choice of units.
STEPS = 10, 10, 1000
WORTH_THREADS = 50_000


# Prior standard deviations beyond which no parameter goes: nothing makes up for exp(-450).
FARTHEST = 30.0


class Votes(NamedTuple):
    """Votes item by item: item i has ``number[start[i]:start[i + 1]]`` votes for the labels of the same places."""

    start: NDArray[np.int64]
    label: NDArray[np.int32]
    number: NDArray[np.int64]

    @classmethod
    def of(cls, labels: Labels) -> "Votes":
        """Count the votes of each item for each label."""
        n_labels = labels.categories.size
        cell, at = np.unique(labels.item_index.astype(np.int64) * n_labels + labels.label_index, return_inverse=True)
        count = np.bincount(at, labels.count, cell.size).astype(np.int64)
        start = np.searchsorted(cell, np.arange(labels.items.size + 1) * n_labels)
        return cls(start, (cell % n_labels).astype(np.int32), count)


class Fit(NamedTuple):
    """Normal approximation of the posterior of the parameters.

    Attributes
    ----------
    mode
        The most probable parameters.
    root
        Matrix L of the covariance L L', so that ``mode + L z`` is a draw for standard normal z.
    log_likelihood
        Log marginal likelihood of the votes at the mode.
    """

    mode: Floats
    root: Floats
    log_likelihood: float

    @property
    def sd(self) -> Floats:
        """Posterior standard deviation of each parameter."""
        return np.sqrt(np.square(self.root).sum(axis=1))

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw parameters, shape (n, parameter)."""
        return self.mode + rng.standard_normal((n, self.mode.size)) @ self.root.T


def fit_parameters(
    votes: Votes, covariates: Covariates, layout: Layout, *, items: NDArray[np.intp] | None = None
) -> Fit:
    """Climb to the posterior mode of the parameters and take the information of the votes about them there.

    The information is the sum of outer products of the items' score functions (Berndt, Hall, Hall and Hausman, 1974)
    plus the precision of the prior. The climb goes in the units of the prior's standard deviations at first, then in
    those of the information where it stands, in which all directions are about equally steep.
    """
    mean, sd = layout.mean, layout.sd
    voted = np.flatnonzero(np.diff(votes.start)) if items is None else items
    some, weight = alike(votes, covariates, voted)
    tasks = [blocks_of(*gather(votes, covariates, some[b]), weight[b]) for b in item_blocks(some.size, ITEMS_PER_TASK)]
    # A thread takes as long to wake as a small problem takes to compute.
    threads = n_threads() if some.size * len(layout.categories) > WORTH_THREADS else 1
    with ThreadPoolExecutor(threads) as pool, one_blas_thread():
        each = pool.map if threads > 1 else map

        def loss(theta: Floats) -> tuple[float, Floats]:
            """Negative log posterior and its gradient."""
            away = (theta - mean) / sd
            if np.abs(away).max() > FARTHEST:  # a line search that overshoots: back, before shapes are 0
                return ceiling + 0.5 * float(away @ away), away / sd
            value, slope = 0.0, np.zeros(theta.size)
            for part, by_theta in each(lambda blocks: _summed(theta, blocks), tasks):
                value += part
                slope += by_theta
            return 0.5 * float(away @ away) - value, away / sd - slope

        def climb(start: Floats, root: Floats, most: int) -> Floats:
            """Go from `start` towards the mode, at most so many steps, in units of `root`."""

            def by_step(step: Floats) -> tuple[float, Floats]:
                value, slope = loss(start + root @ step)
                return value, root.T @ slope

            limits = {"maxiter": most, "maxfun": 2 * most, "maxcor": 10, "ftol": 1e-10, "gtol": 1e-3}
            climb = sp.optimize.minimize(by_step, np.zeros(mean.size), jac=True, method="L-BFGS-B", options=limits)
            return start + root @ climb.x

        def covariance_root(theta: Floats) -> Floats:
            """L with L L' the inverse of the information at theta."""
            information = np.eye(mean.size)
            for outer in each(lambda blocks: _outer(theta, sd, blocks), tasks):
                information += outer
            # information = T T', so T'^-1 z has its inverse as covariance.
            triangle = sp.linalg.cholesky(information, lower=True)
            return sd[:, None] * sp.linalg.solve_triangular(triangle, np.eye(mean.size), lower=True).T

        ceiling = 0.0
        ceiling, _ = loss(mean)
        mode, root = mean, np.diag(sd)
        for most in STEPS:
            mode = climb(mode, root, most)
            root = covariance_root(mode)
        lowest, _ = loss(mode)
    away = (mode - mean) / sd
    return Fit(mode, root, 0.5 * float(away @ away) - lowest)


def gather(votes: Votes, covariates: Covariates, items: NDArray[np.intp]) -> tuple[Any, Any, Any, Any, Any]:
    """Gather covariates and votes of a block of items, as the kernels take them."""
    size = np.diff(votes.start)[items]
    start = np.append(0, np.cumsum(size))
    entry = np.repeat(votes.start[items] - start[:-1], size) + np.arange(start[-1])
    return covariates.dense[items], covariates.hit[items], start, votes.label[entry], votes.number[entry]


def alike(votes: Votes, covariates: Covariates, items: NDArray[np.intp]) -> tuple[NDArray[np.intp], Integers]:
    """Return the first of the items that have the same votes and covariates, in their order, and how many these are."""
    dense, hit, start, label, number = gather(votes, covariates, items)
    values = np.concatenate([hit, dense.reshape(len(dense), -1).view(np.int32)], axis=1)
    places = values.shape[1]
    key = words(values + (np.arange(places) << 33)).sum(axis=1, dtype=np.uint64)
    total = np.append(np.uint64(0), np.cumsum(words(number + ((places + label.astype(np.int64)) << 33))))
    _, first, n = np.unique(key + total[start[1:]] - total[start[:-1]], return_index=True, return_counts=True)
    order = np.argsort(first)
    return items[first[order]], n[order]


def _summed(theta: Floats, blocks: Blocks) -> tuple[float, Floats]:
    slope = np.empty(theta.size)
    return score_functions(theta, *blocks, slope, np.empty((1, theta.size, blocks.votes.shape[1]))), slope


def _outer(theta: Floats, sd: Floats, blocks: Blocks) -> Floats:
    n_blocks, n_items = blocks.votes.shape
    slopes = np.empty((n_blocks, theta.size, n_items))
    score_functions(theta, *blocks, np.empty(theta.size), slopes)
    slopes *= sd[:, None]
    return np.tensordot(slopes * blocks.weight[:, None], slopes, axes=((0, 2), (0, 2)))
