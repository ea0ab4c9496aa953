"""The pseudo-label that stands last for all labels that nobody named: its mass, spread over them again.

Posteriors that draw find the best labels without drawing every one (`best_of_unnamed`); draws that are read are split.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr

from bayesagree._types import Array, Floats, Integers
from bayesagree.inference.kernel_draws import log_dirichlets
from bayesagree.inference.results import seed_of
from bayesagree.inference.streams import block_generator, stream_apart

# Name of the pseudo-label (-1 where labels are numbers).
UNRANKED = "unranked"
# Constant of a result whose last label is the pseudo-label: the shape of each unnamed label within its mass.
UNNAMED_SHAPE = "unnamed_shape"


def with_pseudo_label(labels: Array) -> Array:
    """Return the labels and, last, the pseudo-label."""
    return np.append(labels, -1 if labels.dtype.kind in "iuf" else UNRANKED)


def split_of(tree: xr.DataTree) -> Callable[[Floats, slice], Floats] | None:
    """Return what splits the mass of the pseudo-label of a result; None where all labels stand for themselves.

    From plausibilities of some items with the pseudo-label it makes those of all labels, (item, sample, category).
    Every item draws from a stream of its own, so that all functions see the same split of the same draws, whichever
    block of items they read.
    """
    if "constant_data" not in tree or UNNAMED_SHAPE not in tree["constant_data"].data_vars:
        return None
    constant, root = tree["constant_data"].to_dataset(), stream_apart(seed_of(tree), "unnamed labels")
    every = constant["named"].transpose("item", "category").values[:, :-1].astype(bool)
    shape = float(constant[UNNAMED_SHAPE])

    def split(values: Floats, items: slice) -> Floats:
        out = np.zeros((*values.shape[:2], values.shape[2] - 1))
        for theta, own, i in zip(values, out, range(*items.indices(len(every)))):
            places = np.flatnonzero(every[i]), np.flatnonzero(~every[i])
            spread(theta[:, np.append(every[i], True)], *places, shape, block_generator(root, i), own)
        return out

    return split


def spread(
    theta: Floats,
    named: Integers,
    unnamed: Integers,
    shape: float,
    rng: np.random.Generator,
    out: Floats,
) -> None:
    """Write full plausibilities, shape (sample, label): named labels, and the unnamed mass as a Dirichlet(shape)."""
    out[:, named] = theta[:, : named.size]
    if unnamed.size == 0:
        return
    share = log_dirichlets(rng, np.full((len(theta), unnamed.size), shape))
    out[:, unnamed] = theta[:, -1:] * np.exp(share)
