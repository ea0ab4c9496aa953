"""`bayesagree doctor`: versions, threads, cache and data folder of the installation, and their problems."""

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path

from bayesagree.cli._output import Answer, Table

# Extra and the module that it is for.
EXTRAS = {"plot": "matplotlib", "report": "jinja2", "scale": "distributed", "nutpie": "nutpie", "data": "pooch"}


def doctor() -> Answer:
    """Check the installation: versions, threads, cache and data folder; exit code 1 if something is wrong.

    Example: bayesagree doctor --json
    """
    from bayesagree.datasets._files import SOURCES
    from bayesagree.inference.streams import n_threads

    lines = [line for line in requires("bayesagree") or [] if "extra ==" not in line]
    needed = {name: _version(name) for name in (re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in lines)}
    cache, named = _cache(), os.environ.get("BAYESAGREE_DATA")
    absent = [extra for extra, module in EXTRAS.items() if find_spec(module) is None]
    missing = [name for name, number in needed.items() if number is None]
    lost = named is not None and not Path(named).is_dir()
    wrong = {
        f"missing packages: {', '.join(missing)}; install bayesagree again": missing,
        "compiled code cannot be kept, so every run compiles anew; set NUMBA_CACHE_DIR to a folder": cache
        is None,
        f"BAYESAGREE_DATA names {named!r}, which is no folder; correct it or unset it": lost,
    }
    problems = [{"problem": text} for text, found in wrong.items() if found]
    system = {
        "version": version("bayesagree"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": n_threads(),
        "processors": os.cpu_count(),
        "compiled_code": str(cache),
        "data": named,
        "data_sets": 0 if named is None else sum((Path(named) / name).is_dir() for name in SOURCES),
        "extras": ", ".join(extra for extra in EXTRAS if extra not in absent),
    }
    installed = [{"what": name, "value": value} for name, value in system.items()]
    packages = [{"package": name, "version": number} for name, number in needed.items()]
    tables = [
        Table("system", installed, "Installation"),
        Table("dependencies", packages, "Required packages"),
        Table("problems", problems, "Problems"),
    ]
    notes = [f"For missing extras: pip install 'bayesagree[{','.join(absent)}]'"] if absent else []
    return Answer(tables, notes if problems else [*notes, "No problem found."], code=1 if problems else 0)


def _version(name: str) -> str | None:
    """Return the version of a package, None where it is missing."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cache() -> Path | None:
    """Return where numba keeps code of this file, None where it finds no folder that it may write to."""
    from numba import njit

    try:
        return Path(str(njit(cache=True)(_probe).stats.cache_path))
    except (RuntimeError, OSError):
        return None


def _probe() -> None:
    """Do nothing: numba says where it would keep this function; it never compiles it."""
