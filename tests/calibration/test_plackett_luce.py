"""Simulation-based calibration: rankings simulated from the prior, ranks of the truth among the draws are uniform."""

import numpy as np
import pytest
from scipy.stats import chi2

from bayesagree.plausibility.plackett_luce import plackett_luce
from bayesagree.simulate import rankings


@pytest.mark.parametrize(
    ("replications", "seed"), [(100, 1), pytest.param(1000, 2, marks=pytest.mark.slow)]
)  # fmt: skip
@pytest.mark.parametrize("shape", [0.2, 1.0, 3.0])
def test_ranks_of_the_truth_are_uniform(shape: float, replications: int, seed: int) -> None:
    n_labels, chains, kept, bins = 4, 3, 133, 10
    simulated = rankings(
        n_items=replications, n_labels=n_labels, n_annotators=3, shape=shape,
        patterns=[(1,), (2,), (1, 1), (2, 1), (1, 2), (1, 1, 1, 1)], seed=seed,
    )  # fmt: skip
    # Thinned beyond the autocorrelation, so that the draws are exchangeable with the truth.
    tree = plackett_luce(simulated.rankings, shape=shape, draws=kept, chains=chains, thin=30, tune=300, seed=seed + 100)
    draws = tree["posterior"]["plausibility"].values.reshape(chains * kept, replications, n_labels)
    rank = (draws < simulated.plausibility.values).sum(axis=0)
    for label in range(n_labels):
        counts = np.bincount(rank[:, label] * bins // (chains * kept + 1), minlength=bins)
        statistic = ((counts - replications / bins) ** 2 / (replications / bins)).sum()
        # Four labels, three shapes: a false alarm once in about a thousand runs.
        assert statistic < chi2.ppf(1 - 1e-4, bins - 1)
