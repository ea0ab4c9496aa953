"""The experiment of Jung and Lease: every method on the same systems, and how well each replaces the gold."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions
from bayesagree.blind.scores import (
    BLIND,
    METHODS,
    WITH_CROWD,
    PseudoGold,
    counts_per_draw,
    counts_per_set,
    make_pseudo_gold,
    mean_scores,
)
from bayesagree.blind.systems import LabelCodes, Systems
from bayesagree.errors import InputError, probability, shorten
from bayesagree.inference.intervals import hdi
from bayesagree.inference.results import result_tree
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.inference.tiers import rank_probabilities
from bayesagree.metrics.hard_labels import Metric, confusion_counts, positive_index
from studies.paired_tests import (
    Multiplicity,
    adjusted,
    bootstrap_p_values,
    copeland_rank,
    paired_t_test,
    paired_terms,
)
from studies.rank_correlation import MEASURES, Measure, correlation, williams_test

# Methods without a pseudo-gold of their own, whose quality could be measured.
SCORE_AND_COMBINE = ("round_robin", "sampling")

# Actual places of the systems whose predicted ranks are kept.
PLACES = ("best", "second", "third", "worst")

type Correction = Literal["williams", "hotelling"]

PAPER_METRICS = ("accuracy", "precision", "recall", "specificity")
type Progress = Callable[[int], Any]


def blind_experiment(
    predictions: Predictions,
    *,
    methods: Sequence[str] | None = None,
    metrics: Sequence[str] = PAPER_METRICS,
    crowd: Labels | None = None,
    gold: Gold | None = None,
    leave_one_out: bool = False,
    positive: Any = None,
    threshold: float = 0.5,
    calibrate_for: Metric | Literal["each"] = "accuracy",
    baseline: str = "em",
    correction: Correction = "williams",
    significance: float = 0.05,
    multiplicity: Multiplicity = "none",
    ci_prob: float = 0.95,
    draws: int = 1000,
    random_seed: Seed = None,
    progress: Progress = lambda done: None,
) -> xr.DataTree:
    """Score and rank systems by every method and, with gold, say how well each method replaces it.

    Systems are ranked by Copeland's method over significant differences: a paired t test where the score is a mean
    over items of one pseudo-gold (accuracy, recall, specificity), else a paired bootstrap of items.

    Parameters
    ----------
    predictions, crowd, leave_one_out, positive, random_seed
        As in `blind_scores`.
    threshold, calibrate_for
        Of the majority; for which the calibrated one tunes its own, by default one for all metrics as in the paper.
    methods
        By default all that the data allow.
    metrics
        Scores of the systems.
    gold
        Item to true label, of some or all items: to judge the methods, never used by them.
    baseline
        Method against which the correlations of the others are tested, if it is among the methods.
    correction
        Statistic of these triangle tests, as in `williams_test`; ``"hotelling"`` is the paper's (equation 12).
    significance
        Level of all tests, two-sided.
    multiplicity
        Adjustment of the tests for the number of pairs, within each ranking.
    ci_prob
        Probability of the highest density intervals.
    draws
        Bootstrap draws, and gold sets of sampling and dawid_skene.
    progress
        Called with 1 after each method.

    Returns
    -------
    DataTree
        The methods are the dim estimator. Group ``estimated``: ``score``, ``lower``, ``upper``, ``rank``,
        ``prob_best``, ``expected_rank`` (estimator, metric, model), intervals and probabilities from `draws` as in
        `blind_posterior`. Group ``systems``: ``overlap`` (model, other_model). With gold, group ``actual``: ``score``,
        ``rank`` (metric, model). Group ``methods``: ``correlation`` (estimator, metric, measure) of estimated and
        actual scores (Pearson) or ranks; ``p_value`` of its difference from the baseline (a triangle test);
        ``method_rank`` (Copeland over these tests); ``quality`` (estimator, metric) of the pseudo-gold;
        ``quality_correlation`` (metric, measure) of quality and correlation over the methods that combine. Group
        ``outliers``: ``system`` (metric, place), the best three and the worst, ``actual_rank`` (metric, place) and
        ``predicted_rank`` (estimator, metric, place). NaN where a number does not exist.

    References
    ----------
    .. [1] H. J. Jung, M. Lease, "Evaluating classifiers without expert labels", 2012, tables 2-9.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 2, 300)
    >>> given = {f"s{q}": np.where(rng.random(300) < q / 10, truth, 1 - truth) for q in (5, 6, 7, 8, 9)}
    >>> tree = blind_experiment(Predictions.from_labels(given), gold=dict(enumerate(truth)), draws=100, random_seed=1)
    >>> float(tree["methods"]["correlation"].sel(estimator="em", metric="accuracy", measure="pearson")) > 0.9
    True
    """
    systems = Systems.of(predictions, crowd, positive, random_seed)
    chosen = tuple(_possible(systems) if methods is None or len(methods) == 0 else methods)
    unknown = [m for m in chosen if m not in METHODS]
    if unknown or len(metrics) == 0:
        raise InputError(
            f"unknown methods {shorten(unknown)}, or metrics={metrics!r} empty; there are {shorten(METHODS, 11)}"
        )
    if baseline not in METHODS:
        raise InputError(f"baseline={baseline!r} is no method; there are {shorten(METHODS, 11)}")
    probability(significance, "significance")
    tests = significance, multiplicity, ci_prob
    judge = _Judge(systems, tuple(metrics), draws, *tests, seed_sequence(random_seed))
    truth = None if gold is None else _truth(gold, systems)
    options: dict[str, Any] = {"leave_one_out": leave_one_out, "threshold": threshold}
    found = []
    for method in chosen:
        found.append(judge.method(method, calibrate_for, truth, options))
        progress(1)
    estimates, quality = (list(part) for part in zip(*found))
    dims, names = ("estimator", "metric", "model"), {"model": systems.models, "other_model": systems.models}
    groups: dict[str, Any] = {"estimated": {k: (dims, v) for k, v in _stacked(estimates).items()}}
    overlap = jaccard_overlap(predictions, positive=positive).sel(names)
    groups["systems"] = {"overlap": (("model", "other_model"), overlap.values)}
    if truth is not None:
        actual = judge.gold(truth)
        groups["actual"] = {name: (("metric", "model"), actual[name]) for name in ("score", "rank")}
        compared: dict[str, Any] = {
            "different": judge.different,
            "baseline": baseline,
            "correction": correction,
        }
        groups["methods"] = methods_group(chosen, estimates, actual, np.array(quality), **compared)
        groups["outliers"] = outliers(estimates, actual, systems)
    coords = {
        "estimator": list(chosen),
        "metric": list(metrics),
        "measure": list(MEASURES),
        "place": list(PLACES),
    }
    coords |= names
    settings = options | {"calibrate_for": calibrate_for, "baseline": baseline, "correction": correction}
    settings |= {
        "significance": significance,
        "multiplicity": multiplicity,
        "ci_kind": "hdi",
        "ci_prob": ci_prob,
    }
    settings |= {"draws": draws, "n_models": int(systems.models.size), "n_items": int(systems.items.size)}
    settings["n_gold"] = 0 if truth is None else int((truth >= 0).sum())
    settings["n_crowd"] = 0 if systems.crowd is None else int((systems.crowd >= 0).sum())
    tree = result_tree(
        groups, coords, model="blind_experiment", engine="exact", random_seed=random_seed, settings=settings
    )
    return tree.sel(model=predictions.models, other_model=predictions.models)


class _Judge(NamedTuple):
    """Scores, ranks and intervals of systems against stand-ins for the gold, or the gold itself."""

    systems: Systems
    metrics: tuple[str, ...]
    draws: int
    significance: float
    multiplicity: Multiplicity
    ci_prob: float
    random_seed: np.random.SeedSequence

    def method(
        self, method: str, calibrate_for: str, truth: LabelCodes | None, options: dict[str, Any]
    ) -> tuple[dict[str, NDArray[np.float64]], list[float]]:
        """Return the estimates (metric, model) by name, and the quality of the pseudo-gold by metric."""
        rows, quality, gold, counts = [], [], None, (np.empty(0), np.empty(0))
        for metric in self.metrics:
            if gold is None or (method == "calibrated_majority" and calibrate_for == "each"):
                objective = metric if calibrate_for == "each" else calibrate_for
                gold = make_pseudo_gold(
                    self.systems,
                    method,
                    calibrate_for=objective,
                    sets=self.draws,
                    random_seed=self.random_seed,
                    **options,
                )
                counts = self._counts(gold)
            rows.append(self._row(gold, *counts, metric))
            quality.append(self._quality(gold, truth, metric, method))
        return _stacked(rows), quality

    def gold(self, truth: LabelCodes) -> dict[str, NDArray[np.float64]]:
        """Return the actual scores and ranks (metric, model)."""
        gold = PseudoGold(truth[None], True)
        counts = self._counts(gold)
        return _stacked([self._row(gold, *counts, metric) for metric in self.metrics])

    def different(self, p_values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which pairs differ significantly."""
        return adjusted(p_values, self.multiplicity) < self.significance

    def _counts(self, gold: PseudoGold) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        per_draw = counts_per_draw(gold, self.systems, self.draws, "bootstrap", self.random_seed)
        return counts_per_set(gold, self.systems), per_draw

    def _row(
        self, gold: PseudoGold, per_set: NDArray[np.float64], per_draw: NDArray[np.float64], metric: str
    ) -> dict[str, NDArray[np.float64]]:
        positive = self.systems.positive
        score = mean_scores(per_set, metric, positive)[0]
        drawn = mean_scores(per_draw, metric, positive)
        terms = None
        if gold.is_sample and gold.sets.shape[0] == 1:
            terms = paired_terms(gold.sets[0], self.systems.predicted, metric, positive)
        p_values = bootstrap_p_values(drawn) if terms is None else paired_t_test(terms)[1]
        places = rank_probabilities(np.nan_to_num(drawn, nan=-np.inf))
        unscored = np.isnan(score)
        ends = np.array([_interval(drawn[:, m], self.ci_prob) for m in range(score.size)])
        return {
            "score": score,
            "lower": ends[:, 0],
            "upper": ends[:, 1],
            "rank": copeland_rank(score, self.different(p_values)).values,
            "prob_best": np.where(unscored, np.nan, places[:, 0]),
            "expected_rank": np.where(unscored, np.nan, places @ np.arange(1, score.size + 1)),
        }

    def _quality(self, gold: PseudoGold, truth: LabelCodes | None, metric: str, method: str) -> float:
        if truth is None or method in SCORE_AND_COMBINE:
            return float("nan")
        sets = gold.sets.reshape(-1, truth.size)
        counts = confusion_counts(truth[None], sets, self.systems.n_labels)
        return float(mean_scores(counts.swapaxes(0, 1)[None], metric, self.systems.positive)[0, 0])


