# ruff: noqa: E501
"""Runs of `bayesagree.metrics`."""

import numpy as np
import pandas as pd

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import (
    FINE,
    GAPPY,
    GOLD,
    HARD,
    LABELS,
    LEVELS,
    NUMBERS,
    ORDERED,
    PAGES,
    PARTS,
    RANKED,
    RANKED_SOFT,
    RATED_LABELS,
    RISK,
    SCORES,
    SOFT,
    TWO,
)  # fmt: skip
from bayesagree import metrics as me

drawn = later(lambda: ba.dirichlet(LABELS(), **FEW), "dirichlet")
best = later(lambda: ba.dirichlet(LABELS(), top_labels=3, **FEW), "top_labels")
ordered = later(lambda: ba.dirichlet(ORDERED(), **FEW), "ordered")
two = later(lambda: ba.dirichlet(TWO(), **FEW), "two")
means = later(lambda: ba.normal_inverse_gamma(LEVELS(), **FEW), "ratings")
ranked = later(lambda: ba.plackett_luce(RANKED(), tune=3, **FEW), "rankings")
NAMES = [
    "top_1_accuracy",
    "top_2_accuracy",
    "set_2_accuracy",
    "overlap_2",
    "average_overlap_2",
    "kendall_tau_2",
    "spearman_footrule_2",
    "accuracy",
    "balanced_accuracy",
    "precision_macro",
    "precision_micro",
    "precision_weighted",
    "precision[y]",
    "recall_macro",
    "recall_weighted",
    "recall[z]",
    "specificity_macro",
    "specificity[x]",
    "jaccard_macro",
    "jaccard_micro",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "f2[y]",
    "f0.5_macro",
    "matthews_corrcoef",
    "cohen_kappa",
    "log_loss",
    "brier",
    "expected_calibration_error_5",
    "roc_auc",
    "roc_auc_ovr",
    "roc_auc_ovo",
    "average_precision",
    "ordinal_mae",
    "within_one_accuracy",
    "quadratic_kappa",
    "agreement",
    "cross_entropy",
    "kl",
    "jensen_shannon",
    "jensen_shannon_distance",
    "po_jensen_shannon",
    "total_variation",
    "wasserstein",
    "entropy_calibration_error",
    "entropy_difference",
    "rank_correlation",
    "entropy_correlation",
    "entropy_rank_correlation",
    "soft_accuracy",
    "soft_precision",
    "soft_precision[y]",
    "soft_recall",
    "soft_recall[z]",
    "soft_f1",
    "soft_f1[x]",
    "soft_jaccard",
    "soft_jaccard[z]",
    "soft_brier",
]
OF_RATINGS = ["mae", "rmse", "bias", "pearson", "spearman", "concordance", "crps", "interval_coverage_80"]


def scores(truth, predictions, names, **options):
    """Give the scores by many metrics, or the sentence why not."""
    found = {}
    for name in names:
        try:
            found[name] = me.score(truth, predictions, name, seed=1, **options).values
        except ba.InputError as error:
            found[name] = str(error)
    return found


for truth in (drawn, ordered, best, LABELS):
    add(f"scores {truth.name}", scores, truth, SOFT, NAMES)()
add("scores sampled", scores, drawn, SOFT, NAMES)(truth_is="sampled")
for truth in (drawn, ordered, LABELS):
    add(f"scores hard {truth.name}", scores, truth, HARD, NAMES)()
of_two = ["accuracy", "precision", "recall", "specificity", "f1", "f2", "jaccard", "roc_auc", "average_precision",
          "precision_macro", "recall_micro", "cohen_kappa", "brier", "soft_precision", "wasserstein"]  # fmt: skip
for truth in (two, TWO):
    add(f"scores of two labels {truth.name}", scores, truth, SCORES, of_two)()
    add(f"scores of two labels {truth.name}", scores, truth, SCORES, of_two)(truth_is="sampled")
add("scores ratings", scores, means, NUMBERS, OF_RATINGS)()
add("scores fine", scores, later(lambda: ba.normal_inverse_gamma(FINE(), **FEW)), NUMBERS, OF_RATINGS)()
add("scores ratings as labels", scores, means, RATED_LABELS, OF_RATINGS)()
add("scores rankings", scores, ranked, RANKED_SOFT, NAMES)()
for name in ("top_1_accuracy", "f1_macro", "log_loss", "soft_accuracy"):
    run = add("score by", me.score, drawn, SOFT, name, seed=1)
    run(by=PARTS)
    run(cluster=PAGES)
    run(thin=2)
    run(missing="skip")
    if name in ("top_1_accuracy", "f1_macro"):
        add("score gappy", me.score, drawn, GAPPY, name, seed=1)(missing="skip")
        add("score gappy", me.score, drawn, GAPPY, name, seed=1)(missing="wrong")
    add("human_ceiling", me.human_ceiling, drawn, name, seed=1)()
    add("human_ceiling", me.human_ceiling, drawn, name, seed=1)(cluster=PAGES)
    add("human_ceiling", me.human_ceiling, drawn, name, seed=1)(truth_is="sampled")
