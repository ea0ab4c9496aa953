"""The toy problem of Stutz et al.: one observation, three classes, annotators who draw labels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.annotations import Labels
from bayesagree.errors import positive_int


@dataclass(frozen=True, eq=False)
class ToyClasses:
    """Items on a line, the true share of each class there, and labels.

    Attributes
    ----------
    x
        Observation of each item, ascending, shape (item,).
    plausibility
        True distribution over the classes, shape (item, class).
    labels
        Labels that the annotators drew from it.
    """

    x: NDArray[np.float64]
    plausibility: NDArray[np.float64]
    labels: Labels


@checked
def toy_classes(
    *,
    n_items: int = 50,
    n_annotators: int = 5,
    centres: tuple[float, ...] = (-2.0, 0.0, 2.0),
    width: float = 1.0,
    seed: Seed = None,
) -> ToyClasses:
    """Simulate items on a line, classes with overlapping normal densities, and annotators who draw labels.

    At x the share of a class is its density over the sum of all; between two centres the truth itself is ambiguous.

    Parameters
    ----------
    n_items, n_annotators
        Sizes; every annotator labels every item.
    centres, width
        Means of the classes, and their common standard deviation.
    seed
        Same seed, same labels.

    References
    ----------
    Stutz et al., arXiv:2307.02191, section 2.1 and figure 2.

    Examples
    --------
    >>> toy = toy_classes(n_items=5, seed=1)
    >>> toy.plausibility.round(2)[:2].tolist()
    [[0.98, 0.02, 0.0], [0.73, 0.27, 0.0]]
    """
    rng = np.random.default_rng(seed_sequence(seed))
    x = np.linspace(min(centres) - width, max(centres) + width, positive_int(n_items, "n_items"))
    log_density = -0.5 * ((x[:, None] - np.array(centres)) / width) ** 2
    share = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    cut = share.cumsum(axis=1)[:, None, :-1]
    said = (rng.random((n_items, positive_int(n_annotators, "n_annotators"), 1)) > cut).sum(axis=-1)
    return ToyClasses(x, share, Labels.from_matrix(said, labels=list(range(len(centres)))))
