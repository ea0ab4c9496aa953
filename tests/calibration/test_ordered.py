"""Simulation-based calibration of the ordered variant: parameters and truths drawn from its prior."""

import numpy as np
import pytest

from bayesagree import Labels, dawid_skene

ITEMS, PEOPLE, LABELS, DRAWS = 12, 4, 4, 49


@pytest.mark.parametrize(("n", "seed"), [(120, 1), pytest.param(2000, 2, marks=pytest.mark.slow)])
def test_ranks_of_the_truth_are_uniform(calibration, n, seed):
    rng = np.random.default_rng(seed)
    ranks: dict[str, list[int]] = {}
    for replication in range(n):
        mu = -1.0
        while mu <= 0:
            mu = rng.normal(1, 1)
        alpha = np.sqrt(0.25 / rng.standard_gamma(2)) * rng.standard_normal(PEOPLE)
        beta = mu + np.sqrt(0.25 / rng.standard_gamma(2)) * rng.standard_normal(PEOPLE)
        stretch = np.sqrt(rng.standard_gamma(5, PEOPLE) / 5)
        tau, u = np.sort(1.5 * rng.standard_normal(LABELS - 1)), rng.standard_normal(ITEMS)
        z = alpha + beta * u[:, None] + rng.standard_normal((ITEMS, PEOPLE)) / stretch
        votes = Labels.from_matrix(np.searchsorted(tau, z), labels=range(LABELS), ordered=True)
        how = {"tune": 300, "thin": 12, "chains": 1, "draws": DRAWS, "confusion": False}
        posterior = dawid_skene(votes, variant="ordered", seed=replication, **how)["posterior"].to_dataset()
        truth = {
            "latent_truth": u, "threshold": tau, "discrimination": beta * stretch, "severity": -alpha * stretch,
            "stretch": stretch,
        }  # fmt: skip
        for name, values in truth.items():
            drawn = posterior[name].values[0]
            ranks.setdefault(f"{name} first", []).append(int((drawn[:, 0] < values[0]).sum()))
            ranks.setdefault(f"{name} last", []).append(int((drawn[:, -1] < values[-1]).sum()))
    for name, rank in ranks.items():
        calibration.uniform("ordered", name, np.array(rank), DRAWS + 1)
