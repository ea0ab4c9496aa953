"""Intervals of corrected rates hold the rates as often as they say, over data drawn from their own model's family."""

import numpy as np
import pytest

from bayesagree import Labels, corrected_rate

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore::UserWarning")]


@pytest.mark.parametrize(
    ("target", "runs"), [("share", 10), *(pytest.param(t, 40, marks=pytest.mark.slow) for t in ("share", "truth"))]
)
def test_intervals_hold_the_rates(target, runs):
    """Three systems, two judges, 90 items with three votes; rates drawn anew in each run."""
    held = []
    for random_seed in range(runs):
        rng = np.random.default_rng([random_seed, 5])
        system, rates = np.arange(600) % 3, rng.uniform(0.4, 0.9, 3)
        state = rng.random(600) < rates[system]
        if target == "share":
            share = rng.beta(2 * rates[system], 2 * (1 - rates[system]))
            state = rng.random(600) < share
        else:
            share = np.where(state, 0.85, 0.15)
        said = np.where(rng.random((600, 2)) < 0.8, state[:, None], ~state[:, None]).astype(int)
        votes = (rng.random((90, 3)) < share[:90, None]).astype(int)
        tree = corrected_rate(
            Labels.from_matrix(said, labels=[0, 1]),
            Labels.from_matrix(votes, labels=[0, 1]),
            system=dict(enumerate(system)),
            positive=1,
            target=target,
            draws=400,
            chains=1,
            random_seed=random_seed,
        )
        found = tree["derived"].to_dataset()
        held.append(np.mean((found["rate_lower"].values <= rates) & (rates <= found["rate_upper"].values)))
    # Nominal .95; 40 runs of three systems leave a standard error of about .025.
    assert np.mean(held) > 0.95 - 3 * 0.025 * np.sqrt(40 / runs)
