"""What is read from stored draws: every item in its place, in blocks, from all labels, the best ones or numbers."""

import numpy as np
import pytest
import xarray as xr

from bayesagree import InputError, Labels, Predictions, evaluate
from bayesagree.inference.results import result_tree
from bayesagree.inference.top_labels import number_draws, plausibility_draws, point_estimate, truth_draws

SHARES = np.random.default_rng(1).dirichlet(np.ones(4), size=(2, 3, 130))
BEST = np.argsort(-SHARES, axis=-1)
WORST = np.random.default_rng(2).random((130, 2))


def stored(**variables):
    """Return a result with these variables of the posterior, with the diagnostics and the names of 130 items."""
    coords = {"item": np.arange(130), "category": list("abcd"), "rank": [1, 2, 3]}
    groups = {
        "posterior": {name: (("chain", "draw", "item", *dims), values) for name, (dims, values) in variables.items()},
        "diagnostics": {"r_hat": (("item",), WORST[:, 0]), "ess": (("item",), WORST[:, 1])},
        "constant_data": {"named": (("item", "category"), np.ones((130, 4)))},
    }
    return result_tree(groups, coords, model="m", engine="e", random_seed=1, settings={})


def flat(values):
    """Return draws (chain, draw, item, ...) as (item, sample, ...)."""
    return values.reshape(6, 130, *values.shape[3:]).swapaxes(0, 1)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kept", [False, True])
def test_best_labels_of_every_block(kept, depth):
    tree = stored(top_label=(["rank"], BEST[..., :3])) if kept else stored(plausibility=(["category"], SHARES))
    draws = truth_draws(tree, depth)
    blocks = list(draws.blocks)
    assert [(block.items.start, block.items.stop) for block in blocks] == [(0, 64), (64, 128), (128, 130)]
    np.testing.assert_array_equal(np.concatenate([b.top_label for b in blocks]), flat(BEST[..., :depth]))
    np.testing.assert_array_equal(np.concatenate([b.diagnostics for b in blocks]), WORST)
    assert (draws.chains, draws.draws, draws.labels.tolist()) == (2, 3, list("abcd"))


def test_all_plausibilities_of_a_block():
    tree = stored(plausibility=(["category"], SHARES))
    np.testing.assert_array_equal(plausibility_draws(tree, slice(64, 128)), SHARES[:, :, 64:128])
    (_, block, _) = truth_draws(tree, 2, plausibility=True).blocks
    np.testing.assert_array_equal(block.plausibility, flat(SHARES)[64:128])


def test_sides_of_a_threshold_and_numbers_of_every_block():
    mean = SHARES[..., 0].copy()
    mean[0, 1, 3] = 0.25  # a mean at the threshold is not below it
    draws = number_draws(stored(mean=([], mean), variance=([], SHARES[..., 1])), 0.25)
    first, *_, last = draws.blocks
    above = (flat(mean) >= 0.25).astype(int)
    np.testing.assert_array_equal(first.top_label, np.stack([above, 1 - above], axis=2)[:64])
    np.testing.assert_array_equal(last.mean, flat(mean)[128:])
    np.testing.assert_array_equal(last.variance, flat(SHARES[..., 1])[128:])


def test_a_point_estimate_names_the_first_item_that_has_none():
    values = np.array([[0.2, 0.8], [np.nan, np.nan], [0.6, 0.4], [np.nan, np.nan]])
    estimate = xr.DataArray(values, {"item": list("wxyz"), "category": ["no", "yes"]}, ("item", "category"))
    with pytest.raises(InputError, match=r"item 'x' has no plausibility \(2 such items"):
        point_estimate(estimate)
    np.testing.assert_array_equal(point_estimate(estimate[[0, 2]].T), [[0.2, 0.8], [0.6, 0.4]])


def test_a_trace_of_ones_own_has_names_in_any_order_and_item_means():
    """Items in another order were refused, dims without names ended in an error of xarray, item_mean was not read."""
    votes = Labels.from_counts(np.ones((130, 4), int), labels=list("abcd"))
    models = Predictions.from_labels({"A": ["a"] * 130}, labels=list("abcd"))
    tree, turned = stored(plausibility=(["category"], SHARES)), np.arange(130)[::-1]
    first = evaluate(votes, models, plausibility=tree)["posterior"]["accuracy"]
    xr.testing.assert_allclose(
        first, evaluate(votes, models, plausibility=tree.isel(item=turned))["posterior"]["accuracy"]
    )
    own = tree["posterior"].sizes["draw"]
    evaluate(votes, models, plausibility=tree, draws=own)
    with pytest.raises(InputError, match=f"draws={own + 1} is not used: the trace has {own} draws; leave it out"):
        evaluate(votes, models, plausibility=tree, draws=own + 1)
    unnamed = xr.DataArray(SHARES, dims=("chain", "draw", "dim_0", "dim_1"), name="plausibility").to_dataset()
    with pytest.raises(InputError, match=r"has the dims chain, draw, dim_0, dim_1; name them.*item and cat"):
        evaluate(votes, models, plausibility=xr.DataTree.from_dict({"posterior": unnamed}))
    (first, *_) = number_draws(stored(item_mean=([], SHARES[..., 0]))).blocks
    np.testing.assert_array_equal(first.mean, flat(SHARES[..., 0])[:64])
