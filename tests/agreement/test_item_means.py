"""Item means integrated out: against adaptive quadrature, and where the engine gives up."""

import numpy as np
import pytest
from _phi import brute_force, levels, posterior_of

from bayesagree.agreement._exact.problem import prepare
from bayesagree.annotations import Ratings
from bayesagree.errors import ConvergenceError


@pytest.mark.parametrize("precision", [0.1, 0.6, 2.0, 4.0, 12.0, 22.0])
def test_evidence_of_an_item_is_its_integral(precision):
    for row in ([0, 0, 1, 2, 4], [2, 2, 2], [4], [0, 4, 4, 0]):
        means = prepare(levels([row], 5), item_mean="flat").means
        assert means.log_evidence(precision, 0) == pytest.approx(np.log(brute_force(row, 5, precision)), abs=1e-7)


def test_too_narrow_a_likelihood_raises():
    x = 0.5 + np.array([[0.0, 1e-9, -1e-9]] * 3)
    with pytest.raises(ConvergenceError):
        posterior_of(Ratings.from_matrix(np.repeat(x, 4000, axis=1), scale=(0, 1)), item_mean="flat")
