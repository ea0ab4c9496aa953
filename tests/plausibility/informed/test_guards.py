"""Held-out votes say whether predictions help; chains that disagree are named; models left out choose the posterior."""

import numpy as np
import pytest

from bayesagree import Labels, Predictions, evaluate, informed_dirichlet
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.inference.results import settings_of
from bayesagree.plausibility.informed.guards import warn_of_chains


def test_held_out_votes_say_whether_predictions_help():
    data = labelled_test_set(n_items=400, per_item=3, n_labels=3, spread=0.5, random_seed=1)
    rng = np.random.default_rng(1)
    noise = Predictions.from_scores({"A": rng.normal(size=(400, 3))})
    asked = {"draws": 10, "chains": 1, "random_seed": 1}
    helped = informed_dirichlet(data.labels, data.predictions, **asked)["diagnostics"]["held_out_log_score"]
    useless = informed_dirichlet(data.labels, noise, **asked)["diagnostics"]["held_out_log_score"]
    assert float(helped.sel(prior="informed") - helped.sel(prior="labels_alone")) > 0.03
    assert abs(float(useless.sel(prior="informed") - useless.sel(prior="labels_alone"))) < 0.02
    np.testing.assert_allclose(helped.sel(prior="labels_alone"), useless.sel(prior="labels_alone"), atol=1e-6)


def test_chains_that_disagree_are_named_and_short_ones_are_not():
    draws = np.random.default_rng(1).normal(size=(4, 100, 3))
    warn_of_chains(np.array(list("abc")), draws)
    draws[0, :, 1] += 3
    with pytest.warns(UserWarning, match="chains of 1 of 3 parameters disagree .*'b'; raise draws="):
        warn_of_chains(np.array(list("abc")), draws)
    warn_of_chains(np.array(list("abc")), draws[:, :50])
    warn_of_chains(np.array(list("abc")), draws[:1])


def test_models_to_leave_out_choose_the_posterior_that_learns_from_the_others():
    rng = np.random.default_rng(7)
    truth = rng.dirichlet(np.full(3, 0.7), 10)
    labels = Labels.from_counts(rng.multinomial(3, truth))
    models = Predictions.from_scores({"A": truth, "B": truth[:, ::-1]})
    assert evaluate(labels, models, draws=10, chains=1, random_seed=1).attrs["model"] == "dirichlet"
    found = evaluate(labels, models, exclude="B", draws=10, chains=1, random_seed=1)
    assert settings_of(found)["left_out"] == ["B"]
