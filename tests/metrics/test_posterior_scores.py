"""Scores against one true label: scikit-learn on every draw is the oracle."""

import re
import warnings

import numpy as np
import pytest
import xarray as xr
from hypothesis import example, given, settings
from hypothesis import strategies as st
from metrics._truths import models, one_hot, posterior, random_case
from sklearn import metrics as sk
from sklearn.exceptions import UndefinedMetricWarning

from bayesagree import InputError, Labels, Predictions, dirichlet, simulate
from bayesagree.metrics import UserMetric, score, top_k_accuracy
from bayesagree.metrics.registry import METRICS, Metric

NAN = {"zero_division": np.nan}


def specificity(true, predicted, labels):
    """Recall of "not this label" for every label."""
    return np.array([sk.recall_score(true != k, predicted != k, **NAN) for k in labels])


def oracle(name, true, p):
    """The value of scikit-learn; NaN where it warns that there is none."""
    labels = np.arange(p.shape[1])
    hard = p.argmax(axis=1)
    ratios = {
        "precision": lambda **k: sk.precision_score(true, hard, labels=labels, **NAN, **k),
        "recall": lambda **k: sk.recall_score(true, hard, labels=labels, **NAN, **k),
        "jaccard": None,
        "f1": lambda **k: sk.f1_score(true, hard, labels=labels, **NAN, **k),
        "f2": lambda **k: sk.fbeta_score(true, hard, beta=2.0, labels=labels, **NAN, **k),
        "f0.5": lambda **k: sk.fbeta_score(true, hard, beta=0.5, labels=labels, **NAN, **k),
    }
    base, _, rest = name.replace("[", "_").partition("_")
    if base in ratios and base != "jaccard":
        if rest.endswith("]"):
            return ratios[base](average=None)[int(rest[:-1])]
        return ratios[base](average=rest or "binary")
    if base == "specificity":
        each = specificity(true, hard, labels)
        return each[int(rest[:-1])] if rest.endswith("]") else np.nanmean(each) if rest else each[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", UndefinedMetricWarning)
        warnings.filterwarnings("error", "No positive class")
        try:
            return {
                "accuracy": lambda: sk.accuracy_score(true, hard),
                "balanced_accuracy": lambda: sk.balanced_accuracy_score(true, hard),
                "matthews_corrcoef": lambda: sk.matthews_corrcoef(true, hard),
                "cohen_kappa": lambda: sk.cohen_kappa_score(true, hard, labels=labels),
                "jaccard_macro": lambda: sk.jaccard_score(true, hard, labels=labels, average="macro"),
                "jaccard_micro": lambda: sk.jaccard_score(true, hard, labels=labels, average="micro"),
                "log_loss": lambda: sk.log_loss(true, p, labels=labels),
                "brier": lambda: sk.brier_score_loss(true, p if len(labels) > 2 else p[:, 1], **brier_names(labels)),
                "roc_auc": lambda: sk.roc_auc_score(true, p[:, 1]),
                "roc_auc_ovr": lambda: sk.roc_auc_score(np.eye(len(labels))[true], p, average="macro"),
                "roc_auc_ovo": lambda: hand_till(true, p, labels),
                "average_precision": lambda: average_precision(true, p, labels),
            }[name]()
        except UserWarning:
            return np.nan


def brier_names(labels):
    return {"labels": labels} if len(labels) > 2 else {"pos_label": 1}


def hand_till(true, p, labels):
    """scikit-learn's own average, which its front door refuses where a label is absent."""
    if np.unique(true).size < 2:
        return np.nan
    if len(labels) == 2:
        return sk.roc_auc_score(true, p[:, 1])
    if np.unique(true).size == len(labels):
        return sk.roc_auc_score(true, p, labels=labels, multi_class="ovo")
    here = np.unique(true)
    pairs = [(a, b) for a in here for b in here if a != b]
    both = [np.isin(true, pair) for pair in pairs]
    return np.mean([sk.roc_auc_score(true[at] == a, p[at, a]) for (a, _), at in zip(pairs, both)])


def average_precision(true, p, labels):
    if len(labels) == 2:
        return sk.average_precision_score(true, p[:, 1])
    return sk.average_precision_score(np.eye(len(labels), dtype=int)[true], p, average="macro")


ANY = [
    "accuracy", "balanced_accuracy", "precision_macro", "precision_micro", "precision_weighted", "precision[1]",
    "recall_macro", "recall_micro", "recall_weighted", "recall[0]", "f1_macro", "f1_micro", "f1_weighted", "f1[1]",
    "f2_macro", "f0.5_weighted", "specificity_macro", "specificity[1]", "matthews_corrcoef", "cohen_kappa", "log_loss",
    "brier", "roc_auc_ovo", "average_precision", "roc_auc_ovr",
]  # fmt: skip
BINARY = ["precision", "recall", "f1", "f2", "specificity", "roc_auc"]
CASES = [(name, n) for n in (2, 4) for name in ANY] + [(name, 2) for name in BINARY]


@pytest.mark.parametrize(("name", "n_labels"), CASES)
@settings(max_examples=2, deadline=None)  # for each metric, beside the three below
@given(seed=st.integers(0, 2**32 - 1), n_items=st.integers(1, 15), ties=st.booleans(), present=st.integers(1, 4))
@example(seed=0, n_items=1, ties=False, present=1)
@example(seed=1, n_items=12, ties=True, present=1)
@example(seed=2, n_items=150, ties=True, present=4)
def test_every_draw_equals_scikit_learn(name, n_labels, seed, n_items, ties, present):
    truth, p = random_case(seed, n_items=n_items, n_labels=n_labels, ties=ties)
    truth %= present
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = score(one_hot(truth, n_labels), models(p), name).values[0]
        expected = np.array([[oracle(name, true, table) for table in p] for true in truth])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_missing_predictions_are_misses():
    truth = np.array([[0, 1, 1, 0]])
    hard = Predictions.from_labels({"A": [0, 1, None, 1]}, labels=[0, 1])
    as_third = np.array([0, 1, 2, 1])
    for name, function in {
        "accuracy": sk.accuracy_score,
        "recall_macro": lambda t, y: sk.recall_score(t, y, labels=[0, 1], average="macro"),
        "precision_macro": lambda t, y: sk.precision_score(t, y, labels=[0, 1], average="macro"),
        "f1_micro": lambda t, y: sk.f1_score(t, y, labels=[0, 1], average="micro"),
        "matthews_corrcoef": sk.matthews_corrcoef,
        "cohen_kappa": sk.cohen_kappa_score,
    }.items():
        value = score(one_hot(truth, 2), hard, name, missing="wrong").item()
        assert value == pytest.approx(function(truth[0], as_third), abs=1e-12), name


@pytest.mark.parametrize(
    ("name", "reason"),
    [("recall[1]", "divides by"), ("roc_auc", "the same label"), ("cohen_kappa", "one and the same label")],
)
def test_a_score_that_does_not_exist_says_why(name, reason):
    p = np.array([[[0.9, 0.1], [0.8, 0.2]]])
    with pytest.warns(UserWarning, match=reason):
        value = score(one_hot([[0, 0]], 2), models(p), name)
    assert np.isnan(value).all()


def test_expected_calibration_error_by_hand():
    p = np.array([[[0.95, 0.05], [0.9, 0.1], [0.55, 0.45], [0.2, 0.8]]])
    # Bins (0.5, 0.6], (0.7, 0.8], (0.8, 0.9], (0.9, 1]: one item each.
    value = score(one_hot([[0, 1, 0, 1]], 2), models(p), "expected_calibration_error").item()
    assert value == pytest.approx((0.05 + 0.9 + 0.45 + 0.2) / 4)
    assert score(one_hot([[0, 1, 0, 1]], 2), models(p), "expected_calibration_error_1").item() == pytest.approx(0.05)


@pytest.fixture(scope="module")
def case():
    return simulate.labelled_test_set(seed=1)


@pytest.fixture(scope="module")
def truth(case):
    return dirichlet(case.labels, draws=50, seed=1)


def test_functions_see_the_same_draws(case, truth):
    by_name = score(truth, case.predictions, "f1_macro", thin=5)
    by_function = score(truth, case.predictions, lambda t, y: sk.f1_score(t, y, average="macro"), thin=5)
    np.testing.assert_allclose(by_name, by_function, atol=1e-12)
    assert by_name.sizes["draw"] == 10
    assert score(truth, case.predictions, "sklearn.metrics:zero_one_loss", thin=25).name == "zero_one_loss"
    auc = UserMetric(lambda t, p: sk.roc_auc_score(np.eye(4)[t], p), takes="scores", name="auc")
    expected = score(truth, case.predictions, "roc_auc_ovr", thin=25)
    np.testing.assert_allclose(score(truth, case.predictions, auc, thin=25), expected, atol=1e-12)


def test_top_1_accuracy_is_accuracy(case, truth):
    expected = top_k_accuracy(truth, case.predictions)
    np.testing.assert_allclose(score(truth, case.predictions, "accuracy"), expected, atol=1e-12)
    np.testing.assert_array_equal(score(truth, case.predictions, "top_1_accuracy"), expected)


def test_a_sampled_truth_is_another_annotator(case):
    tree = dirichlet(case.labels, draws=500, seed=1)
    sampled = score(tree, case.predictions, "accuracy", truth_is="sampled", seed=2)
    expected = score(tree, case.predictions, "agreement")
    gap = (sampled - expected).mean(("chain", "draw"))
    error = (sampled - expected).std() / np.sqrt(2000)
    assert (np.abs(gap) < 5 * error).all()
    again = score(tree, case.predictions, "accuracy", truth_is="sampled", seed=2)
    np.testing.assert_array_equal(sampled, again)
    with pytest.raises(InputError, match="one label"):
        score(tree, case.predictions, "set_2_accuracy", truth_is="sampled")


@pytest.mark.parametrize("name", ["f1_macro", "roc_auc_ovr", "accuracy", "top_2_accuracy", "rank_correlation"])
def test_slices_are_scores_of_their_items(case, truth, name):
    language = {item: "de" if item % 3 else "en" for item in case.labels.items.tolist()}
    found = score(truth, case.predictions, name, by=language)
    assert found.dims == ("chain", "draw", "slice", "side", "model")
    inside = np.flatnonzero([language[i] == "en" for i in case.labels.items.tolist()])
    part = posterior(truth["posterior"]["plausibility"].values[:, :, inside])
    few = Predictions.from_scores(
        {m: case.predictions.scores[k][inside] for k, m in enumerate(case.predictions.models)}
    )
    np.testing.assert_allclose(found.sel(slice="en", side="slice"), score(part, few, name), atol=1e-12)
    np.testing.assert_allclose(found.sel(slice="en", side="rest"), found.sel(slice="de", side="slice"), atol=1e-12)
    gap = found.sel(side="slice") - found.sel(side="rest")
    np.testing.assert_allclose(found.sel(side="difference"), gap, atol=1e-12)


def test_clusters_are_resampled_as_a_whole(case, truth):
    alone = {item: item for item in case.labels.items.tolist()}
    pairs = {item: item // 10 for item in case.labels.items.tolist()}
    # Ten copies of one item are one item: the spread is that of a tenth of the items.
    spread = [
        score(truth, case.predictions, "accuracy", cluster=c, seed=1).std(("chain", "draw")) for c in (alone, pairs)
    ]
    assert (spread[1] > 0).all()
    weighted = score(truth, case.predictions, "roc_auc_ovr", cluster=pairs, seed=1)
    plain = score(truth, case.predictions, "roc_auc_ovr")
    assert (weighted.std(("chain", "draw")) > plain.std(("chain", "draw"))).all()
    function = score(truth, case.predictions, sk.accuracy_score, cluster=alone, seed=1)
    np.testing.assert_allclose(function.std(("chain", "draw")), spread[0], rtol=0.35)


def test_weighted_curves_repeat_items():
    """An item of weight 2 is two items."""
    from bayesagree.metrics._whole_parts import CurvePart

    truth, p = random_case(5, n_draws=3, n_items=9, n_labels=3, ties=True)
    times = np.random.default_rng(1).integers(1, 4, 9)

    class Weights:
        def all_rows(self):
            return np.repeat(times[:, None].astype(float), 3, axis=1)

    names = ["roc_auc_ovr", "roc_auc_ovo", "average_precision"]
    asked = [Metric.named(name) for name in names]
    part = CurvePart(models(p), asked)
    found = part.values(truth.T.astype(np.int16), np.arange(9), Weights(), lambda n: None)
    repeat = np.repeat(np.arange(9), times)
    whole = CurvePart(models(p[:, repeat]), asked)
    expected = whole.values(truth.T[repeat].astype(np.int16), np.arange(repeat.size), None, lambda n: None)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("wrong", ["f1", "roc_auc", "recall[7]", "nothing", "no.such.module:f", 3])
def test_refused(case, truth, wrong):
    with pytest.raises(InputError):
        score(truth, case.predictions, wrong)


def test_logits_are_no_probabilities(case, truth):
    logits = Predictions.from_scores(dict(zip(case.predictions.models, np.log(case.predictions.scores))))
    with pytest.raises(InputError, match="needs probabilities"):
        score(truth, logits, "log_loss")


def test_refused_arguments(case, truth):
    for wrong in ({"truth_is": "gold"}, {"thin": 0}, {"by": [1, 2]}, {"by": {0: "a"}}, {"cluster": [None] * 400}):
        with pytest.raises(InputError):
            score(truth, case.predictions, "accuracy", **wrong)


def test_every_record_says_what_it_is():
    for pattern, record in METRICS.items():
        assert record.title, pattern
        assert record.meaning, pattern
        assert record.formula, pattern
        assert "doi:" in record.reference or "arXiv:" in record.reference, pattern
        name = pattern.replace("{}", "2").replace("{label}", "x")
        assert Metric.named(name).name == name


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("acuracy", "accuracy"),
        ("top1_accuracy", "top_1_accuracy"),
        ("averageoverlap", "average_overlap_3"),
        ("recal[yes]", "recall[yes]"),
        ("f1macro", "f1_macro"),
    ],
)
def test_an_unknown_metric_is_answered_by_the_nearest_name(wrong, near):
    with pytest.raises(InputError, match=re.escape(f"metric {wrong!r} is not known; did you mean {near!r}?")):
        Metric.named(wrong)


