"""People's items as a regression on verdicts, and the draws of its coefficients: what both samplers share."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.judges._panel import INTERCEPT, SLOPE, Design, Panel
from bayesagree.judges.prior import CorrectedRatePrior


@dataclass(frozen=True, eq=False)
class Regression:
    """People's items as a regression: shared columns, and for each system the same columns with its own coefficients.

    Attributes
    ----------
    shared
        Predictors with one coefficient each, shape (item, column).
    own
        Predictors with a coefficient for each system, shape (item, own); none where there is a single system.
    system
        System of each item, shape (item,).
    n_systems
        Number of systems that have coefficients of their own.
    scale_index
        Scale of the prior of each coefficient, shape (column + system x own,): -1 has standard deviation 1.
    scale_prior
        Standard deviation of the half-normal prior of each scale, shape (scale,).
    votes, positive
        Votes of each item and how many of them are positive, shape (item,).
    """

    shared: Floats
    own: Floats
    system: NDArray[np.int64]
    n_systems: int
    scale_index: NDArray[np.int64]
    scale_prior: Floats
    votes: NDArray[np.int64]
    positive: NDArray[np.int64]

    @cached_property
    def member(self) -> Floats:
        """One where an item is of a system, shape (system, item)."""
        return (np.arange(self.n_systems)[:, None] == self.system).astype(np.float64)

    def mean(self, coefficient: Floats) -> Floats:
        """Return the mean utility of each item, shape (..., item), given coefficients (..., column + system x own)."""
        lead, n_shared = coefficient.shape[:-1], self.shared.shape[1]
        mean = coefficient[..., :n_shared] @ self.shared.T
        if self.n_systems:
            of_system = coefficient[..., n_shared:].reshape(*lead, self.n_systems, -1)
            mean += (self.own * of_system[..., self.system, :]).sum(axis=-1)
        return mean


class Draws(NamedTuple):
    """Draws of one chain: coefficients (draw, column), scales (draw, scale) and what `observe` calls its own."""

    coefficient: Floats
    scale: Floats
    people: dict[str, Floats]


def regression(panel: Panel, made: Design, prior: CorrectedRatePrior) -> Regression:
    """Return people's items as a regression.

    Columns whose prior has a known standard deviation are multiplied by it, so that it is 1 or a scale.
    """
    scales, index = np.unique(made.scale_index[made.scale_index >= 0], return_inverse=True)
    scale_index = np.full(made.scale_index.size, -1)
    scale_index[made.scale_index >= 0] = index
    half_normal = np.where(scales % 2 == 0, prior.system_sd, prior.leniency_sd)
    seen, own = panel.seen, made.own.shape[1]
    return Regression(
        weighted_columns(made, prior)[seen], made.own[seen], panel.system.code[seen],
        panel.system.levels.size if own else 0,
        scale_index, half_normal, panel.votes[seen], panel.positive[seen],
    )  # fmt: skip


def weighted_columns(made: Design, prior: CorrectedRatePrior) -> Floats:
    """Return the shared columns, in units of the known standard deviations of their coefficients."""
    index = made.scale_index[: made.shared.shape[1]]
    return made.shared * np.select([index == INTERCEPT, index == SLOPE], [prior.intercept_sd, prior.slope_sd], 1.0)
