"""Dirichlet posteriors of many items at once, for `dirichlet` and `prirn`, which differ in their shapes only."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.errors import InputError
from bayesagree.inference.blocks import label_dtype
from bayesagree.inference.dirichlet_argmax import argmax_probabilities
from bayesagree.inference.kernel_draws import log_dirichlets
from bayesagree.inference.multisets import distinct
from bayesagree.inference.posterior import Drawer, Drawn, Groups, ItemPosterior, Request
from bayesagree.inference.pseudo_label import top_labels
from bayesagree.inference.results import check_size

Prior = float | Sequence[float] | None


@dataclass(frozen=True, eq=False)
class Concentration:
    """Shapes of one Dirichlet distribution per item, most of them the same small number.

    Attributes
    ----------
    start, label, shape
        Item i gives the labels ``label[start[i]:start[i + 1]]`` these shapes.
    rest
        Shape of all its other labels.
    n_labels
        Number of labels.
    """

    start: NDArray[np.int64]
    label: NDArray[np.int32]
    shape: Floats
    rest: float
    n_labels: int

    @classmethod
    def of(
        cls,
        item: NDArray[np.integer[Any]],
        label: NDArray[np.integer[Any]],
        weight: Floats,
        *,
        n_items: int,
        prior: Floats,
    ) -> Self:
        """Add up the weight of each (item, category), then the prior shape of the label, shape (label,)."""
        n_labels = prior.size
        cells, start = item.astype(np.int64) * n_labels + label, np.arange(n_items + 1) * n_labels
        if (prior != prior[0]).any():
            # Unnamed labels of different shapes do not form one group: every label counts as named.
            cells, weight = np.append(cells, np.arange(start[-1])), np.append(weight, np.zeros(start[-1]))
        cell, at = distinct(cells, n_items * n_labels)
        named = cell % n_labels
        shape = np.bincount(at, weights=weight, minlength=cell.size) + prior[named]
        return cls(np.searchsorted(cell, start), named.astype(np.int32), shape, float(prior[0]), n_labels)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.start.size - 1

    def dense(self, items: slice = slice(None)) -> Floats:
        """Return all shapes of some items, shape (item, category)."""
        first, last, _ = items.indices(self.n_items)
        start = self.start[first : last + 1]
        given = slice(start[0], start[-1])
        table = np.full((last - first, self.n_labels), self.rest)
        table[np.repeat(np.arange(last - first), np.diff(start)), self.label[given]] = self.shape[given]
        return table

    @cached_property
    def up_to(self) -> Floats:
        """Probability that one of the first labels is the best, shape (item, category)."""
        return np.cumsum(argmax_probabilities(self.dense()), axis=1)

    def best_labels(self, items: slice, rng: np.random.Generator, n_samples: int, depth: int) -> NDArray[Any]:
        """Draw the `depth` best labels of a block of items, shape (item, sample, rank)."""
        out = np.empty((items.stop - items.start, n_samples, depth), dtype=label_dtype(self.n_labels))
        for row, i, own in zip(out, range(items.start, items.stop), rng.spawn(len(out))):
            given = slice(self.start[i], self.start[i + 1])
            if depth == 1:
                below = self.up_to[i, :-1]
                row[:, 0] = np.searchsorted(below, own.random(n_samples) * self.up_to[i, -1], side="right")
            else:
                label = self.label[given].astype(np.int64)
                others = np.setdiff1d(np.arange(self.n_labels), label)
                shape = np.append(self.shape[given], others.size * self.rest or 1.0)
                share = np.exp(log_dirichlets(own, np.broadcast_to(shape, (n_samples, shape.size))))
                top_labels(share, label, others, self.rest, own, row)
        return out

    def plausibilities(self, items: slice, rng: np.random.Generator, n_samples: int) -> Floats:
        """Draw all plausibilities of a block of items, shape (item, sample, category)."""
        out = np.empty((items.stop - items.start, n_samples, self.n_labels))
        for row, shape, own in zip(out, self.dense(items), rng.spawn(len(out))):
            row[:] = np.exp(log_dirichlets(own, np.broadcast_to(shape, row.shape)))
        return out


@dataclass(frozen=True)
class DirichletItems(ItemPosterior):
    """A posterior whose items have Dirichlet distributions: it derives from this class and gives their shapes."""

    @abstractmethod
    def problem(self, annotations: Any) -> Concentration:
        """Return the shapes of all items."""

    def drawer(self, problem: Concentration, request: Request) -> Drawer:
        """Return the function that draws a block of items, all draws independent."""
        samples, depth = request.samples, request.top_labels
        if depth == 1:
            _ = problem.up_to  # once, not in each thread

        def draw(items: slice, rng: np.random.Generator) -> Drawn:
            if depth is None:
                return Drawn(items, {"plausibility": problem.plausibilities(items, rng, samples)})
            return Drawn(items, {"top_label": problem.best_labels(items, rng, samples, depth)})

        return draw

    def groups(self, problem: Concentration, request: Request) -> Groups:
        """Return the concentrations, from which certainties follow exactly."""
        shape = {"item": problem.n_items, "category": problem.n_labels}
        check_size(shape, 8, "use evaluate(), which streams")
        return {"posterior_parameters": {"concentration": (("item", "category"), problem.dense())}}


def prior_shape(prior: Prior, n_labels: int) -> Floats:
    """Return the prior shape of each label, shape (label,)."""
    shape = np.asarray(1 / n_labels if prior is None else prior, dtype=np.float64)
    shape = np.full(n_labels, shape) if shape.ndim == 0 else shape
    if shape.shape != (n_labels,):
        raise InputError(
            f"prior has shape {shape.shape} for {n_labels} labels; give one number or one per label"
        )
    if not (np.isfinite(shape) & (shape > 0)).all():
        raise InputError(f"prior {prior!r} must be positive: a label of prior 0 could never be true")
    return shape