@pytest.mark.parametrize("kind", ["draws", "labels", "estimate"])
def test_missing_predictions_are_refused_left_out_or_wrong(kind):
    counts = np.array([[9, 0], [0, 9], [9, 0], [0, 9]] * 5)
    votes = Labels.from_counts(counts, labels=["no", "yes"])
    predicted = np.array(["no", "yes"] * 10, object)
    predicted[[0, 3]] = None
    predicted[5] = "no"
    models = Predictions.from_labels({"A": predicted, "B": ["no", "yes"] * 10}, labels=["no", "yes"])
    share = xr.DataArray(counts / 9, {"item": votes.items, "category": votes.categories}, ("item", "category"))
    truth = {"draws": dirichlet(votes, draws=50, seed=1), "labels": votes, "estimate": share}[kind]
    metric = "agreement" if kind == "labels" else "top_1_accuracy"
    with pytest.raises(InputError, match="model 'A' has no prediction for 2 of 20 items: 0, 3"):
        score(truth, models, metric)
    mean = {m: score(truth, models, metric, missing=m, seed=1).mean(("chain", "draw")) for m in ("skip", "wrong")}
    # Items are weighted at random where votes are scored: 4,000 draws of a mean of 20.
    close = {"abs": 0.005 if kind != "draws" else 0.01}
    assert mean["skip"].sel(model="A").item() == pytest.approx(17 / 18, **close)
    assert mean["wrong"].sel(model="A").item() == pytest.approx(17 / 20, **close)
    assert mean["skip"].sel(model="B").item() == pytest.approx(1, **close)
