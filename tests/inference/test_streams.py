"""Random streams and blocks: what must differ does, and threads change neither results nor warnings."""

from pathlib import Path
from threading import get_ident
from types import SimpleNamespace

import numpy as np
import pytest

from bayesagree.errors import InputError, warn
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


def workers(threads):
    """Return a client whose workers are this process, and the numbers of blocks of its tasks."""
    sizes = []

    def submit(function, *given, pure):
        sizes.extend(len(batch) for batch in given[1:])
        value = function(*(one.result() if hasattr(one, "result") else one for one in given))
        return SimpleNamespace(result=lambda: value)

    return SimpleNamespace(submit=submit, nthreads=lambda: threads, replicate=lambda shared: None), sizes


def test_blocks_on_a_cluster_come_in_order_with_their_warnings():
    client, sizes = workers({"one": 1, "two": 2})
    with pytest.warns(UserWarning, match="within|again") as found:
        assert list(map_blocks(noted, list(range(40)), client)) == list(range(40))
    words = [f"{k} {word}" for k in range(40) for word in ("within", "again")]
    assert [str(one.message) for one in found] == words
    # Two tasks of one block for each thread, later as many blocks as keep it busy for a while.
    assert sizes[:6] == [1] * 6
    assert sum(sizes) == 40
    assert len(sizes) < 40


def test_a_client_without_workers_is_refused():
    with pytest.raises(InputError, match="has no workers; start some"):
        next(map_blocks(noted, [1], workers({})[0]))
    with pytest.raises(InputError, match="client='scheduler:8786' is not a Dask client"):
        next(map_blocks(noted, [1], "scheduler:8786"))
    half = SimpleNamespace(submit=None)
    with pytest.raises(InputError, match="is not a Dask client"):
        next(map_blocks(noted, [1], half))


def test_a_generator_gives_a_new_seed_each_time():
    rng = np.random.default_rng(1)
    first, second = (seed_sequence(rng) for _ in range(2))
    assert first.generate_state(1) != second.generate_state(1)
    assert seed_sequence(np.random.default_rng(1)).generate_state(1) == first.generate_state(1)
    assert max(first.entropy) >= 2**20  # whole words
    assert seed_sequence(0).entropy == 0
    with pytest.raises(InputError, match="random_seed=-1 must be a whole number of at least 0"):
        seed_sequence(-1)
