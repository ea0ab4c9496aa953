"""Faults of the machine: killed processes, full disks, read-only folders, no home, two runs at once, closed outputs.

Whatever happens, a file is whole or is not there, and the same command then gives the same numbers.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import _hostile
import numpy as np
import pytest
import xarray as xr
from _paths import ROOT

from bayesagree.io import read_result

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("KILLS", "25"))
"""Of each command: four commands, 100 in all."""
RERUN_EVERY = 5
NIGHT = int(os.environ.get("NIGHT", time.time() // 86400))
MAIN = "from bayesagree.cli import process; process()"
STUDY = """
import sys
from pathlib import Path
from bayesagree import write_result
from studies.auc_simulation import auc_study
tree = auc_study(cases=["good"], labels_per_item=[3], labels_per_annotator=[5], runs=60, n_items=200, n_models=6,
                 seed=1, journal=Path("study.journal"))
write_result(tree, "study.nc")
"""
COMMANDS = {
    "report": (MAIN, "report labels.csv models.csv --plausibility dirichlet --draws 200 -o page.html"),
    "evaluate": (
        MAIN, "evaluate labels.csv models.csv --plausibility dirichlet --draws 2000 --items bootstrap -o kept.nc"
    ),
    "plausibility": (MAIN, "plausibility labels.csv --plausibility dawid_skene --draws 300 -o drawn.nc"),
    "study": (STUDY, ""),
}  # fmt: skip
WRITES = {"report": "page.html", "evaluate": "kept.nc", "plausibility": "drawn.nc", "study": "study.nc"}


@pytest.fixture
def folder(tmp_path):
    return _hostile.write(tmp_path)


def started(name, folder, *, options="", environment=None, **how):
    code, line = COMMANDS[name]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"} | (environment or {})
    command = [sys.executable, "-W", "ignore", "-c", code, *line.split(), *options.split()]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.Popen(command, cwd=folder, env=environment, text=True, start_new_session=True, **pipes)


def ended(process):
    out, error = process.communicate(timeout=300)
    return process.returncode, out or "", error or ""


def run(name, folder, **how):
    code, out, error = ended(started(name, folder, **how))
    assert code == 0, error[-2000:]
    return out


def content(path):
    """Give the numbers of a file: those of a page are its text, but for the time of the run."""
    if path.suffix == ".html":
        return "\n".join(line for line in path.read_text().splitlines() if "</html>" in line or "data-" in line)
    return read_result(path)


def same(one, other):
    return one == other if isinstance(one, str) else one.equals(other)


def whole(path):
    """Whether the file is complete, as a reader sees it."""
    if path.suffix == ".html":
        return path.read_text().rstrip().endswith("</html>")
    return isinstance(read_result(path), xr.DataTree)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_leaves_no_partial_file_and_the_same_numbers_follow(folder, name):
    dice = random.Random(f"{NIGHT} {name}")
    there = sorted(p.name for p in folder.iterdir())
    out, result = run(name, folder), folder / WRITES[name]
    expected = content(result)

    def clean():
        result.unlink(missing_ok=True)
        for path in folder.iterdir():
            if path.name.startswith("study.journal"):
                path.unlink()

    clean()
    begin = time.monotonic()  # of a second run, which finds code compiled
    assert run(name, folder) == out
    seconds, killed = time.monotonic() - begin, 0
    clean()
    for number in range(KILLS):
        process = started(name, folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.2, 1.0) * seconds)
        killed += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.wait()
        if result.exists():
            assert whole(result), f"kill {number} left half of {result.name}"
            assert same(content(result), expected)
            clean()
        if number % RERUN_EVERY == RERUN_EVERY - 1:
            assert run(name, folder) == out
            assert same(content(result), expected)
            clean()
    assert killed > KILLS / 2
    left = sorted(p.name for p in folder.iterdir() if p.name not in there)
    assert all(path.startswith((".", WRITES[name])) for path in left), left


@contextmanager
def mounted(path, options):
    """Mount a file system in memory, where that is allowed."""
    path.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.decode().strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=False)


@pytest.mark.parametrize("name", ["report", "evaluate", "plausibility"])
@pytest.mark.parametrize("fault", ["full", "read only"])
def test_disks_that_take_nothing(folder, tmp_path, name, fault):
    with mounted(tmp_path / "disk", "size=64k") as disk:
        (disk / "kept.txt").write_text("kept")
        if fault == "read only":
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        code, _, error = ended(started(name, folder, options=f"-o disk/{WRITES[name]}"))
        assert code in (1, 2), "a result that was not kept is no success"
        assert "Traceback" not in error, error[-1500:]
        assert WRITES[name] in error.replace("\n", ""), error
        assert [p.name for p in disk.iterdir()] == ["kept.txt"]


@pytest.mark.parametrize("name", ["report", "evaluate", "plausibility"])
def test_no_home(folder, name, tmp_path):
    """No HOME, or one that is no folder: caches of numba and matplotlib have nowhere to go, and nothing needs them."""
    expected = run(name, folder)
    (folder / WRITES[name]).unlink()
    for home in ("", "/nonexistent", "/proc"):
        found = run(name, folder, environment={"HOME": home, "XDG_CACHE_HOME": home, "MPLCONFIGDIR": ""})
        assert found == expected
        (folder / WRITES[name]).unlink()


@pytest.mark.parametrize("name", ["report", "evaluate", "plausibility"])
def test_two_runs_at_once_into_one_file(folder, name):
    """Either both end with the same file, or the later one finds it there and says so: never half a file."""
    run(name, folder)
    result = folder / WRITES[name]
    expected = content(result)
    for _ in range(3):
        result.unlink()
        codes = [ended(process) for process in [started(name, folder) for _ in range(2)]]
        assert 0 in [code for code, *_ in codes]
        assert all(code in (0, 2) and "Traceback" not in error for code, _, error in codes), codes
        assert whole(result)
        assert same(content(result), expected)
        assert not [p.name for p in folder.iterdir() if p.name.startswith(".") or p.name.endswith(".run")]


@pytest.mark.parametrize("name", ["evaluate", "plausibility"])
@pytest.mark.parametrize("outlet", ["closed", "/dev/full", "pipe"])
def test_outputs_that_take_nothing(folder, name, outlet):
    if outlet == "closed":
        code, line = COMMANDS[name]
        shell = f'exec "{sys.executable}" -W ignore -c "{code}" {line} >&-'
        done = subprocess.run(
            ["bash", "-c", shell], cwd=folder, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        code, error = done.returncode, done.stderr
    elif outlet == "/dev/full":
        with open("/dev/full", "w") as full:
            code, _, error = ended(started(name, folder, stdout=full))
    else:
        process = started(name, folder)
        process.stdout.close()
        with process.stderr:
            error = process.stderr.read()
        code = process.wait()
    assert "Traceback" not in error, error[-1500:]
    assert code in (0, 1, 2)


def test_a_journal_of_a_study_goes_on(folder):
    """A study that was killed does not do again what its journal holds."""
    begin = time.monotonic()
    run("study", folder)
    whole_run = time.monotonic() - begin
    expected = read_result(folder / "study.nc")
    (folder / "study.nc").unlink()
    journal = next(p for p in folder.iterdir() if p.name.startswith("study.journal"))
    assert journal.stat().st_size > 0
    begin = time.monotonic()
    run("study", folder)
    assert time.monotonic() - begin < whole_run + 30
    assert read_result(folder / "study.nc").equals(expected)
    assert np.isfinite(expected["error"].to_dataset().to_array().values).any() if "error" in expected else True
    shutil.rmtree(folder / "gone", ignore_errors=True)
