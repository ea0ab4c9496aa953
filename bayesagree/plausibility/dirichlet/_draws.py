"""Dirichlet posteriors of many items at once, for `dirichlet` and `prirn`, which differ in their shapes only."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.results import check_size
from bayesagree._numerics.dirichlet_argmax import argmax_tables
from bayesagree._numerics.draws import log_dirichlets, log_gammas
from bayesagree._numerics.multisets import distinct
from bayesagree.draws.blocks import best_labels, label_dtype
from bayesagree.draws.posterior import Drawer, Drawn, Groups, ItemPosterior, Request
from bayesagree.errors import InputError
from bayesagree.plausibility.dirichlet._kernels import best_label_draws, plausibility_draws, top_label_draws

type Prior = float | Sequence[float] | None

# Plausibilities up to which NumPy's draws cost less than compiled code takes to load; a quarter without votes.
FEW = 25_000_000
# Plausibilities that NumPy draws at once, of which it holds a few copies.
AT_ONCE = 1_000_000


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
    shape: NDArray[np.float64]
    rest: float
    n_labels: int

    @classmethod
    def of(
        cls,
        item: NDArray[np.integer[Any]],
        label: NDArray[np.integer[Any]],
        weight: NDArray[np.float64],
        *,
        n_items: int,
        prior: NDArray[np.float64],
    ) -> Self:
        """Add up the weight of each (item, category), then the prior shape of the label, shape (label,)."""
        n_labels = prior.size
        cell, at = distinct(item.astype(np.int64) * n_labels + label, n_items * n_labels)
        shape = np.bincount(at, weights=weight, minlength=cell.size)
        if (prior != prior[0]).any():
            # Unnamed labels of different shapes do not form one group: every label counts as named.
            dense = np.tile(prior, (n_items, 1))
            dense.ravel()[cell] += shape
            start = np.arange(n_items + 1) * n_labels
            return cls(start, np.tile(np.arange(n_labels, dtype=np.int32), n_items), dense.ravel(), 0.0, n_labels)
        start = np.searchsorted(cell, np.arange(n_items + 1) * n_labels)
        return cls(start, (cell % n_labels).astype(np.int32), shape + prior[0], float(prior[0]), n_labels)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.start.size - 1

    def dense(self) -> NDArray[np.float64]:
        """Return all shapes, shape (item, category)."""
        table = np.full((self.n_items, self.n_labels), self.rest)
        table[np.repeat(np.arange(self.n_items), np.diff(self.start)), self.label] = self.shape
        return table

    def _few(self, n_samples: int) -> bool:
        """Return whether NumPy draws; labels without votes, which compiled code hardly looks at, count four times."""
        work = n_samples * (4 * self.n_items * self.n_labels - 3 * self.label.size)
        return work <= FEW and n_samples * self.n_labels <= AT_ONCE

    def _shapes(self, items: slice, n_samples: int) -> list[NDArray[np.float64]]:
        """Return the shapes of some items, as many together as are drawn at once, each (item, sample, label)."""
        start, stop = self.start[items.start], self.start[items.stop]
        bounds = self.start[items.start : items.stop + 1] - start
        shape = Concentration(bounds, self.label[start:stop], self.shape[start:stop], self.rest, self.n_labels).dense()
        together = np.split(shape, range(0, len(shape), AT_ONCE // (n_samples * self.n_labels))[1:])
        return [np.broadcast_to(some[:, None], (len(some), n_samples, self.n_labels)) for some in together]

    def best_labels(self, items: slice, rng: np.random.Generator, n_samples: int, depth: int) -> NDArray[Any]:
        """Draw the `depth` best labels of a block of items, shape (item, sample, rank)."""
        if self._few(n_samples):
            return np.concatenate(
                [best_labels(log_gammas(rng, some), depth) for some in self._shapes(items, n_samples)]
            )
        out = np.empty((items.stop - items.start, n_samples, depth), dtype=label_dtype(self.n_labels))
        bounds = self.start[items.start : items.stop + 1]
        given = (bounds, self.label, self.shape, self.rest, self.n_labels)
        if depth == 1:
            best_label_draws(rng, *given, argmax_tables(), out)
        else:
            top_label_draws(rng, *given, out)
        return out

    def plausibilities(self, items: slice, rng: np.random.Generator, n_samples: int) -> NDArray[np.float64]:
        """Draw all plausibilities of a block of items, shape (item, sample, category)."""
        if self._few(n_samples):
            return np.exp(np.concatenate([log_dirichlets(rng, some) for some in self._shapes(items, n_samples)]))
        out = np.empty((items.stop - items.start, n_samples, self.n_labels))
        plausibility_draws(rng, self.start[items.start : items.stop + 1], self.label, self.shape, self.rest, out)
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


def prior_shape(prior: Prior, n_labels: int) -> NDArray[np.float64]:
    """Return the prior shape of each label, shape (label,)."""
    shape = np.full(n_labels, 1 / n_labels) if prior is None else np.asarray(prior, dtype=np.float64)
    if shape.ndim == 0:
        shape = np.full(n_labels, float(shape))
    if shape.shape != (n_labels,):
        raise InputError(f"prior has shape {shape.shape} for {n_labels} labels; give one number or one per label")
    if not (np.isfinite(shape) & (shape > 0)).all():
        raise InputError(f"prior {prior!r} must be positive: a label of prior 0 could never be true")
    return shape
