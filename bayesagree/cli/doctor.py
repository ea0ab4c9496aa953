"""`bayesagree doctor`: what this installation has, and what is wrong with it."""

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

EXTRAS = {
    "plot": "matplotlib",
    "report": "jinja2",
    "scale": "distributed",
    "nutpie": "nutpie",
    "data": "pooch",
}
"""Extra and the module that it is for."""


def doctor(json: _options.Json = False) -> None:
    """Show versions, threads, the cache of compiled code and the data folder; exit code 1 if something is wrong.

    Example: bayesagree doctor --json
    """
    found = examine()
    if json:
        _output.show_json(found)
    else:
        _show(found)
    if found["problems"]:
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """Return what `bayesagree doctor` says."""
    found = {
        "version": version("bayesagree"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "dependencies": dict(_dependencies()),
        "extras": {extra: find_spec(module) is not None for extra, module in EXTRAS.items()},
        "threads": _threads(),
        "cache": _cache(),
        "data": _data(),
    }
    return found | {"problems": list(_problems(found))}


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
    """Say where numba keeps compiled code: without such a folder every run compiles anew, which takes seconds.

    It is NUMBA_CACHE_DIR, else the folder of the package, else, where that is read-only, the user's own.
    """
    from numba.misc.appdirs import AppDirs

    package, named = Path(__file__).parents[1], os.environ.get("NUMBA_CACHE_DIR")
    own = package if os.access(package, os.W_OK) else Path(AppDirs("numba", appauthor=False).user_cache_dir)
    folder = own if named is None else Path(named)
    existing = next(f for f in (folder, *folder.parents) if f.exists())
    writable = existing.is_dir() and os.access(existing, os.W_OK)
    compiled = sum(1 for _ in folder.rglob("*.nbi")) if folder.is_dir() else 0
    return {"folder": str(folder), "writable": writable, "compiled_functions": compiled}


def _data() -> dict[str, Any]:
    """Say where data sets are looked for, and which of their folders are there."""
    from bayesagree.datasets._sources import SOURCES

    named = os.environ.get("BAYESAGREE_DATA")
    folder = None if named is None else Path(named)
    there = [] if folder is None else [name for name in SOURCES if (folder / name).is_dir()]
    return {"folder": named, "exists": folder is not None and folder.is_dir(), "sets": there, "known": len(SOURCES)}


def _problems(found: dict[str, Any]) -> Iterator[str]:
    """Yield one sentence for each thing that is wrong, with the way out."""
    missing = [name for name, number in found["dependencies"].items() if number is None]
    if missing:
        yield f"missing packages: {', '.join(missing)}; install bayesagree again"
    if not found["cache"]["writable"]:
        yield (
            f"compiled code cannot be kept in {found['cache']['folder']}, so every run compiles anew; set "
            "NUMBA_CACHE_DIR to a folder that you may write to"
        )
    data = found["data"]
    if data["folder"] is not None and not data["exists"]:
        yield f"BAYESAGREE_DATA names {data['folder']!r}, which is no folder; correct it or unset it"


def _show(found: dict[str, Any]) -> None:
    system = [[name, found[name]] for name in ("version", "python", "platform")]
    packages = [[name, number or "missing"] for name, number in found["dependencies"].items()]
    extras = [[f"extra {name}", "yes" if there else "no"] for name, there in found["extras"].items()]
    threads, cache, data = found["threads"], found["cache"], found["data"]
    places = [
        ["threads", f"{threads['used']} of {threads['processors']} processors"],
        ["compiled code", f"{cache['folder']} ({cache['compiled_functions']} functions)"],
        ["data folder", f"{data['folder'] or 'not set (BAYESAGREE_DATA)'} ({len(data['sets'])} of {data['known']})"],
    ]
    _output.show_table(["bayesagree", ""], [*system, *packages, *extras, *places])
    absent = ",".join(name for name, there in found["extras"].items() if not there)
    if absent:
        typer.echo(f"For what is missing: pip install 'bayesagree[{absent}]'")
    for problem in found["problems"]:
        typer.echo(f"Problem: {problem}", err=True)
    if not found["problems"]:
        typer.echo("No problem found.")
