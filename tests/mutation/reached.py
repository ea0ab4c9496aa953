"""A plugin of pytest that notes which lines of the package each test runs, and how long it takes.

    python -m pytest -n 0 -p tests.mutation.reached --reached FILE tests/metrics

Lines of kernels run compiled and are not seen; `score.py` takes those of their callers. What a fixture of wider scope
runs counts for every test that uses it.
"""

import json
import sys
import time
from collections import defaultdict
from pathlib import Path

TOOL = 4
PACKAGE = str(Path(__file__).parents[2] / "bayesagree") + "/"
EVENTS = sys.monitoring.events
IMPORTS = "imports"
"""In the place of a test: lines that ran before the first one, such as those of decorators."""

lines: set[tuple[str, int]] = set()
of_fixtures: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
tests: dict[str, dict] = {}
imported: set[tuple[str, int]] = set()
failed: set[str] = set()


def _start(code, _offset):
    if str(code.co_filename).startswith(PACKAGE):
        sys.monitoring.set_local_events(TOOL, code, EVENTS.LINE)
        lines.add((code.co_filename, code.co_firstlineno))
    return sys.monitoring.DISABLE


def _line(code, line):
    lines.add((code.co_filename, line))
    return sys.monitoring.DISABLE


def _begin():
    """Note lines from here on, each once: what was noted before is told again."""
    global lines
    lines = set()
    sys.monitoring.restart_events()


# From here on, before a conftest.py imports the package.
sys.monitoring.use_tool_id(TOOL, "reached")
sys.monitoring.register_callback(TOOL, EVENTS.PY_START, _start)
sys.monitoring.register_callback(TOOL, EVENTS.LINE, _line)
sys.monitoring.set_events(TOOL, EVENTS.PY_START)


def pytest_addoption(parser):
    parser.addoption("--reached", default=None)


def _wrapper(function):
    import pytest

    return pytest.hookimpl(wrapper=True)(function)


@_wrapper
def pytest_fixture_setup(fixturedef, request):
    global lines
    if fixturedef.scope == "function":
        return (yield)
    outer = lines
    _begin()
    try:
        return (yield)
    finally:
        of_fixtures[fixturedef.baseid, fixturedef.argname] |= lines
        lines = outer | lines


def pytest_collection_finish():
    imported.update(lines)


@_wrapper
def pytest_runtest_protocol(item, nextitem):
    global lines
    _begin()
    start = time.process_time()
    try:
        return (yield)
    finally:
        for (base, name), found in of_fixtures.items():
            if name in item.fixturenames and item.nodeid.startswith(base):
                lines |= found
        tests[item.nodeid] = {"seconds": round(time.process_time() - start, 3), "lines": _by_file(lines)}


def _by_file(found):
    by_file = defaultdict(list)
    for file, line in sorted(found):
        by_file[file.removeprefix(PACKAGE)].append(line)
    return by_file


def pytest_runtest_logreport(report):
    if report.failed:
        failed.add(report.nodeid)


def pytest_sessionfinish(session):
    file = session.config.getoption("--reached")
    if file:
        kept = {name: of for name, of in tests.items() if name not in failed}
        Path(file).write_text(json.dumps(kept | {IMPORTS: {"seconds": 0.0, "lines": _by_file(imported)}}))


def pytest_unconfigure():
    sys.monitoring.set_events(TOOL, 0)
    sys.monitoring.free_tool_id(TOOL)
