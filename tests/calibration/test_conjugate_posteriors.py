"""Simulation-based calibration of the closed-form posteriors: each item is one replication.

The truth of every item is drawn from the prior, annotations from the truth; the rank of the truth among the draws is
then uniform. Decision, stated in advance: chi-square over 20 bins, rejected below 1e-4.
"""

import numpy as np
import pytest
from scipy.stats import chi2

from bayesagree import Labels, NormalInverseGammaPrior, Ratings, dirichlet, label_certainty, normal_inverse_gamma

BINS, DRAWS = 20, 199
SIZES = [(1000, 1), pytest.param(20_000, 2, marks=pytest.mark.slow)]


def assert_uniform(ranks):
    counts = np.bincount(ranks * BINS // (DRAWS + 1), minlength=BINS)
    expected = ranks.size / BINS
    statistic = ((counts - expected) ** 2 / expected).sum()
    assert chi2.sf(statistic, BINS - 1) > 1e-4, counts


@pytest.mark.parametrize(("n", "seed"), SIZES)
def test_dirichlet(n, seed):
    rng = np.random.default_rng(seed)
    prior = np.array([0.3, 1.0, 2.0])
    truth = rng.dirichlet(prior, size=n)
    counts = np.stack([rng.multinomial(4, p) for p in truth])
    tree = dirichlet(Labels.from_counts(counts), prior=prior.tolist(), draws=DRAWS, chains=1, seed=seed)
    draws = tree["posterior"]["plausibility"].values[0]
    for k in range(3):
        assert_uniform((draws[:, :, k] < truth[:, k]).sum(axis=0))


@pytest.mark.parametrize(("n", "seed"), SIZES)
def test_normal_inverse_gamma(n, seed):
    rng = np.random.default_rng(seed)
    prior = NormalInverseGammaPrior(mean=0.2, strength=0.7, shape=3.0, scale=2.0)
    variance = prior.scale / rng.standard_gamma(prior.shape, n)
    mean = prior.mean + np.sqrt(variance / prior.strength) * rng.standard_normal(n)
    ratings = mean[:, None] + np.sqrt(variance)[:, None] * rng.standard_normal((n, 3))
    wide = Ratings.from_matrix(ratings, scale=(-1000, 1000))
    posterior = normal_inverse_gamma(wide, prior=prior, draws=DRAWS, chains=1, seed=seed)["posterior"]
    assert_uniform((posterior["mean"].values[0] < mean).sum(axis=0))
    assert_uniform((posterior["variance"].values[0] < variance).sum(axis=0))


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
