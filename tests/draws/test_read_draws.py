"""What is read from stored draws: every item in its place, in blocks, from all labels, the best ones or numbers."""

import numpy as np
import pytest
import xarray as xr

from bayesagree import Labels, dirichlet
from bayesagree._inference.checkpoint import Checkpoint
from bayesagree._inference.results import result_tree
from bayesagree._inference.storage import Store, Variable
from bayesagree.draws.blocks import Schedule
from bayesagree.draws.item_weights import ItemGroups
from bayesagree.draws.top_labels import number_draws, plausibility_block, point_estimate, stream_of, truth_draws
from bayesagree.errors import InputError

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
    return result_tree(groups, coords, model="m", engine="e", seed=1, settings={})


def flat(values):
    """Return draws (chain, draw, item, ...) as (item, sample, ...)."""
    return values.reshape(6, 130, *values.shape[3:]).swapaxes(0, 1)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kept", [False, True])
def test_best_labels_of_every_block(kept, depth):
    tree = stored(top_label=(["rank"], BEST[..., :3])) if kept else stored(plausibility=(["category"], SHARES))
    draws = truth_draws(tree, depth)
    blocks = list(stream_of(tree, draws, Schedule()).blocks)
    assert [(block.items.start, block.items.stop) for block in blocks] == [(0, 64), (64, 128), (128, 130)]
    np.testing.assert_array_equal(np.concatenate([b.top_label for b in blocks]), flat(BEST[..., :depth]))
    np.testing.assert_array_equal(np.concatenate([b.diagnostics for b in blocks]), WORST)
    assert (draws.chains, draws.draws, draws.labels.tolist()) == (2, 3, list("abcd"))


def test_all_plausibilities_of_a_block():
    tree = stored(plausibility=(["category"], SHARES))
    np.testing.assert_array_equal(plausibility_block(tree, slice(64, 128)), SHARES[:, :, 64:128])
    (_, block, _) = truth_draws(tree, 2, plausibility=True).blocks
    np.testing.assert_array_equal(block.plausibility, flat(SHARES)[64:128])


def test_sides_of_a_threshold_and_numbers_of_every_block():
    mean = SHARES[..., 0]
    draws = number_draws(stored(mean=([], mean), variance=([], SHARES[..., 1])), 0.25)
    first, *_, last = draws.blocks
    above = (flat(mean) >= 0.25).astype(int)
    np.testing.assert_array_equal(first.top_label, np.stack([above, 1 - above], axis=2)[:64])
    np.testing.assert_array_equal(last.number, flat(mean)[128:])
    np.testing.assert_array_equal(last.variance, flat(SHARES[..., 1])[128:])


def test_a_point_estimate_names_the_first_item_that_has_none():
    values = np.array([[0.2, 0.8], [np.nan, np.nan], [0.6, 0.4], [np.nan, np.nan]])
    estimate = xr.DataArray(values, {"item": list("wxyz"), "category": ["no", "yes"]}, ("item", "category"))
    with pytest.raises(InputError, match=r"item 'x' has no plausibility \(2 such items"):
        point_estimate(estimate)
    found = point_estimate(estimate[[0, 2]], np.array(["y", "w"]), np.array(["yes", "no"]))
    np.testing.assert_array_equal(found, [[0.4, 0.6], [0.8, 0.2]])


def test_a_result_numbers_chains_and_draws_unless_they_have_names():
    groups = {"posterior": {"phi": (("chain", "draw"), np.zeros((2, 3)))}, "raw": {"rate": (("item",), np.ones(2))}}
    how = {"model": "m", "engine": "e", "seed": 1, "settings": {"k": 2}}
    tree = result_tree(groups, {"draw": [4, 6, 9], "item": ["x", "y"]}, **how)
    assert (tree["posterior"]["draw"].values.tolist(), tree["posterior"]["chain"].values.tolist()) == (
        [4, 6, 9],
        [0, 1],
    )
    assert (list(tree["raw"].coords), tree.attrs["sampler"]) == (["item"], "e")


def test_a_result_on_disk_is_the_one_in_memory_also_when_it_is_asked_for_again(tmp_path):
    votes = Labels.from_counts(np.arange(1, 201).reshape(100, 2), labels=["no", "yes"])
    how = {"draws": 3, "chains": 2, "seed": 1}
    known = dirichlet(votes, **how)
    for _ in range(2):
        found = dirichlet(votes, **how, to=tmp_path / "kept.zarr")
        for group in ("posterior", "posterior_parameters"):
            xr.testing.assert_equal(found[group].to_dataset(), known[group].to_dataset())
        assert found.attrs["settings"] == known.attrs["settings"]
    assert [path.name for path in tmp_path.iterdir()] == ["kept.zarr"]


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"draws": 6}, "draws was 5 and is 6"), ({"chains": 3}, "chains was 2 and is 3"), ({"seed": 2}, "seed was 1"),
        ({"top_labels": 1}, "top_labels was None and is 1"), ({"reliability": 0.5}, "reliability was 1.0 and is 0.5"),
        ({"prior": 2.0}, "prior was None and is 2.0"), ({"labels": [[3, 1], [1, 3]]}, "annotations was "),
    ],
)  # fmt: skip
def test_a_store_of_other_arguments_is_another_run(tmp_path, changed, what):
    how = {"labels": [[3, 1], [1, 2]], "draws": 5, "chains": 2, "seed": 1, "to": tmp_path / "kept.zarr"}

    def kept(labels, **options):
        return dirichlet(Labels.from_counts(labels), **options)

    first = kept(**how)
    assert kept(**how).identical(first)
    with pytest.raises(InputError, match=f"belongs to another run \\({what}"):
        kept(**(how | changed))


def test_a_store_goes_on_after_the_blocks_that_are_done(tmp_path):
    def store():
        return Store(tmp_path / "kept.zarr", Checkpoint(tmp_path / "kept.zarr", {"draws": 3}, 1))

    variables = {"mean": Variable(("chain", "item"), (2, 130), np.float64)}
    assert store().begin(variables) == 0
    store().arrays(variables)["mean"][:, :64] = 7.0
    store().done(1)
    again = store()
    assert again.begin(variables) == 1
    assert (again.arrays(variables)["mean"][:, :64] == 7.0).all()


def test_groups_of_items_are_sorted_whichever_comes_first():
    groups = ItemGroups.of(["late", "early", "late"], np.arange(3), "by")
    assert groups.names.tolist() == ["early", "late"]
    assert groups.code.tolist() == [1, 0, 1]
