"""Every notebook is stored with its outputs, runs from top to bottom, and prints the stored numbers again."""

import importlib.util
import os
import re
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest

import bayesagree.plots

HERE = Path(__file__).parent
NOTEBOOKS = sorted(HERE.glob("*.ipynb"))
NOWHERE = "http://127.0.0.1:9"

named = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def load_execute():
    spec = importlib.util.spec_from_file_location("execute_notebooks", HERE / "execute.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.notebook
@named
def test_prints_the_stored_numbers(path, monkeypatch, tmp_path):
    execute, stored = load_execute(), nbformat.read(path, as_version=4)
    data = os.environ.get("BAYESAGREE_DATA")
    if data:
        monkeypatch.setenv("BAYESAGREE_DATA", str(Path(data).resolve()))
    monkeypatch.setenv("HTTPS_PROXY", NOWHERE)  # stored or simulated data alone: no test downloads
    monkeypatch.delenv("MPLBACKEND", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))  # a plain kernel: nobody's settings
    again = deepcopy(stored)
    execute.execute(again, timeout=900)
    # Without the public data, notebooks that load them simulate others.
    if data or not any("load(" in cell.source for cell in stored.cells):
        assert execute.differences(stored, again) == []


def test_a_number_that_is_off_and_a_cell_without_output_are_found():
    execute, stored = load_execute(), nbformat.read(NOTEBOOKS[0], as_version=4)
    number, cell = next(
        (n, c) for n, c in enumerate(stored.cells) if c.cell_type == "code" and execute.numbers(c)
    )
    again = deepcopy(stored)
    assert execute.differences(stored, again) == []
    output = again.cells[number].outputs[0]
    first = execute.numbers(cell)[0]
    changed = f"{float(first) + 3}"
    if "text" in output:
        output.text = output.text.replace(first, changed, 1)
    else:
        output.data["text/plain"] = output.data["text/plain"].replace(first, changed, 1)
    assert execute.differences(stored, again)[0].startswith(f"cell {number} prints {changed}")
    stored.cells[number].outputs = []
    assert f"cell {number} has no stored output" in execute.differences(stored, again)


@named
def test_is_stored_with_outputs(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    outputs = load_execute().outputs(cells)
    assert all(cell.execution_count for cell in cells), "store the outputs: notebooks/execute.py --store"
    assert any("image/png" in output.get("data", {}) for output in outputs), "no picture is shown"
    assert not any(output.output_type == "error" for output in outputs)
    assert "/home/" not in path.read_text(encoding="utf-8")
    assert path.stat().st_size < 1e6


def test_all_notebooks_together_are_small():
    assert sum(path.stat().st_size for path in NOTEBOOKS) < 6 * 2**20


def test_every_figure_is_in_a_notebook_and_drawn_by_its_function():
    code = [
        c.source for path in NOTEBOOKS for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"
    ]
    text = "\n".join(code)
    assert [name for name in bayesagree.plots.__all__ if f"{name}(" not in text] == []
    assert not re.search(r"%matplotlib|pyplot|plt\.|subplots|\.plot\(", text)


@named
def test_opens_with_a_question_and_ends_with_what_to_conclude(path):
    text = [c.source for c in nbformat.read(path, as_version=4).cells if c.cell_type == "markdown"]
    assert "?" in text[0]
    assert text[-1].startswith("## What to conclude")


@named
def test_code_is_that_of_a_reader(path):
    code = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert not any("assert " in source or "environ" in source for source in code)
