"""Priors of common agreement: shapes of Beta distributions, scales of annotators' levels."""

from dataclasses import dataclass

import numpy as np
import scipy as sp

from bayesagree._types import Floats
from bayesagree.errors import InputError, positive


@dataclass(frozen=True)
class AgreementPrior:
    """Prior of `common_agreement` and `common_agreement_model`; the defaults are uniform.

    Attributes
    ----------
    phi
        Shapes of the Beta prior of (1 + Phi) / 2.
    mean_location, mean_spread
        Shapes of the Beta priors of m and s of the hierarchical item means.
    annotator_shift
        Scale of the half-normal prior of the standard deviation of annotators' shifts (log odds).

    See Also
    --------
    common_agreement, common_agreement_model : take it as `prior`.

    Examples
    --------
    >>> AgreementPrior(phi=(4, 2)).phi  # annotators expected to agree: mean of Phi 1/3
    (4, 2)
    """

    phi: tuple[float, float] = (1.0, 1.0)
    mean_location: tuple[float, float] = (1.0, 1.0)
    mean_spread: tuple[float, float] = (1.0, 1.0)
    annotator_shift: float = 1.0

    def __post_init__(self) -> None:
        """Refuse shapes that no Beta distribution has, and scales that are not positive."""
        for name in ("phi", "mean_location", "mean_spread"):
            object.__setattr__(self, name, beta_shapes(getattr(self, name), f"prior {name}"))
        positive(self.annotator_shift, "prior annotator_shift")


def beta_shapes(shapes: object, what: str) -> tuple[float, float]:
    """Return the two shapes of a Beta distribution, which settings of stored results hold as a list."""
    if not isinstance(shapes, tuple | list) or len(shapes) != 2:
        raise InputError(f"{what}={shapes!r} must be the two shapes of a Beta distribution")
    for shape in shapes:
        positive(shape, what)
    return shapes[0], shapes[1]


def log_beta(x: Floats, shapes: tuple[float, float]) -> Floats:
    """Return the log density of a Beta distribution."""
    a, b = shapes
    return (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) - sp.special.betaln(a, b)
