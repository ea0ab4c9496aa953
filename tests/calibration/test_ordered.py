"""Simulation-based calibration of the ordered variant: parameters and truths drawn from its prior."""

import numpy as np
import pytest
from scipy.special import ndtr

from bayesagree import Labels, dawid_skene
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene._ordered import constant_annotators

ITEMS, PEOPLE, LABELS, DRAWS = 20, 4, 4, 39


@pytest.mark.parametrize(("n", "random_seed"), [(40, 1), pytest.param(1000, 2, marks=pytest.mark.slow)])
def test_ranks_of_the_truth_are_uniform(calibration, n, random_seed):
    """With three tenths of the labels missing, and gold in half of the worlds."""
    rng = np.random.default_rng(random_seed)
    ranks: dict[str, list[int]] = {}
    for _ in range(n):
        mu = -1.0
        while mu <= 0:
            mu = rng.normal(1, 1)
        alpha = np.sqrt(0.25 / rng.standard_gamma(2)) * rng.standard_normal(PEOPLE)
        beta = mu + np.sqrt(0.25 / rng.standard_gamma(2)) * rng.standard_normal(PEOPLE)
        stretch = np.sqrt(rng.standard_gamma(5, PEOPLE) / 5)
        tau, u = np.sort(1.5 * rng.standard_normal(LABELS - 1)), rng.standard_normal(ITEMS)
        z = alpha + beta * u[:, None] + rng.standard_normal((ITEMS, PEOPLE)) / stretch
        given = np.where(rng.random(z.shape) < 0.7, np.searchsorted(tau, z).astype(float), np.nan)
        gold = np.searchsorted(tau, mu * u[:5] + rng.standard_normal(5)).tolist() if rng.random() < 0.5 else []
        votes = Labels.from_matrix(given, labels=range(LABELS), ordered=True)
        codes = votes.item_index, votes.annotator_index, votes.label_index
        if (constant_annotators(Crowd.of(codes, (ITEMS, PEOPLE, LABELS))) >= 0).any():
            continue  # left out, by the data alone: the ranks of the other worlds stay uniform
        how = {"draws": DRAWS, "chains": 1, "tune": 300, "thin": 20, "random_seed": int(rng.integers(2**31))}
        drawn = dawid_skene(votes, variant="ordered", gold=dict(enumerate(gold)), **how)["posterior"].to_dataset()
        below = np.concatenate([np.zeros((ITEMS, 1)), ndtr(tau - mu * u[:, None]), np.ones((ITEMS, 1))], axis=1)
        truth = {
            "latent_truth": u, "threshold": tau, "discrimination": beta * stretch, "severity": -alpha * stretch,
            "stretch": stretch, "prevalence": np.diff(below, axis=1).mean(axis=0),
        }  # fmt: skip
        for name, values in truth.items():
            for end, at in {"first": 0, "last": -1}.items():
                if values.size > 1 or at == 0:
                    ranks.setdefault(f"{name} {end}", []).append(int((drawn[name].values[0, :, at] < values[at]).sum()))
    for name, rank in ranks.items():
        calibration.uniform("dawid_skene, ordered", name, np.array(rank), DRAWS + 1)
