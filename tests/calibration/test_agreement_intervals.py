"""Coverage of intervals of agreement coefficients of few items; the long run is benchmarks/agreement_intervals.py."""

import numpy as np
import pytest

from bayesagree import Labels
from bayesagree.agreement.coefficients import interval_of_counts

SETS = 150


def nominal(prevalence, accuracy, n, rng):
    """Two labels, three annotators who err alike on both."""
    truth = rng.random((n, 1)) < prevalence
    return Labels.from_matrix((truth == (rng.random((n, 3)) < accuracy)).astype(float), labels=[0.0, 1.0])


def true_values(prevalence, accuracy):
    """Agreement of two annotators, and the coefficients that correct it for chance."""
    agree, share = accuracy**2 + (1 - accuracy) ** 2, prevalence * accuracy + (1 - prevalence) * (1 - accuracy)
    same = share**2 + (1 - share) ** 2
    return {"percent_agreement": agree, "fleiss_kappa": (agree - same) / (1 - same)}


@pytest.mark.parametrize("n", [10, pytest.param(20, marks=pytest.mark.slow), 50])
@pytest.mark.parametrize(("prevalence", "accuracy"), [(0.5, 0.8), (0.7, 0.97), (0.95, 0.97)])
def test_intervals_of_nominal_coefficients_cover(n, prevalence, accuracy):
    for name, true in true_values(prevalence, accuracy).items():
        held = []
        for random_seed in range(SETS):
            labels = nominal(prevalence, accuracy, n, np.random.default_rng([n, random_seed]))
            lower, upper = interval_of_counts(labels, name, random_seed=random_seed)
            if not np.isnan(lower):  # kappa where one label was used
                held.append(lower <= true <= upper)
        # Counts of few items are coarse, so that some cells cover more than .95.
        assert len(held) > SETS / 2
        assert np.mean(held) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / len(held)), f"{name}: {np.mean(held):.3f}"


@pytest.mark.parametrize("rho", [0.3, 0.8])
def test_interval_of_the_intraclass_correlation_covers(rho, calibration):
    held = []
    for random_seed in range(SETS):
        rng = np.random.default_rng(random_seed)
        answers = np.sqrt(rho) * rng.normal(size=(20, 1)) + np.sqrt(1 - rho) * rng.normal(size=(20, 3))
        lower, upper = interval_of_counts(
            Labels.from_matrix(np.round(answers, 2)), "icc_one_way", random_seed=random_seed
        )
        held.append(lower <= rho <= upper)
    calibration.coverage("agreement_table", f"icc_one_way, 20 items, {rho}", held)
