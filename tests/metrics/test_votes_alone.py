"""The range of an accuracy that votes leave: by hand with two labels and two votes, and as votes grow."""

import numpy as np
import pytest
import xarray as xr
from scipy.optimize import linprog

from bayesagree import InputError, Labels, Predictions, dirichlet, simulate
from bayesagree.metrics import identified_accuracy
from bayesagree.metrics.votes_alone import _matched, _patterns


def posterior(plausibility):
    """A posterior of given draws (chain, draw, item, category)."""
    tree = dirichlet(Labels.from_counts(np.ones(plausibility.shape[2:], int)), draws=1, chains=1, seed=1)
    dims = ("chain", "draw", "item", "category")
    coords = {"item": tree["posterior"]["item"].values, "category": tree["posterior"]["category"].values}
    return xr.DataTree.from_dict({"posterior": xr.Dataset({"plausibility": (dims, plausibility)}, coords)})


@pytest.fixture(scope="module")
def halves():
    """Of two labels: half the items .9, half .3 for the first one, which the model always says."""
    share = np.repeat([0.9, 0.3], 50)
    truth = posterior(np.broadcast_to(np.stack([share, 1 - share], axis=1), (1, 40, 100, 2)))
    return truth, Predictions.from_labels({"A": [0] * 100}, labels=[0, 1])


def lattice_range(moments, size=2001):
    """Bounds of Pr(share > 1/2) given the moments of a distribution on [0, 1]: the oracle, on a fine lattice."""
    at = np.linspace(0, 1, size)
    rows = np.stack([at**p for p in range(len(moments))])
    on_top = (at >= 0.5).astype(float)  # the first of two equal labels is on top
    ends = [linprog(s * on_top, A_eq=rows, b_eq=moments, bounds=(0, None)).fun * s for s in (1, -1)]
    return np.array(ends)


@pytest.mark.parametrize("votes", [1, 2, 3])
def test_two_labels_have_the_range_of_their_moments(halves, votes):
    found = identified_accuracy(*halves, votes=votes, seed=1)
    moments = [np.mean([0.9**p, 0.3**p]) for p in range(votes + 1)]
    expected = lattice_range(moments)
    # A thousand of the items are drawn: .016 of a half are ten times what moves the ends.
    np.testing.assert_allclose([found["lower"].item(), found["upper"].item()], expected, atol=0.03)
    assert found["accuracy"].item() == 0.5
    assert found.attrs["votes"] == votes


@pytest.mark.long
def test_more_votes_narrow_the_range_and_it_holds_the_posterior():
    given = simulate.labelled_test_set(n_items=80, n_labels=3, per_item=4, seed=1)
    truth = dirichlet(given.labels, draws=50, seed=1)
    found = [identified_accuracy(truth, given.predictions, votes=k, seed=2) for k in (1, 4)]
    width = np.stack([(one["upper"] - one["lower"]).values for one in found])
    assert (np.diff(width, axis=0) < 0).all()
    for one in found:
        assert ((one["lower"] - 0.03 < one["accuracy"]) & (one["accuracy"] < one["upper"] + 0.03)).all()
    again = identified_accuracy(truth, given.predictions, votes=4, seed=2)
    xr.testing.assert_identical(again, found[1])


def test_items_without_a_prediction_are_wrong_in_every_distribution(halves):
    truth, _ = halves
    silent = Predictions.from_labels({"A": [0] * 50 + [None] * 50}, labels=[0, 1])
    found = identified_accuracy(truth, silent, votes=30, seed=1)
    assert found["upper"].item() <= 0.5 + 1e-6  # the tolerance of the linear programme
    assert found["accuracy"].item() == 0.5


def test_patterns_are_all_counts_and_many_labels_match_fewer_votes():
    patterns = _patterns(3, 4)
    assert len(patterns) == len({tuple(p) for p in patterns.tolist()}) == 20
    assert (patterns.sum(axis=1) == 3).all()
    assert (_matched(10, 3), _matched(10, 10), _matched(3, 419)) == (10, 5, 1)


def test_a_point_estimate_has_no_distribution(halves):
    truth, models = halves
    with pytest.raises(InputError, match="pass a posterior of plausibilities"):
        identified_accuracy(truth["posterior"]["plausibility"].mean(("chain", "draw")), models, votes=3)
    with pytest.raises(InputError, match="votes"):
        identified_accuracy(truth, models, votes=0)
