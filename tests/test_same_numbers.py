"""Every public function and command gives the numbers and sentences that it gave, in runs on two odd data sets.

This proves nothing right: published values, oracles and calibration do. It notices that something changed, anywhere.
`tests/_runs` lists the runs, `golden/same_numbers.json` what they gave: few numbers each, of many their sums. A change
on purpose is made anew by `python tests/test_same_numbers.py`, or of some runs by their first words behind it, on the
second data set too where these begin with "alike: "; look at the difference before it is kept.
"""

import json
import math
import sys
import time
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
from _runs.world_alike import ALIKE  # noqa: E402

KEPT = TESTS / "golden" / "same_numbers.json"
# Other processors round the last bit otherwise, and some chains then follow another path: on another maker's 4 % of
# the runs, with the instructions of 2008 5 %. Runs that another one made are compared together, about 200 a test.
FEW, POOL = 0.1, 200
# Seconds of a run on the second data set: of nearly two thousand, 700 take less and give something else.
LONGEST = 0.12


def processor() -> list[str]:
    """Return what decides how NumPy and Numba round: the processor, and which of its instructions they use."""
    features: dict[str, bool] = np._core._multiarray_umath.__cpu_features__  # type: ignore[attr-defined]
    return [numba.config.CPU_NAME or get_host_cpu_name(), *sorted(name for name, found in features.items() if found)]  # type: ignore[attr-defined]


def kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text()) if KEPT.exists() else {"processors": []}


BEFORE = kept()
PROCESSORS: list[list[str]] = BEFORE.pop("processors")
"""Each run names the one that made it by its number."""
HERE = processor()
OWN = [name for name in RUNS if name in BEFORE and PROCESSORS[BEFORE[name]["by"]] == HERE]
OTHERS = [name for name in RUNS if name in BEFORE and PROCESSORS[BEFORE[name]["by"]] != HERE]
POOLS = math.ceil(len(OTHERS) / POOL)


def changes(name: str) -> dict[str, tuple[Any, Any]]:
    """Return what a run gives otherwise than it did: now, and before."""
    new, old = json.loads(json.dumps(outcome(RUNS[name]))), {k: v for k, v in BEFORE[name].items() if k != "by"}
    return {k: (new.get(k), old.get(k)) for k in [*old, *(new.keys() - old)] if differs(new.get(k), old.get(k))}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OWN)
def test_same_numbers(name):
    changed = changes(name)
    assert not changed, "(now, before): " + "\n".join(f"{k}: {now} {was}" for k, (now, was) in changed.items())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pool", range(POOLS))
def test_nearly_the_same_numbers_on_another_processor(pool):
    pooled = OTHERS[pool::POOLS]
    changed = [name for name in pooled if changes(name)]
    assert len(changed) < FEW * len(pooled), changed


def test_no_run_is_kept_that_is_not_made():
    assert BEFORE.keys() | {name for name in RUNS if name.startswith(ALIKE)} == RUNS.keys()


def is_worth_it(name: str, made: dict[str, Any], seconds: float) -> bool:
    """Whether a run on the second data set is quick and gives something else than on the first."""
    return not name.startswith(ALIKE) or (seconds < LONGEST and differs(made, outcome(RUNS[name.removeprefix(ALIKE)])))


if __name__ == "__main__":
    wanted = tuple(sys.argv[1:] or [""])
    if HERE not in PROCESSORS:
        PROCESSORS.append(HERE)
    by = PROCESSORS.index(HERE)
    found: dict[str, Any] = {}
    for name, run in RUNS.items():
        if name.startswith(wanted) or (name not in BEFORE and not name.startswith(ALIKE)):
            start = time.process_time()
            made = outcome(run)
            if name in BEFORE or is_worth_it(name, made, time.process_time() - start):
                found[name] = made | {"by": by}
        elif name in BEFORE:
            found[name] = BEFORE[name]
    lines = (
        f"{json.dumps(n)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}"
        for n, v in sorted((found | {"processors": PROCESSORS}).items())
    )
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
