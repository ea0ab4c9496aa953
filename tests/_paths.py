"""Where the repository stands: golden values, reference posteriors and documentation are read from there."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module, which several tests walk."""
    return ast.parse(path.read_text())
