"""Every metric of the registry equals scikit-learn, SciPy or its definition on every draw."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from metrics._cases import case_of, name_of
from scipy import stats
from scipy.spatial.distance import jensenshannon
from sklearn import metrics as sk
from sklearn.exceptions import UndefinedMetricWarning

from bayesagree import score
from bayesagree.metrics.registry import METRICS

type Oracle = Callable[[np.ndarray, np.ndarray], float]


def of_orders(value: Callable[[list[int], list[int], int], float]) -> Oracle:
    """Return the mean over items of a function of two orders of the labels and k = 2."""

    def oracle(q: np.ndarray, p: np.ndarray) -> float:
        orders = (np.argsort(-table, axis=1, kind="stable").tolist() for table in (q, p))
        return float(np.mean([value(t, c, q.shape[1]) for t, c in zip(*orders)]))

    return oracle


def hard(value: Callable[..., float]) -> Oracle:
    """Return a function of true and given labels; NaN where scikit-learn says that there is none."""

    def oracle(q: np.ndarray, p: np.ndarray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("error", UndefinedMetricWarning)
            try:
                return float(value(q.argmax(axis=1), p.argmax(axis=1), np.arange(p.shape[1])))
            except UndefinedMetricWarning:
                return np.nan

    return oracle


def curve(value: Callable[..., float]) -> Oracle:
    """Return a function of true labels and probabilities; NaN where a label that it needs is absent."""

    def oracle(q: np.ndarray, p: np.ndarray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                return float(value(q.argmax(axis=1), p))
            except UserWarning:
                return np.nan

    return oracle


def calibration_error(true: np.ndarray, p: np.ndarray) -> float:
    """Two bins of confidence, closed on the right."""
    confidence, right = p.max(axis=1), p.argmax(axis=1) == true
    inside = [(confidence > low) & (confidence <= low + 0.5) for low in (0.0, 0.5)]
    return sum(abs((right[at] - confidence[at]).sum()) for at in inside) / true.size


def counts(true: np.ndarray, given: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """True positives, false positives, false negatives and true negatives of each label."""
    t, y = true == labels[:, None], given == labels[:, None]
    return np.array([(t & y).sum(1), (~t & y).sum(1), (t & ~y).sum(1), (~t & ~y).sum(1)], float)


RATIOS = {  # of true positives, false positives, false negatives, true negatives
    "precision": lambda tp, fp, fn, tn: (tp, tp + fp),
    "recall": lambda tp, fp, fn, tn: (tp, tp + fn),
    "specificity": lambda tp, fp, fn, tn: (tn, tn + fp),
    "f{}": lambda tp, fp, fn, tn: (5 * tp, 5 * tp + 4 * fn + fp),
}


def divided(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return a ratio, NaN where it does not exist."""
    return np.divide(above, below, out=np.full(np.shape(below), np.nan), where=np.asarray(below) > 0)


def averaged(base: str, ending: str) -> Oracle:
    """Return a score of counts, joined as the ending of its name says."""

    def value(true: np.ndarray, given: np.ndarray, labels: np.ndarray) -> float:
        above, below = RATIOS[base](*counts(true, given, labels))
        each, share = divided(above, below), np.bincount(true, minlength=labels.size) / true.size
        exists = np.isfinite(each)
        if ending == "_micro":
            return divided(above.sum(), below.sum())
        if ending in ("_macro", "_weighted"):
            weight = share[exists] if ending == "_weighted" else np.ones(exists.sum())
            if not weight.sum():  # of the labels that occur none has a score: as in scikit-learn, all others count
                return each[exists].mean() if exists.any() else np.nan
            return float(np.average(each[exists], weights=weight))
        return each[1]

    return hard(value)


def concordance(m: np.ndarray, y: np.ndarray) -> float:
    """Lin's coefficient from covariances."""
    return 2 * np.cov(m, y, ddof=0)[0, 1] / (m.var() + y.var() + (m.mean() - y.mean()) ** 2)


def energy(m: np.ndarray, samples: np.ndarray) -> float:
    """CRPS of samples by its definition with expected distances."""
    away = np.abs(samples - m[:, None]).mean(axis=1)
    return (away - np.abs(samples[:, :, None] - samples[:, None, :]).mean(axis=(1, 2)) / 2).mean()


def coverage(m: np.ndarray, samples: np.ndarray) -> float:
    """Share of numbers inside the central 90 % of samples at levels (j - 1/2) / n."""
    low, high = np.quantile(samples, [0.05, 0.95], axis=1, method="hazen")
    return ((m >= low) & (m <= high)).mean()


