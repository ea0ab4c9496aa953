"""Prior of the normal-inverse-gamma posterior."""

from dataclasses import dataclass

import numpy as np

from bayesagree.errors import InputError, positive


@dataclass(frozen=True)
class NormalInverseGammaPrior:
    """Prior of an item's mean and variance, in the units of the ratings.

    Attributes
    ----------
    mean, strength
        Centre m0 of the mean, and how many ratings it is worth (k0).
    shape, scale
        Shape a0 and scale b0 of the inverse-gamma variance.
    """

    mean: float
    strength: float
    shape: float
    scale: float

    def __post_init__(self) -> None:
        """Validate the parameters."""
        if not np.isfinite(self.mean):
            raise InputError(f"prior mean {self.mean!r} must be finite")
        for name in ("strength", "shape", "scale"):
            positive(getattr(self, name), f"prior {name}")

    @classmethod
    def for_scale(cls, scale: tuple[float, float]) -> "NormalInverseGammaPrior":
        """Return the default: centred, worth a tenth of a rating, standard deviation about a quarter of the range."""
        low, high = scale
        return cls((low + high) / 2, 0.1, 1.5, 1.5 * ((high - low) / 4) ** 2)
