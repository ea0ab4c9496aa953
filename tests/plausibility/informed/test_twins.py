"""`informed_dirichlet` against its plain twin and its PyMC twin."""

import json

import numpy as np
import pytest
from _paths import ROOT

from bayesagree import Labels, Predictions, informed_dirichlet, score
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.inference.nuts import sample_nuts
from bayesagree.plausibility.informed.posterior import InformedDirichlet

MODEL = json.loads((ROOT / "models" / "informed_dirichlet.json").read_text())


def test_reference_posterior():
    labels = Labels.from_counts(MODEL["data"]["counts"])
    models = Predictions.from_scores({"A": MODEL["data"]["probability"]}, probabilities=True)
    tree = informed_dirichlet(labels, models, random_seed=1)
    known = MODEL["posterior"]
    mean = tree["posterior"]["plausibility"].mean(("chain", "draw")).values
    # 500 draws of the parameters and 4000 of the items: a standard error of .008 at most.
    np.testing.assert_allclose(mean, known["plausibility"]["mean"], atol=0.035)
    assert abs((mean - known["plausibility"]["mean"])[:, 0].mean()) < 0.01
    estimate = dict(
        zip(tree["posterior_parameters"]["parameter"].values, tree["posterior_parameters"]["estimate"].values)
    )
    for name in ("open_concentration", "clear_odds"):
        assert abs(estimate[name] - known[name]["mean"]) < 1.5 * known[name]["sd"]
    slopes = [estimate[name] for name in ("log_probability:A", "probability:A", "top_label:A", "share")]
    np.testing.assert_array_less(np.abs(np.subtract(slopes, known["slope"]["mean"])), known["slope"]["sd"])


@pytest.mark.slow
@pytest.mark.nuts
def test_nuts_is_the_same_posterior():
    data = labelled_test_set(n_items=60, per_item=4, n_labels=3, spread=0.5, noise=(1.5,), random_seed=4)
    asked = {"draws": 1000, "chains": 4, "random_seed": 1}
    sampler = {"tune": 1000, "target_accept": 0.95}
    nuts = sample_nuts(InformedDirichlet(data.predictions).model(data.labels), sampler=sampler, **asked)
    fast = informed_dirichlet(data.labels, data.predictions, **asked)
    means = [t["posterior"]["plausibility"].mean(("chain", "draw")).values for t in (nuts, fast)]
    assert np.abs(means[0] - means[1]).max() < 0.06
    assert np.abs(means[0] - means[1]).mean() < 0.015
    scores = [score(t, data.predictions, "accuracy") for t in (nuts, fast)]
    assert abs(float(scores[0].mean() - scores[1].mean())) < float(scores[0].std())
