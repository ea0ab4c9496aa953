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

    needed = [line for line in requires("bayesagree") or [] if "extra ==" not in line]
    names = (re.findall(r"^[\w.-]+", line)[0] for line in needed)
    packages = [{"package": name, "version": _version(name)} for name in names]
    cache, data = _cache(), os.environ.get("BAYESAGREE_DATA")
    extras = [extra for extra, module in EXTRAS.items() if find_spec(module)]
    absent = [extra for extra in EXTRAS if extra not in extras]
    problems = []
    if missing := [row["package"] for row in packages if row["version"] is None]:
        problems.append(f"missing packages: {', '.join(missing)}; install bayesagree again")
    if cache is None:
        problems.append("compiled code cannot be kept: every run compiles; set NUMBA_CACHE_DIR to a folder")
    if data is not None and not Path(data).is_dir():
        problems.append(f"BAYESAGREE_DATA names {data!r}, which is no folder; correct it or unset it")
    system = {
        "version": version("bayesagree"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": n_threads(),
        "processors": os.cpu_count(),
        "compiled_code": str(cache),
        "data": data,
        "data_sets": 0 if data is None else sum((Path(data) / name).is_dir() for name in SOURCES),
        "extras": ", ".join(extras),
    }
    tables = [
        Table("system", [{"what": name, "value": value} for name, value in system.items()], "Installation"),
        Table("dependencies", packages, "Required packages"),
        Table("problems", [{"problem": text} for text in problems], "Problems"),
    ]
    notes = [f"For missing extras: pip install 'bayesagree[{','.join(absent)}]'"] if absent else []
    return Answer(tables, notes if problems else [*notes, "No problem found."], code=int(bool(problems)))


def _version(name: str) -> str | None:
    """Return the version of a package, None where it is missing."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cache() -> str | None:
    """Return where numba keeps code of this file, None where it finds no folder that it may write to."""
    from numba import njit

    try:  # the function is not compiled
        return str(njit(cache=True)(lambda: None).stats.cache_path)
    except (RuntimeError, OSError):
        return None
