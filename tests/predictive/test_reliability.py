import itertools

import numpy as np
import pytest
from scipy.stats import dirichlet as dirichlet_distribution

from bayesagree import Labels, Rankings, dirichlet, prirn
from bayesagree.predictive.reliability import reliability_curve

CASES = [[[[0], [1, 2]], [[0, 3]], [[2], [0]]], [[[4], [1]], [[1], [4, 0]]], [[[3]]]]
RANKINGS = Rankings.from_blocks(CASES, labels=5)


def orders(ranking, n_labels):
    """List the complete orders a partial ranking allows."""
    named = [k for block in ranking for k in block]
    blocks = [*ranking, [k for k in range(n_labels) if k not in named]]
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, blocks))]


def chance(ranking, worth):
    """Return the Plackett-Luce probability by enumeration; worths (..., label)."""
    total = 0.0
    for order in orders(ranking, worth.shape[-1]):
        placed = worth[..., list(order)]
        total = total + np.prod(placed / placed[..., ::-1].cumsum(axis=-1)[..., ::-1], axis=-1)
    return total


def test_dirichlet_score_is_the_predictive_probability_of_each_annotator():
    votes = [[3, 1, 0], [0, 0, 2], [1, 0, 0]]
    curve = reliability_curve(Labels.from_counts(votes), (0.5, 2), prior=[0.2, 0.3, 1.0], random_seed=1)
    for gamma in (0.5, 2):
        scores = []
        for row in votes[:2]:
            for label, n in [(k, n) for k, n in enumerate(row) if n]:
                rest = np.array(row) - np.eye(3)[label]
                alpha = gamma * rest + [0.2, 0.3, 1.0]
                scores += n * [np.log(alpha[label] / alpha.sum())]
        assert float(curve["log_score"].sel(reliability=gamma)) == pytest.approx(np.mean(scores))
    assert curve.attrs["n_annotations"] == 6
    assert float(curve["observed_agreement"]) == pytest.approx((3 * 2 / 12 + 1) / 2)


@pytest.mark.parametrize("gamma", [0.3, 4.0])
def test_predicted_agreement_is_the_mean_of_the_draws(gamma):
    labels = Labels.from_counts([[3, 1, 0], [0, 1, 2]])
    curve = reliability_curve(labels, [gamma], random_seed=1)
    draws = dirichlet(labels, reliability=gamma, draws=20_000, random_seed=2)["posterior"]["plausibility"].values
    square = (draws**2).sum(axis=-1).mean(axis=-1).ravel()
    error = square.std() / np.sqrt(square.size)
    assert abs(square.mean() - float(curve["agreement"][0])) < 4.5 * error
    ranked = Rankings.from_blocks(CASES[:2], labels=5)
    curve = reliability_curve(ranked, [gamma], plausibility="prirn", random_seed=1)
    draws = prirn(ranked, reliability=gamma, draws=20_000, random_seed=2)["posterior"]["plausibility"].values
    square = (draws**2).sum(axis=-1).mean(axis=-1).ravel()
    assert abs(square.mean() - float(curve["agreement"][0])) < 4.5 * square.std() / np.sqrt(square.size)


def test_prirn_score_is_the_mean_over_its_plausibilities():
    """The closed form (neutrality of the Dirichlet distribution) against draws and enumeration of the orders."""
    gamma, prior, rng = 3.0, 0.4, np.random.default_rng(1)
    expected, variance = 0.0, 0.0
    for case in CASES[:2]:
        for r, ranking in enumerate(case):
            others = Rankings.from_blocks([case[:r] + case[r + 1 :]], labels=5)
            alpha = prirn(others, reliability=gamma, prior=prior, draws=1, chains=1)["posterior_parameters"][
                "concentration"
            ]
            values = chance(ranking, dirichlet_distribution(alpha.values[0]).rvs(20_000, random_state=rng))
            expected += np.log(values.mean())
            variance += values.var() / values.mean() ** 2 / values.size
    found = reliability_curve(RANKINGS, [gamma], plausibility="prirn", prior=prior, random_seed=1)
    assert abs(float(found["log_score"][0]) * 5 - expected) < 4.5 * np.sqrt(variance)
