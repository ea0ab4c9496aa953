"""The problem of the corrected rate: people's items as a regression on verdicts, and its prior."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.judges._panel import INTERCEPT, SLOPE, Design, Panel
from bayesagree.judges.prior import CorrectedRatePrior

Target = Literal["share", "truth"]


@dataclass(frozen=True, eq=False)
class Regression:
    """People's items as a regression: shared columns, and for each system the same ones with its own coefficients."""

    shared: Floats  # predictors with one coefficient each, (item, column)
    own: Floats  # predictors with a coefficient for each system, (item, own); none where there is a single system
    system: NDArray[np.int64]  # system of each item, (item,)
    n_systems: int  # number of systems that have coefficients of their own
    scale_index: NDArray[np.int64]  # scale of each coefficient's prior, (column + system x own,); -1: sd 1
    scale_prior: Floats  # standard deviation of the half-normal prior of each scale, (scale,)
    votes: NDArray[np.int64]  # votes of each item, (item,)
    positive: Floats  # how many of them are positive, (item,)

    @cached_property
    def member(self) -> Floats:
        """One where an item is of a system, shape (system, item)."""
        return (np.arange(self.n_systems)[:, None] == self.system).astype(np.float64)

    @cached_property
    def columns(self) -> Floats:
        """Predictors of every coefficient, shape (item, column + system x own)."""
        return np.hstack([self.shared, *(self.own * is_of[:, None] for is_of in self.member)])


def regression(panel: Panel, made: Design, prior: CorrectedRatePrior) -> Regression:
    """Return people's items as a regression.

    Columns whose prior has a known standard deviation are multiplied by it, so that it is 1 or a scale.
    """
    scales, index = np.unique(made.scale_index[made.scale_index >= 0], return_inverse=True)
    scale_index = np.full(made.scale_index.size, -1)
    scale_index[made.scale_index >= 0] = index
    half_normal = np.where(scales % 2 == 0, prior.system_sd, prior.leniency_sd)
    seen = panel.seen
    columns: Any = (weighted_columns(made, prior), made.own, panel.system.code, panel.votes, panel.positive)
    shared, own, system, votes, positive = (column[seen] for column in columns)
    n_systems = panel.system.levels.size if made.own.shape[1] else 0
    return Regression(shared, own, system, n_systems, scale_index, half_normal, votes, positive)


def weighted_columns(made: Design, prior: CorrectedRatePrior) -> Floats:
    """Return the shared columns, in units of the known standard deviations of their coefficients."""
    index = made.scale_index[: made.shared.shape[1]]
    return made.shared * np.select(
        [index == INTERCEPT, index == SLOPE], [prior.intercept_sd, prior.slope_sd], 1.0
    )
