"""The pseudo-label that stands last for all labels that nobody named: its mass, spread over them again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import seed_of
from bayesagree._inference.streams import block_generator, stream_apart
from bayesagree.draws.blocks import label_dtype
from bayesagree.draws.unnamed_labels import spread, top_labels

UNRANKED = "unranked"
"""Name of the pseudo-label (-1 where labels are numbers)."""
UNNAMED_SHAPE = "unnamed_shape"
"""Constant of a result whose last label is the pseudo-label: the shape of each unnamed label within its mass."""


def with_pseudo_label(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the labels and, last, the pseudo-label."""
    return np.append(labels, -1 if labels.dtype.kind in "iuf" else UNRANKED)


@dataclass(frozen=True, eq=False)
class PseudoLabel:
    """How the mass of the pseudo-label falls to the labels behind it.

    Every item draws from a stream of its own, so that all functions see the same split of the same draws.

    Attributes
    ----------
    named
        Whether anybody named each label, shape (item, category), without the pseudo-label.
    shape
        Of the symmetric Dirichlet distribution within the mass; 0 splits it equally.
    root
        Of the streams.
    """

    named: NDArray[np.bool_]
    shape: float
    root: np.random.SeedSequence

    @classmethod
    def of(cls, tree: xr.DataTree) -> "PseudoLabel | None":
        """Read it from the constants of a result; None where all labels stand for themselves."""
        if "constant_data" not in tree or UNNAMED_SHAPE not in tree["constant_data"].data_vars:
            return None
        constant = tree["constant_data"].to_dataset()
        named = constant["named"].transpose("item", "category").values[:, :-1].astype(bool)
        return cls(named, float(constant[UNNAMED_SHAPE]), stream_apart(seed_of(tree), "unnamed labels"))

    def split(self, values: NDArray[np.float64], items: slice) -> NDArray[np.float64]:
        """Return plausibilities of all labels, (chain, draw, item, category), from those with the pseudo-label."""
        if self.shape == 0:
            unnamed = ~self.named[items]
            return values[..., :-1] + values[..., -1:] * (unnamed / np.maximum(unnamed.sum(axis=1, keepdims=True), 1))
        out = np.zeros((*values.shape[:3], values.shape[3] - 1))
        for k, i in enumerate(range(*items.indices(len(self.named)))):
            named, unnamed, theta, rng = self._item(values, k, i)
            own = np.zeros((len(theta), out.shape[3]))
            spread(theta, named, unnamed, self.shape, rng, own)
            out[:, :, k] = own.reshape(*out.shape[:2], -1)
        return out

    def best(self, values: NDArray[np.float64], items: slice, depth: int) -> NDArray[np.integer]:
        """Return the best labels of each draw, (item, sample, rank); labels of equal shares stand in random order."""
        n_items, n_labels = values.shape[2], values.shape[3] - 1
        top = np.empty((n_items, values.shape[0] * values.shape[1], depth), dtype=label_dtype(n_labels))
        for k, i in enumerate(range(*items.indices(len(self.named)))):
            named, unnamed, theta, rng = self._item(values, k, i)
            top_labels(theta, named, unnamed, self.shape, rng, top[k])
        return top

    def _item(
        self, values: NDArray[np.float64], k: int, item: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], np.random.Generator]:
        """Return an item's named and unnamed labels, its draws (sample, named labels and the rest) and its stream."""
        named = np.flatnonzero(self.named[item])
        theta = values[:, :, k].reshape(-1, values.shape[3])
        theta = np.ascontiguousarray(theta[:, np.append(named, values.shape[3] - 1)])
        return named, np.flatnonzero(~self.named[item]), theta, block_generator(self.root, item)
