"""What a command prints, word for word: its tables, their titles and columns, and its sentences; fractions left out.

`golden/screens.json` holds the lines. `python tests/cli/test_screens.py` writes it anew.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest
from _hostile import write
from _paths import ROOT

SCREENS = ROOT / "tests" / "golden" / "screens.json"
COMMANDS = [
    "contents labels.csv",
    "agreement labels.csv",
    "evaluate labels.csv models.csv --draws 50",
    "certainty labels.csv --exact",
    "next labels.csv --number 3",
    "conformal labels.csv shares.csv --coverage 0.7",
    "auc two.csv scores.csv --draws 40",
    "plan labels.csv --n-items 20,60 --n-annotators 2,3 --replicates 2 --target .4 --cost 2,.5",
    "preferences games.csv --draws 60 --chains 2",
    "rankings cases.json --prirn 2 --draws 60",
    "annotators labels.csv --draws 60 --chains 2 --variant full",
    "crowdtruth labels.csv --draws 20",
    "subjective labels.csv --annotators people.csv --group age models.csv --draws 30",
    "blind models.csv --gold gold.csv --draws 20 --metrics accuracy --methods majority,em",
]


def words_of(text: str) -> list[str]:
    """Return the lines with # for every number with a decimal point, marks of tests left out."""
    lines = (re.sub(r"[<>]? ?-?\d*\.\d+(e-?\d+)?\*{0,2}", "#", line) for line in text.splitlines())
    return [" ".join(line.split()) for line in lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("command", COMMANDS)
def test_screen(run, monkeypatch, folder, command):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)  # lines as wide as in a file
    code, out, err = run(*command.split())
    assert code == 0, err
    assert words_of(out) == json.loads(SCREENS.read_text())[command]


if __name__ == "__main__":
    from contextlib import redirect_stdout
    from io import StringIO

    from bayesagree.cli import main

    os.chdir(write(Path(tempfile.mkdtemp())))
    found = {}
    for command in COMMANDS:
        sys.argv = ["bayesagree", *command.split()]
        with redirect_stdout(StringIO()) as out, pytest.raises(SystemExit):
            main()
        found[command] = words_of(out.getvalue())
    SCREENS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
