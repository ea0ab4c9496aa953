"""Defaults of public functions and of priors are part of what a result means: they change on purpose only.

`golden/defaults.json` has, by argument, the default of all functions that have it, or that of each function.
`python tests/test_defaults.py` writes it anew.
"""

import ast
import json
import re
from collections import defaultdict
from typing import Any

from _paths import ROOT, parsed

PACKAGE = ROOT / "bayesagree"


def constants(body: list[ast.stmt], path: str = "") -> Any:
    """Give (argument or field, path of its function or class, default) of public functions and classes, once read."""
    for one in body:
        name = getattr(one, "name", "_")
        if isinstance(one, ast.FunctionDef) and (name[0] != "_" or name == "__init__"):
            arguments = [*one.args.posonlyargs, *one.args.args]
            pairs = [*zip(arguments[::-1], one.args.defaults[::-1]), *zip(one.args.kwonlyargs, one.args.kw_defaults)]
            yield from ((argument.arg, path + name, default) for argument, default in pairs)
        elif isinstance(one, ast.ClassDef) and name[0] != "_":
            fields = [f for f in one.body if isinstance(f, ast.AnnAssign) and isinstance(f.target, ast.Name)]
            yield from ((f.target.id, path + name, f.value) for f in fields)  # pyright: ignore[reportAttributeAccessIssue]
            yield from constants(one.body, f"{path}{name}.")


def found() -> dict[str, Any]:
    """Return the numbers, truth values and texts that are defaults."""
    given: dict[str, dict[str, Any]] = defaultdict(dict)
    public = {name for file in PACKAGE.rglob("__init__.pyi") for name in re.findall(r"\w+", file.read_text())}
    for file in sorted(PACKAGE.rglob("*.py")):
        body = parsed(file).body
        if file.name.startswith("_"):  # what a package shows of it, such as priors
            body = [one for one in body if isinstance(one, ast.ClassDef) and one.name in public]
        for argument, path, default in constants(body):
            value = ast.unparse(default) if isinstance(default, ast.Constant | ast.UnaryOp) else "None"
            if value != "None":
                given[argument][f"{file.relative_to(PACKAGE).parent}/{path}"] = value
    return {
        name: next(iter(of.values())) if len(of) > 3 and len(set(of.values())) == 1 else dict(sorted(of.items()))
        for name, of in sorted(given.items())
    }


STATED = ROOT / "tests" / "golden" / "defaults.json"


def test_defaults_are_those_that_are_stated():
    assert found() == json.loads(STATED.read_text())


if __name__ == "__main__":
    lines = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in found().items())
    STATED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
