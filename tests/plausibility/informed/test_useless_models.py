"""Predictions that say nothing change nothing: what is left is the empirical Bayes answer of the labels alone."""

import numpy as np
import pytest
from scipy.special import softmax

from bayesagree import Predictions, informed_dirichlet, score
from bayesagree.datasets.simulate import labelled_test_set

DRAWS = {"draws": 250, "chains": 4, "random_seed": 1}


@pytest.fixture(scope="module")
def test_set():
    data = labelled_test_set(n_items=600, per_item=3, n_labels=3, spread=0.5, random_seed=3)
    models = data.predictions
    return data.labels, named(dict(zip(models.models, softmax(models.scores, axis=2))), models)


def named(models, like):
    return Predictions.from_scores(models, items=like.items, labels=like.categories)


def scores(labels, predictions, scored, **options):
    tree = informed_dirichlet(labels, predictions, **DRAWS, **options)
    return [score(tree, scored, name).stack(sample=("chain", "draw")) for name in ("accuracy", "total_variation")]


@pytest.mark.long
def test_permuted_predictions_are_as_good_as_none(test_set):
    labels, models = test_set
    order = np.random.default_rng(1).permutation(models.items.size)
    permuted = named(dict(zip(models.models, models.scores[:, order])), models)
    given = scores(labels, permuted, models)
    nothing = scores(labels, permuted, models, exclude=list(models.models))
    for one, other in zip(given, nothing):
        # Slopes of noise are not exactly zero: they count with their own uncertainty, which is in the draws.
        assert (np.abs(one.mean("sample") - other.mean("sample")) < 0.5 * other.std("sample")).all()
