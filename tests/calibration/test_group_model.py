"""The group posterior covers the truth, and a model that serves all groups alike is not called biased."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import kstest

from bayesagree.subjective._beta_binomial import group_draws
from studies.groups import dispersion_null

SIZES = np.array([5, 20, 80, 300, 2000])
GROUP = np.repeat(np.arange(SIZES.size), SIZES)


def ranks_of_truth(n_simulations, random_seed):
    """Draw shared parameters, group means and data from the model; return where each mean lies in its posterior."""
    rng = np.random.default_rng(random_seed)
    ranks = np.empty((n_simulations, SIZES.size))
    for s in range(n_simulations):
        location, between, within = rng.random(3)
        kappa, phi = between**-2 - 1, within**-2 - 1
        mean = rng.beta(location * kappa, (1 - location) * kappa, SIZES.size).clip(1e-300, 1 - 1e-16)
        rate = rng.beta(mean[GROUP] * phi, (1 - mean[GROUP]) * phi)
        total = rng.integers(1, 9, GROUP.size)
        draws = group_draws(rng.binomial(total, rate), total, GROUP, SIZES.size, 400, rng)["performance"]
        # A group mean may be 1 to the last digit; ties are broken at random.
        ranks[s] = (draws < mean).mean(axis=0) + rng.random(SIZES.size) * (draws == mean).mean(axis=0)
    return ranks


@pytest.mark.parametrize(
    ("n_simulations", "random_seed"), [(8, 1), *(pytest.param(150, s, marks=pytest.mark.slow) for s in (2, 3))]
)
def test_group_means_are_covered(n_simulations, random_seed, calibration):
    ranks = ranks_of_truth(n_simulations, random_seed)
    for g in range(SIZES.size):
        held = (ranks[:, g] > 0.025) & (ranks[:, g] < 0.975)
        calibration.coverage("group_posterior", f"group of {SIZES[g]}, seed {random_seed}", held)
        assert kstest(ranks[:, g], "uniform").pvalue > 1e-3, SIZES[g]
        if n_simulations >= 100:
            calibration.uniform(
                "group_posterior", f"group of {SIZES[g]}, seed {random_seed}", (400 * ranks[:, g]).round(), 401
            )


def no_bias(rng, sizes):
    """Give a result of `group_performance` whose annotators differ and whose groups do not."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    rate = rng.beta(7, 3, group.size)
    total = rng.integers(4, 30, group.size)
    values = rng.binomial(total, rate) / total
    means = np.bincount(group, values) / np.bincount(group)
    return xr.Dataset(
        {
            "annotator_performance": (("model", "annotator"), values[None]),
            "group_of": ("annotator", group),
            "performance": (("model", "group"), means[None]),
        },
        {"model": ["even"], "group": [f"g{i}" for i in range(len(sizes))]},
    )


@pytest.mark.parametrize("sizes", [[5, 30, 200], [20] * 5])
def test_an_even_model_is_not_called_biased(sizes):
    rng, n = np.random.default_rng(4), 300
    called = looks_uneven = 0
    for _ in range(n):
        result = no_bias(rng, sizes)
        called += bool(dispersion_null(result, permutations=199, random_seed=rng)["biased"][0])
        # The bare number: a spread of two points of accuracy between groups.
        looks_uneven += float(result["performance"].std("group")[0]) > 0.02
    assert called / n <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)
    assert looks_uneven / n > 0.5
