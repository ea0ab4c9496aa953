"""Every notebook runs from top to bottom with few draws, and is stored without outputs."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

HERE = Path(__file__).parent
FEW_DRAWS = "50"


@pytest.mark.parametrize("path", sorted(HERE.glob("*.ipynb")), ids=lambda p: p.stem)
def test_runs(path, monkeypatch):
    notebook = nbformat.read(path, as_version=4)
    stored = [c for c in notebook.cells if c.cell_type == "code" and (c.outputs or c.execution_count)]
    assert stored == [], "outputs are stored; clear them before committing"
    monkeypatch.setenv("BAYESAGREE_DRAWS", os.environ.get("BAYESAGREE_DRAWS", FEW_DRAWS))
    if data := os.environ.get("BAYESAGREE_DATA"):
        monkeypatch.setenv("BAYESAGREE_DATA", str(Path(data).resolve()))
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(HERE)}}).execute()
