"""What the tests of the command line share."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bayesagree.cli import _output


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float | None, float]]:
    """Record every progress bar of a command: its length, and how far it came."""
    found = []

    @contextmanager
    def progress(what: str, total: float | None) -> Iterator[object]:
        done = []
        yield lambda n=1: done.append(n)
        found.append((total, sum(done)))

    monkeypatch.setattr(_output, "progress", progress)
    return found
