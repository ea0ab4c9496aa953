"""Prior of the informed posterior of ratings."""

from dataclasses import dataclass

from bayesagree.errors import positive


@dataclass(frozen=True)
class InformedNormalPrior:
    """Prior of the parameters, in units of the range of the scale.

    Attributes
    ----------
    intercept, intercept_sd
        Mean and sd of the expected rating of an item with average predictions.
    slope_sd
        Sd of the effect of one standard deviation of a model's predictions.
    sd_rating, sd_item
        Scales of the half-normal priors of both standard deviations; no sd of ratings is larger than 1/2.
    """

    intercept: float = 0.5
    intercept_sd: float = 0.5
    slope_sd: float = 1.0
    sd_rating: float = 0.5
    sd_item: float = 0.5

    def __post_init__(self) -> None:
        """Validate the scales."""
        for name in ("intercept_sd", "slope_sd", "sd_rating", "sd_item"):
            positive(getattr(self, name), f"prior {name}")
