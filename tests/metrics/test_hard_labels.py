import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesagree.annotations.predictions import Predictions
from bayesagree.metrics.hard_labels import METRICS, confusion_counts, hard_label_scores, scores_of_counts


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