for name in ("top_1_accuracy", "average_overlap_2", "log_loss", "brier", "soft_accuracy", "total_variation"):
    add("per_item", me.per_item, drawn, SOFT)(metric=name)
proxy = later(lambda: ba.majority_vote(LABELS()), "proxy")
add("score proxy", me.score, LABELS, SOFT, "agreement", seed=1)(proxy=proxy)


def half_right(truth, answer):
    """Score by a function of one's own."""
    return float(np.mean(np.asarray(truth) == np.asarray(answer))) / 2


add("score own", me.score, drawn, SOFT, half_right, seed=1)()
for takes in ("labels", "scores", "plausibilities"):
    own = me.UserMetric(
        lambda truth, given: float(np.asarray(truth).sum() / np.asarray(given).size), takes=takes, name=f"own_{takes}", higher_is_better=False,
    )  # fmt: skip
    add(f"score own {takes}", me.score, later(lambda: ba.dirichlet(ba.Labels.from_matrix(
        [[0, 1], [1, 1], [2, 0]], labels=[0, 1, 2]), **FEW)), later(lambda: ba.Predictions.from_scores(
            {"A": [[0.2, 0.3, 0.5], [0.6, 0.1, 0.3], [0.3, 0.4, 0.3]]}, labels=[0, 1, 2])), own, seed=1)()  # fmt: skip
for name in ("average_overlap", "kendall_tau", "overlap", "set_accuracy", "spearman_footrule"):
    add(name, getattr(me, name), drawn, SOFT)(k=2)
    add(f"{name} rankings", getattr(me, name), ranked, RANKED_SOFT)()
for name in ("top_k_accuracy", "expected_top_k_accuracy"):
    add(name, getattr(me, name), drawn, SOFT)()
    add(name, getattr(me, name), drawn, SOFT)(k=2)
add("top_k_in_top_m", me.top_k_in_top_m, drawn, SOFT)(k=1, m=2)
add("top_k_in_top_m", me.top_k_in_top_m, ranked, RANKED_SOFT)(k=2, m=3, whole=True)
for level in (0.0, 1.0, 3.0):
    add("accuracy_given_risk", me.accuracy_given_risk, drawn, SOFT, {"x": 0.0, "y": 1.0, "z": 3.0})(level=level)
add("accuracy_given_risk ranked", me.accuracy_given_risk, ranked, RANKED_SOFT, RISK)(level=1.0, k=2)
for k in (1, 2, 3):
    for normalise in (True, False):
        add("annotator_overlap", me.annotator_overlap, RANKED)(k=k, normalise=normalise)
        add("partial_average_overlap", me.partial_average_overlap, RANKED, RANKED_SOFT)(k=k, normalise=normalise)
for method in ("dgt", "sgt", "pgt"):
    run = add("auc", me.auc, TWO, SCORES, method=method, seed=1)
    run()
    run(method=method, ties="exclude")
    run(method=method, ties="redrawn", prior=0.3)
    run(method=method, weights=later(lambda: {a: 0.3 + 0.2 * k for k, a in enumerate(TWO().annotators)}, "weights"))
    for multiclass in ("one_vs_rest", "hand_till"):
        add("auc labels", me.auc, LABELS, SOFT, seed=1)(method=method, multiclass=multiclass)
run = add("auc_posterior", me.auc_posterior, TWO, SCORES, **FEW)
run()
run(reliability=2.0, prior=0.7)
run(truth_is="labels")
run(resample=("item", "annotator"))
run(resample=())
run(resample=("annotator",))
rng = np.random.default_rng(3)
add("concordance", me.concordance, rng.normal(size=(2, 9)), rng.normal(size=9))()
for metric in ("accuracy", "precision", "recall", "specificity", "f1", "balanced_accuracy"):
    add("hard_label_scores", me.hard_label_scores, HARD, GOLD)(metric=metric, positive="x")
    add("hard_label_scores", me.hard_label_scores, HARD, GOLD)(metric=metric)
for votes in (1, 3):
    add("identified_accuracy drawn", me.identified_accuracy, drawn, HARD, seed=1)(votes=votes)


class Model:
    """Shares of labels by item, as an estimator of scikit-learn gives them."""

    classes_ = np.array([*"xyz"])

    def predict_proba(self, rows):
        return SOFT().scores[1][rows["k"].to_numpy()]

    def predict(self, rows):
        return self.classes_[self.predict_proba(rows).argmax(1)]


def by_scorer(metric, items, **options):
    """Score as scikit-learn does."""
    scorer = me.make_scorer(metric, drawn(), seed=1, **options)
    rows = pd.DataFrame({"k": np.arange(14)}, index=SOFT().items).iloc[items]
    return scorer(Model(), rows, None)


for metric in ("accuracy", "log_loss", "f1_macro"):
    for statistic in ("mean", "lower", "upper"):
        add(f"make_scorer {metric}", by_scorer, metric, slice(2, 11), ci_prob=0.7)(statistic=statistic)
    add(f"make_scorer {metric}", by_scorer, metric, slice(0, 14))(truth_is="sampled", thin=2)
