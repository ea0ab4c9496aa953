"""The prior of `davidson`."""

from dataclasses import dataclass

from bayesagree.errors import positive


@dataclass(frozen=True)
class DavidsonPrior:
    """Prior of strengths, ties, order and annotators, on the scale of log odds.

    Attributes
    ----------
    strength_sd
        Standard deviation of the strengths; None: it is learnt.
    strength_scale
        Scale of its half-normal prior where it is learnt.
    tie_mean, tie_sd
        Normal prior of the log of nu: two equal models tie with probability nu / (2 + nu).
    order_sd
        Standard deviation of the advantage of the first place.
    tie_scale, order_scale, discrimination_scale
        Scales of the half-normal priors of the standard deviations over annotators: of log nu, of the advantage of the
        first place, and of the log of the discrimination.
    item_scale
        Scale of the half-normal prior of the standard deviation of a model's strength over items.

    Examples
    --------
    >>> DavidsonPrior(strength_sd=1).order_sd
    1.5
    """

    strength_sd: float | None = None
    strength_scale: float = 1.0
    tie_mean: float = 0.0
    tie_sd: float = 1.0
    order_sd: float = 1.5
    tie_scale: float = 1.0
    order_scale: float = 0.5
    discrimination_scale: float = 0.5
    item_scale: float = 0.5

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "tie_mean" and value is not None:
                positive(value, f"DavidsonPrior({name}=...)")
