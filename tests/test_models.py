"""Every posterior of the package has a plain twin in models/, with a reference posterior and a line in the index."""

import ast
import json
from pathlib import Path

import pytest

from bayesagree.evaluate import PLAUSIBILITIES

MODELS = Path(__file__).parents[1] / "models"
POSTERIORS = sorted([*PLAUSIBILITIES, "common_agreement"])
SCRIPTS = sorted(p for p in MODELS.glob("*.py") if not p.name.startswith("_"))


@pytest.mark.parametrize("name", POSTERIORS)
def test_every_posterior_has_a_model(name):
    script = MODELS / f"{name}.py"
    functions = {node.name for node in ast.parse(script.read_text()).body if isinstance(node, ast.FunctionDef)}
    assert {"data", "main"} <= functions
    assert functions & {"model", "exact"}
    references = list(MODELS.glob(f"{name}*.json"))
    assert references
    assert all(json.loads(path.read_text())["posterior"] for path in references)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_models_are_independent_and_indexed(script):
    tree = ast.parse(script.read_text())
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert not [name for name in imported if name.startswith("bayesagree")]
    assert f"`{script.stem}`" in (MODELS / "README.md").read_text()
    assert ast.get_docstring(tree)


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.json")), ids=lambda p: p.stem)
def test_reference_posteriors_passed_their_checks(path):
    record = json.loads(path.read_text())
    assert record["name"] == path.stem
    assert record["route"] in ("exact", "nuts")
    assert all(record.get("checks_made", {}).values()), record.get("checks")
