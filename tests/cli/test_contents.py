"""`bayesagree FILE`: what a file holds; files of tools in every command."""

import json

import pytest

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
    assert {"what": "scale", "value": "1 to 5, continuous"} in json.loads(done.stdout)["contents"]
