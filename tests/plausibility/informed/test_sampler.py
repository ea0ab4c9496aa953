"""Draws of the parameters against importance sampling in the plain twin, and what they do to the second moment."""

import json

import numpy as np
import pytest
from _paths import ROOT

from bayesagree import Labels, Predictions
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.inference.convergence import diagnostics
from bayesagree.plausibility.informed import sampler
from bayesagree.plausibility.informed._draw_kernels import plausibility_draws
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.prior import SHAPE_NAMES

MODEL = json.loads((ROOT / "models" / "informed_dirichlet.json").read_text())


def twin():
    labels = Labels.from_counts(MODEL["data"]["counts"])
    models = Predictions.from_scores({"A": MODEL["data"]["probability"]}, probabilities=True)
    return InformedProblem.of(labels, models)


@pytest.mark.parametrize("labels_on_a_line", [100, 0])
def test_parameters_are_those_of_the_plain_twin(labels_on_a_line, monkeypatch):
    monkeypatch.setattr(sampler, "MANY_LABELS", labels_on_a_line)
    check_against_the_twin(twin().parameters(500, 4, 1))


def check_against_the_twin(drawn):
    known = MODEL["posterior"]
    r_hat, ess = diagnostics(drawn)
    assert r_hat.max() < 1.05
    columns = ("slope", "level", "clarity", "confusion", *SHAPE_NAMES)
    mean, sd, error = (
        np.concatenate([np.ravel(known[name][key]) for name in columns]) for key in ("mean", "sd", "error")
    )
    # 17 standard normal differences: below 4 but once in a thousand runs. Both have a Monte-Carlo error.
    z = (drawn.mean(axis=(0, 1)) - mean) / np.sqrt(sd**2 / ess + error**2)
    assert np.abs(z).max() < 4
    np.testing.assert_allclose(drawn.std(axis=(0, 1)), sd, rtol=0.2)


def test_items_keep_the_agreement_of_their_voters():
    """E sum lambda^2 over draws is what pairs of votes estimate; a normal approximation exceeds it."""
    data = labelled_test_set(n_items=400, per_item=3, n_labels=3, spread=0.5, random_seed=5)
    posterior = InformedProblem.of(data.labels, data.predictions)
    counts = data.labels.counts()
    pairs = (counts * (counts - 1)).sum(axis=1) / 6
    thetas = posterior.parameters(50, 4, 1).reshape(200, -1)
    drawn = np.empty((400, 200, 3))
    dense, hit, _ = posterior.covariates
    plausibility_draws(np.random.default_rng(1), thetas, dense, hit, *posterior.votes, drawn)
    assert abs((drawn**2).sum(axis=2).mean() - pairs.mean()) < pairs.std() / np.sqrt(400)
