"""Draws kept block by block: what is done is what a run that goes on may leave out."""

import numpy as np

from bayesagree._inference.storage import KeptDraws, Variable


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