def _stacked(rows: list[dict[str, NDArray[np.float64]]]) -> dict[str, NDArray[np.float64]]:
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def _truth(gold: Gold, systems: Systems) -> LabelCodes:
    """Return the position of each item's gold label, -1 where it has none."""
    truth = gold_codes(gold, systems.items, systems.labels).astype(np.int16)
    if (truth < 0).all():
        raise InputError("gold names none of the predicted items; leave it out, or check how it names them")
    return truth


def _possible(systems: Systems) -> tuple[str, ...]:
    with_crowd = WITH_CROWD if systems.crowd is not None else ()
    return tuple(m for m in BLIND + with_crowd if m != "calibrated_majority" or systems.n_labels == 2)


def _interval(draws: NDArray[np.float64], ci_prob: float) -> tuple[float, float]:
    finite = draws[np.isfinite(draws)]
    return hdi(finite, ci_prob) if finite.size > 1 else (float("nan"), float("nan"))


def methods_group(
    methods: tuple[str, ...],
    estimates: list[dict[str, NDArray[np.float64]]],
    actual: dict[str, NDArray[np.float64]],
    quality: NDArray[np.float64],
    *,
    different: Callable[[NDArray[np.float64]], NDArray[np.bool_]],
    baseline: str,
    correction: Correction,
) -> dict[str, Any]:
    """Correlate each method with the gold, test the differences, rank the methods, relate quality to correlation."""
    shape = (len(methods), quality.shape[1], len(MEASURES))
    value, p_value, rank = np.full(shape, np.nan), np.full(shape, np.nan), np.full(shape, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # what does not exist is NaN in the table; the caller says so once
        for m in range(quality.shape[1]):
            for r, measure in enumerate(MEASURES):
                of = "score" if measure == "pearson" else "rank"
                value[:, m, r] = [correlation(e[of][m], actual[of][m], measure=measure) for e in estimates]
                tests = _triangle_tests([e[of][m] for e in estimates], actual[of][m], measure, correction)
                if baseline in methods:
                    p_value[:, m, r] = tests[:, methods.index(baseline)]
                good = 1 - value[:, m, r] if measure == "swap_rate" else value[:, m, r]
                rank[:, m, r] = copeland_rank(good, different(tests)).values
        related = _quality_correlation(methods, quality, value)
    of_method = ("estimator", "metric", "measure")
    return {
        "correlation": (of_method, value),
        "p_value": (of_method, p_value),
        "method_rank": (of_method, rank),
        "quality": (("estimator", "metric"), quality),
        "quality_correlation": (("metric", "measure"), related),
    }


def _triangle_tests(
    scorings: list[NDArray[np.float64]], gold: NDArray[np.float64], measure: Measure, correction: Correction
) -> NDArray[np.float64]:
    """Return the p value of each pair of methods, whose correlations with the same gold are compared.

    All three correlations are over the systems that the gold and both methods score. A swap rate enters as one minus
    twice itself, which is a correlation of the order of pairs.
    """
    n_methods = len(scorings)
    p_value = np.full((n_methods, n_methods), np.nan)
    for a in range(n_methods):
        for b in range(a):
            all_three = np.isfinite(scorings[a]) & np.isfinite(scorings[b]) & np.isfinite(gold)
            if all_three.sum() < 4:
                continue
            x, y, z = (scores[all_three] for scores in (gold, scorings[a], scorings[b]))
            r = [correlation(*pair, measure=measure) for pair in ((x, y), (x, z), (y, z))]
            r_xy, r_xz, r_yz = [1 - 2 * v for v in r] if measure == "swap_rate" else r
            p_value[a, b] = p_value[b, a] = williams_test(r_xy, r_xz, r_yz, x.size, correction=correction)[1]
    return p_value


def _quality_correlation(
    methods: tuple[str, ...], quality: NDArray[np.float64], value: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Correlate, over the methods that combine, the quality of pseudo-gold with the correlation achieved."""
    combining = np.array([m not in (*SCORE_AND_COMBINE, "direct") for m in methods])
    related = np.full(value.shape[1:], np.nan)
    for m in range(value.shape[1]):
        for r in range(value.shape[2]):
            both = combining & np.isfinite(quality[:, m]) & np.isfinite(value[:, m, r])
            if both.sum() >= 3:
                related[m, r] = correlation(quality[both, m], value[both, m, r], measure="pearson")
    return related


def outliers(
    estimates: list[dict[str, NDArray[np.float64]]], actual: dict[str, NDArray[np.float64]], systems: Systems
) -> dict[str, Any]:
    """Return the actual best three systems and the worst of each metric, and the rank that each method gives them."""
    score = np.where(np.isnan(actual["score"]), -np.inf, actual["score"])
    order = np.argsort(-score, axis=1, kind="stable")
    worst = np.where(np.isnan(actual["score"]), np.inf, score).argmin(axis=1)
    scored = np.isfinite(actual["score"]).sum(axis=1)
    places = len(PLACES) - 1
    ends = np.column_stack([order[:, np.minimum(np.arange(places), order.shape[1] - 1)], worst])
    there = np.column_stack([np.arange(places) < scored[:, None], scored > 0])
    predicted = np.stack(
        [np.where(there, np.take_along_axis(e["rank"], ends, axis=1), np.nan) for e in estimates]
    )
    return {
        "predicted_rank": (("estimator", "metric", "place"), predicted),
        "actual_rank": (
            ("metric", "place"),
            np.where(there, np.take_along_axis(actual["rank"], ends, axis=1), np.nan),
        ),
        "system": (("metric", "place"), np.where(there, systems.models[ends].astype(str), "")),
    }


def jaccard_overlap(predictions: Predictions, *, positive: Any = None) -> xr.DataArray:
    """Measure the overlap of the items that two systems call positive: intersection over union.

    Parameters
    ----------
    predictions
        Hard labels; a pair is compared on the items that both labelled.
    positive
        The positive label. By default the last of two; with more labels the sets are the pairs (item, category) that a
        system gave.

    Returns
    -------
    DataArray
        Dims (model, other_model), 1 on the diagonal; NaN where neither calls any common item positive.

    References
    ----------
    .. [1] H. J. Jung, M. Lease, "Evaluating classifiers without expert labels", 2012, table 2.
    """
    codes = predictions.hard_labels()
    place = positive_index(positive, predictions.categories)
    chosen = range(predictions.categories.size) if place is None else [place]
    if not chosen:
        raise InputError("there are no labels")
    given = (codes >= 0).astype(np.float64)
    both = either = np.zeros((codes.shape[0], codes.shape[0]))
    for label in chosen:
        has = (codes == label).astype(np.float64)
        inside = has @ has.T
        both = both + inside
        either = either + has @ given.T + given @ has.T - inside
    overlap = np.divide(both, either, out=np.full(both.shape, np.nan), where=either > 0)
    return xr.DataArray(overlap, dict.fromkeys(("model", "other_model"), predictions.models), name="jaccard")
