"""Compressed statistics of continuous ratings have the log evidence of all items."""

import numpy as np
import pytest

from bayesagree import simulate
from bayesagree.agreement._exact.problem import prepare
from bayesagree.annotations import Ratings


def evidence_of_few_and_of_all(means, precision):
    """The log evidence on compressed patterns and on all of them, from grids of (m, s) that start at the same place."""
    few = means.log_evidence(precision, 0)
    means.compressed[0] = means.like
    everything = means.log_evidence(precision, 0)
    del means.compressed[0]
    return few, everything


@pytest.mark.parametrize("item_mean", ["flat", "hierarchical"])
@pytest.mark.parametrize("phi", [-0.3, 0.4, 0.8])
def test_few_weighted_patterns_stand_for_many_continuous_items(item_mean, phi):
    """Items with ratings inside the scale, near its ends and on them: the log evidence of every item, added up."""
    given = simulate.ratings(n_items=1500, ratings_per_item=4, phi=phi, n_levels=None, seed=4).ratings
    on_ends = np.where(given.unit() < 0.01, 0.0, given.unit()).reshape(1500, 4)
    on_ends[500:] = given.unit().reshape(1500, 4)[500:]
    means = prepare(Ratings.from_matrix(on_ends, scale=(0, 1)), item_mean=item_mean).means
    assert means.compressed[0].weight.size < 0.6 * means.like.weight.size
    for precision in (0.5, 3.0, 20.0):
        few, everything = evidence_of_few_and_of_all(means, precision)
        assert few == pytest.approx(everything, abs=1e-6)


@pytest.mark.parametrize("truth_sd", [0.1, 0.02, 0.002])
def test_truths_that_contradict_continuous_ratings(truth_sd):
    """Evidence of exp(-thousands) an item, and a rating of 0 beside others: finite, and the sum over all items."""
    rng = np.random.default_rng(1)
    x = rng.beta(2, 2, (400, 4))
    x[:, 0] = 0.0
    truths = dict(enumerate(rng.choice([0.0, 0.3, 1.0], 400)))
    means = prepare(Ratings.from_matrix(x, scale=(0, 1)), item_mean=truths, truth_sd=truth_sd).means
    assert means.compressed[0].weight.size < 400
    for precision in (0.5, 4.0):
        few, everything = evidence_of_few_and_of_all(means, precision)
        assert few == pytest.approx(everything, rel=1e-9)


def test_one_rating_of_1e_124_does_not_blur_the_other_items():
    """The nodes on which continuous items are compressed stay where the items are."""
    rng = np.random.default_rng(3)
    mean = rng.beta(2, 2, (300, 1))
    ratings = rng.beta(2.5 * mean, 2.5 * (1 - mean), (300, 5)).clip(1e-9, 1 - 1e-9)
    ratings[0, 0] = 1e-124
    means = prepare(Ratings.from_matrix(ratings, scale=(0, 1))).means
    coarse, fine = (means.log_evidence(3.0, level) for level in (0, 3))
    assert abs(coarse - fine) < 1e-4