def points(value: Callable[..., float]) -> Oracle:
    """Return a function of drawn numbers and predicted means."""
    return lambda m, samples: value(m, samples.mean(axis=1))


ORACLES: dict[str, Oracle] = {
    "top_{}_accuracy": of_orders(lambda t, c, n: t[0] in c[:2]),
    "set_{}_accuracy": of_orders(lambda t, c, n: {*t[:2]} == {*c[:2]}),
    "overlap_{}": of_orders(lambda t, c, n: len({*t[:2]} & {*c[:2]}) / 2),
    "average_overlap_{}": of_orders(lambda t, c, n: ((t[0] == c[0]) + len({*t[:2]} & {*c[:2]}) / 2) / 2),
    "accuracy": hard(lambda t, y, k: sk.accuracy_score(t, y)),
    "balanced_accuracy": hard(lambda t, y, k: sk.balanced_accuracy_score(t, y)),
    **{f"{b}{e}": averaged(b, e) for b in RATIOS for e in ("", "_macro", "_micro", "_weighted", "[{label}]")},
    "matthews_corrcoef": hard(lambda t, y, k: sk.matthews_corrcoef(t, y)),
    "cohen_kappa": hard(lambda t, y, k: sk.cohen_kappa_score(t, y, labels=k)),
    "quadratic_kappa": hard(lambda t, y, k: sk.cohen_kappa_score(t, y, labels=k, weights="quadratic")),
    "ordinal_mae": hard(lambda t, y, k: sk.mean_absolute_error(t, y)),
    "within_one_accuracy": hard(lambda t, y, k: (np.abs(t - y) < 1.5).mean()),
    "log_loss": curve(lambda t, p: sk.log_loss(t, p, labels=np.arange(p.shape[1]))),
    "brier": curve(lambda t, p: sk.brier_score_loss(t, p, labels=np.arange(p.shape[1]), scale_by_half=False)),
    "expected_calibration_error_{}": curve(calibration_error),
    "roc_auc": curve(lambda t, p: sk.roc_auc_score(t, p[:, 1])),
    "roc_auc_ovr": curve(lambda t, p: sk.roc_auc_score(np.eye(p.shape[1])[t], p, average="macro")),
    "agreement": lambda q, p: q[np.arange(len(q)), p.argmax(axis=1)].mean(),
    "cross_entropy": lambda q, p: -(q * np.log(p)).sum(axis=1).mean(),
    "jensen_shannon": lambda q, p: (jensenshannon(q, p, base=2, axis=1) ** 2).mean(),
    "total_variation": lambda q, p: np.abs(q - p).sum(axis=1).mean() / 2,
    "soft_brier": lambda q, p: ((q - p) ** 2).sum(axis=1).mean(),
    "mae": points(sk.mean_absolute_error),
    "rmse": points(sk.root_mean_squared_error),
    "bias": points(lambda m, y: (y - m).mean()),
    "pearson": points(lambda m, y: stats.pearsonr(m, y).statistic),
    "spearman": points(lambda m, y: stats.spearmanr(m, y).statistic),
    "concordance": points(concordance),
    "crps": energy,
    "interval_coverage_{}": coverage,
}  # fmt: skip
CASES = [("plain", 30), ("ties", 30), ("one label", 12), ("plain", 1)]


def test_every_metric_has_an_oracle():
    assert set(ORACLES) == {name for name, record in METRICS.items() if not record.runs}  # of these: test_runs.py


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pattern", ORACLES)
def test_every_draw_equals_the_oracle(pattern):
    record = METRICS[pattern]
    for kind, n_items in [("plain", 30)] if record.needs == "numbers" else CASES:
        case = case_of(record, kind, n_items)
        found = score(case.truth, case.models, name_of(record)).values[0]
        expected = [[ORACLES[pattern](q, p) for p in case.given] for q in case.drawn]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=f"{kind}, {n_items} items")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("recall[1]", "divides by"), ("roc_auc", "the same label"), ("cohen_kappa", "one and the same label")],
)
def test_a_score_that_does_not_exist_is_nan_and_says_why(name, reason):
    case = case_of(METRICS["roc_auc"], "one label", 12)
    right = case.models.__class__.from_scores({"A": np.tile([0.9, 0.1], (12, 1))}, labels=[0, 1])
    with pytest.warns(UserWarning, match=reason):
        assert np.isnan(score(case.truth, right, name)).all()
