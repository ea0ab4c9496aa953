"""Parameters of the informed prior: their names, their places in one vector, and their own priors."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

type Floats = NDArray[np.float64]

SHAPE_NAMES = (
    "open_concentration",
    "open_concentration_slope",
    "clear_odds",
    "clear_odds_slope",
    "clear_concentration",
    "blur",
)
"""Of the parameters that all labels share, in the order of the kernels."""

# Weak priors on the scale of standardised covariates, logs and log odds; hundreds of votes outweigh them. Their
# centres: an open item weighs as much as e votes; clear items are few (odds e^-6) until the votes ask for them, with
# concentration e^2.5 = 12 and about a twentieth of their mass off their label. Three votes an item hardly tell a clear
# item from an open one of small concentration: a prior that has clear items by default then decides the score.
SHAPE_MEAN = (1.0, 0.0, -6.0, 0.0, 2.5, -3.0)
SHAPE_SD = (1.0, 1.0, 2.0, 1.0, 1.0, 1.0)
SLOPE_SD = 1.0
LEVEL_SD = 1.5
CLARITY_SD = 1.0


@dataclass(frozen=True)
class Layout:
    """Order of the parameters in their vector.

    Attributes
    ----------
    slopes
        Names of the slopes of the covariates, dense columns first.
    categories
        Names of the labels.
    """

    slopes: tuple[str, ...]
    categories: tuple[str, ...]

    @property
    def names(self) -> NDArray[np.str_]:
        """Name of every parameter."""
        per_label = [f"{kind}:{c}" for kind in ("level", "clarity") for c in self.categories]
        return np.array([*self.slopes, *per_label, *SHAPE_NAMES])

    @cached_property
    def mean(self) -> Floats:
        """Prior mean of every parameter."""
        return np.concatenate([np.zeros(len(self.slopes) + 2 * len(self.categories)), SHAPE_MEAN])

    @cached_property
    def sd(self) -> Floats:
        """Prior standard deviation of every parameter."""
        n_labels = len(self.categories)
        sizes = (len(self.slopes), n_labels, n_labels)
        return np.concatenate([np.repeat((SLOPE_SD, LEVEL_SD, CLARITY_SD), sizes), SHAPE_SD])

    def parts(self, vector: Any) -> tuple[Any, Any, Any, Any]:
        """Split a vector into slopes, levels, clarities and shapes."""
        first, n_labels = len(self.slopes), len(self.categories)
        return (
            vector[:first],
            vector[first : first + n_labels],
            vector[first + n_labels : first + 2 * n_labels],
            vector[first + 2 * n_labels :],
        )
