"""The page on the papers: its names exist, its commands parse, its cells and tests are there."""

import importlib
import json
import shlex
import sys
from pathlib import Path

import pytest

from bayesagree.cli._commands import as_command, load

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
paper_page = importlib.import_module("paper_page")
ROWS = paper_page.records()
CELLS = {}


def named(row):
    return f"{row['paper'].split()[0]} {row['item'][:40]}"


def cells(number):
    """Return the code of a notebook."""
    if number not in CELLS:
        notebook = json.loads(paper_page.notebook(number).read_text(encoding="utf-8"))
        CELLS[number] = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return CELLS[number]


def resolve(dotted):
    """Return what a dotted name stands for."""
    first, *parts = dotted.split(".")
    thing, module = importlib.import_module(first), first
    for part in parts:
        module = f"{module}.{part}"
        if not hasattr(thing, part):
            importlib.import_module(module)
        thing = getattr(thing, part)
    return thing


def command_of(words):
    """Return the command that words of a shell name, and its options."""
    if words[0] == "bayesagree":
        return load(words[1]), words[2:]
    assert words[:2] == ["python", "-m"]
    assert words[2].startswith("studies.")
    return as_command(importlib.import_module(words[2]).main, words[2]), words[3:]


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_a_row_of_the_papers(row):
    assert row["verdict"] in paper_page.VERDICTS
    for name in row["where"]:
        resolve(paper_page.full_name(name))
    show = row["show"]
    if not show:
        assert row["verdict"] == "cannot be shown"
    elif show.startswith("notebook "):
        number, text = show.removeprefix("notebook ").split(": ", 1)
        assert any(text in cell for cell in cells(number)), text
    elif show.startswith("tests/"):
        assert (ROOT / show).exists(), show
    else:
        command, options = command_of(shlex.split(show))
        assert command.make_context(show, options, resilient_parsing=False).params
    if row["verdict"] in ("partly", "does not hold", "cannot be shown"):
        assert row["note"], "say why"


def test_all_figures_and_tables_of_the_papers_have_a_row():
    wanted = {
        "Stutz": ({*range(1, 16)}, set()),
        "Checco": ({*range(1, 6)}, {1, 2}),
        "Urkullu": ({*range(1, 16)}, set()),
        "Jung": ({*range(1, 6)}, {*range(1, 10)}),
        "Balayn": ({*range(1, 6)}, {1, 2}),
    }
    for author, (figures, tables) in wanted.items():
        items = " ".join(row["item"].split(":")[0] for row in ROWS if row["paper"].startswith(author)).lower()
        found = {"figure": set(), "table": set()}
        words = items.replace(",", " ").split()
        for k, word in enumerate(words):
            if (kind := word.rstrip("s")) in found:
                for number in words[k + 1 : k + 3]:
                    if number.rstrip("ab").isdigit():
                        found[kind].add(int(number.rstrip("ab")))
                    else:
                        break
        assert figures <= found["figure"], author
        assert tables <= found["table"], author


def test_the_page_has_every_row():
    page = paper_page.page()
    assert page.count("\n| ") == len(ROWS) + 2 * 5
    assert all(json.loads(json.dumps(row))["item"].replace("|", "\\|") in page for row in ROWS)
