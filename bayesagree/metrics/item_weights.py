"""Groups of items: slices to report, clusters to resample."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesagree._types import Array, Floats, Places
from bayesagree.annotations.gold import ItemGroup, group_of_each
from bayesagree.errors import InputError, shorten
from bayesagree.inference.streams import BLOCK, Seed, block_generator, item_blocks, stream_apart

# Groups from which there is an interval over them.
FEWEST = 3


@dataclass(frozen=True)
class ItemGroups:
    """A group for each item."""

    # Of the column that they come from.
    name: str
    # Of the groups, sorted.
    names: Array
    # Which one each item is in, shape (item,).
    code: Places

    @classmethod
    def of(cls, given: ItemGroup | None, items: Array, role: str) -> "ItemGroups | None":
        """Read a group for each item, where there are any; see `group_of_each`.

        Raises
        ------
        InputError
            An item without a group, or a sequence of another length.
        """
        if given is None:
            return None
        code, names = pd.factorize(group_of_each(given, items, role).to_numpy(), sort=True)
        return cls(str(getattr(given, "name", None) or "slice"), np.asarray(names), code)


class ItemWeights:
    """Bayesian bootstrap of items, or of whole clusters of them: weights of every draw.

    Parameters
    ----------
    cluster
        Cluster of each item, resampled as a whole; None where every item is its own.
    items
        Names of the items.
    n_samples
        Number of draws.
    random_seed
        Same seed, same weights, whichever block takes them.
    """

    def __init__(self, cluster: ItemGroup | None, items: Array, n_samples: int, random_seed: Seed) -> None:
        clusters = ItemGroups.of(cluster, items, "cluster")
        self._code = None if clusters is None else clusters.code
        if clusters is not None and clusters.names.size < FEWEST:
            raise InputError(
                f"cluster= puts the items into {clusters.names.size} clusters ({shorten(clusters.names)}): what is "
                f"resampled together needs {FEWEST} or more"
            )
        self._n_items, self.n_samples = items.size, n_samples
        self._root = stream_apart(random_seed, "item weights")
        self._resampling = stream_apart(random_seed, "resampled items")

    def rows(self, items: slice) -> Floats:
        """Return the weight of each of a block of items in each draw, shape (item, sample)."""
        if self._code is None:
            stream = block_generator(self._root, items.start // BLOCK)
            return stream.standard_exponential((items.stop - items.start, self.n_samples))
        drawn = {
            c: block_generator(self._root, int(c)).standard_exponential(self.n_samples)
            for c in np.unique(self._code[items])
        }
        return np.stack([drawn[c] for c in self._code[items]])

    def all_rows(self) -> Floats:
        """Return the weights of all items."""
        return np.concatenate([self.rows(items) for items in item_blocks(self._n_items)])

    def resampled(self, sample: int) -> Places:
        """Return items, or all items of clusters, drawn with replacement, for functions that take no weights."""
        rng = block_generator(self._resampling, sample)
        if self._code is None:
            return rng.integers(self._n_items, size=self._n_items)
        n_clusters = int(self._code.max()) + 1
        times = np.bincount(rng.integers(n_clusters, size=n_clusters), minlength=n_clusters)
        return np.repeat(np.arange(self._n_items), times[self._code])
