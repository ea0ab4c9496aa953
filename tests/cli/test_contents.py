"""`bayesagree FILE`: what a file holds; files of tools in every command."""

import json
from pathlib import Path

import _exports
import pytest

from bayesagree.cli import COMMANDS
from bayesagree.cli._commands import load

CHOICE = {"from_name": "mood", "type": "choices", "value": {"choices": ["glad"]}}
TASKS = [
    {"id": i, "data": {}, "predictions": [{"model_version": "m", "result": [CHOICE]}],
     "annotations": [{"completed_by": who, "was_cancelled": who == 3, "result": [
         CHOICE | {"value": {"choices": ["sad" if i + who == 3 else "glad"]}}]} for who in (1, 2, 3)]}
    for i in (1, 2, 3)
]  # fmt: skip


@pytest.fixture
def export(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(TASKS))
    return path


@pytest.mark.parametrize("command", [(), ("contents",)])
def test_a_file_alone_says_what_it_holds(run, export, command):
    done = run(*command, export, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    held = {(row["what"], row["value"]) for row in answer["contents"]}
    assert {("format", "label_studio"), ("read as", "Labels"), ("read as", "Predictions"), ("items", "3")} <= held
    assert answer["left_out"] == [{"what": "cancelled annotations", "number": 3}]
    assert f"bayesagree report {export}" in [row["command"] for row in answer["commands"]]


FILES = {
    "ratings": ("item,annotator,rating\n1,a,4\n1,b,5\n2,a,1\n2,b,1\n3,a,2\n3,b,4\n", ("--scale", "1,5")),
    "rankings": ("item,annotator,label,rank\n1,a,x,1\n1,a,y,2\n1,b,x,1\n1,b,z,2\n2,a,y,1\n2,b,y,1\n2,b,x,2\n", ()),
    "ordered": ("item,annotator,label\n1,a,low\n1,b,high\n2,a,mid\n2,b,mid\n3,a,low\n3,b,mid\n",
                ("--ordered", "--labels", "low,mid,high")),
    "comparisons": ("model_a,model_b,winner\n" + "A,B,model_a\nB,C,model_b\nC,A,tie\n" * 4, ()),
}  # fmt: skip


LONG = ("ratings", "comparisons")


@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.long) if k in LONG else k for k in FILES])
def test_commands_run_as_they_are_printed(run, tmp_path, kind):
    path, (text, options) = tmp_path / f"{kind}.csv", FILES[kind]
    path.write_text(text)
    printed = json.loads(run("contents", path, *options, "--json").stdout)["commands"]
    assert len(printed) == {"ratings": 3, "rankings": 3, "ordered": 4, "comparisons": 5}[kind]
    assert all("--labels low,mid,high --ordered" in row["command"] for row in printed) or kind != "ordered"
    for row in printed:
        words = row["command"].split()[1:]
        takes = {parameter.name for parameter in load(words[0]).params}
        fewer = ["--draws", 50] if kind in ("ordered", "comparisons") and "draws" in takes else []
        done = run(*words, *fewer, *(["-o", tmp_path / "page.html"] if words[0] == "report" else []))
        assert done.returncode == 0, done.stderr


def test_the_report_of_an_untouched_export(run, export, tmp_path):
    page = tmp_path / "page.html"
    done = run("report", export, "--draws", 50, "-o", page)
    assert done.returncode == 0, done.stderr
    assert "left out 3 cancelled annotations" in done.stderr
    assert page.stat().st_size > 10_000


@pytest.mark.parametrize("scale", [("--scale", "1,5"), ("--scale=1,5",), ("--scale", "1", "5")])
def test_a_scale_is_written_as_other_lists_are(run, tmp_path, scale):
    path = tmp_path / "ratings.csv"
    path.write_text("item,annotator,rating\n1,a,4\n1,b,5\n2,a,1\n2,b,1\n")
    done = run("contents", path, *scale, "--json")
    assert done.returncode == 0, done.stderr
    assert {"what": "scale", "value": "1 to 5, 5 levels"} in json.loads(done.stdout)["contents"]


