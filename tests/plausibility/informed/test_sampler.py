"""Draws of the parameters against importance sampling in the plain twin, and what they do to the second moment."""

import json

import numpy as np
import pytest
from _paths import ROOT
from scipy.optimize import minimize

from bayesagree import Labels, Predictions
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.draws.convergence import diagnostics
from bayesagree.plausibility.informed import fit, sampler
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


def test_parameters_after_jumps_are_those_of_the_plain_twin(monkeypatch):
    monkeypatch.setattr(sampler, "THIN_OF_RETRIES", (1,))
    monkeypatch.setattr(sampler, "disagree", lambda drawn: True)
    check_against_the_twin(twin().parameters(500, 4, 2))


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


@pytest.mark.slow
def test_chains_agree_where_all_items_are_equally_hard():
    """Clear and open items exchange their parts there: former chains stayed in one of two modes in some sets."""
    apart = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, 300)

        def answers(accuracy, rng=rng, truth=truth):
            return np.where(rng.random(300) < accuracy, truth, (truth + rng.integers(1, 3, 300)) % 3)

        votes = sum(np.eye(3, dtype=int)[answers(0.8)] for _ in range(3))
        models = {f"model {a}": answers(a).astype(str) for a in (0.7, 0.8, 0.85)}
        labels = Labels.from_counts(votes, labels=["0", "1", "2"])
        drawn = InformedProblem.of(labels, Predictions.from_labels(models, labels=["0", "1", "2"])).parameters(
            100, 4, 7
        )
        apart += sampler.disagree(drawn)
    assert apart <= 1


def test_items_keep_the_agreement_of_their_voters():
    """E sum lambda^2 over draws is what pairs of votes estimate; a normal approximation exceeds it."""
    data = labelled_test_set(n_items=400, per_item=3, n_labels=3, spread=0.5, seed=5)
    posterior = InformedProblem.of(data.labels, data.predictions)
    counts = data.labels.counts()
    pairs = (counts * (counts - 1)).sum(axis=1) / 6
    thetas = posterior.parameters(50, 4, 1).reshape(200, -1)
    drawn = np.empty((400, 200, 3))
    dense, hit, _ = posterior.covariates
    plausibility_draws(np.random.default_rng(1), thetas, dense, hit, *posterior.votes, drawn)
    assert abs((drawn**2).sum(axis=2).mean() - pairs.mean()) < pairs.std() / np.sqrt(400)


def test_many_items_take_the_normal_approximation(monkeypatch):
    posterior = twin()
    monkeypatch.setattr(sampler, "MOST_ITEMS", 100)
    drawn = posterior.parameters(500, 4, 1)
    np.testing.assert_allclose(drawn.mean(axis=(0, 1)), posterior.fit.mode, atol=4 * posterior.fit.sd.max() / 2000**0.5)
    np.testing.assert_allclose(drawn.std(axis=(0, 1)), posterior.fit.sd, rtol=0.1)


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_a_line_search_that_overshoots_is_sent_back(direction, monkeypatch):
    """Of parameters beyond all reason shapes are 0 or infinite, and their kernel ends in an error."""
    expected = twin().fit

    def overshooting(loss, start, **options):
        far = np.full(start.size, direction * 1e4)
        height, slope = loss(start + far)
        assert height > loss(start)[0]
        assert slope @ far > 0  # back is downhill
        return minimize(loss, start, **options)

    monkeypatch.setattr(fit.sp.optimize, "minimize", overshooting)
    np.testing.assert_array_equal(twin().fit.mode, expected.mode)
