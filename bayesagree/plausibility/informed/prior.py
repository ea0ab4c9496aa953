"""Parameters of the informed prior: their names, their places in one vector, and their own priors."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.errors import positive

# Of the parameters that all labels share, in the order of the kernels.
SHAPE_NAMES = (
    "open_concentration",
    "open_concentration_slope",
    "clear_odds",
    "clear_odds_slope",
    "clear_concentration",
    "blur",
)


# Labels up to which each pair has a confusion of its own; of more, votes would say too little about a pair.
MOST_CONFUSED = 16


@dataclass(frozen=True)
class InformedPrior:
    """Priors of the parameters of `informed_dirichlet`: normal, on standardised covariates, logs and log odds.

    Hundreds of votes outweigh all of them but one: three votes per item hardly tell a clear item from an open one of
    small concentration, and a prior that has clear items by default would then decide the score. So they are few until
    the votes ask for them.

    Attributes
    ----------
    slope_sd
        Slope of a covariate ~ N(0, slope_sd^2). Draws of many wide slopes would make items more extreme than votes say.
    level_sd, clarity_sd
        Level b_k and clarity of label k ~ N(0, sd^2).
    confusion_sd
        Confusion of two labels ~ N(0, confusion_sd^2).
    open_concentration, clear_concentration
        Mean and standard deviation of their logs: an open item weighs as much as e votes, a clear one as e^2.5 = 12.
    clear_odds
        Mean and standard deviation of the log odds that an item of middling ambiguity is clear.
    blur
        Mean and standard deviation of the logit of a clear item's mass off its label: about a twentieth.
    entropy_slope_sd
        Slopes of the open concentration and of the odds by the entropy of the mean ~ N(0, entropy_slope_sd^2).

    Examples
    --------
    >>> InformedPrior(clear_odds=(-3.0, 2.0)).slope_sd
    0.5
    """

    slope_sd: float = 0.5
    level_sd: float = 1.5
    clarity_sd: float = 1.0
    confusion_sd: float = 0.5
    open_concentration: tuple[float, float] = (1.0, 1.0)
    clear_concentration: tuple[float, float] = (2.5, 1.0)
    clear_odds: tuple[float, float] = (-6.0, 2.0)
    blur: tuple[float, float] = (-3.0, 1.0)
    entropy_slope_sd: float = 1.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            positive(value[1] if isinstance(value, tuple) else value, name)

    @property
    def shapes(self) -> Floats:
        """Mean and standard deviation of each of `SHAPE_NAMES`, shape (name, 2)."""
        slope = (0.0, self.entropy_slope_sd)
        return np.array(
            [self.open_concentration, slope, self.clear_odds, slope, self.clear_concentration, self.blur], np.float64
        )


@dataclass(frozen=True)
class Layout:
    """Order of the parameters in their vector.

    Attributes
    ----------
    slopes
        Names of the slopes of the covariates, dense columns first.
    categories
        Names of the labels.
    prior
        Priors of all of them.
    """

    slopes: tuple[str, ...]
    categories: tuple[str, ...]
    prior: InformedPrior = InformedPrior()

    @property
    def names(self) -> NDArray[np.str_]:
        """Name of every parameter."""
        per_label = [f"{kind}:{c}" for kind in ("level", "clarity") for c in self.categories]
        pairs = [f"confusion:{c}:{d}" for c in self.categories for d in self.categories if self.n_pairs]
        return np.array([*self.slopes, *per_label, *pairs, *SHAPE_NAMES])

    @property
    def n_pairs(self) -> int:
        """Number of confusions: of each label with each, where predictions are given and labels are few."""
        n_labels = len(self.categories)
        return n_labels**2 if self.slopes and n_labels <= MOST_CONFUSED else 0

    @cached_property
    def mean(self) -> Floats:
        """Prior mean of every parameter."""
        return np.concatenate([np.zeros(self.names.size - len(SHAPE_NAMES)), self.prior.shapes[:, 0]])

    @cached_property
    def sd(self) -> Floats:
        """Prior standard deviation of every parameter."""
        n_labels = len(self.categories)
        sds = (self.prior.slope_sd, self.prior.level_sd, self.prior.clarity_sd, self.prior.confusion_sd)
        repeated = np.repeat(sds, (len(self.slopes), n_labels, n_labels, self.n_pairs))
        return np.concatenate([repeated, self.prior.shapes[:, 1]])

    def parts(self, vector: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Split a vector into slopes, levels, clarities, confusions and shapes."""
        first, n_labels = len(self.slopes), len(self.categories)
        pairs = first + 2 * n_labels
        return (
            vector[:first],
            vector[first : first + n_labels],
            vector[first + n_labels : pairs],
            vector[pairs : pairs + self.n_pairs],
            vector[pairs + self.n_pairs :],
        )
