"""Parameters of the informed prior: their names, their order, and their own priors."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bayesagree.errors import positive
from bayesagree.plausibility.informed.frame import Parameters

# Of the parameters that all labels share, in the order of `family.kinds`.
SHAPE_NAMES = (
    "open_concentration",
    "open_concentration_slope",
    "clear_odds",
    "clear_odds_slope",
    "clear_concentration",
    "blur",
    "best_concentration",
    "best_sharpness",
    "best_odds",
)


@dataclass(frozen=True)
class InformedPrior:
    """Priors of the parameters of `informed_dirichlet`: normal, on standardised covariates, logs and log odds.

    Hundreds of votes outweigh all of them but two. Three votes per item hardly tell a clear item from an open one of
    small concentration, nor how clear it is: with all votes of public sets an eighth to six sevenths of a clear item's
    mass are off its label. And they hardly tell how well models know the best label of nearly tied items: the odds of
    that are anything between none and all of the items. Labels have no levels of their own beside their shares of the
    votes: of twenty labels only open items would pay for them, and most items be taken for those of known best label.

    Attributes
    ----------
    slope_sd
        Slope of a covariate ~ N(0, slope_sd^2). Draws of many wide slopes would make items more extreme than votes say.
    share
        Mean and standard deviation of the slope of the log of a label's share of all votes.
    open_concentration, clear_concentration, best_concentration
        Mean and standard deviation of their logs: an open item and one of known best label weigh as much as e votes, a
        clear one as e^2.5 = 12.
    clear_odds
        Mean and standard deviation of the log odds that an item of middling ambiguity is clear.
    blur
        Mean and standard deviation of the logit of a clear item's mass off its label, from a tenth to most of it:
        much of it makes items that lean to a label of their own, which predictions know no better than m_i says.
    entropy_slope_sd
        Slopes of the open concentration and of the odds by the entropy of the mean ~ N(0, entropy_slope_sd^2).
    best_sharpness
        Mean and standard deviation of the log of how much sharper predictions tell the best label than the mean. Wider,
        it lets these items stand for what the family of the others misses.
    best_odds
        Mean and standard deviation of the log odds that of an item that is not clear the best label alone is known.

    Examples
    --------
    >>> InformedPrior(clear_odds=(-3.0, 2.0)).slope_sd
    0.5
    """

    slope_sd: float = 0.5
    share: tuple[float, float] = (1.0, 0.5)
    open_concentration: tuple[float, float] = (1.0, 1.0)
    clear_concentration: tuple[float, float] = (2.5, 1.0)
    clear_odds: tuple[float, float] = (-3.0, 2.0)
    blur: tuple[float, float] = (-0.5, 1.0)
    entropy_slope_sd: float = 1.0
    best_concentration: tuple[float, float] = (1.0, 1.0)
    best_sharpness: tuple[float, float] = (1.0, 0.3)
    best_odds: tuple[float, float] = (-2.0, 4.0)

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            positive(value[1] if isinstance(value, tuple) else value, name)

    def parameters(self, slopes: Sequence[str]) -> Parameters:
        """Order the parameters: slopes of covariates, that of the log share of all votes, `SHAPE_NAMES`."""
        entropy = (0.0, self.entropy_slope_sd)
        given = asdict(self) | {"open_concentration_slope": entropy, "clear_odds_slope": entropy}
        every = dict.fromkeys(slopes, (0.0, self.slope_sd))
        return Parameters.of(every | {name: given[name] for name in ("share", *SHAPE_NAMES)})
