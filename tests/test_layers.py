"""Data flow one way, and imports follow: from lower floors only between folders, without circles between files."""

import ast
import importlib
import importlib.util
import re
from functools import cache

import pytest
from _paths import ROOT

PACKAGE = ROOT / "bayesagree"

FLOORS = [
    ["errors", "_types"],
    ["annotations"],
    ["inference"],
    ["io"],
    ["plausibility"],
    ["agreement", "metrics", "datasets", "comparisons"],
    ["evaluation", "conformal"],
    ["blind", "judges", "planning", "subjective", "predictive", "plots", "findings"],
    ["report"],
    ["cli", "integrations"],
]
FLOOR = {folder: floor for floor, folders in enumerate(FLOORS) for folder in folders}
APART = {"bayesagree", "docs", "notebooks", "tests"}
REGISTRY_READS = {"annotations", "errors", "inference", "plausibility"}


def folder(path):
    """Return the folder of a module below the package, or the module itself where it stands alone."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def imports(path):
    """Return every dotted name below `bayesagree` that a module imports when it is loaded or run."""
    statements = re.findall(r"^\s*((?:from|import) bayesagree[^(\n]*(?:\([^)]*\))?)", path.read_text(), re.MULTILINE)
    found = []
    for node in ast.parse("\n".join(statements)).body:
        module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        names = [module + alias.name for alias in node.names]
        found += [name.removeprefix("bayesagree.") for name in names if name.startswith("bayesagree.")]
    return found


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if folder(path) != "__init__")


def test_every_folder_has_its_floor():
    assert {folder(path) for path in MODULES} == set(FLOOR)


def test_the_house_stays_small():
    """Rooms of the package and beside it, floors."""
    beside = [f.name for f in ROOT.iterdir() if f.is_dir() and f.name not in APART and any(f.glob("*.py"))]
    assert len(["__init__", *FLOOR, *beside]) <= 26
    assert len(FLOORS) <= 10


def test_imports_go_down():
    wrong = []
    for path in MODULES:
        for name in imports(path):
            home, source = folder(path), name.split(".")[0]
            # The command line, above everything, takes public names from the top of the package.
            if source not in FLOOR and home == "cli":
                continue
            if source != home and FLOOR[source] >= FLOOR[home]:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


def test_no_circle_between_files():
    """Imports inside functions count."""
    named = {dotted(path): path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}
    graph = {name: {m for m in map(module_of(named), imports(path)) if m} for name, path in named.items()}
    assert [part for part in connected(graph) if len(part) > 1] == []


def dotted(path):
    """Return the name of a module below the package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def module_of(named):
    """Return a function from an imported dotted name to the module that has it; None for other names."""
    return lambda name: next((n for n in (name, name.rpartition(".")[0]) if n in named), None)


def connected(graph):
    """Return the strongly connected parts: a module with all that it leads to and that lead to it."""
    leads = {name: set() for name in graph}
    for name in graph:
        todo = [name]
        while todo:
            new = graph[todo.pop()] - leads[name]
            leads[name] |= new
            todo += new
    parts = {tuple(sorted({n, *(m for m in leads[n] if n in leads[m])})) for n in graph}
    return sorted(map(list, parts))


def test_the_registry_reads_the_folders_of_models():
    names = [name.split(".") for name in imports(PACKAGE / "plausibility" / "registry.py")]
    assert {name[0] for name in names} <= REGISTRY_READS
    assert all((PACKAGE / "plausibility" / name[1]).is_dir() for name in names if name[0] == "plausibility")


def test_models_do_not_know_the_registry():
    for path in PACKAGE.glob("plausibility/*/*.py"):
        assert not any(name.startswith("plausibility.registry") for name in imports(path)), path


@pytest.mark.parametrize("folder", ["benchmarks", "studies", "models", "docs"])
def test_scripts_import_names_that_exist(folder):
    """Nothing runs the scripts in the tests: a name that moved would be noticed by whoever runs one next."""
    for path in sorted((ROOT / folder).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayesagree"):
                module = importlib.import_module(str(node.module))
                for name in node.names:
                    found = hasattr(module, name.name) or importlib.util.find_spec(f"{node.module}.{name.name}")
                    assert found, f"{path.name}: {node.module} has no {name.name}"
