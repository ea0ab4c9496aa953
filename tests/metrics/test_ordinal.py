"""Metrics of labels with an order: each draw by scikit-learn, the distribution over draws and truths by brute force."""

import itertools

import numpy as np
import pytest
import xarray as xr
from sklearn import metrics as sk

from bayesagree import InputError, Labels, Predictions, dirichlet, evaluate, score
from bayesagree.metrics._records import distances

RNG = np.random.default_rng(9)
VOTES = Labels.from_matrix(RNG.integers(0, 5, (70, 3)), labels=range(5), ordered=True)  # two blocks of items
MODELS = Predictions.from_labels({"A": RNG.integers(0, 5, 70), "B": VOTES.label_index[::3]}, labels=range(5))
PLAIN = {
    "ordinal_mae": sk.mean_absolute_error,
    "within_one_accuracy": lambda truth, given: (np.abs(truth - given) < 1.5).mean(),
    "quadratic_kappa": lambda truth, given: sk.cohen_kappa_score(truth, given, weights="quadratic"),
}
EACH = pytest.mark.parametrize("name", PLAIN)


@EACH
def test_every_draw_equals_the_plain_function(name):
    posterior = dirichlet(VOTES, draws=5, chains=2, seed=1)
    truths = posterior["posterior"]["plausibility"].values.argmax(axis=-1).reshape(10, 70)
    expected = [[PLAIN[name](truth, given) for given in MODELS.hard_labels()] for truth in truths]
    np.testing.assert_allclose(score(posterior, MODELS, name).values.reshape(10, 2), expected, atol=1e-10)
    tree = evaluate(VOTES, MODELS, plausibility="dirichlet", metrics=[name], draws=5, chains=2, seed=1)
    np.testing.assert_allclose(tree["posterior"][name].values.reshape(10, 2), expected, atol=1e-6)


@EACH
def test_a_sampled_truth_is_one_of_all_truths(name):
    """The score of draws of the truth has the mean over all 3^4 truths, each weighed by its probability."""
    share, given = RNG.dirichlet(np.ones(3), 4), np.array([0, 2, 1, 1])
    truth = xr.DataArray(share, {"item": range(4), "category": range(3)}, ("item", "category"))
    posterior = truth.expand_dims(chain=4, draw=5000)
    posterior = xr.DataTree.from_dict({"posterior": xr.Dataset({"plausibility": posterior})})
    found = score(posterior, Predictions.from_labels({"A": given}, labels=range(3)), name, truth_is="sampled", seed=1)
    truths = np.array(list(itertools.product(range(3), repeat=4)))
    values, weight = np.array([PLAIN[name](t, given) for t in truths]), share[np.arange(4), truths].prod(axis=1)
    sd = np.sqrt(weight @ (values - weight @ values) ** 2)
    assert abs(found.values.mean() - weight @ values) < 4.5 * sd / np.sqrt(found.size)


@EACH
def test_labels_without_an_order_are_refused(name):
    with pytest.raises(InputError, match="order"):
        evaluate(Labels.from_matrix([["a", "b"], ["b", "c"]]),
                 Predictions.from_labels({"A": ["a", "b"]}, labels=["a", "b", "c"]), metrics=[name])  # fmt: skip


def test_no_label_is_as_far_as_the_farthest():
    assert distances(np.array([[-1, 0, 3]]), None, 4).tolist() == [[[3, 2, 2, 3], [0, 1, 2, 3], [3, 2, 1, 0]]]
