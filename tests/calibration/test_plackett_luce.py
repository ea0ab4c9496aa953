"""Simulation-based calibration: rankings simulated from the prior, ranks of the truth among the draws are uniform."""

import pytest

from bayesagree.datasets.simulate import rankings
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce


@pytest.mark.parametrize(
    ("replications", "random_seed"), [(100, 1), pytest.param(1000, 2, marks=pytest.mark.slow)]
)  # fmt: skip
@pytest.mark.parametrize("shape", [0.2, 1.0, 3.0])
def test_ranks_of_the_truth_are_uniform(shape: float, replications: int, random_seed: int, calibration) -> None:
    n_labels, chains, kept = 4, 3, 133
    simulated = rankings(
        n_items=replications, n_labels=n_labels, n_annotators=3, shape=shape,
        patterns=[(1,), (2,), (1, 1), (2, 1), (1, 2), (1, 1, 1, 1)], random_seed=random_seed,
    )  # fmt: skip
    # Thinned beyond the autocorrelation, so that the draws are exchangeable with the truth.
    tree = plackett_luce(
        simulated.rankings, shape=shape, draws=kept, chains=chains, thin=30, tune=300, random_seed=random_seed + 100
    )
    draws = tree["posterior"]["plausibility"].values.reshape(chains * kept, replications, n_labels)
    rank = (draws < simulated.plausibility.values).sum(axis=0)
    for label in range(n_labels):
        calibration.uniform("plackett_luce", f"shape {shape:g}, label {label}", rank[:, label], chains * kept + 1)
