"""What all tests share: public data, the command line, and Hypothesis without deadlines (machines differ).

Its examples are the same in every run; those of the profile `nightly` are new each time.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from bayesagree.cli import main

# Beside the other processes of the tests, threads of BLAS wait for one another: up to four times the processor time.
# The limit holds for the libraries that are loaded, the variable for later ones and for started processes.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    threadpool_limits(1, user_api="blas")

settings.register_profile("bayesagree", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("nightly", deadline=None)
settings.load_profile("bayesagree")

# No test downloads: whatever asks for a file that is not here is answered at once that it cannot be had.
os.environ["HTTPS_PROXY"] = "http://127.0.0.1:9"

WITHOUT_DATA = "BAYESAGREE_DATA is not set: the tests on public data sets (fixture public_data) are deselected"


@pytest.fixture(scope="session")
def public_data() -> Path:
    """Give the folder of the public data sets; tests that ask for it run only where BAYESAGREE_DATA names one."""
    return Path(os.environ["BAYESAGREE_DATA"])


class Done(NamedTuple):
    """What a command left: its exit code and all that it printed."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """Close what a test has drawn, which pyplot keeps open for notebooks and scripts."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True)
def chains_of_nuts_in_this_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare each test of NUTS the processes of its chains, which import PyMC again; pages and notebooks have them."""
    if request.node.get_closest_marker("nuts"):
        monkeypatch.setattr("bayesagree.inference.nuts.n_threads", lambda: 1)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """Run the command line in this process, as its console script does: run("agreement", file, "--json")."""

    def command(*args: object) -> Done:
        monkeypatch.setattr("sys.argv", ["bayesagree", *map(str, args)])
        with pytest.raises(SystemExit) as stop:
            main()
        return Done(stop.value.code or 0, *capsys.readouterr())

    return command


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--most-seconds", type=float, default=None, help="fail a test that takes longer, once warm")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Time a test by the clock and by its processor time, of which a busy machine makes only the first longer."""
    most = item.config.getoption("--most-seconds")
    clock, processor = time.perf_counter(), time.process_time()
    yield
    took = min(time.perf_counter() - clock, time.process_time() - processor)
    if most is not None and took > most:
        pytest.fail(f"took {took:.1f} s, and a default test at most {most:g}: make it smaller, or mark it long")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not os.environ.get("BAYESAGREE_DATA"):
        away = [item for item in items if "public_data" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=away)
        items[:] = [item for item in items if item not in set(away)]
    # The longest come first: at the end, no process waits for another one that runs a notebook.
    items.sort(key=lambda item: item.get_closest_marker("notebook") is None)


def pytest_report_header() -> str | None:
    return None if os.environ.get("BAYESAGREE_DATA") else WITHOUT_DATA
