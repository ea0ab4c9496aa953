"""Every posterior has a plain twin in models/, whose reference posterior passed its checks, and a notebook shows it."""

import ast
import inspect
import json
import re

import pytest
import xarray as xr
from _paths import ROOT

import bayesagree
from bayesagree.plausibility.registry import BY_NAME

MODELS = ROOT / "models"
SCRIPTS = sorted(p for p in MODELS.glob("*.py") if not p.name.startswith("_"))
POSTERIORS = {*BY_NAME, "common_agreement", "corrected_rate", "davidson", "group_posterior"}
PLAIN = {"group_posterior": "group_performance"}
WITHOUT = {"evaluate", "calibrate", "read_result"}
"""Functions that return a tree of draws that others made."""


def test_every_posterior_is_listed():
    public = {n: getattr(bayesagree, n) for n in bayesagree.__all__}
    trees = {
        n for n, f in public.items() if inspect.isfunction(f) and inspect.signature(f).return_annotation is xr.DataTree
    }
    assert trees - WITHOUT == POSTERIORS


@pytest.mark.parametrize("name", sorted(POSTERIORS))
def test_a_posterior_has_a_plain_twin_and_a_notebook(name):
    stem = PLAIN.get(name, name)
    functions = {n.name for n in ast.parse((MODELS / f"{stem}.py").read_text()).body if isinstance(n, ast.FunctionDef)}
    assert {"data", "main"} <= functions
    assert functions & {"model", "exact"}
    assert list(MODELS.glob(f"{stem}*.json"))
    assert any(re.search(rf"\b{name}\(", path.read_text()) for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_models_are_independent_and_indexed(script):
    tree = ast.parse(script.read_text())
    imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    imported += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [name for name in imported if name.startswith("bayesagree")]
    assert ast.get_docstring(tree)
    index = (MODELS / "README.md").read_text()
    assert f"| `{script.stem}` |" in index
    assert "```mermaid\n" in index.split(f"\n## {script.stem}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.json")), ids=lambda p: p.stem)
def test_reference_posteriors_passed_their_checks(path):
    record = json.loads(path.read_text())
    assert record["name"] == path.stem
    assert record["route"] in ("exact", "nuts")
    assert record["posterior"]
    assert all(record.get("checks_made", {}).values()), record.get("checks")
