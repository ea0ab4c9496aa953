"""Records of the metrics of predicted numbers against drawn ones."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf

import numpy as np

from bayesagree._numerics.types import Floats
from bayesagree.metrics._distribution_records import GNEITING, correlation
from bayesagree.metrics._record import MetricRecord


@dataclass(frozen=True)
class NumberScore:
    """Terms whose means over items a score is made from, and the function that makes it."""

    terms: tuple[str, ...]
    finish: Callable[[Floats], Floats] = lambda means: means[0]


def _concordance(moments: Floats) -> Floats:
    """Lin's coefficient from the means of truth, prediction, their squares and their product; NaN if both constant."""
    x, y, xx, yy, xy = moments
    spread = (xx - x * x) + (yy - y * y) + (x - y) ** 2
    exists = spread > 1e-14 * (xx + yy)
    return np.where(exists, 2 * (xy - x * y) / np.where(exists, spread, 1.0), np.nan)


MOMENTS = ("truth", "point", "truth^2", "point^2", "truth*point")
LIN = "L. I-K. Lin, A concordance correlation coefficient to evaluate reproducibility, Biometrics 45, 1989, "
LIN += "doi:10.2307/2532051."
WILLMOTT = "C. J. Willmott, K. Matsuura, Advantages of the mean absolute error over the root mean square error, "
WILLMOTT += "Clim. Res. 30, 2005, doi:10.3354/cr030079."
PEARSON = "K. Pearson, Notes on regression and inheritance in the case of two parents, Proc. R. Soc. 58, 1895, "
PEARSON += "doi:10.1098/rspl.1895.0041."
SPEARMAN = "C. Spearman, The proof and measurement of association between two things, Am. J. Psychol. 15, 1904, "
SPEARMAN += "doi:10.2307/1412159."
CONSTANT = "all predictions, or all true numbers, are equal"

_number = partial(MetricRecord, family="number", needs="numbers", bounds=(0.0, inf), higher_is_better=False)
_alike = partial(_number, bounds=(-1.0, 1.0), higher_is_better=True, undefined=CONSTANT)

NUMBER_RECORDS = (
    _number(
        pattern="mae",
        title="mean absolute error",
        meaning="mean distance of the prediction from the true number, in units of the scale",
        kernel=NumberScore(("distance",)),
        reference=WILLMOTT,
        formula=r"\frac1N \sum_i |y_i - m_i|",
    ),
    _number(
        pattern="rmse",
        title="root mean square error",
        meaning="root of the mean squared distance of the prediction from the true number",
        kernel=NumberScore(("distance^2",), lambda means: np.sqrt(means[0])),
        reference=WILLMOTT,
        formula=r"\sqrt{\frac1N \sum_i (y_i - m_i)^2}",
    ),
    _number(
        pattern="bias",
        title="bias",
        meaning="mean of the prediction minus the true number; nearest to 0 is best",
        kernel=NumberScore(("difference",)),
        reference=WILLMOTT,
        formula=r"\frac1N \sum_i (y_i - m_i)",
        bounds=(-inf, inf),
        best=0.0,
    ),
    _alike(
        pattern="pearson",
        title="Pearson correlation",
        meaning="linear correlation of predictions and true numbers over items",
        kernel=NumberScore(MOMENTS, correlation),
        reference=PEARSON,
        formula=r"\mathrm{cor}(y, m)",
    ),
    _alike(
        pattern="spearman",
        title="Spearman correlation",
        meaning="correlation of the ranks of predictions and true numbers over items",
        kernel=None,
        family="number_rank",
        reference=SPEARMAN,
        formula=r"\mathrm{cor}(\mathrm{rank}\,y, \mathrm{rank}\,m)",
    ),
    _alike(
        pattern="concordance",
        title="concordance",
        meaning="Lin's concordance correlation: 1 where every prediction equals its true number",
        kernel=NumberScore(MOMENTS, _concordance),
        reference=LIN,
        formula=r"\frac{2 \mathrm{cov}(y, m)}{\mathrm{var}\,y + \mathrm{var}\,m + (\bar y - \bar m)^2}",
    ),
    _number(
        pattern="crps",
        title="CRPS",
        meaning="continuous ranked probability score of the predicted distribution; of one number its distance",
        kernel=NumberScore(("crps",)),
        reference=GNEITING,
        formula=r"\frac1N \sum_i \int (F_i(x) - 1\{m_i \le x\})^2 dx",
    ),
    _number(
        pattern="interval_coverage_{}",
        title="coverage of {} % intervals",
        meaning="share of items whose true number is inside the central {k} % interval of the model; {k} % is best",
        kernel=NumberScore(("inside",)),
        reference=GNEITING,
        formula=r"\frac1N \sum_i 1\{q_{i,(1-K)/2} \le m_i \le q_{i,(1+K)/2}\}",
        bounds=(0.0, 1.0),
        default=90,
        best=0.9,
    ),
)
