"""Chains that disagree are named; models left out choose the posterior."""

import warnings

import numpy as np
import pytest

from bayesagree import Labels, Predictions, evaluate
from bayesagree.inference.results import settings_of
from bayesagree.plausibility.informed.frame import warn_of_chains


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
    found = evaluate(labels, models, exclude="B", draws=10, chains=1, random_seed=1)
    assert settings_of(found)["left_out"] == ["B"]


@pytest.mark.parametrize("votes", [3, 4, 5])
def test_scores_by_class_are_named_where_votes_are_few(votes, recwarn):
    rng = np.random.default_rng(8)
    truth = rng.dirichlet(np.full(3, 0.7), 40)
    models = Predictions.from_labels({"A": truth.argmax(axis=1)}, labels=range(3))
    asked = {"plausibility": "informed_dirichlet", "exclude": [], "draws": 10, "chains": 1, "random_seed": 1}
    labels = Labels.from_counts(rng.multinomial(votes, truth))
    for metrics, few in (("balanced_accuracy", votes < 5), ("accuracy", False)):
        recwarn.clear()
        warnings.simplefilter("always")
        evaluate(labels, models, metrics=metrics, **asked)
        said = [str(one.message) for one in recwarn]
        named = f"'{metrics}' depends on the share of items of each class"
        assert any(text.startswith(named) for text in said) is few
