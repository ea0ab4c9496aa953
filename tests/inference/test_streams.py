"""Random streams and blocks: what must differ does, and threads change neither results nor warnings."""

from pathlib import Path
from threading import get_ident

import numpy as np
import pytest

from bayesagree.errors import warn
from bayesagree.inference.streams import PURPOSES, block_generator, map_blocks, seed_sequence, stream_apart


def test_no_two_streams_of_a_seed_coincide():
    root = seed_sequence(7)
    apart = [np.random.Generator(np.random.SFC64(stream_apart(7, purpose))) for purpose in PURPOSES]
    blocks = [block_generator(root, k) for k in range(100)]
    children = [block_generator(stream_apart(7, purpose), 0) for purpose in PURPOSES]
    first = [rng.integers(2**63) for rng in [*apart, *blocks, *children]]
    assert len(set(first)) == len(first)
    again = np.random.Generator(np.random.SFC64(stream_apart(root, PURPOSES[0])))
    assert again.integers(2**63) == first[0]


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_results_come_in_order_and_none_is_lost(n):
    assert list(map_blocks(lambda block: block**2, list(range(n)))) == [block**2 for block in range(n)]


def noted(block):
    list(map_blocks(warn, [f"{block} within", f"{block} again"]))
    return block


@pytest.mark.parametrize("threads", [1, 2])
def test_warnings_in_threads_name_the_line_that_asked_for_the_blocks(threads, monkeypatch):
    monkeypatch.setattr("bayesagree.inference.streams.n_threads", lambda: threads)
    with pytest.warns(UserWarning, match="within|again") as found:
        assert list(map_blocks(noted, [1, 2, 3])) == [1, 2, 3]
    assert [str(one.message) for one in found] == [f"{k} {word}" for k in (1, 2, 3) for word in ("within", "again")]
    assert {Path(one.filename).name for one in found} == {Path(__file__).name}


@pytest.mark.parametrize(("outer", "own"), [(2, True), (3, False)])
def test_busy_threads_start_no_others(monkeypatch, outer, own):
    """Three processors: inner blocks have threads of their own where the outer ones leave a processor idle."""
    monkeypatch.setattr("bayesagree.inference.streams.n_threads", lambda: 3)
    found = list(map_blocks(lambda _: (get_ident(), set(map_blocks(lambda _: get_ident(), [0, 1]))), [0] * outer))
    assert [where not in inside for where, inside in found] == [own] * outer
