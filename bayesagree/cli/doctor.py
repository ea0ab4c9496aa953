"""`bayesagree doctor`: versions, threads, cache and data folder of the installation, and their problems."""

import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from bayesagree.cli import _options, _output

# Extra and the module that it is for.
EXTRAS = {"plot": "matplotlib", "report": "jinja2", "scale": "distributed", "nutpie": "nutpie", "data": "pooch"}


def doctor(json: _options.Json = False) -> None:
    """Check the installation: versions, threads, cache and data folder; exit code 1 if something is wrong.

    Example: bayesagree doctor --json
    """
    dependencies, cache, data = dict(_dependencies()), _cache(), _data()
    extras = {extra: find_spec(module) is not None for extra, module in EXTRAS.items()}
    problems = list(_problems(dependencies, cache, data))
    packages = [{"package": name, "version": number} for name, number in dependencies.items()]
    there = [{"extra": name, "installed": present} for name, present in extras.items()]
    tables = [
        _output.Table("system", [_system()], "Installation"),
        _output.Table("dependencies", packages, "Required packages"),
        _output.Table("extras", there, "Extras"),
        _output.Table("threads", [_threads()], "Threads"),
        _output.Table("cache", [cache], "Compiled code"),
        _output.Table("data", [data], "Data (BAYESAGREE_DATA)"),
        _output.Table("problems", [{"problem": text} for text in problems], most=0),
    ]
    absent = ",".join(name for name, present in extras.items() if not present)
    notes = [f"For missing extras: pip install 'bayesagree[{absent}]'"] if absent else []
    _output.show(tables, json=json, notes=notes + ([] if problems else ["No problem found."]))
    for problem in problems:
        typer.echo(f"Problem: {problem}", err=True)
    if problems:
        raise typer.Exit(1)


def _system() -> dict[str, str]:
    python = {"python": platform.python_version(), "platform": platform.platform()}
    return {"version": version("bayesagree")} | python


def _dependencies() -> Iterator[tuple[str, str | None]]:
    """Yield the required packages and their versions, None where one is missing."""
    for line in requires("bayesagree") or []:
        if "extra ==" in line:
            continue
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, None


def _threads() -> dict[str, Any]:
    from bayesagree._inference.streams import n_threads

    limits = {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
    return {"used": n_threads(), "processors": os.cpu_count()} | limits


def _cache() -> dict[str, Any]:
    """Return the folder of compiled code: without one every run compiles anew, which takes seconds.

    It is NUMBA_CACHE_DIR, else the folder that numba itself chooses: that of the package, or the user's own.
    """
    package, named = Path(__file__).parents[1], os.environ.get("NUMBA_CACHE_DIR")
    if named is not None:
        folder = Path(named)
        existing = next(f for f in (folder, *folder.parents) if f.exists())
        writable = existing.is_dir() and os.access(existing, os.W_OK)
    else:
        chosen = _chosen_by_numba()
        writable = chosen is not None
        folder = package if chosen is None or chosen.is_relative_to(package) else chosen.parent
    compiled = sum(1 for _ in folder.rglob("*.nbi")) if folder.is_dir() else 0
    return {"folder": str(folder), "writable": writable, "compiled_functions": compiled}


def _chosen_by_numba() -> Path | None:
    """Return where numba would keep code of this file, None where it finds no folder that it may write to."""
    from numba import njit

    try:
        return Path(str(njit(cache=True)(_probe).stats.cache_path))
    except RuntimeError:
        return None


def _probe() -> None:
    """Do nothing: numba says where it would keep this function; it never compiles it."""


def _data() -> dict[str, Any]:
    """Return the folder of the data sets, and which of them are there."""
    from bayesagree.datasets._files import SOURCES

    named = os.environ.get("BAYESAGREE_DATA")
    folder = None if named is None else Path(named)
    there = [] if folder is None else [name for name in SOURCES if (folder / name).is_dir()]
    return {"folder": named, "exists": folder is not None and folder.is_dir(), "sets": there, "known": len(SOURCES)}


def _problems(dependencies: dict[str, Any], cache: dict[str, Any], data: dict[str, Any]) -> Iterator[str]:
    """Yield one sentence for each thing that is wrong, with the way out."""
    missing = [name for name, number in dependencies.items() if number is None]
    if missing:
        yield f"missing packages: {', '.join(missing)}; install bayesagree again"
    if not cache["writable"]:
        yield (
            f"compiled code cannot be kept in {cache['folder']}, so every run compiles anew; set "
            "NUMBA_CACHE_DIR to a folder that you may write to"
        )
    if data["folder"] is not None and not data["exists"]:
        yield f"BAYESAGREE_DATA names {data['folder']!r}, which is no folder; correct it or unset it"
