"""Simulation-based calibration of the ordered variant: parameters and truths drawn from its prior."""

import numpy as np
import pytest

from bayesagree import Labels, Predictions
from bayesagree.draws.posterior import Request
from bayesagree.plausibility.dawid_skene._engines import DawidSkenePosterior
from bayesagree.plausibility.dawid_skene._ordered import places_on_scale
from bayesagree.plausibility.dawid_skene._ordered_kernels import chances

ITEMS, PEOPLE, LABELS, DRAWS = 20, 4, 4, 39


@pytest.mark.parametrize(("n", "seed"), [(40, 1), pytest.param(1000, 2, marks=pytest.mark.slow)])
def test_ranks_of_the_truth_are_uniform(calibration, n, seed):
    """With predictions, three tenths of the labels missing, and gold in half of the worlds."""
    rng = np.random.default_rng(seed)
    ranks: dict[str, list[int]] = {}
    for _ in range(n):
        models = Predictions.from_labels({"A": rng.integers(LABELS, size=ITEMS)}, labels=range(LABELS))
        mu = -1.0
        while mu <= 0:
            mu = rng.normal(1, 1)
        alpha = np.sqrt(0.25 / rng.standard_gamma(2)) * rng.standard_normal(PEOPLE)
        beta = mu + np.sqrt(0.25 / rng.standard_gamma(2)) * rng.standard_normal(PEOPLE)
        stretch = np.sqrt(rng.standard_gamma(5, PEOPLE) / 5)
        tau, slope = np.sort(1.5 * rng.standard_normal(LABELS - 1)), rng.standard_normal(1)
        u = places_on_scale(models) @ slope + rng.standard_normal(ITEMS)
        z = alpha + beta * u[:, None] + rng.standard_normal((ITEMS, PEOPLE)) / stretch
        given = np.where(rng.random(z.shape) < 0.7, np.searchsorted(tau, z).astype(float), np.nan)
        gold = np.searchsorted(tau, mu * u[:5] + rng.standard_normal(5)).tolist() if rng.random() < 0.5 else []
        votes = Labels.from_matrix(given, labels=range(LABELS), ordered=True)
        fit = DawidSkenePosterior(votes, "ordered", gold=dict(enumerate(gold)), predictions=models)
        request = Request(DRAWS, 1, int(rng.integers(2**31)))
        drawn = fit.chains(request, confusion=False, tune=300, thin=20).chains[0].variables
        edges = np.concatenate([[-np.inf], tau, [np.inf]])
        truth = {
            "latent_truth": u, "threshold": tau, "discrimination": beta * stretch, "severity": -alpha * stretch,
            "stretch": stretch, "model_slope": slope, "prevalence": chances(edges, mu * u, np.ones(1)).mean(axis=0),
        }  # fmt: skip
        for name, values in truth.items():
            for end, at in {"first": 0, "last": -1}.items():
                if values.size > 1 or at == 0:
                    ranks.setdefault(f"{name} {end}", []).append(int((drawn[name][:, at] < values[at]).sum()))
    for name, rank in ranks.items():
        calibration.uniform("dawid_skene, ordered", name, np.array(rank), DRAWS + 1)
