import itertools

import numpy as np
import pytest
import xarray as xr
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


@pytest.mark.parametrize("of", [Labels.from_counts, lambda cases: Rankings.from_blocks(cases, labels=5)])
def test_items_of_one_annotator_have_no_part(of):
    cases = CASES if of != Labels.from_counts else [[3, 1], [1, 2], [1, 0]]
    found, without = (reliability_curve(of(part), [0.3, 4.0], random_seed=1) for part in (cases, cases[:2]))
    xr.testing.assert_identical(found, without)
    assert found.attrs["n_items"] == 2


def test_intervals_are_those_of_ratios_of_sums_over_items():
    """Four hundred items: sums over items are nearly normal, with the error of a ratio by linearisation."""
    rng = np.random.default_rng(3)
    votes = rng.multinomial(rng.integers(2, 6, 400), rng.dirichlet([0.5, 0.5], 400))
    curve = reliability_curve(Labels.from_counts(votes), [0.2, 1.0, 20.0], random_seed=1)
    total = votes.sum(axis=1)
    scores = np.empty((3, 400))
    for g, gamma in enumerate([0.2, 1.0, 20.0]):
        chance = (gamma * (votes - 1) + 0.5) / (gamma * (total - 1) + 1)[:, None]
        scores[g] = (votes * np.log(np.where(votes > 0, chance, 1))).sum(axis=1)
    mean, best = scores.sum(axis=1) / total.sum(), int(scores.sum(axis=1).argmax())
    assert float(curve["best"]) == [0.2, 1.0, 20.0][best]
    np.testing.assert_allclose(curve["log_score"], mean)
    np.testing.assert_allclose(curve["difference"], mean[best] - mean)
    for name, values in (("", scores), ("difference_", scores[best] - scores)):
        centre = values.sum(axis=1) / total.sum()
        error = np.sqrt(((values - centre[:, None] * total) ** 2).sum(axis=1)) / total.sum()
        ends = [curve[f"{name}{end}"].values for end in ("lower", "upper")]
        np.testing.assert_allclose(ends[1] - ends[0], 2 * 1.96 * error, rtol=0.15)
        np.testing.assert_allclose(np.mean(ends, axis=0), centre, atol=0.5 * error.max())
    assert float(curve["prob_best"].sum()) == pytest.approx(1)
    assert int(curve["prob_best"].values.argmax()) == best
