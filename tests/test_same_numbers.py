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

import numba
import numpy as np
import pytest
from _paths import ROOT
from llvmlite.binding import get_host_cpu_name

TESTS = ROOT / "tests"
sys.path[:0] = [] if str(TESTS) in sys.path else [str(TESTS)]

from _runs.recipe import RUNS, differs, outcome  # noqa: E402

for module in sorted((TESTS / "_runs").glob("*.py")):
    import_module(f"_runs.{module.stem}")
KEPT = TESTS / "golden" / "same_numbers.json"
# Other processors round the last bit otherwise, and some chains then follow another path: on another maker's 4 % of
# the runs, with the instructions of 2008 5 %. There every eighth run is one test.
FEW, POOLS = 0.1, 8


def processor() -> list[str]:
    """Return what decides how NumPy and Numba round: the processor, and which of its instructions they use."""
    features: dict[str, bool] = np._core._multiarray_umath.__cpu_features__  # type: ignore[attr-defined]
    return [numba.config.CPU_NAME or get_host_cpu_name(), *sorted(name for name, found in features.items() if found)]  # type: ignore[attr-defined]


def kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text()) if KEPT.exists() else {"processor": processor()}


BEFORE = kept()
SAME_PROCESSOR = BEFORE["processor"] == processor()


def changes(name: str) -> dict[str, tuple[Any, Any]]:
    """Return what a run gives otherwise than it did: now, and before."""
    new, old = json.loads(json.dumps(outcome(RUNS[name]))), BEFORE[name]
    return {k: (new.get(k), old.get(k)) for k in [*old, *(new.keys() - old)] if differs(new.get(k), old.get(k))}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RUNS if SAME_PROCESSOR else [])
def test_same_numbers(name):
    changed = changes(name)
    assert not changed, "(now, before): " + "\n".join(f"{k}: {now} {was}" for k, (now, was) in changed.items())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pool", [] if SAME_PROCESSOR else range(POOLS))
def test_nearly_the_same_numbers_on_another_processor(pool):
    pooled = list(RUNS)[pool::POOLS]
    changed = [name for name in pooled if changes(name)]
    assert len(changed) < FEW * len(pooled), changed


def test_no_run_is_kept_that_is_not_made():
    assert BEFORE.keys() - {"processor"} == RUNS.keys()


if __name__ == "__main__":
    wanted = tuple(sys.argv[1:])
    found = {
        name: outcome(run) if not wanted or name.startswith(wanted) or name not in BEFORE else BEFORE[name]
        for name, run in RUNS.items()
    } | {"processor": processor()}
    lines = (
        f"{json.dumps(n)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}" for n, v in sorted(found.items())
    )
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
