"""What holds for every command: help with an example that is valid, common flags, documented JSON, no partial files."""

import io
import json
import shlex
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
import typer
from rich.console import Console

from bayesagree.cli import _output, app
from bayesagree.cli.json_documents import DOCUMENTS


def leaves(command, name=()):
    """Yield (name, command) of everything that can be run."""
    if hasattr(command, "commands"):
        for part, inner in command.commands.items():
            yield from leaves(inner, (*name, part))
    else:
        yield " ".join(name), command


COMMANDS = dict(leaves(typer.main.get_command(app)))
WITH_JSON = [name for name, command in COMMANDS.items() if any("--json" in p.opts for p in command.params)]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_can_be_parsed(name):
    command = COMMANDS[name]
    example = next(line for line in (command.help or "").splitlines() if line.strip().startswith("Example: "))
    words = shlex.split(example.split("Example: ")[1])
    assert words[:2] == ["bayesagree", name.split()[0]]
    context = command.make_context(name, words[1 + len(name.split()) :])
    assert context.params


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is(name):
    for parameter in COMMANDS[name].params:
        if parameter.name != "help":
            assert parameter.help, parameter.name


@pytest.mark.parametrize("name", COMMANDS)
def test_common_flags_are_the_same_everywhere(name):
    known = {"output": {"--output", "-o"}, "json": {"--json"}, "as_json": {"--json"}, "data": {"--data"},
             "seed": {"--seed"}, "draws": {"--draws"}, "item": {"--item"}, "annotator": {"--annotator"}}  # fmt: skip
    for parameter in COMMANDS[name].params:
        assert set(parameter.opts) == known.get(parameter.name, set(parameter.opts))


def test_every_command_with_json_is_documented():
    assert sorted(DOCUMENTS) == sorted(WITH_JSON)
    assert set(COMMANDS) - set(WITH_JSON) == {"plausibility"}  # whose answer is a file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("commands")
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 20)
    said = [
        (f"t{i}", f"w{w}", "ab"[truth[i] if rng.random() < 0.8 else 1 - truth[i]])
        for i in range(20)
        for w in rng.permutation(6)[:4]
    ]
    pd.DataFrame(said, columns=["item", "annotator", "label"]).to_csv(where / "labels.csv", index=False)
    predicted = [
        (model, f"t{i}", "ab"[truth[i] if rng.random() < skill else 1 - truth[i]])
        for model, skill in (("[bold]good", 0.95), ("fair", 0.8), ("poor", 0.6))
        for i in range(20)
    ]
    pd.DataFrame(predicted, columns=["model", "item", "label"]).to_csv(where / "models.csv", index=False)
    gold = [(f"t{i}", "ab"[truth[i]]) for i in range(20)]
    pd.DataFrame(gold, columns=["item", "label"]).to_csv(where / "gold.csv", index=False)
    people = pd.DataFrame({"annotator": [f"w{j}" for j in range(6)], "age": ["old"] * 3 + ["young"] * 3})
    people.to_csv(where / "people.csv", index=False)
    cases = [[[["a"], ["b", "c"]], [["b"]]], [[["c"], ["a"]], [["c"]]], [[["a"]], [["a"], ["b"]]]]
    (where / "cases.json").write_text(json.dumps({"cases": cases, "labels": ["a", "b", "c"]}))
    return where


@pytest.fixture
def run(run, monkeypatch, folder):
    monkeypatch.chdir(folder)
    return run


ARGUMENTS = {
    "demo": "",
    "agreement": "labels.csv",
    "evaluate": "labels.csv models.csv --draws 20 -o kept.nc",
    "report": "labels.csv --draws 20 -o page.html",
    "certainty": "labels.csv --exact",
    "compare": "kept.nc",
    "reliability": "labels.csv",
    "blind": "models.csv --gold gold.csv --draws 20 --metrics accuracy",
    "rankings": "cases.json --prirn 2 --plackett-luce 1 --draws 100",
    "annotators": "labels.csv --draws 200 --chains 2",
    "subjective": "labels.csv --annotators people.csv --group age --predictions models.csv --draws 20",
    "doctor": "",
    "study auc": "--cases good --labels-per-item 5 --labels-per-annotator 5 --runs 1",
}


