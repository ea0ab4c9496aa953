"""Ratings with a known common agreement, as Checco et al. assume them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.annotations import Ratings
from bayesagree.annotations._display import fields_in_short
from bayesagree.errors import InputError, positive_int


@dataclass(frozen=True, eq=False)
class SimulatedRatings:
    """Ratings simulated from the common-agreement model.

    Attributes
    ----------
    ratings
        On (0, 1) where continuous, else levels 1 to `n_levels`.
    phi
        True common agreement.
    item_mean
        True mean of each item on the unit scale, shape (item,).
    """

    ratings: Ratings
    phi: float
    item_mean: NDArray[np.float64]

    __repr__ = fields_in_short


@checked
def ratings(
    *,
    n_items: int,
    ratings_per_item: int = 5,
    phi: float = 0.5,
    n_levels: int | None = 5,
    item_mean: NDArray[np.float64] | tuple[float, float] | float = (1.0, 1.0),
    seed: Seed = None,
) -> SimulatedRatings:
    """Simulate ratings x ~ Beta(mu_i p, (1 - mu_i) p), p = 2 (1 - log2(1 - phi)), seen on a scale of levels.

    Parameters
    ----------
    n_items, ratings_per_item
        Size; rater j of every item has the same name.
    phi
        Common agreement, in (-1, 1).
    n_levels
        Levels of the scale 1, ..., n_levels: a judgment in [m / n_levels, (m + 1) / n_levels) is level m + 1; None:
        continuous on (0, 1).
    item_mean
        Shapes (a, b) of the Beta distribution of item means, one mean for all items, or the means, shape (item,).
    seed
        Seed or generator.

    Raises
    ------
    InputError
        `phi` outside (-1, 1), fewer than two levels, a size below 1.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.2.

    Examples
    --------
    >>> problem = ratings(n_items=3, ratings_per_item=4, phi=0.9, seed=1)
    >>> problem.ratings.n_annotations, problem.ratings.scale
    (12, (1.0, 5.0))
    """
    n, r = positive_int(n_items, "n_items"), positive_int(ratings_per_item, "ratings_per_item")
    if not -1 < phi < 1:
        raise InputError(f"phi={phi!r} must lie between -1 and 1")
    rng = np.random.default_rng(seed_sequence(seed))
    mean = rng.beta(*item_mean, n) if isinstance(item_mean, tuple) else np.broadcast_to(item_mean, (n,))
    precision = 2 * (1 - np.log2(1 - phi))
    smallest = 1e-300
    a, b = np.maximum(mean * precision, smallest), np.maximum((1 - mean) * precision, smallest)
    x = rng.beta(a[:, None], b[:, None], (n, r))
    if n_levels is None:
        seen = Ratings.from_matrix(x, scale=(0, 1))
    else:
        k = positive_int(n_levels, "n_levels")
        seen = Ratings.from_matrix(np.minimum(np.floor(x * k), k - 1) + 1, scale=(1, k), step=1)
    return SimulatedRatings(seen, float(phi), np.asarray(mean, dtype=np.float64))
