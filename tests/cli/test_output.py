"""Tables on the screen and as JSON; bars and spinners on stderr alone."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from bayesagree.cli import _output


def test_the_screen_shows_the_same_tables(capsys):
    one = {"model": "[a]", "lower_end": 0.12345, "reliability": 2.0, "flags": ["x", "y"], "n": 3, "sure": True}
    rows = [one | {"none": None, "note": note} for note in ("few", "", "few")]
    tables = [_output.Table("first", rows, "A title", most=2), _output.Table("hidden", rows, most=0)]
    _output.show(tables, as_json=True, notes=["so"])
    assert json.loads(capsys.readouterr().out) == {"notes": ["so"], "first": rows, "hidden": rows}
    _output.show(tables, as_json=False, notes=["so"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "A title (2 of 3)"
    assert lines[1].split() == ["model", "lower", "end", "flags", "n", "sure"]
    assert [line.split() for line in lines[2:4]] == [["[a]", "0.123", "x,", "y", "3", "yes"]] * 2
    assert lines[4:] == ["reliability 2.", "[a]: few", "", "so"]


def test_tables_fit_80_columns_without_breaking_a_number(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    row = {"coefficient": "brennan_prediger", "estimate": 0.5, "lower": 0.25, "upper": 0.75, "best_with_probability": 1}
    row |= {"better_than_next": 0.125, "text": "one long text that is broken between its words", "n_items": 12}
    _output.show([_output.Table("first", [row, row | {"coefficient": "phi"}])], as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for word in ("brennan_prediger", "0.500", "0.250", "0.750", "0.125", "probability", "estimate"):
        assert any(word in line.split() for line in lines)
    assert lines[-1] == "n items 12."


def test_names_and_numbers_are_whole_where_texts_must_give_way(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    texts = {f"note_{k}": "a text of many words that may be broken between them" for k in "ab"}
    rows = [{"name": "a_name_of_24_letters_now", "share": 0.125, "number_of_items": 1234567, **texts}]
    _output.show([_output.Table("first", [*rows, rows[0] | {"name": "short", "share": 1.5}])], as_json=False)
    words = capsys.readouterr().out.split()
    assert {"a_name_of_24_letters_now", "short", "0.125", "1.500"} <= set(words)
    assert words.count("1234567") == 2


@pytest.mark.parametrize(("tables", "notes", "shown"), [
    ([[{"a": 1}], []], ["so"], "\n\nso\n"), ([[]], ["so"], "so\n"), ([[{"a": 1}]], [], "1\n"),
])  # fmt: skip
def test_notes_stand_below_the_tables_that_have_rows(capsys, tables, notes, shown):
    _output.show([_output.Table(f"t{k}", rows) for k, rows in enumerate(tables)], as_json=False, notes=notes)
    out = "\n".join(line.rstrip() for line in capsys.readouterr().out.split("\n"))
    assert out.endswith(shown) and (len(out) > len(shown) or tables == [[]])


def test_a_table_wider_than_the_screen_loses_no_column(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _output.show([_output.Table("first", [{f"sensitivity{k}": 0.5 for k in range(6)}])], as_json=False)
    assert capsys.readouterr().out.count("0.500") == 6


def test_numbers_that_do_not_exist_are_null(capsys):
    rows = [{"a": float("nan"), "b": np.float64("inf"), "c": np.int64(2), "d": np.array([True])}]
    _output.show([_output.Table("t", rows)], as_json=True)
    assert json.loads(capsys.readouterr().out)["t"] == [{"a": None, "b": None, "c": 2, "d": [True]}]


@pytest.fixture
def screen(monkeypatch):
    """Give what a terminal shows as stderr."""
    shown = io.StringIO()
    monkeypatch.setattr(_output, "stderr", lambda: Console(file=shown, force_terminal=True, width=80))
    return shown


def test_progress_shows_the_time_left_on_stderr_alone(screen, capsys):
    with _output.progress("scoring", 2) as advance:
        advance()
        advance()
    assert "scoring" in screen.getvalue()
    assert screen.getvalue().count("0:00:00") >= 2  # elapsed and left
    assert capsys.readouterr().out == ""


DIRICHLET = "--plausibility dirichlet --draws 20"


@pytest.mark.parametrize("words", [
    f"evaluate labels.csv models.csv --reliability 1,2 {DIRICHLET}", f"report labels.csv models.csv {DIRICHLET}",
    "evaluate ratings.csv numbers.csv --scale 1,5 --draws 20 --chains 2",
])  # fmt: skip
def test_progress_ends_with_a_full_bar(run, folder, monkeypatch, tmp_path, words):
    """Of ratings the levels of annotators are drawn first, two chains of 270 sweeps, which no bar showed."""
    bars = []
    copied = pd.read_csv(folder / "ratings.csv").query("annotator == 'ann'").drop(columns="annotator")
    copied.assign(model="m").rename(columns={"rating": "prediction"}).to_csv(folder / "numbers.csv", index=False)

    class Bar:
        def __init__(self, what, total=None):
            self.total, self.done = total, 0
            bars.append(self)

        def __enter__(self):
            return self.advance

        def __exit__(self, *error):
            return None

        def advance(self, n=1):
            self.done += n

    monkeypatch.setattr(_output, "progress", Bar)
    done = run(*words.split(), "-o", tmp_path / "kept.nc")
    assert done.returncode == 0, done.stderr
    [_, bar] = bars  # the first is the command's own
    assert bar.done == bar.total > 1
