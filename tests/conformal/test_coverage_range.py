"""The scatter of the coverage of one calibration set, against sets whose coverage is known exactly."""

import numpy as np
import pytest

from bayesagree import Labels, Predictions, conformalize

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # no item whose truth is the other label


def calibrated(score, **options):
    """Calibrate on items whose label 0 is right and has this score."""
    n = score.size
    models = Predictions.from_scores({"A": np.column_stack([score, 1 - score])}, labels=[0, 1])
    return conformalize(Labels.from_counts(np.tile([1, 0], (n, 1)), labels=[0, 1]), models, **options)


def test_coverage_of_one_set_lies_in_the_range():
    """Scores of the right label are uniform, so that sets cover with probability one minus their threshold."""
    rng = np.random.default_rng(1)
    sets = [calibrated(rng.random(20)) for _ in range(80)]
    covered = np.array([1 - one.threshold.item() for one in sets])
    lower, upper = sets[0].coverage_range.values
    np.testing.assert_allclose([lower, upper], [0.751, 0.988], atol=5e-4)  # Beta(19, 2), scipy 1.16
    outside = [(covered < lower).mean(), (covered > upper).mean()]
    np.testing.assert_allclose(outside, 0.025, atol=4 * np.sqrt(0.025 * 0.975 / 80))
