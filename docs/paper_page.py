"""The page on the five papers, written from `papers.json`: what each defines, draws and claims, and where it is here.

A row of the record has the paper, the item, `where` it is (names below `bayesagree`, or in `studies`), what shows it
(`show`: a command, a cell of a notebook as "notebook NN: text of the cell", or a test file), and a `verdict` with a
note.
"""

import json
from pathlib import Path

HERE = Path(__file__).parent
VERDICTS = ("definition", "holds", "partly", "does not hold", "cannot be shown")


def records() -> list[dict[str, str | list[str]]]:
    """Return the rows of the table."""
    return json.loads((HERE / "papers.json").read_text(encoding="utf-8"))


def notebook(number: str) -> Path:
    """Return the file of a notebook."""
    return next((HERE.parent / "notebooks").glob(f"{number}_*.ipynb"))


def page() -> str:
    """Return the page."""
    rows = records()
    counted = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}
    texts = [
        "# The papers, item by item\n",
        "Every definition, table, figure and claim of the five papers, the function that computes it, and the command "
        "or notebook cell that shows it. *holds*: it comes out as the paper says; *partly*: on other data, or in part; "
        "*cannot be shown*: the note says why. Commands that name `labels.csv` and similar files take your own; "
        "`python -m studies.NAME` runs in a checkout of the repository ([all studies](studies.md)).\n",
        ", ".join(f"{counted[verdict]} {verdict}" for verdict in VERDICTS) + ".\n",
    ]
    for paper in dict.fromkeys(str(row["paper"]) for row in rows):
        texts.append(f"## {paper}\n\n| item | where | shown by | verdict |\n| --- | --- | --- | --- |")
        texts += [_row(row) for row in rows if row["paper"] == paper]
        texts.append("")
    return "\n".join(texts)


def full_name(name: str) -> str:
    """Return the dotted name of a function with the name of its package."""
    return name if name.startswith("studies.") else f"bayesagree.{name}"


def _row(row: dict[str, str | list[str]]) -> str:
    names = ", ".join(f"`{full_name(name)}`" for name in row["where"]) or "-"
    note = f": {row['note']}" if row["note"] else ""
    cells = (str(row["item"]), names, _shown(str(row["show"])), f"*{row['verdict']}*{note}")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _shown(show: str) -> str:
    if show.startswith("notebook "):
        number, text = show.removeprefix("notebook ").split(": ", 1)
        return f"[notebook {number}](notebooks/{notebook(number).name}), ``{text}``"
    return f"``{show}``" if show else "-"
