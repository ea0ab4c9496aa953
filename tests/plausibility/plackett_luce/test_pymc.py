"""The PyMC side of Plackett-Luce: model and distribution are the same posterior as the Gibbs sampler."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bayesagree.annotations import Rankings
from bayesagree.errors import InputError


@pytest.mark.nuts
def test_random_rankings_follow_the_log_probability() -> None:
    import pymc as pm

    from bayesagree.plausibility.plackett_luce.partial_ranking import PartialRanking

    worth = np.array([0.5, 0.3, 0.2])
    draws = pm.draw(PartialRanking.dist(worth, shape=(20_000, 3)), random_seed=1)
    patterns, counts = np.unique(draws, axis=0, return_counts=True)
    chance = np.exp(pm.logp(PartialRanking.dist(worth, shape=patterns.shape), patterns).eval())
    assert chance.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_less(np.abs(counts / 20_000 - chance), 4 * np.sqrt(chance * (1 - chance) / 20_000))


def test_exponent_is_a_continuous_reliability() -> None:
    from bayesagree.plausibility.plackett_luce.model import plackett_luce_model

    rankings = Rankings.from_blocks([[[[0]], [[0]], [[1]]]], labels=9)
    with pytest.raises(InputError, match="unranked='lumped'"):
        plackett_luce_model(rankings, exponent=2.0)
    point = {"worth": np.array([0.5, 2.0, 1.0])}
    tempered = plackett_luce_model(rankings, exponent=2.0, unranked="lumped")
    value = tempered.compile_logp(vars=[tempered["ranks"]], mode="FAST_COMPILE")(
        {tempered.rvs_to_values[tempered["worth"]].name: np.log(point["worth"])}
    )
    squares = point["worth"] ** 2
    assert value == pytest.approx(np.log(squares[[0, 0, 1]] / squares.sum()).sum(), abs=1e-10)


def test_gradients_of_rankings_with_ties_are_those_of_finite_differences() -> None:
    """Each ranking counts in its own measure: equal ones stand together and are computed once."""
    import pytensor
    import pytensor.tensor as pt

    from bayesagree.plausibility.plackett_luce.partial_ranking import RankingLogProbability

    log_worth, ranks = pt.dmatrix("log_worth"), pt.lmatrix("ranks")
    total = (RankingLogProbability()(log_worth, ranks)[0] * np.array([1.0, 0.5, -2.0, 3.0])).sum()
    mode = pytensor.compile.Mode(linker="py", optimizer=None)
    value, slope = (
        pytensor.function([log_worth, ranks], out, mode=mode) for out in (total, pytensor.grad(total, log_worth))
    )
    at = np.random.default_rng(1).normal(size=(4, 4))
    at[1], order = at[0], np.array([[0, 0, 1, 2], [0, 0, 1, 2], [1, 0, 0, 1], [0, 1, 2, 3]])
    expected = approx_fprime(at.ravel(), lambda x: float(value(x.reshape(4, 4), order)), 1e-7)
    np.testing.assert_allclose(slope(at, order).ravel(), expected, atol=1e-5)