def test_every_json_document_is_tried():
    assert sorted(ARGUMENTS) == sorted(DOCUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_json_has_the_documented_keys(run, name):
    if name == "compare":
        run("evaluate", *ARGUMENTS["evaluate"].split())
    code, out, err = run(*name.split(), *ARGUMENTS[name].split(), "--json")
    assert code == 0, err
    assert "NaN" not in out
    compared(json.loads(out), DOCUMENTS[name], name)


def compared(found, document, place):
    """Compare the keys of a document with those that are listed."""
    if "[]" in document:
        assert isinstance(found, list)
        found, document = found[0], document["[]"]
    rows = found if isinstance(found, list) else [found]
    for row in rows[:3]:
        needed = {key for key in document if not key.endswith("?")}
        possible = {key.removesuffix("?") for key in document}
        assert needed <= row.keys() <= possible, place
    for key, meaning in document.items():
        name = key.removesuffix("?")
        if isinstance(meaning, Mapping) and rows and name in rows[0]:
            compared(rows[0][name], meaning, f"{place}: {name}")


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("evaluate", "--reliability 1,2"), ("report", "--predictions models.csv"), ("rankings", ""), ("annotators", ""),
        ("annotators", "--gold gold.csv"), ("subjective", ""), ("study auc", "--runs 2"),
    ],
)  # fmt: skip
def test_progress_ends_with_a_full_bar(run, bars, name, more):
    code, _, err = run(*name.split(), *ARGUMENTS[name].split(), *more.split())
    assert code == 0, err
    [(total, done)] = bars
    assert done == total > 1


def test_progress_shows_the_time_left_on_stderr_alone(monkeypatch, capsys):
    screen = io.StringIO()
    monkeypatch.setattr(_output, "stderr", Console(file=screen, force_terminal=True, width=80))
    with _output.progress("scoring", 2) as advance:
        advance()
        advance()
    assert "scoring" in screen.getvalue()
    assert screen.getvalue().count("0:00:00") >= 2  # elapsed and left
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("evaluate", "models.csv"), ("report", "--predictions models.csv"),
        ("subjective", "--predictions models.csv --annotators people.csv --group age"),
    ],
)  # fmt: skip
def test_columns_of_the_predictions_have_any_name(run, folder, tmp_path, monkeypatch, name, options):
    for file in ("labels.csv", "models.csv", "people.csv"):
        table = pd.read_csv(folder / file).rename(columns={"model": "system", "item": "task", "label": "answer"})
        table.to_csv(tmp_path / file, index=False)
    monkeypatch.chdir(tmp_path)
    columns = ("--model", "system", "--item", "task", "--label", "answer")
    code, _, err = run(name, "labels.csv", *options.split(), *columns, "--draws", 20)
    assert code == 0, err


def test_nothing_of_the_bar_is_written_to_a_file(run):
    _, _, err = run("evaluate", *ARGUMENTS["evaluate"].split())
    assert err == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,annotator,vote\n1,a,x\n", "name the right one with --label ... or --rating ...; a table"),
        ("task,annotator,label\n1,a,x\n", "name the right one with --item ..."),
        ("item,annotator,rating\n1,a,4\n", "pass --scale (lowest, highest)"),
        ("item,annotator,label\nitem=1,a,x\nitem=1,a,y\n", "item 'item=1', annotator 'a': annotated more than once"),
    ],
)
def test_errors_name_the_options_of_the_command_line(run, tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    code, _, err = run("agreement", tmp_path / "a.csv")
    assert code == 2
    assert message in err


def test_names_that_look_like_markup_stay_whole(run):
    _, out, _ = run("evaluate", "labels.csv", "models.csv", "--draws", 20)
    assert "[bold]good" in out


def test_numbers_that_do_not_exist_are_null(capsys):
    _output.show_json({"a": [float("nan"), np.float64("inf"), np.int64(2)], "b": np.array([True]), 3: None})
    assert json.loads(capsys.readouterr().out) == {"a": [None, None, 2], "b": [True], "3": None}


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("evaluate", "kept.nc"), ("plausibility", "kept.nc"), ("certainty", "kept.csv"), ("agreement", "kept.csv"),
        ("report", "page.html"),
    ],
)  # fmt: skip
def test_an_interrupt_leaves_no_partial_file(run, name, output, tmp_path, monkeypatch):
    """The moment is the worst one: the new content is written and not yet in place."""
    (tmp_path / output).write_text("old")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", stop)
    second = ["models.csv"] if name == "evaluate" else []
    draws = [] if name == "agreement" else ["--draws", 10]
    code, _, _ = run(name, "labels.csv", *second, *draws, "-o", tmp_path / output)
    assert code not in (0, 2)
    assert [path.name for path in tmp_path.iterdir()] == [output]
    assert (tmp_path / output).read_text() == "old"
