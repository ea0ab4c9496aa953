"""Closed formulas against published numbers and identities."""

import json

import numpy as np
import pytest
from _paths import ROOT
from hypothesis import given
from hypothesis import strategies as st

from bayesagree import InputError
from bayesagree.judges import prediction_powered_mean
from bayesagree.judges.estimators import saving_bound
from studies.rates import rogan_gladen

GOLDEN = json.loads((ROOT / "tests" / "golden" / "judges.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["rogan_gladen"])
def test_rogan_gladen(case):
    inputs = ("raw_rate", "n_items", "specificity", "n_negative", "sensitivity", "n_positive")
    found = rogan_gladen(**{name: case[name] for name in inputs})
    for name in case.keys() - set(inputs):
        assert getattr(found, name) == pytest.approx(case[name], abs=1e-6)


def test_prediction_powered_mean():
    case = GOLDEN["prediction_powered"]
    rest = np.repeat([1, 0], case["unlabelled"])
    for power, lower, upper in case["intervals"]:
        found = prediction_powered_mean(case["labels"], case["verdicts"], rest, power=power)
        assert found.estimate == pytest.approx(0.7)
        assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=1e-6)


def test_one_unlabelled_item_tells_no_variance():
    with pytest.raises(InputError, match="at least two unlabelled items"):
        prediction_powered_mean([1, 0] * 10, [1, 0] * 10, [1], power=1.0)


shares = st.floats(0.02, 0.98)


@given(shares, shares, shares)
def test_bound_is_one_over_one_minus_the_squared_correlation(rate, sensitivity, specificity):
    table = np.array([[(1 - rate) * specificity, (1 - rate) * (1 - specificity)],
                      [rate * (1 - sensitivity), rate * sensitivity]])  # fmt: skip
    judged = table[:, 1].sum()
    rho = (table[1, 1] - rate * judged) / np.sqrt(rate * (1 - rate) * judged * (1 - judged))
    assert saving_bound(rate, sensitivity, specificity) == pytest.approx(1 / (1 - rho**2), rel=1e-6)


def test_a_judge_no_better_than_chance_is_refused():
    with pytest.raises(InputError, match="no better than chance"):
        rogan_gladen(0.5, 100, specificity=0.4, n_negative=50, sensitivity=0.6, n_positive=50)
