"""Draws kept block by block: what is done is what a run that goes on may leave out."""

import numpy as np
import pytest
import xarray as xr

from bayesagree import Labels, dirichlet
from bayesagree._inference.checkpoint import Checkpoint
from bayesagree._inference.results import seed_of
from bayesagree._inference.storage import KeptDraws, Variable
from bayesagree.errors import InputError


class Shelf:
    """A store in memory that notes how many blocks are done."""

    def __init__(self):
        self.noted = []

    def begin(self, variables):
        return 0

    def arrays(self, variables):
        return {name: np.zeros(v.shape, v.dtype) for name, v in variables.items()}

    def done(self, blocks):
        self.noted.append(blocks)


def test_a_block_is_done_when_it_is_kept_and_not_before():
    shelf = Shelf()
    kept = KeptDraws({"r_hat": Variable(("item",), (150,), np.float64, "diagnostics")}, shelf)
    for items in (slice(0, 64), slice(64, 128), slice(128, 150)):
        kept.put(items, {"r_hat": np.ones(items.stop - items.start)})
    assert shelf.noted == [1, 2, 3]


def test_a_state_that_must_be_written_is_and_belongs_to_one_run(tmp_path):
    run = Checkpoint(tmp_path / "result.nc", {"reliability": 1}, 3)
    run.save({"blocks": 0}, now=True)
    run.save({"blocks": 1}, now=True)  # at once, though a moment ago one was written
    assert run.load()["blocks"] == 1
    other = Checkpoint(tmp_path / "result.nc", {"reliability": 2}, 3)
    with pytest.raises(InputError, match="reliability was 1 and is 2"):
        other.load()


def test_a_result_without_a_seed_was_drawn_with_number_zero():
    assert seed_of(xr.DataTree()) == 0
    assert seed_of(dirichlet(Labels.from_counts([[2, 1]]), draws=3, seed=7)) == 7