@pytest.mark.parametrize("tool", _exports.TOOLS)
def test_one_command_makes_a_report_of_each_tool_s_file(run, tmp_path, tool):
    export = _exports.TOOLS[tool](tmp_path, _exports.votes(20, 4))
    done = run("report", export, "--draws", 50, "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert "20 items" in page
    assert "Traceback" not in done.stderr


def test_output_replaces_nothing_without_force(run, tmp_path):
    export = _exports.long_csv(tmp_path, _exports.votes(5, 3))
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    for command in ("certainty", "agreement", "next"):
        done = run(command, export, "-o", kept)
        assert done.returncode == 2
        assert "pass --force to replace it, or another --output" in done.stderr
        assert kept.read_text() == "mine"
    assert run("certainty", export, "--exact", "-o", kept, "--force").returncode == 0
    assert kept.read_text().startswith("item,reliability,certainty")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_writes_takes_force(name):
    names = {parameter.name for parameter in load(name).params}
    assert ("force" in names) == ("output" in names)


def test_an_option_that_is_given_twice_is_refused(run, tmp_path):
    export = _exports.long_csv(tmp_path, _exports.votes(5, 3))
    done = run("report", export, "--annotators", export, "--annotators=b.csv")
    assert done.returncode == 2
    assert "--annotators is given twice" in done.stderr


def test_a_wrong_ending_is_refused_before_anything_is_computed(run, tmp_path):
    export = _exports.long_csv(tmp_path, _exports.votes(5, 3))
    done = run("evaluate", export, export, "-o", tmp_path / "kept.txt")
    assert done.returncode == 2
    assert "written as .nc (netCDF)" in done.stderr


@pytest.mark.parametrize(("tool", "ending"), [("label_studio", "json"), ("argilla", "jsonl"), ("prodigy", "jsonl")])
def test_items_for_a_tool(run, tmp_path, tool, ending):
    rows = _exports.votes(5, 3)
    texts = tmp_path / "texts.csv"
    texts.write_text("item,text\n" + "".join(f"{i},words {i}\n" for i in range(5)))
    tasks = tmp_path / f"tasks.{ending}"
    done = run("next", _exports.long_csv(tmp_path, rows), "-n", 2, "--tool", tool, "--contents", texts, "-o", tasks)
    assert done.returncode == 0, done.stderr
    assert tasks.read_text().count("words ") == 2


def test_completion_knows_commands_and_options(monkeypatch, run):
    monkeypatch.setenv("_BAYESAGREE_COMPLETE", "complete_bash")
    for words, expected in (("re", "report"), ("report --o", "--output"), ("report --fo", "--force")):
        given = f"bayesagree {words}"
        monkeypatch.setenv("COMP_WORDS", given)
        monkeypatch.setenv("COMP_CWORD", str(len(given.split()) - 1))
        assert expected in run().stdout.split()


def test_recommended_commands_run_as_they_are_printed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cases.json").write_text(json.dumps([[[[0], [1]], [[1], [2]]], [[[2]], [[2, 0]]]]))
    message = run("contents", "cases.json").stderr
    assert "or their number for ids 0, 1, ..." in message
    document = json.loads(run("contents", "cases.json", "--labels", 3, "--json").stdout)
    commands = [row["command"] for row in document["commands"]]
    assert commands[:2] == [f"bayesagree {name} cases.json --labels 3" for name in ("agreement", "certainty")]
    done = run(*commands[1].split()[1:], "--draws", 50, "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["items"]) == 2


def test_predictions_have_their_own_column_names(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    votes = "".join(f"t{i},w{w},{'ab'[(i + w) % 3 > 0]}\n" for i in range(6) for w in range(3))
    Path("votes.csv").write_text("task,worker,said\n" + votes)
    Path("models.csv").write_text("model,item,label\n" + "".join(f"{m},t{i},a\n" for m in "MN" for i in range(6)))
    names = ("evaluate", "votes.csv", "models.csv", "--item", "task", "--annotator", "worker", "--label", "said")
    wrong = run(*names)
    assert wrong.returncode == 2
    assert "name the right one with --predictions-item" in wrong.stderr
    done = run(*names, "--predictions-item", "item", "--predictions-label", "label", "--draws", 20, "--json")
    assert done.returncode == 0, done.stderr
    assert {row["model"] for row in json.loads(done.stdout)["scores"]} == {"M", "N"}
