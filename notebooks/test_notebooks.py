"""Every notebook runs from top to bottom with few draws, and is stored without outputs."""

import importlib.util
import os
from pathlib import Path

import nbformat
import pytest

import bayesagree.plots

HERE = Path(__file__).parent
FEW_DRAWS = "50"
NOWHERE = "http://127.0.0.1:9"


def load_execute():
    spec = importlib.util.spec_from_file_location("execute_notebooks", HERE / "execute.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.execute


@pytest.mark.notebook
@pytest.mark.parametrize("path", sorted(HERE.glob("*.ipynb")), ids=lambda p: p.stem)
def test_runs(path, monkeypatch, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    stored = [c for c in notebook.cells if c.cell_type == "code" and (c.outputs or c.execution_count)]
    assert stored == [], "outputs are stored; clear them before committing"
    monkeypatch.setenv("BAYESAGREE_DRAWS", os.environ.get("BAYESAGREE_DRAWS", FEW_DRAWS))
    if data := os.environ.get("BAYESAGREE_DATA"):
        monkeypatch.setenv("BAYESAGREE_DATA", str(Path(data).resolve()))
    monkeypatch.setenv("HTTPS_PROXY", NOWHERE)  # stored or simulated data alone: no test downloads
    monkeypatch.delenv("MPLBACKEND", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # a plain kernel: nobody's settings
    load_execute()(notebook, timeout=300)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs), "no picture is shown"


def test_every_figure_is_used_in_a_notebook_or_the_gallery():
    pages = [*HERE.glob("*.ipynb"), HERE.parent / "docs" / "gallery.md"]
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    assert [name for name in bayesagree.plots.__all__ if f"{name}(" not in text] == []
    assert "%matplotlib" not in text


@pytest.mark.parametrize("path", sorted(HERE.glob("*.ipynb")), ids=lambda p: p.stem)
def test_opens_with_a_question_and_ends_with_what_to_conclude(path):
    text = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown"]
    assert "?" in text[0]
    assert text[-1].startswith("## What to conclude")
