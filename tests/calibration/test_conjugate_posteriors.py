"""Simulation-based calibration of the closed-form posteriors: each item is one replication.

The truth of every item is drawn from the prior, annotations from the truth; the rank of the truth among the draws is
then uniform (decision: `_record`).
"""

import numpy as np
import pytest
from scipy.stats import dirichlet as dirichlet_distribution

from bayesagree import Labels, Rankings, Ratings, dirichlet, normal_inverse_gamma, prirn
from bayesagree.plausibility import NormalInverseGammaPrior
from bayesagree.plausibility.certainty import label_certainty

DRAWS = 199
SIZES = [(1000, 1), pytest.param(20_000, 2, marks=pytest.mark.slow)]


def held_by_hdi(draws, truth, prob=0.95):
    """Return whether the shortest interval of the draws (sample, item) holds each truth."""
    ordered = np.sort(draws, axis=0)
    inside = int(np.ceil(prob * len(ordered)))
    width = ordered[inside - 1 :] - ordered[: len(ordered) - inside + 1]
    first, item = width.argmin(axis=0), np.arange(truth.size)
    return (ordered[first, item] <= truth) & (truth <= ordered[first + inside - 1, item])


@pytest.mark.parametrize(("n", "random_seed"), SIZES)
def test_dirichlet(calibration, n, random_seed):
    rng = np.random.default_rng(random_seed)
    prior = np.array([0.3, 1.0, 2.0])
    truth = rng.dirichlet(prior, size=n)
    counts = np.stack([rng.multinomial(4, p) for p in truth])
    tree = dirichlet(Labels.from_counts(counts), prior=prior.tolist(), draws=DRAWS, chains=1, random_seed=random_seed)
    draws = tree["posterior"]["plausibility"].values[0]
    for k in range(3):
        calibration.uniform("dirichlet", f"plausibility {k}", (draws[:, :, k] < truth[:, k]).sum(axis=0), DRAWS + 1)


@pytest.mark.parametrize(("n", "random_seed"), SIZES)
def test_normal_inverse_gamma(calibration, n, random_seed):
    rng = np.random.default_rng(random_seed)
    prior = NormalInverseGammaPrior(mean=0.2, strength=0.7, shape=3.0, scale=2.0)
    variance = prior.scale / rng.standard_gamma(prior.shape, n)
    mean = prior.mean + np.sqrt(variance / prior.strength) * rng.standard_normal(n)
    ratings = mean[:, None] + np.sqrt(variance)[:, None] * rng.standard_normal((n, 3))
    wide = Ratings.from_matrix(ratings, scale=(-1000, 1000))
    posterior = normal_inverse_gamma(wide, prior=prior, draws=DRAWS, chains=1, random_seed=random_seed)["posterior"]
    for name, truth in (("mean", mean), ("variance", variance)):
        rank = (posterior[name].values[0] < truth).sum(axis=0)
        calibration.uniform("normal_inverse_gamma", name, rank, DRAWS + 1)


@pytest.mark.slow
def test_intervals_of_closed_forms(calibration):
    """95 % HDI of 4000 draws, 4000 items each."""
    rng, n = np.random.default_rng(7), 4000
    truth = rng.dirichlet([0.5, 0.5, 0.5], size=n)
    labels = Labels.from_counts(np.stack([rng.multinomial(5, p) for p in truth]))
    draws = dirichlet(labels, prior=0.5, draws=4000, chains=1, random_seed=7)["posterior"]["plausibility"].values[0]
    calibration.coverage("dirichlet", "plausibility 0", held_by_hdi(draws[:, :, 0], truth[:, 0]))
    prior = NormalInverseGammaPrior(mean=0.2, strength=0.7, shape=3.0, scale=2.0)
    variance = prior.scale / rng.standard_gamma(prior.shape, n)
    mean = prior.mean + np.sqrt(variance / prior.strength) * rng.standard_normal(n)
    ratings = Ratings.from_matrix(
        mean[:, None] + np.sqrt(variance)[:, None] * rng.standard_normal((n, 3)), scale=(-1000, 1000)
    )
    posterior = normal_inverse_gamma(ratings, prior=prior, draws=4000, chains=1, random_seed=7)["posterior"]
    for name, value in (("mean", mean), ("variance", variance)):
        calibration.coverage("normal_inverse_gamma", name, held_by_hdi(posterior[name].values[0], value))


@pytest.mark.parametrize(("n", "random_seed"), SIZES)
def test_prirn_draws_have_their_dirichlet_distribution(calibration, n, random_seed):
    """PrIRN has no sampling model; its draws are ranked among exact ones of the same Dirichlet distribution."""
    rankings = Rankings.from_blocks([[[[0, 1], [2]], [[1]]]], labels=5)
    tree = prirn(rankings, reliability=3.0, prior=0.3, draws=n, chains=1, random_seed=random_seed)
    shape = tree["posterior_parameters"]["concentration"].values[0]
    drawn = tree["posterior"]["plausibility"].values[0, :, 0]
    exact = dirichlet_distribution(shape).rvs((n, 49), random_state=random_seed)
    for k in (0, 1, 4):
        rank = (exact[:, :, k] < drawn[:, k, None]).sum(axis=1)
        calibration.uniform("prirn", f"plausibility {k}", rank, 50)


@pytest.mark.parametrize("per_item", [2, 6])
def test_certainty_is_the_frequency_of_being_right(per_item):
    """In the model's own world the top label is the true one as often as its certainty says."""
    rng = np.random.default_rng(3)
    truth = rng.dirichlet(np.full(4, 0.5), size=20_000)
    labels = Labels.from_counts(np.stack([rng.multinomial(per_item, p) for p in truth]))
    tree = dirichlet(labels, prior=0.5, draws=1, chains=1)
    certainty = label_certainty(tree, exact=True).values
    claimed, right = certainty.max(axis=1), certainty.argmax(axis=1) == truth.argmax(axis=1)
    for low, high in ((0, 0.6), (0.6, 0.8), (0.8, 1.01)):
        inside = (claimed >= low) & (claimed < high)
        if inside.sum() > 100:
            error = np.sqrt((claimed * (1 - claimed))[inside].sum()) / inside.sum()
            assert abs(right[inside].mean() - claimed[inside].mean()) < 4.5 * error
