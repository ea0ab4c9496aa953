"""Dirichlet posteriors of many items at once, for `dirichlet` and `prirn`, which differ in their shapes only."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Array, Floats, Rng
from bayesagree.errors import InputError
from bayesagree.inference.blocks import DrawBlock, label_dtype
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.dirichlet_argmax import argmax_probabilities
from bayesagree.inference.kernel_draws import log_dirichlets
from bayesagree.inference.posterior import Drawer, Groups, ItemPosterior, Request
from bayesagree.inference.results import check_size

Prior = float | Sequence[float] | None


def shapes_of(
    item: NDArray[np.integer[Any]], label: NDArray[np.integer[Any]], weight: Floats, n_items: int, prior: Floats
) -> Floats:
    """Add up the weight of each (item, category), and the prior shape of the label, (item, category)."""
    return cell_sums((n_items, prior.size), item, label, weight=weight) + prior


def best_labels(shape: Floats, rng: Rng, out: Array) -> None:
    """Draw the best labels of an item with these shapes, (sample, rank); those of the least shape are alike."""
    from bayesagree.inference.best_of_unnamed import top_labels

    least = shape.min()
    named, others = np.flatnonzero(shape > least), np.flatnonzero(shape == least)
    given = np.append(shape[named], others.size * least)
    share = np.exp(log_dirichlets(rng, np.broadcast_to(given, (len(out), given.size))))
    top_labels(share, named, others, least, rng, out)


@dataclass(frozen=True)
class DirichletItems(ItemPosterior):
    """A posterior whose items have Dirichlet distributions: it derives from this class and gives their shapes."""

    @abstractmethod
    def problem(self, annotations: Any) -> Floats:
        """Return the shapes of all items, (item, category)."""

    def drawer(self, problem: Floats, request: Request) -> Drawer:
        """Return the function that draws a block of items, all draws independent."""
        samples = request.samples
        depth = request.top_labels
        n_labels = problem.shape[1]
        up_to = np.cumsum(argmax_probabilities(problem), axis=1) if depth == 1 else problem
        dtype = label_dtype(n_labels) if depth else np.float64

        def draw(items: slice, rng: Rng) -> DrawBlock:
            out = np.empty((items.stop - items.start, samples, depth or n_labels), dtype)
            for row, shape, below, own in zip(out, problem[items], up_to[items], rng.spawn(len(out))):
                if depth is None:
                    row[:] = np.exp(log_dirichlets(own, np.broadcast_to(shape, row.shape)))
                elif depth == 1:
                    row[:, 0] = np.searchsorted(below[:-1], own.random(samples) * below[-1], side="right")
                else:
                    best_labels(shape, own, row)
            return DrawBlock(items, **{request.variable: out})

        return draw

    def known(self, problem: Floats, request: Request) -> Groups:
        """Return the concentrations, from which certainties follow exactly."""
        check_size({"item": len(problem), "category": problem.shape[1]}, 8, "use evaluate(), which streams")
        return {"posterior_parameters": {"concentration": (("item", "category"), problem)}}


def prior_shape(prior: Prior, n_labels: int) -> Floats:
    """Return the prior shape of each label, shape (label,)."""
    shape = np.asarray(1 / n_labels if prior is None else prior, dtype=float)
    shape = np.full(n_labels, shape) if shape.ndim == 0 else shape
    if shape.shape != (n_labels,):
        raise InputError(
            f"prior has shape {shape.shape} for {n_labels} labels; give one number or one per label"
        )
    if not (np.isfinite(shape) & (shape > 0)).all():
        raise InputError(f"prior {prior!r} must be positive: a label of prior 0 could never be true")
    return shape
