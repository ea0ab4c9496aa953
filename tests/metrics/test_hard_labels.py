import numpy as np
import pandas as pd
import pytest

from bayesagree.annotations.predictions import Predictions
from bayesagree.metrics.hard_labels import confusion_counts, hard_label_scores


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
