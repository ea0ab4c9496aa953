"""What holds for every command: help with an example that is valid, common flags, documented JSON, no partial files."""

import io
import json
import shlex
import subprocess
import sys
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _paths import ROOT
from rich.console import Console

import bayesagree as ba
from bayesagree.cli import COMMANDS as LINES
from bayesagree.cli import _commands, _options, _output
from bayesagree.errors import InputError

COMMANDS = {name: _commands.load(name) for name in LINES}
WITH_JSON = [name for name, command in COMMANDS.items() if any("--json" in p.opts for p in command.params)]


def test_flags_are_off_unless_given():
    on = {
        (name, p.name)
        for name, command in COMMANDS.items()
        for p in command.params
        if getattr(p, "is_flag", False) and p.default
    }
    assert on == {("subjective", "phi")}


def test_defaults_are_those_that_are_stated():
    """`golden/options.json`: of every command the options that have a default, and that default."""
    found = {
        name: {
            p.name: p.default if isinstance(p.default, int | float | str) else str(p.default)
            for p in command.params
            if p.default not in (None, False)
        }
        for name, command in COMMANDS.items()
    }
    assert found == json.loads((ROOT / "tests" / "golden" / "options.json").read_text())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_that_can_be_parsed(name):
    command = COMMANDS[name]
    example = next(line for line in (command.help or "").splitlines() if line.strip().startswith("Example: "))
    words = shlex.split(example.split("Example: ")[1])
    assert words[:2] == ["bayesagree", name]
    context = command.make_context(name, words[2:])
    assert context.params


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_is(name):
    for parameter in COMMANDS[name].params:
        if parameter.name != "help":
            assert parameter.help, parameter.name


@pytest.mark.parametrize("name", COMMANDS)
def test_common_flags_are_the_same_everywhere(name):
    known = {"output": {"--output", "-o"}, "json": {"--json"}, "data": {"--data"}, "seed": {"--seed"},
             "draws": {"--draws"}, "item": {"--item"}, "annotator": {"--annotator"}}  # fmt: skip
    for parameter in COMMANDS[name].params:
        assert set(parameter.opts) == known.get(parameter.name, set(parameter.opts))
        for option in set(parameter.opts) & {"--json", "--data", "--seed"}:
            assert parameter.name == option[2:]
        assert not parameter.name.endswith("completion")  # of the shell: that of the whole command line


WITH_PREDICTIONS = [name for name, of in COMMANDS.items() if any(p.name == "predictions" for p in of.params)]


def test_predictions_are_the_second_file_of_every_command():
    assert len(WITH_PREDICTIONS) == 10
    for name in WITH_PREDICTIONS:
        files = [p.name for p in COMMANDS[name].params if p.param_type_name == "argument"]
        assert files == ["annotations", "predictions"], name


@pytest.mark.parametrize("word", ["--predictions", "--predictions=models.csv"])
def test_an_option_for_the_second_file_is_refused_with_the_form_to_write(word):
    with pytest.raises(InputError, match="second file: bayesagree evaluate LABELS PREDICTIONS"):
        _commands._refuse_misplaced_files(["evaluate", "labels.csv", word], COMMANDS["evaluate"])
    _commands._refuse_misplaced_files(["evaluate", "labels.csv", "--predictions-item"], COMMANDS["evaluate"])
    _commands._refuse_misplaced_files(["agreement", "labels.csv", word], COMMANDS["agreement"])  # no such option there


@pytest.mark.parametrize(
    ("data", "files", "read"),
    [("toy", ("a",), (None, "a")), ("toy", (), (None, None)), ("toy", ("a", "b"), ("a", "b")),
     (None, ("a",), ("a", None)), (None, ("a", "b"), ("a", "b"))],
)  # fmt: skip
def test_the_file_beside_a_named_data_set_is_that_of_predictions(data, files, read):
    def check(source: _options.Source, predictions: Path | None = None) -> None:
        found.append((source.annotations, predictions))

    found = []
    given = {field.name: field.default for field in fields(_options.Source)} | {"data": data, "predictions": None}
    _options.flattened(check, "check")(**given | dict(zip(("annotations", "predictions"), files)))
    assert found == [read]


