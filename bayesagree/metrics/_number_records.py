"""Records of the metrics of predicted numbers against drawn ones, and of labels by their places in an order."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf

import numpy as np
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.metrics._distribution_records import GNEITING, correlation
from bayesagree.metrics._label_records import UNBIASED_LABEL
from bayesagree.metrics._record import MetricRecord


@dataclass(frozen=True)
class NumberScore:
    """Terms whose means over items a score is made from, and the function that makes it."""

    terms: tuple[str, ...]
    finish: Callable[[Floats], Floats] = lambda means: means[0]


def distances(hard: NDArray[np.integer], scores: Floats, n_labels: int) -> Floats:
    """Steps from the model's label to each label; no label counts as the farthest one."""
    at = np.arange(n_labels)
    away = np.where(hard[:, :, None] < 0, np.maximum(at, n_labels - 1 - at), np.abs(hard[:, :, None] - at))
    return away.astype(np.float64)


def near(hard: NDArray[np.integer], scores: Floats, n_labels: int) -> Floats:
    """1 where the model's label is the label or next to it."""
    return (distances(hard, scores, n_labels) <= 1).astype(np.float64)


def concordance(moments: Floats) -> Floats:
    """Lin's coefficient from the means of truth, prediction, their squares and their product; NaN if both constant."""
    x, y, xx, yy, xy = moments
    spread = (xx - x * x) + (yy - y * y) + (x - y) ** 2
    exists = spread > 1e-14 * (xx + yy)
    return np.where(exists, 2 * (xy - x * y) / np.where(exists, spread, 1.0), np.nan)


class QuadraticKappa:
    """Kappa with squared distances as weights, which is the concordance of the positions on the scale."""

    finish = staticmethod(concordance)

    def __call__(self, hard: NDArray[np.integer], scores: Floats, n_labels: int) -> Floats:
        """Return true and given position, their squares and their product, shape (moment, model, item, label)."""
        end = (n_labels - 1) / 2
        truth, hard = np.arange(n_labels) - end, hard[:, :, None]
        given = np.where(hard < 0, np.where(truth > 0, -end, end), hard - end)  # no label counts as the farthest one
        truth = np.broadcast_to(truth, given.shape)
        return np.stack([truth, given, truth**2, given**2, truth * given]).astype(np.float64)


MOMENTS = ("truth", "point", "truth^2", "point^2", "truth*point")
LIN = "L. I-K. Lin, A concordance correlation coefficient to evaluate reproducibility, Biometrics 45, 1989, "
LIN += "doi:10.2307/2532051."
WILLMOTT = "C. J. Willmott, K. Matsuura, Advantages of the mean absolute error over the root mean square error, "
WILLMOTT += "Clim. Res. 30, 2005, doi:10.3354/cr030079."
COHEN_WEIGHTED = "J. Cohen, Weighted kappa, Psychol. Bull. 70, 1968, doi:10.1037/h0026256."
BACCIANELLA = "S. Baccianella, A. Esuli, F. Sebastiani, Evaluation measures for ordinal regression, ISDA 2009, "
BACCIANELLA += "doi:10.1109/ISDA.2009.230."
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
        kernel=NumberScore(MOMENTS, concordance),
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

_order = partial(MetricRecord, family="label", ordered=True)

ORDER_RECORDS = (
    _order(
        pattern="ordinal_mae",
        title="mean absolute error of ordered labels",
        meaning="mean number of steps from the model's label to the true one",
        kernel=distances,
        reference=BACCIANELLA,
        formula=r"\frac1N \sum_i |t_i - y_i|",
        unbiased=UNBIASED_LABEL,
        bounds=(0.0, inf),
        higher_is_better=False,
    ),
    _order(
        pattern="within_one_accuracy",
        title="accuracy within one",
        meaning="share of items whose true label is the model's label or next to it",
        kernel=near,
        reference=BACCIANELLA,
        formula=r"\frac1N \sum_i 1\{|t_i - y_i| \le 1\}",
        unbiased=UNBIASED_LABEL,
    ),
    _order(
        pattern="quadratic_kappa",
        title="quadratic weighted kappa",
        meaning="agreement of true and given labels beyond chance, a disagreement weighing its squared number of steps",
        kernel=QuadraticKappa(),
        reference=COHEN_WEIGHTED,
        formula=r"1 - \sum_i (t_i - y_i)^2 / (\frac1N \sum_{ij} (t_i - y_j)^2)",
        bounds=(-1.0, 1.0),
        undefined="all items have and are given one and the same label",
    ),
)
