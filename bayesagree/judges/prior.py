"""The prior of `corrected_rate`."""

from dataclasses import asdict, dataclass
from typing import Literal

from bayesagree.errors import InputError, positive

Target = Literal["share", "truth"]


@dataclass(frozen=True)
class CorrectedRatePrior:
    """Hyperparameters of the regression of people's votes on verdicts, in units of the probit scale.

    Attributes
    ----------
    intercept_sd
        Standard deviation of the intercept: at 1 every rate is equally likely.
    slope_sd
        Standard deviation of the slope of each judge's verdicts (which have standard deviation 1), and of that of the
        mean verdict of a system.
    system_sd
        Scale of the half-normal prior of the standard deviation of intercepts over systems, or over levels of a
        feature, or over how many judges say positive: how much better one system is at equal verdicts.
    leniency_sd
        The same of slopes: how much more one judge's verdict says about one system than about others.
    people_right, people_wrong
        Prior counts of a person's right and wrong answers, for ``target="truth"``: their sensitivity and specificity
        are Beta with these, above one half.

    Examples
    --------
    >>> CorrectedRatePrior(people_right=95, people_wrong=5).slope_sd  # experts
    1.0
    """

    intercept_sd: float = 1.0
    slope_sd: float = 1.0
    system_sd: float = 1.0
    leniency_sd: float = 0.5
    people_right: float = 8.0
    people_wrong: float = 2.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            positive(value, name)
        if self.people_right <= self.people_wrong:
            raise InputError(
                f"people_right={self.people_right!r} is not above people_wrong={self.people_wrong!r}: people who are "
                "wrong as often as right say nothing about the truth"
            )
