"""The benchmarks' one command: a run that is stopped ends its processes and leaves every page as it was."""

import os
import signal
import subprocess
import sys
import time

import pytest
from _paths import ROOT

pytestmark = pytest.mark.long
RESULTS = ROOT / "benchmarks" / "results"


def pages() -> dict[str, bytes]:
    return {page.name: page.read_bytes() for page in RESULTS.iterdir()}


def group_ends(leader: int) -> bool:
    """Wait for every process of a group to end: Python's own keeper of shared resources goes last."""
    for _ in range(100):
        try:
            os.killpg(leader, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(("number", "page"), [(signal.SIGINT, []), (signal.SIGTERM, ["scaling"])])
def test_a_stopped_run_leaves_nothing_behind(number, page):
    before = pages()
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), *page]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, text=True) as run:
        assert run.stdout is not None
        for _ in range(2):
            assert run.stdout.readline().startswith("|")
        time.sleep(2)  # the heading is there; by now the process of the first row is, too
        os.kill(run.pid, number)
        run.communicate(timeout=30)
    assert run.returncode == 128 + number
    assert group_ends(run.pid)
    assert pages() == before