def test_every_command_with_an_answer_has_json():
    assert set(COMMANDS) - set(WITH_JSON) == {"plausibility"}  # whose answer is a file


def test_the_help_of_the_group_names_every_command_and_imports_none():
    code = (
        "import sys\n"
        "from bayesagree.cli import COMMANDS\n"
        "from bayesagree.cli._commands import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([name for name in COMMANDS if f'bayesagree.cli.{name}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(f" {name} " in done.stdout for name in LINES)


def test_the_version_is_that_of_the_package(run):
    assert run("--version").stdout == f"bayesagree {version('bayesagree')}\n"


def test_an_interrupt_while_a_command_starts_ends_in_one_line(run, monkeypatch):
    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(_commands, "app", stop)
    code, out, err = run("demo")
    assert (code, out, err) == (130, "", "bayesagree: interrupted\n")


def test_options_of_a_dataclass_are_options_of_the_command():
    def options(sampling: _options.Sampling, reliability: str = "x") -> None:
        found.append((sampling, reliability))

    found = []
    command = _options.flattened(options, "evaluate")
    command(draws=2, chains=3, seed=4, reliability="y")
    assert found == [(_options.Sampling(2, 3, 4), "y")]
    parameters = {parameter.name: parameter for parameter in _commands.as_command(options, "evaluate").params}
    assert list(parameters) == ["draws", "chains", "seed", "reliability"]
    assert parameters["seed"].help == "Same seed, same draws."
    assert parameters["reliability"].help == "Weight of an annotation, one or several: 0.1,1,10."
    assert parameters["draws"].min == 1


def test_every_text_of_an_option_is_used():
    known = {name: {parameter.name for parameter in command.params} for name, command in COMMANDS.items()}
    assert {"shared"} | set(known) >= set(_options.OPTIONS)
    for name, texts in _options.OPTIONS.items():
        parameters = known[name] if name != "shared" else set().union(*known.values())
        assert set(texts) <= parameters


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
    shares = [
        (m, f"t{i}", k, 0.7 if k == said else 0.3) for m, item, said in predicted for i in [item[1:]] for k in "ab"
    ]
    pd.DataFrame(shares, columns=["model", "item", "label", "score"]).to_csv(where / "shares.csv", index=False)
    scores = [("M", f"t{i}", (truth[i] + rng.random()) / 2) for i in range(20)] + [("M", "unlabelled", 0.5)]
    pd.DataFrame(scores, columns=["model", "item", "score"]).to_csv(where / "scores.csv", index=False)
    verdicts = [
        (f"t{i}", judge, "ab"[truth[i] if rng.random() < 0.8 else 1 - truth[i]], f"s{i % 2}")
        for judge in ("gpt", "other")
        for i in range(20)
    ]
    columns = ["item", "judge", "label", "system"]
    pd.DataFrame(verdicts, columns=columns).to_csv(where / "verdicts.csv", index=False)
    gold = [(f"t{i}", "ab"[truth[i]]) for i in range(20)]
    pd.DataFrame(gold, columns=["item", "label"]).to_csv(where / "gold.csv", index=False)
    rated = [
        (f"t{i}", f"w{w}", int(np.clip(rng.normal(2 + 2 * truth[i], 1), 1, 5))) for i in range(20) for w in range(4)
    ]
    pd.DataFrame(rated, columns=["item", "annotator", "rating"]).to_csv(where / "ratings.csv", index=False)
    people = pd.DataFrame({"annotator": [f"w{j}" for j in range(6)], "age": ["old"] * 3 + ["young"] * 3})
    people.to_csv(where / "people.csv", index=False)
    games = pd.DataFrame({"left": [*"AABBC"] * 8, "right": [*"BCCAA"] * 8, "winner": ["A", "tie", "B", "A", "A"] * 8})
    games.assign(annotator=["x", "y"] * 20).to_csv(where / "games.csv", index=False)
    pages = pd.DataFrame(
        {"item": [f"t{i}" for i in range(20)], "page": np.arange(20) // 4, "half": np.arange(20) // 10}
    )
    pages.to_csv(where / "items.csv", index=False)
    (where / "own_metrics.py").write_text("def hits(true, predicted):\n    return (true == predicted).mean()\n")
    cases = [[[["a"], ["b", "c"]], [["b"]]], [[["c"], ["a"]], [["c"]]], [[["a"]], [["a"], ["b"]]]]
    (where / "cases.json").write_text(json.dumps({"cases": cases, "labels": ["a", "b", "c"]}))
    return where


@pytest.fixture
def run(run, monkeypatch, folder):
    monkeypatch.chdir(folder)
    return run


ARGUMENTS = {
    "demo": "",
    "contents": "labels.csv",
    "agreement": "labels.csv",
    "evaluate": "labels.csv models.csv --draws 20 -o kept.nc --force",
    "report": "labels.csv --draws 20 -o page.html --force",
    "certainty": "labels.csv --exact",
    "compare": "kept.nc",
    "check": "labels.csv models.csv --new [bold]good --old poor --probability .6 --draws 50",
    "reliability": "labels.csv",
    "plan": "labels.csv --n-items 20,40 --n-annotators 2,3 --replicates 2 --target 0.9",
    "next": "labels.csv models.csv --number 5",
    "conformal": "labels.csv shares.csv --coverage 0.8",
    "auc": "labels.csv scores.csv --draws 50",
    "blind": "models.csv --gold gold.csv --draws 20 --metrics accuracy",
    "preferences": "games.csv --draws 50 --chains 2",
    "rankings": "cases.json --prirn 2 --plackett-luce 1 --draws 100",
    "annotators": "labels.csv --draws 200 --chains 2",
    "judge": "verdicts.csv --people labels.csv --system system --draws 50 --chains 2",
    "subjective": "labels.csv --annotators people.csv --group age models.csv --draws 20",
    "doctor": "",
}


TABLES = {
    "demo": {"models"},
    "agreement": {"agreement"},
    "contents": {"contents", "left_out", "commands"},
    "evaluate": {"settings", "open_items", "scores", "pairs"},
    "report": {"settings", "warnings"},
    "certainty": {"certainty", "items"},
    "compare": {"pairs", "ranks"},
    "check": {"claim", "pairs"},
    "reliability": {"settings", "curve"},
    "plan": {"designs"},
    "next": {"items"},
    "conformal": {"settings", "coverage", "thresholds", "widest"},
    "auc": {"settings", "auc"},
    "blind": {
        "settings", "scores", "actual", "methods", "quality", "quality_correlation", "outliers", "overlap",
    },
    "preferences": {"comparisons", "models", "effects", "annotators"},
    "rankings": {
        "annotations", "settings", "correlation_of_certainty", "nearest_settings", "unsettled_items", "scores", "item",
        "rankings", "labels",
    },
    "annotators": {"annotators", "confusion", "checks"},
    "judge": {"settings", "rates", "pairs", "judges"},
    "subjective": {"settings", "groups", "models", "agreement"},
    "doctor": {"system", "dependencies", "extras", "threads", "cache", "data", "problems"},
}  # fmt: skip


def test_every_command_with_json_is_tried():
    assert sorted(ARGUMENTS) == sorted(TABLES) == sorted(WITH_JSON)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_json_is_one_document_of_the_tables(run, name):
    if name == "compare":
        run("evaluate", *ARGUMENTS["evaluate"].split())
    code, out, err = run(name, *ARGUMENTS[name].split(), "--json")
    assert code == 0, err
    assert "NaN" not in out
    document = json.loads(out)
    assert document.keys() == TABLES[name] | {"notes"}
    for table, rows in document.items():
        assert isinstance(rows, list), table
        if table == "notes":
            assert all(isinstance(note, str) for note in rows)
        else:
            assert all(row.keys() == rows[0].keys() for row in rows), table


def test_judge_chooses_items_for_people_and_takes_their_probabilities(run, folder):
    options = "--choose 5 --design doubt --system system --positive a --json -o chosen.csv"
    code, out, err = run("judge", "verdicts.csv", *options.split())
    assert code == 0, err
    rows = json.loads(out)["items"]
    assert sum(row["chosen"] for row in rows) == 5
    assert sum(row["inclusion"] for row in rows) == pytest.approx(5)
    verdicts = pd.read_csv(folder / "verdicts.csv")
    verdicts["chance"] = verdicts["item"].map({row["item"]: row["inclusion"] for row in rows})
    verdicts.to_csv(folder / "known.csv", index=False)
    few = "--people labels.csv --inclusion chance --draws 20 --chains 1 --json"
    code, out, err = run("judge", "known.csv", *few.split())
    assert code == 0, err
    assert json.loads(out)["rates"]
    code, _, err = run("judge", "verdicts.csv")
    assert code != 0
    assert "--choose N" in err


def test_judge_chooses_items_by_scores(run, folder):
    scores = pd.DataFrame({"item": range(9), "judge": "g", "rating": [k * 7 % 10 for k in range(9)]})
    scores.to_csv(folder / "scored.csv", index=False)
    code, out, err = run("judge", "scored.csv", *["--choose", "4", "--design", "doubt", "--scale", "0", "9", "--json"])
    assert code == 0, err
    assert sum(row["chosen"] for row in json.loads(out)["items"]) == 4
    code, _, err = run("judge", "scored.csv", "--choose", "4")
    assert code != 0
    assert "the verdicts have no column 'label'" in err
    assert "--scale" in err


@pytest.mark.parametrize("kind", ["ratings", "rankings"])
def test_judge_is_compared_with_ratings_and_rankings(run, folder, kind):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 40)
    rows = []
    for who in ("gpt", "ann", "bob", "cyn"):
        said = np.where(rng.random(40) < 0.8, truth, rng.integers(0, 3, 40))
        for item, first in enumerate(said):
            named = [(first, 1), ((first + 1) % 3, 2)] if kind == "rankings" else [(0, first)]
            rows += [(f"t{item}", who, f"L{label}", value) for label, value in named]
    column = "rank" if kind == "rankings" else "rating"
    table = pd.DataFrame(rows, columns=["item", "annotator", "label", column])
    table = table if kind == "rankings" else table.drop(columns="label")
    by_judge = table.annotator == "gpt"
    judge, people = table[by_judge].rename(columns={"annotator": "judge"}), table[~by_judge]
    judge.to_csv(folder / "judge_said.csv", index=False)
    people.to_csv(folder / "people_said.csv", index=False)
    options = [] if kind == "rankings" else ["--scale", "0", "2"]
    code, out, err = run("judge", "judge_said.csv", "--people", "people_said.csv", "--json", *options)
    assert code == 0, err
    (row,) = json.loads(out)["judges"]
    if kind == "rankings":
        given = ba.Rankings.from_long(people, label="label")
        ranks = judge.pivot(index="item", columns="label", values="rank").fillna(3)
        models = ba.Predictions.from_scores({"gpt": -ranks})
    else:
        given = ba.Ratings.from_long(people, scale=(0, 2))
        models = ba.Predictions.from_labels({"gpt": judge.set_index("item")["rating"]})
    expected = ba.alternative_annotator_test(given, models, seed=1)
    assert row["prob_passes"] == expected["prob_passes"].item()
    assert row["advantage_probability"] == expected["advantage_probability"].item()


def test_a_judge_who_ranks_a_label_twice_is_named(run, folder):
    people = [("t1", who, label, place) for who in ("ann", "bob") for place, label in enumerate("xy", 1)]
    pd.DataFrame(people, columns=["item", "annotator", "label", "rank"]).to_csv(folder / "two.csv", index=False)
    said = [("t1", "gpt", "x", 1), ("t1", "gpt", "y", 2), ("t1", "gpt", "x", 3)]
    pd.DataFrame(said, columns=["item", "judge", "label", "rank"]).to_csv(folder / "twice.csv", index=False)
    code, _, err = run("judge", "twice.csv", "--people", "two.csv")
    assert code != 0
    assert "annotator 'gpt': label 'x' is named twice" in err


def test_evaluate_by_slices_with_clusters_an_annotator_and_a_function(run, folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    files = ("evaluate", "labels.csv", "models.csv")
    options = "--item-features items.csv --by half --cluster page --items bootstrap --draws 10 --json"
    code, out, err = run(*files, "--metric", "f1_macro,recall[a]", "--another-annotator", *options.split())
    assert code == 0, err
    found = json.loads(out)
    assert {row["metric"] for row in found["scores"]} == {"f1_macro", "recall[a]"}
    assert "another annotator" in {row["model"] for row in found["scores"]}
    assert {row["half"] for row in found["slices"]} == {0, 1}
    assert {row["side"] for row in found["slices"]} == {"slice", "rest", "difference"}
    code, out, err = run(
        "evaluate", "labels.csv", "models.csv", "--metric", "own_metrics:hits", "--draws", "5", "--json"
    )
    assert code == 0, err
    assert {row["metric"] for row in json.loads(out)["scores"]} == {"hits"}
    code, _, err = run(*files, "--by", "half")
    assert code != 0
    assert "--item-features" in err


def test_the_screen_shows_the_same_tables(capsys):
    one = {"model": "[a]", "lower_end": 0.12345, "reliability": 2.0, "flags": ["x", "y"], "n": 3, "sure": True}
    rows = [one | {"none": None, "note": note} for note in ("few", "", "few")]
    tables = [_output.Table("first", rows, "A title", most=2), _output.Table("hidden", rows, most=0)]
    _output.show(tables, json=True, notes=["so"])
    assert json.loads(capsys.readouterr().out) == {"notes": ["so"], "first": rows, "hidden": rows}
    _output.show(tables, json=False, notes=["so"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["A", "title"]
    assert lines[1].split() == ["model", "lower", "end", "flags", "n", "sure"]
    assert [line.split() for line in lines[2:4]] == [["[a]", "0.123", "x,", "y", "3", "yes"]] * 2
    assert lines[4:] == ["reliability 2.", "[a]: few", "", "so"]


def test_tables_fit_80_columns_without_breaking_a_number(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    row = {"coefficient": "brennan_prediger", "estimate": 0.5, "lower": 0.25, "upper": 0.75, "best_with_probability": 1}
    row |= {"better_than_next": 0.125, "text": "one long text that is broken between its words", "n_items": 12}
    _output.show([_output.Table("first", [row, row | {"coefficient": "phi"}])], json=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for word in ("brennan_prediger", "0.500", "0.250", "0.750", "0.125", "probability", "estimate"):
        assert any(word in line.split() for line in lines)
    assert lines[-1] == "n items 12."


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("evaluate", "--reliability 1,2"), ("evaluate", "--plausibility informed_dirichlet"),
        ("report", "models.csv"),
        ("report", "models.csv --plausibility informed_dirichlet"), ("rankings", ""), ("annotators", ""),
        ("annotators", "--gold gold.csv"), ("subjective", ""),
    ],
)  # fmt: skip
def test_progress_ends_with_a_full_bar(run, bars, name, more):
    code, _, err = run(name, *ARGUMENTS[name].split(), *more.split())
    assert code == 0, err
    [(total, done)] = bars
    assert done == total > 1


def test_progress_shows_the_time_left_on_stderr_alone(monkeypatch, capsys):
    screen = io.StringIO()
    monkeypatch.setattr(_output, "stderr", lambda: Console(file=screen, force_terminal=True, width=80))
    with _output.progress("scoring", 2) as advance:
        advance()
        advance()
    assert "scoring" in screen.getvalue()
    assert screen.getvalue().count("0:00:00") >= 2  # elapsed and left
    assert capsys.readouterr().out == ""


def test_a_command_without_a_bar_shows_that_it_works_where_stderr_is_a_terminal(monkeypatch, capsys, folder, run):
    screen = io.StringIO()
    monkeypatch.setattr(_output, "stderr", lambda: Console(file=screen, force_terminal=True, width=80))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    done = run("certainty", "labels.csv", "--exact", "--json")
    assert "certainty" in screen.getvalue()
    assert json.loads(done.stdout)["items"]
    assert _output._spinners == []


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("evaluate", "models.csv"), ("report", "models.csv"),
        ("subjective", "models.csv --annotators people.csv --group age"),
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
        ("item,annotator,said\n1,a,x\n", "name the right one with --label ... or --rating ..., or say"),
        ("thing,annotator,label\n1,a,x\n", "name the right one with --item ..."),
        ("item,annotator,rating\n1,a,4\n", "pass --scale lowest,highest"),
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
    code, _, _ = run(name, "labels.csv", *second, *draws, "-o", tmp_path / output, "--force")
    assert code not in (0, 2)
    assert [path.name for path in tmp_path.iterdir()] == [output]
    assert (tmp_path / output).read_text() == "old"


def test_auc_of_a_file_of_scores_is_that_of_the_function(run, folder):
    code, out, err = run("auc", *ARGUMENTS["auc"].split(), "--json")
    assert code == 0, err
    [row] = json.loads(out)["auc"]
    labels = ba.read_annotations(folder / "labels.csv")
    scores = pd.read_csv(folder / "scores.csv").iloc[:20].set_index("item")["score"]
    for method in ("pgt", "dgt", "sgt"):
        expected = ba.auc(labels, ba.Predictions.from_scores({"M": scores}, labels=["a", "b"]), method=method, seed=1)
        assert row[method] == pytest.approx(expected.item())
    assert row["lower"] < row["auc"] < row["upper"]
    turned = json.loads(run("auc", *ARGUMENTS["auc"].split(), "--positive", "a", "--json").stdout)["auc"][0]
    assert turned["sgt"] == pytest.approx(1 - row["sgt"])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("auc", "labels.csv"), "there are no predictions"),
        (("auc", "labels.csv", "scores.csv", "--positive", "c"), "not one of a, b"),
        (("auc", "cases.json", "scores.csv"), "labels of two kinds"),
    ],
)
def test_auc_says_what_they_need(run, args, message):
    code, _, err = run(*args)
    assert code == 2
    assert message in err


def test_next_prefers_split_items_and_prints_that_their_gains_are_equal(run, folder):
    rows = [(f"i{k}", w, "no" if w == "c" and k % 4 == 0 else "yes") for k in range(40) for w in "abc"]
    pd.DataFrame(rows, columns=["item", "annotator", "label"]).to_csv(folder / "three_votes.csv", index=False)
    answer = json.loads(run("next", "three_votes.csv", "--number", 5, "--json").stdout)
    assert {int(row["item"][1:]) % 4 for row in answer["items"]} == {0}
    assert answer["notes"][0].startswith("10 items are equal in gain")


def test_check_ends_with_zero_one_or_two(run, folder):
    names = ("check", "labels.csv", "models.csv", "--draws", 100)
    code, out, _ = run(*names, "--new", "[bold]good", "--old", "poor", "--probability", 0.6)
    assert code == 0
    assert "[bold]good is better than poor with probability" in out
    code, out, _ = run(*names, "--new", "poor", "--old", "[bold]good", "--not-worse", 0.01)
    assert code == 1
    assert "poor is not worse than [bold]good by .01 with probability" in out
    code, out, _ = run(*names, "--new", "poor", "--old", "[bold]good", "--json")
    assert code == 1
    (claim,) = json.loads(out)["claim"]
    assert not claim["supported"]
    assert claim["claim_probability"] < claim["required"] == 0.95
    for wrong, message in (
        (("--new", "best", "--old", "poor"), "--new 'best' is not one of the models"),
        (("--new", "poor", "--old", "poor"), "a comparison needs two models"),
        (("--new", "fair", "--old", "poor", "--not-worse", -1), "--not-worse -1 must be above 0"),
        (("--new", "fair", "--old", "poor", "--probability", 95), "probability=95.0 must lie between 0 and 1"),
    ):
        code, _, err = run(*names, *wrong)
        assert code == 2
        assert message in err


def test_verdicts_have_their_own_column_names(run, folder):
    renamed = {"item": "case", "label": "verdict", "judge": "person"}
    pd.read_csv(folder / "verdicts.csv").rename(columns=renamed).to_csv(folder / "renamed.csv", index=False)
    options = ["--people", "labels.csv", "--system", "system", "--draws", "20", "--chains", "1", "--json"]
    expected = run("judge", "verdicts.csv", *options)
    own = ["--judge", "person", "--verdicts-item", "case", "--verdicts-label", "verdict"]
    found = run("judge", "renamed.csv", *options, *own)
    assert found.returncode == 0, found.stderr
    assert found.stdout == expected.stdout
    wrong = run("judge", "renamed.csv", *options, *own[:-1], "answer")
    assert wrong.returncode == 2
    assert "the verdicts have no column 'answer'" in wrong.stderr


def test_simulated_models_stand_in_for_predictions_of_labels_alone(run, tmp_path):
    labels, ratings = tmp_path / "labels.csv", tmp_path / "ratings.csv"
    labels.write_text("item,annotator,label\n" + "".join(f"{i},{a},{i % 2}\n" for i in range(4) for a in "pq"))
    ratings.write_text("item,annotator,rating\n" + "".join(f"{i},{a},{i}.5\n" for i in range(4) for a in "pq"))
    wanted = "--simulated-models", 2, "--draws", 20
    found = run("evaluate", labels, *wanted, "--json")
    assert found.returncode == 0, found.stderr
    assert len({row["model"] for row in json.loads(found.stdout)["scores"]}) == 2
    refused = run("evaluate", ratings, "--scale", 0, 5, *wanted)
    assert refused.returncode == 2
    assert "there are no predictions" in refused.stderr


def test_judge_reads_tables_under_other_names(run, tmp_path):
    people, verdicts = tmp_path / "p.csv", tmp_path / "v.csv"
    rows = [f"{k},{who},{'good' if (k + k // 5 * who) % 3 else 'bad'}" for k in range(60) for who in range(3)]
    ours, theirs = "item,annotator,label", "task_id,worker,rating"
    said = [f"{k},llm,{'good' if k % 3 else 'bad'}" for k in range(60)]
    answers = []
    for people_columns, judge_columns in ((ours, "item,judge,label"), (theirs, "task_id,judge,verdict")):
        people.write_text("\n".join([people_columns, *rows]))
        verdicts.write_text("\n".join([judge_columns, *said]))
        few = ("--draws", "50", "--chains", "2", "--json")
        code, out, err = run("judge", str(verdicts), "--people", str(people), "--positive", "bad", *few)
        assert code == 0, err
        answers.append(json.loads(out))
    assert answers[0] == answers[1]
    assert "column 'rating' is taken for the label, since it holds words" in err
