"""Numbers and names as a reader sees them: nothing that is neither 0 nor 1 is written as one of them."""

import math
from typing import Any

from markupsafe import Markup

from bayesagree.metrics.registry import Metric
from bayesagree.plausibility.registry import Reference

MISSING = "–"
# Between a number and its sign or unit, which belong on one line.
SPACE = "\N{NO-BREAK SPACE}"


def percent(share: float) -> str:
    """Write a share in per cent, with one decimal near its ends.

    Examples
    --------
    >>> [text.replace(SPACE, " ") for text in map(percent, (0.256, 0.9971, 0.0001, 0))]
    ['26 %', '99.7 %', '< 0.1 %', '0 %']
    """
    if math.isnan(share):
        return MISSING
    if 0 < share < 0.0005:
        return f"<{SPACE}0.1{SPACE}%"
    if 0.9995 <= share < 1:
        return f">{SPACE}99.9{SPACE}%"
    near_an_end = 0 < share < 0.01 or 0.99 < share < 1
    return f"{100 * share:.{1 if near_an_end else 0}f}{SPACE}%"


def probability(p: float) -> str:
    """Write a probability that was counted in draws: none of them is not impossible, all of them is not certain.

    Examples
    --------
    >>> [text.replace(SPACE, " ") for text in map(probability, (0.973, 1.0, 0.0))]
    ['0.97', '> 0.999', '< 0.001']
    """
    if math.isnan(p):
        return MISSING
    if p > 0.999:
        return f">{SPACE}0.999"
    if p < 0.001:
        return f"<{SPACE}0.001"
    return f"{p:.2f}" if 0.01 <= p <= 0.99 else f"{p:.3f}"


def number(value: float) -> str:
    """Write a score with three decimals."""
    return MISSING if math.isnan(value) else f"{value:.3f}"


def interval(lower: float, upper: float) -> str:
    """Write an interval with three decimals."""
    return MISSING if math.isnan(lower) else f"{lower:.3f} to {upper:.3f}"


def percents(lower: float, upper: float) -> str:
    """Write an interval of a share."""
    return f"{percent(lower)} to {percent(upper)}"


def count(n: int) -> str:
    """Write a whole number in groups of three digits."""
    return f"{n:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def metric_name(name: str) -> str:
    """Name a metric.

    Examples
    --------
    >>> metric_name("top_3_accuracy"), metric_name("average_overlap_5")
    ('top-3 accuracy', 'average overlap 5')
    """
    return Metric.named(name).title


def metric_meaning(name: str) -> str:
    """Return the meaning of a metric."""
    return Metric.named(name).meaning.replace("among the 1 best labels", "the best label")


# Characters up to which a name stays on one line: it then fits a table of three columns at 390 px.
UNBROKEN = 24


def named(name: Any) -> Markup:
    """Write a name that came with the data, escaped, and on one line unless it is long."""
    return Markup('<span class="name">{}</span>' if len(str(name)) <= UNBROKEN else "{}").format(name)


def sentence(words: str) -> str:
    """Write words with a capital letter and a full stop."""
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def compact(value: float) -> str:
    """Write a number with as few digits as it has."""
    return f"{value:g}"


def listed(names: list[Any]) -> str:
    """Join names: 'A', 'A and B', 'A, B and C'."""
    words = [str(name) for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


# What templates write numbers and names with.
WRITERS = (
    compact, count, interval, listed, metric_meaning, metric_name, named, number, percent, percents, probability,
    sentence,
)  # fmt: skip

# Papers that reports cite, beside those of the posteriors.
CHECCO = Reference(
    "Checco et al., 2017",
    "A. Checco, K. Roitero, E. Maddalena, S. Mizzaro, G. Demartini. Let's agree to disagree: fixing agreement "
    "measures for crowdsourcing. HCOMP, 2017.",
)
KRIPPENDORFF = Reference(
    "Krippendorff, 2004",
    "K. Krippendorff. Content analysis, 2nd edition. Sage, 2004.",
)
RUBIN = Reference(
    "Rubin, 1981",
    "D. B. Rubin. The Bayesian bootstrap. Annals of Statistics 9(1), 1981.",
)
PAPERS = (
    Reference(
        "Balayn and Bozzon, 2019",
        "A. Balayn, A. Bozzon. Designing evaluations of machine learning models for subjective inference: the case of"
        " sentence toxicity. arXiv:1911.02471, 2019.",
    ),
    CHECCO,
    Reference(
        "Davidson, 1970",
        "R. R. Davidson. On extending the Bradley-Terry model to accommodate ties in paired comparison experiments. "
        "Journal of the American Statistical Association 65, 1970.",
    ),
    Reference(
        "Holm, 1979",
        "S. Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 1979.",
    ),
    KRIPPENDORFF,
    RUBIN,
)
