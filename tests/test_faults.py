"""Faults of the machine: killed processes, full disks, read-only folders, no home, two runs at once, closed outputs.

Whatever happens, a file is whole or is not there, and the same command then gives the same numbers.
"""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import _hostile
import pytest
from _paths import ROOT

from bayesagree import read_result

pytestmark = pytest.mark.slow

# Of each command.
KILLS = int(os.environ.get("KILLS", "30"))
NIGHT = int(os.environ.get("NIGHT", time.time() // 86400))
MAIN = "from bayesagree.cli import main; main()"
COMMANDS = {
    "report": "report labels.csv models.csv --plausibility dirichlet --draws 200 -o page.html",
    "evaluate": "evaluate labels.csv models.csv --plausibility dirichlet --draws 2000 --items bootstrap -o kept.nc",
    "audit": "audit labels.csv models.csv -o found.csv",
    "plausibility": "plausibility labels.csv --plausibility dawid_skene --draws 300 -o drawn.nc",
}
WRITES = {"report": "page.html", "evaluate": "kept.nc", "audit": "found.csv", "plausibility": "drawn.nc"}


@pytest.fixture
def folder(tmp_path):
    return _hostile.write(tmp_path)


def started(name, folder, *, options="", environment=None, **how):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"} | (environment or {})
    command = [sys.executable, "-W", "ignore", "-c", MAIN, *COMMANDS[name].split(), *options.split()]
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
    """Give the numbers of a whole file: those of a page are its text, but for the time of the run."""
    if path.suffix == ".nc":
        return read_result(path)
    text = path.read_text()
    if path.suffix == ".csv":
        return text
    assert text.rstrip().endswith("</html>"), "half a page"
    return "\n".join(line for line in text.splitlines() if "</html>" in line or "data-" in line)


def same(one, other):
    return one == other if isinstance(one, str) else one.equals(other)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_kill_leaves_no_partial_file_and_the_same_numbers_follow(folder, name):
    dice = random.Random(f"{NIGHT} {name}")
    there = {p.name for p in folder.iterdir()}
    run(name, folder)
    result = folder / WRITES[name]
    expected = content(result)
    result.unlink()
    begin = time.monotonic()  # of a second run, which finds code compiled
    run(name, folder)
    seconds, killed = time.monotonic() - begin, 0
    result.unlink()
    for _ in range(KILLS):
        process = started(name, folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.2, 1.0) * seconds)
        if process.poll() is None:
            killed += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if result.exists():
            assert same(content(result), expected)
            result.unlink()
    assert killed > KILLS / 2
    run(name, folder)
    assert same(content(result), expected)
    assert {p.name for p in folder.iterdir()} == there | {WRITES[name]}


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


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("fault", ["full", "read only"])
def test_disks_that_take_nothing(folder, tmp_path, name, fault):
    with mounted(tmp_path / "disk", "size=64k") as disk:
        (disk / "kept.txt").write_text("k" * 2**16)
        if fault == "read only":
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        code, _, error = ended(started(name, folder, options=f"-o disk/{WRITES[name]}"))
        assert code in (1, 2), "a result that was not kept is no success"
        assert "Traceback" not in error, error[-1500:]
        assert WRITES[name] in error.replace("\n", ""), error
        assert [p.name for p in disk.iterdir()] == ["kept.txt"]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_home(folder, name):
    """No HOME, or one that is no folder: caches of numba and matplotlib have nowhere to go, and nothing needs them."""
    expected = run(name, folder)
    for home in ("", "/proc"):
        (folder / WRITES[name]).unlink()
        assert run(name, folder, environment={"HOME": home, "XDG_CACHE_HOME": home, "MPLCONFIGDIR": ""}) == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_two_runs_at_once_into_one_file(folder, name):
    """Either both end with the same file, or the later one finds it there and says so: never half a file."""
    run(name, folder)
    result = folder / WRITES[name]
    expected = content(result)
    result.unlink()
    codes = [ended(process) for process in [started(name, folder) for _ in range(2)]]
    assert 0 in [code for code, *_ in codes]
    assert all(code in (0, 2) and "Traceback" not in error for code, _, error in codes), codes
    assert same(content(result), expected)
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("outlet", ["closed", "/dev/full", "pipe"])
def test_outputs_that_take_nothing(folder, outlet):
    if outlet == "/dev/full":
        with open("/dev/full", "w") as full:
            code, _, error = ended(started("evaluate", folder, stdout=full))
    else:
        process = started("evaluate", folder, preexec_fn=(lambda: os.close(1)) if outlet == "closed" else None)
        process.stdout.close()
        with process.stderr:
            error = process.stderr.read()
        code = process.wait()
    assert "Traceback" not in error, error[-1500:]
    assert code in (0, 1, 2)
