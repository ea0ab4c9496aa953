"""The PyMC side of Plackett-Luce: model and distribution are the same posterior as the Gibbs sampler."""

import numpy as np
import pytest

from bayesagree.annotations import Rankings
from bayesagree.draws.convergence import worst_diagnostics
from bayesagree.errors import InputError
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce

CHAINS = 2


def difference_in_errors(a: np.ndarray, b: np.ndarray, chains: tuple[int, int]) -> float:
    """Largest difference of means and squares over columns, in combined Monte-Carlo standard errors."""
    worst = 0.0
    for power in (1, 2):
        for column in range(a.shape[1]):
            pair = [x[:, column] ** power for x in (a, b)]
            errors = [x.std() / np.sqrt(worst_diagnostics(x[:, None], c)[1]) for x, c in zip(pair, chains)]
            worst = max(worst, abs(pair[0].mean() - pair[1].mean()) / np.hypot(*errors))
    return worst


def ten_problems() -> Rankings:
    """Up to eight labels, ties, unranked labels and complete rankings."""
    rng = np.random.default_rng(11)
    cases = []
    for _ in range(10):
        n = int(rng.integers(2, 9))
        case = []
        for _ in range(int(rng.integers(1, 5))):
            named = rng.permutation(n)[: int(rng.integers(1, n + 1))]
            cuts = np.flatnonzero(rng.random(named.size - 1) < 0.6) + 1
            case.append([block.tolist() for block in np.split(named, cuts)])
        cases.append(case)
    return Rankings.from_blocks(cases, labels=8)


@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.nuts
def test_nuts_equals_gibbs_on_ten_problems(seed: int) -> None:
    rankings = ten_problems()
    nuts = plackett_luce(rankings, shape=0.8, engine="nuts", draws=1500, chains=CHAINS, seed=seed)
    gibbs = plackett_luce(rankings, shape=0.8, draws=4000, seed=seed)
    assert not nuts["sample_stats"]["diverging"].values.any()
    assert nuts.attrs["engine"] == "nuts"
    for item in range(10):
        draws = [t["posterior"]["plausibility"].values[:, :, item].reshape(-1, 8) for t in (nuts, gibbs)]
        assert difference_in_errors(draws[0], draws[1], (CHAINS, 4)) < 4


@pytest.mark.nuts
def test_random_rankings_follow_the_log_probability() -> None:
    import pymc as pm

    from bayesagree.plausibility import PartialRanking

    worth = np.array([0.5, 0.3, 0.2])
    draws = pm.draw(PartialRanking.dist(worth, shape=(20_000, 3)), random_seed=1)
    patterns, counts = np.unique(draws, axis=0, return_counts=True)
    chance = np.exp(pm.logp(PartialRanking.dist(worth, shape=patterns.shape), patterns).eval())
    assert chance.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_less(np.abs(counts / 20_000 - chance), 4 * np.sqrt(chance * (1 - chance) / 20_000))
    tied = pm.draw(PartialRanking.dist(np.ones(6), [1, 2]), draws=50, random_seed=1)
    assert (np.sort(tied, axis=1) == [0, 1, 1, 2, 2, 2]).all()


def test_exponent_is_a_continuous_reliability() -> None:
    from bayesagree.plausibility.plackett_luce.model import plackett_luce_model

    rankings = Rankings.from_blocks([[[[0]], [[0]], [[1]]]], labels=9)
    with pytest.raises(InputError, match="unranked='lumped'"):
        plackett_luce_model(rankings, exponent=2.0)
    point = {"worth": np.array([0.5, 2.0, 1.0])}
    tempered = plackett_luce_model(rankings, exponent=2.0, unranked="lumped")
    value = tempered.compile_logp(vars=[tempered["ranks"]])(
        {tempered.rvs_to_values[tempered["worth"]].name: np.log(point["worth"])}
    )
    squares = point["worth"] ** 2
    assert value == pytest.approx(np.log(squares[[0, 0, 1]] / squares.sum()).sum(), abs=1e-10)
