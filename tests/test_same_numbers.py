"""Every public function and command gives the numbers and sentences that it gave, in runs on one odd data set.

This proves nothing right: published values, oracles and calibration do. It notices that something changed, anywhere.
`tests/_runs` lists the runs, `golden/same_numbers.json` what they gave: few numbers each, of many their sums. A change
on purpose is made anew by `python tests/test_same_numbers.py`, or of some runs by their first words behind it; look at
the difference before it is kept.
"""

import json
import sys
from importlib import import_module
from typing import Any

import pytest
from _paths import ROOT

TESTS = ROOT / "tests"
sys.path[:0] = [] if str(TESTS) in sys.path else [str(TESTS)]

from _runs.recipe import RUNS, differs, outcome  # noqa: E402

for module in sorted((TESTS / "_runs").glob("*.py")):
    import_module(f"_runs.{module.stem}")
KEPT = TESTS / "golden" / "same_numbers.json"


@pytest.fixture(scope="session")
def kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUNS)
def test_same_numbers(kept, name):
    new, old = json.loads(json.dumps(outcome(RUNS[name]))), kept[name]
    changed = {k: (new.get(k), old.get(k)) for k in [*old, *(new.keys() - old)] if differs(new.get(k), old.get(k))}
    assert not changed, "(now, before): " + "\n".join(f"{k}: {now} {was}" for k, (now, was) in changed.items())


def test_no_run_is_kept_that_is_not_made(kept):
    assert kept.keys() == RUNS.keys()


if __name__ == "__main__":
    before = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    wanted = tuple(sys.argv[1:])
    found = {
        name: outcome(run) if not wanted or name.startswith(wanted) or name not in before else before[name]
        for name, run in RUNS.items()
    }
    lines = (
        f"{json.dumps(n)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}" for n, v in sorted(found.items())
    )
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
