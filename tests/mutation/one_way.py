# ruff: noqa: T201
"""Branches of the package that tests take one way only: there a condition may be wrong and nobody notices.

    python -m pytest -n 0 -p tests.mutation.one_way --ways cli.json tests/cli      # a file for each part of the tests
    python tests/mutation/one_way.py cli.json io.json                            # of all of them together

A line is a place, which way it always went, its condition and its statement. Compiled code is not seen.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from types import CodeType

TOOL = 3
PACKAGE = Path(__file__).parents[2] / "bayesagree"
LEFT_OUT = ("plots/", "datasets/", "integrations/")
EVENTS = sys.monitoring.events


ways: dict[tuple[CodeType, int], set[int]] = defaultdict(set)


def _start(code, _offset):
    if str(code.co_filename).startswith(f"{PACKAGE}/"):
        sys.monitoring.set_local_events(TOOL, code, EVENTS.BRANCH)
    return sys.monitoring.DISABLE


def _branch(code, offset, to):
    found = ways[code, offset]
    found.add(to - offset)
    return sys.monitoring.DISABLE if len(found) > 1 else None


def pytest_addoption(parser):
    parser.addoption("--ways", default=None)


def pytest_configure(config):
    if config.getoption("--ways"):
        sys.monitoring.use_tool_id(TOOL, "ways")
        sys.monitoring.register_callback(TOOL, EVENTS.PY_START, _start)
        sys.monitoring.register_callback(TOOL, EVENTS.BRANCH, _branch)
        sys.monitoring.set_events(TOOL, EVENTS.PY_START)


def pytest_sessionfinish(session):
    if file := session.config.getoption("--ways"):
        sys.monitoring.set_events(TOOL, 0)
        rows = []
        for (code, offset), taken in ways.items():
            start, stop, left, right = list(code.co_positions())[offset // 2]
            rows.append(
                ((str(Path(code.co_filename).relative_to(PACKAGE)), start, stop, left, right), offset, sorted(taken))
            )
        Path(file).write_text(json.dumps(rows))


def main(files: list[str]) -> None:
    """Print the branches of all files that went one way."""
    found = defaultdict(set)
    for file in files:
        for place, offset, taken in json.loads(Path(file).read_text()):
            found[(*place, offset)].update(taken)
    one_way = [(place, taken) for place, taken in found.items() if len(taken) == 1 and None not in place]
    for (name, start, stop, left, right, _), taken in sorted(one_way):
        text = (PACKAGE / name).read_text().splitlines()
        if not name.startswith(LEFT_OUT) and stop <= len(text):
            line = text[start - 1]
            condition = line.encode()[left:right].decode() if start == stop else line.strip()
            print(f"{name}:{start} always {max(taken):+d}  {condition}  |  {line.strip()}")


if __name__ == "__main__":
    main(sys.argv[1:])
