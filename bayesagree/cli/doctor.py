"""`bayesagree doctor`: versions, threads, cache and data folder of the installation, and their problems."""

import os
import platform
import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bayesagree.cli._output import Answer, Table, named

# Extra and the module that it is for.
EXTRAS = {"plot": "matplotlib", "report": "jinja2", "scale": "distributed", "nutpie": "nutpie", "data": "pooch"}


def doctor() -> Answer:
    """Check the installation: versions, threads, cache and data folder; exit code 1 if something is wrong.

    Example: bayesagree doctor --json
    """
    from numba import njit

    from bayesagree.datasets._files import SOURCES
    from bayesagree.inference.streams import n_threads

    names = re.findall(r"^([\w.-]+)[^;\n]*$", "\n".join(requires("bayesagree") or []), re.MULTILINE)
    needed = {name: _unless_missing(version, name) for name in names}
    # Where numba would keep code of this file; it never compiles it.
    cache = _unless_missing(lambda: str(njit(cache=True)(_unless_missing).stats.cache_path))
    data: Any = os.environ.get("BAYESAGREE_DATA")
    absent = [extra for extra, module in EXTRAS.items() if find_spec(module) is None]
    missing = [name for name, number in needed.items() if number is None]
    wrong = {
        f"missing packages: {', '.join(missing)}; install bayesagree again": missing,
        "compiled code cannot be kept, so every run compiles anew; set NUMBA_CACHE_DIR to a folder": not cache,
        f"BAYESAGREE_DATA names {data!r}, which is no folder; correct it or unset it": data
        and not Path(data).is_dir(),
    }
    problems = [{"problem": text} for text, found in wrong.items() if found]
    system = {
        "version": version("bayesagree"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": n_threads(),
        "processors": os.cpu_count(),
        "compiled_code": cache,
        "data": data,
        "data_sets": sum(Path(data, name).is_dir() for name in SOURCES if data),
        "extras": ", ".join(extra for extra in EXTRAS if extra not in absent),
    }
    tables = [
        Table("system", named("what", system), "Installation"),
        Table("dependencies", named("package", needed, "version"), "Required packages"),
        Table("problems", problems, "Problems"),
    ]
    notes = [f"For missing extras: pip install 'bayesagree[{','.join(absent)}]'"] if absent else []
    return Answer(tables, notes if problems else [*notes, "No problem found."], code=1 if problems else 0)


def _unless_missing(find: Callable[..., Any], *given: Any) -> Any:
    """Return what is found; None of a package that is missing, or where numba finds no folder that it may write to."""
    try:
        return find(*given)
    except (PackageNotFoundError, RuntimeError, OSError):
        return None
