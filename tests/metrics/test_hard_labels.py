import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.metrics.hard_labels import METRICS, confusion_counts, hard_label_scores, scores_of_counts
from bayesagree.metrics.registry import full_name

SKLEARN = {
    "accuracy": lambda t, p, **_: sk.accuracy_score(t, p),
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "f1": sk.f1_score,
}


@pytest.mark.parametrize("n_labels", [2, 4])
@pytest.mark.parametrize("metric", SKLEARN)
def test_equals_scikit_learn(metric, n_labels):
    rng = np.random.default_rng(1)
    truth, said = rng.integers(n_labels, size=(2, 200))
    score = hard_label_scores(Predictions.from_labels({"A": said}), dict(enumerate(truth)), metric=metric)
    expected = SKLEARN[metric](truth, said, average="binary" if n_labels == 2 else "macro")
    assert score.item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_labels", [2, 3])
def test_specificity_is_recall_of_the_other_labels(n_labels):
    rng = np.random.default_rng(2)
    truth, said = rng.integers(n_labels, size=(2, 300))
    models = Predictions.from_labels({"A": said})
    each = [sk.recall_score(truth != k, said != k) for k in range(n_labels)]
    expected = each[1] if n_labels == 2 else np.mean(each)
    score = hard_label_scores(models, dict(enumerate(truth)), metric="specificity")
    assert score.item() == pytest.approx(expected, abs=1e-12)
    balanced = hard_label_scores(models, dict(enumerate(truth)), metric="balanced_accuracy")
    assert balanced.item() == pytest.approx(sk.balanced_accuracy_score(truth, said), abs=1e-12)


def test_missing_predictions_and_missing_gold_are_left_out():
    models = Predictions.from_labels({"A": ["x", None, "y", "y"]}, items=list("abcd"))
    assert hard_label_scores(models, pd.Series({"a": "x", "b": "x", "c": "x", "d": None})).item() == 0.5


@pytest.mark.parametrize(
    ("metric", "truth", "said", "reason"),
    [
        ("precision", [1, 0], [0, 0], "never predicted"),
        ("recall", [0, 0], [0, 1], "no gold item has the label"),
        ("specificity", [1, 1], [0, 1], "every gold item has the label"),
        ("f1", [0, 0], [0, 0], "neither predicted nor in the gold"),
        ("accuracy", [1, 0], [None, None], "no item has both"),
        ("balanced_accuracy", [1, 1], [1, 0], "the gold lacks a label"),
    ],
)
def test_what_does_not_exist_is_nan_with_the_reason(metric, truth, said, reason):
    models = Predictions.from_labels({"A": said}, labels=[0, 1])
    with pytest.warns(UserWarning, match=reason):
        assert np.isnan(hard_label_scores(models, dict(enumerate(truth)), metric=metric).item())


def test_macro_average_leaves_out_labels_for_which_the_score_does_not_exist():
    models = Predictions.from_labels({"A": ["a", "b"]}, labels=["a", "b", "c"])
    assert hard_label_scores(models, {0: "a", 1: "b"}, metric="recall").item() == 1.0


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-1, 2)), min_size=1, max_size=30), st.randoms())
def test_order_of_items_and_names_of_labels_change_nothing(rows, random):
    truth, said = np.array(rows).T.astype(np.int16)
    order = list(range(len(rows)))
    random.shuffle(order)
    relabel = np.array([2, 0, 1, -1], dtype=np.int16)
    counts = confusion_counts(truth[None], said[None], 3)
    shuffled = confusion_counts(relabel[truth[order]][None], relabel[said[order]][None], 3)
    for metric in METRICS:
        a, b = scores_of_counts(counts, metric, None), scores_of_counts(shuffled, metric, None)
        np.testing.assert_allclose(a, b, atol=1e-12)
        assert np.isnan(a).all() or (0 <= a.item() <= 1)


def test_counts_equal_a_plain_loop():
    rng = np.random.default_rng(3)
    truth, said = rng.integers(-1, 3, (4, 2, 50)), rng.integers(-1, 3, (2, 50))
    weights = rng.random(50)
    plain = np.zeros((4, 2, 3, 3))
    for s, m, i in np.ndindex(4, 2, 50):
        if truth[s, m, i] >= 0 and said[m, i] >= 0:
            plain[s, m, truth[s, m, i], said[m, i]] += weights[i]
    np.testing.assert_allclose(confusion_counts(truth, said, 3, weights), plain, rtol=1e-12)
    np.testing.assert_array_equal(
        confusion_counts(truth, said, 3, np.tile(weights, (4, 1))), confusion_counts(truth, said, 3, weights)
    )


def test_errors():
    models = Predictions.from_labels({"A": [0, 1]})
    with pytest.raises(InputError, match="gold item 7 is not among"):
        hard_label_scores(models, {7: 1})
    with pytest.raises(InputError, match="label 5 is not one of the labels"):
        hard_label_scores(models, {0: 5})
    with pytest.raises(InputError, match="positive='x' is not one of the labels"):
        hard_label_scores(models, {0: 1}, positive="x")
    with pytest.raises(InputError, match="metric='hits' is not one of"):
        hard_label_scores(models, {0: 1}, metric="hits")


def test_names_without_a_number_mean_the_documented_one():
    short = ["top_accuracy", "set_accuracy", "overlap", "average_overlap", "kendall_tau", "spearman_footrule"]
    assert [full_name(name) for name in short] == [
        "top_3_accuracy", "set_3_accuracy", "overlap_3", "average_overlap_3", "kendall_tau_3", "spearman_footrule_3",
    ]  # fmt: skip
    assert full_name("interval_coverage") == "interval_coverage_90"
