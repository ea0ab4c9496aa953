"""Blocks that are handed to threads and workers together."""

from pathlib import Path
from threading import get_ident

import pytest

from bayesagree._inference.streams import MOST_AT_ONCE, map_blocks, next_batch
from bayesagree.errors import warn


@pytest.mark.parametrize(
    ("seconds", "size"), [(0.0, MOST_AT_ONCE), (0.001, MOST_AT_ONCE), (0.004, 25), (0.09, 1), (0.1, 1), (7.0, 1)]
)
def test_a_batch_takes_about_as_long_as_it_should(seconds, size):
    assert next_batch(iter(range(1000)), seconds, at_once=0.1) == list(range(size))


def test_the_last_batch_has_what_is_left():
    waiting = iter(range(3))
    assert next_batch(waiting, 0.0, at_once=0.1) == [0, 1, 2]
    assert next_batch(waiting, 0.0, at_once=0.1) == []


@pytest.mark.parametrize("n", [0, 1, 2, 5, 1000])
def test_results_come_in_order_and_none_is_lost(n):
    assert list(map_blocks(lambda block: block**2, list(range(n)))) == [block**2 for block in range(n)]


def noted(block):
    list(map_blocks(warn, [f"{block} within", f"{block} again"]))
    return block


@pytest.mark.parametrize("threads", [1, 2])
def test_warnings_in_threads_name_the_line_that_asked_for_the_blocks(threads, monkeypatch):
    monkeypatch.setattr("bayesagree._inference.streams.n_threads", lambda: threads)
    with pytest.warns(UserWarning, match="within|again") as found:
        assert list(map_blocks(noted, [1, 2, 3])) == [1, 2, 3]
    assert [str(one.message) for one in found] == [f"{k} {word}" for k in (1, 2, 3) for word in ("within", "again")]
    assert {Path(one.filename).name for one in found} == {Path(__file__).name}


@pytest.mark.parametrize(("outer", "own"), [(1, True), (2, True), (3, False)])
def test_busy_threads_start_no_others(monkeypatch, outer, own):
    """Three processors: inner blocks have threads of their own where the outer ones leave a processor idle."""
    monkeypatch.setattr("bayesagree._inference.streams.n_threads", lambda: 3)
    found = list(map_blocks(lambda _: (get_ident(), set(map_blocks(lambda _: get_ident(), [0, 1]))), [0] * outer))
    assert [where not in inside for where, inside in found] == [own] * outer
