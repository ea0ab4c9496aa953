"""R-hat and effective sample sizes of many parameters at once against ArviZ."""

import warnings

import numpy as np
import pytest

from bayesagree import evaluate
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.inference import convergence
from bayesagree.inference.convergence import (
    diagnostics,
    pareto_k,
    r_hat_limit,
    warn_not_converged,
    warn_of_numbers,
    worst_of_items,
)

RNG = np.random.default_rng(0)
CHAINS = {
    "independent": RNG.normal(size=(4, 400, 5)),
    "odd numbers": RNG.normal(size=(3, 101, 5)),
    "shortest": RNG.normal(size=(4, 4, 20)),
    "few": RNG.normal(size=(4, 9, 20)),
    "ties": RNG.integers(0, 3, (4, 100, 5)).astype(float),
    "slow": np.cumsum(RNG.normal(size=(4, 300, 5)), axis=1),
    "opposed": np.cumsum(RNG.normal(size=(4, 300, 5)), axis=1) * (-1.0) ** np.arange(300)[:, None],
    "apart": RNG.normal(size=(4, 100, 5)) + np.arange(4.0)[:, None, None],
    "wide": RNG.normal(size=(4, 100, 5)) * np.arange(1.0, 5.0)[:, None, None],
}


@pytest.mark.parametrize("kind", CHAINS)
def test_values_are_those_of_arviz(kind):
    from arviz_stats.base import array_stats

    draws = CHAINS[kind]
    r_hat, ess = diagnostics(draws)
    axes = {"chain_axis": 0, "draw_axis": 1}
    np.testing.assert_allclose(r_hat, array_stats.rhat(draws, **axes, method="rank"), rtol=1e-9)
    np.testing.assert_allclose(ess, array_stats.ess(draws, **axes, method="bulk"), rtol=1e-9)


def test_what_does_not_move_has_none_and_what_stands_apart_is_infinitely_so():
    draws = RNG.normal(size=(4, 50, 5))
    draws[:, :, 1], draws[0, 3, 2], draws[:, :, 3] = 2.0, np.nan, np.arange(4.0)[:, None]
    r_hat, ess = diagnostics(draws)
    assert np.isnan(r_hat).tolist() == [False, True, True, False, False]
    assert np.isinf(r_hat).tolist() == [False, False, False, True, False]
    assert np.isnan(ess).tolist() == [False, True, True, True, False]
    assert np.isnan(diagnostics(draws[:, :3])).all()


def test_the_worst_parameter_of_an_item_is_named():
    draws = RNG.normal(size=(4, 200, 3, 2))
    draws[:, :, 1, 0] += 3 * np.arange(4.0)[:, None]
    worst = worst_of_items(draws)
    assert worst["r_hat"].argmax() == worst["ess"].argmin() == 1
    with pytest.warns(UserWarning, match=r"1 of 3 items have not converged .*: 'b'; wait"):
        warn_not_converged(np.array(["a", "b", "c"]), worst["r_hat"], "wait")


@pytest.mark.parametrize("kind", ["few", "slow", "apart"])
def test_scores_of_short_or_poor_chains_are_warned_of_and_of_good_ones_not(kind):
    good = np.random.default_rng(5).normal(size=(4, 1000, 3))
    with pytest.warns(UserWarning, match=r"^poor: \d+ effective draws, R-hat up to .*; raise draws="):
        warn_of_numbers({"poor": CHAINS[kind], "good": good}, "raise draws=")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_numbers({"good": good}, "raise draws=")


def test_evaluate_warns_of_few_draws_of_chains_and_says_how_they_were_made():
    given = labelled_test_set(n_items=30, random_seed=1)
    with pytest.warns(UserWarning, match="^accuracy: .* effective draws.*raise draws=20"):
        found = evaluate(given.labels, given.predictions, draws=20, random_seed=1)
    assert found.attrs["inference"].startswith("elliptical slice")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = evaluate(given.labels, given.predictions, plausibility="dirichlet", draws=20, random_seed=1)
    assert alone.attrs["inference"] == "independent draws of the exact posterior"


@pytest.mark.parametrize(("r_hat", "shown"), [(1.0121, "1.012 "), (1.0561, "1.06 ")])
def test_an_r_hat_above_the_limit_is_printed_above_it(monkeypatch, r_hat, shown):
    monkeypatch.setattr(convergence, "diagnostics", lambda draws: (np.array([r_hat]), np.array([1301.0])))
    with pytest.warns(UserWarning, match=f"R-hat up to {shown}"):
        convergence.warn_of_numbers({"accuracy": np.zeros((4, 8, 1))}, "raise draws=")


@pytest.mark.parametrize("tail", [0.1, 0.5, 0.9, 1.5])
def test_k_hat_is_that_of_arviz(tail):
    from arviz_stats.base import array_stats

    for n in (50, 400, 5000):
        log_weight = tail * np.random.default_rng(n).exponential(size=n)
        assert pareto_k(log_weight) == pytest.approx(float(array_stats.psislw(-log_weight)[1]), abs=1e-9)
    assert pareto_k(900 * np.random.default_rng(1).exponential(size=400)) > 100  # without a warning
    assert pareto_k(np.zeros(100)) == 0
    tied = np.repeat([0.0, 1.0, 2.0], [90, 7, 3])  # ratios of the tail that are its threshold
    assert np.isfinite(pareto_k(tied))
    assert pareto_k(np.repeat([0.0, 1e-17], [90, 10])) == 0  # equal but for rounding


@pytest.mark.parametrize("n", [10, 100])
def test_the_largest_r_hat_of_good_chains_is_below_its_limit_nineteen_times_of_twenty(n):
    """Four chains of a hundred independent draws, in halves: a thousand times n numbers."""
    draws = np.random.default_rng(n).standard_normal((1000, n, 8, 50), np.float32)
    within, between = draws.var(axis=3, ddof=1).mean(axis=2), draws.mean(axis=3).var(axis=2, ddof=1)
    r_hat = np.sqrt(49 / 50 + between / within)
    assert (r_hat.max(axis=1) > r_hat_limit(n)).mean() == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 1000))
    assert r_hat_limit(1) == pytest.approx(1.01, abs=1e-4)
