"""LangSmith, Braintrust, DeepEval and lm-evaluation-harness: files written by the tools themselves.

Those of LangSmith 0.15.1 are `evaluate(...).to_pandas().to_csv(...)` and feedback as its client returns it, DeepEval's
is a test run of 4.3.1, and that of the harness a log of version 0.4.13 of a
local task with its model "dummy". Braintrust's events have the fields of `ExperimentEvent` of its package 0.48.1.
"""

import json

import pytest

from bayesagree import InputError, read_annotations
from bayesagree.io import read_export

EXPERIMENT = """\
,inputs.q,outputs.answer,error,reference.answer,feedback.correct,feedback.short,execution_time,example_id,id
0,1+1,2,,2,True,True,0.000334,00000000-0000-0000-0000-000000000001,01a20e58-67f8-703b-9308-75c08f161587
1,2+2,2,,4,False,True,5.5e-05,00000000-0000-0000-0000-000000000002,01a20e58-67f9-701f-8da7-0df5f69da077
"""
FEEDBACK = """\
id,created_at,run_id,trace_id,key,score,value,comment,feedback_source
64,2026-01-01,r1,r1,helpful,1,yes,,"{'type': 'app', 'metadata': {}, 'user_id': UUID('07'), 'user_name': None}"
65,2026-01-01,r1,r1,helpful,0,no,,"{'type': 'app', 'metadata': {}, 'user_id': UUID('08'), 'user_name': 'bob'}"
66,2026-01-01,r2,r2,helpful,1,yes,,"{'type': 'app', 'metadata': {}, 'user_id': UUID('07'), 'user_name': None}"
67,2026-01-01,r1,r1,helpful,1,,,"{'type': 'model', 'metadata': {}, 'user_id': None, 'user_name': None}"
68,2026-01-01,r1,r1,tone,,kind,,"{'type': 'app', 'metadata': {}, 'user_id': UUID('07'), 'user_name': None}"
"""
ROW = {"id": "64", "run_id": "r1", "key": "tone", "score": None, "value": "kind", "feedback_source": {"type": "app"}}
EVENTS = [
    {"id": "e1", "span_id": "s1", "root_span_id": "s1", "span_parents": None, "input": "1+1", "output": "2",
     "expected": "2", "scores": {"correct": 1.0, "helpful": 0.5}, "span_attributes": {"type": "eval"}},
    {"id": "e2", "span_id": "s2", "root_span_id": "s1", "span_parents": ["s1"], "input": None, "output": None,
     "scores": {"helpful": 1.0}, "span_attributes": {"type": "review", "name": "ann"}},
    {"id": "e3", "span_id": "s3", "root_span_id": "s1", "span_parents": ["s1"], "input": None, "output": None,
     "scores": {"helpful": 0.0}, "span_attributes": {"type": "review", "name": "bob"}},
]  # fmt: skip
DEEPEVAL = {
    "testCases": [
        {"name": "test_case_0", "input": "1+1", "actualOutput": "2", "flaky": False, "success": False, "metricsData": [
            {"name": "Contains 2", "threshold": 0.5, "success": True, "score": 1.0, "strictMode": False},
            {"name": "Contains four", "threshold": 0.5, "success": False, "score": 0.0, "strictMode": False}]},
        {"name": "test_case_1", "input": "2+2", "actualOutput": "four 2", "success": True, "metricsData": [
            {"name": "Contains 2", "threshold": 0.5, "success": True, "score": 1.0, "strictMode": False},
            {"name": "Contains four", "threshold": 0.5, "success": None, "error": "no key", "strictMode": False}]}],
    "conversationalTestCases": [], "testPassed": 1, "testFailed": 1, "runDuration": 0.12,
}  # fmt: skip
LM_EVAL = [
    {"doc_id": 0, "doc": {"q": "Is 2 even?", "a": "yes"}, "target": "yes",
     "arguments": {"gen_args_0": {"arg_0": "Is 2 even?", "arg_1": " yes"},
                   "gen_args_1": {"arg_0": "Is 2 even?", "arg_1": " no"}},
     "resps": [[["-0.2604923103919594", "False"]], [["-0.8050278270130223", "False"]]],
     "filtered_resps": [["-0.2604923103919594", "False"], ["-0.8050278270130223", "False"]], "filter": "none",
     "metrics": ["acc"], "acc": 1.0},
]  # fmt: skip


def written(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def matrix(export):
    return export.annotations.to_matrix().to_dict("index")


def test_langsmith_experiment(tmp_path):
    export = read_export(written(tmp_path / "experiment.csv", EXPERIMENT))
    assert export.format == "langsmith"
    first, second = (f"00000000-0000-0000-0000-00000000000{k}" for k in (1, 2))
    assert matrix(export) == {first: {"correct": True, "short": True}, second: {"correct": False, "short": True}}
    # Repetitions of an example are runs, and so are rows without example: `Client.get_test_results` drops them.
    again = EXPERIMENT.replace(second, first)
    for text in (again, again.replace("example_id", "notes")):
        names = read_annotations(written(tmp_path / "again.csv", text)).items.tolist()
        assert names == ["01a20e58-67f8-703b-9308-75c08f161587", "01a20e58-67f9-701f-8da7-0df5f69da077"]


def test_langsmith_feedback(tmp_path):
    path = written(tmp_path / "feedback.csv", FEEDBACK)
    with pytest.raises(InputError, match="asks 2 questions, 'helpful', 'tone'"):
        read_export(path)
    export = read_export(path, question="helpful")
    # The scores, since the judge has no value.
    assert matrix(export) == {"r1": {"07": 1, "bob": 0}, "r2": {"07": 1, "bob": None}}
    assert export.predictions.models.tolist() == ["model"]
    assert export.predictions.hard_labels().tolist() == [[1, -1]]
    assert matrix(read_export(path, question="tone")) == {"r1": {"07": "kind"}}
    assert matrix(read_export(written(tmp_path / "feedback.jsonl", ROW))) == {"r1": {"app": "kind"}}


def test_braintrust(tmp_path):
    cells = [{key: json.dumps(v) if isinstance(v, dict | list) else v for key, v in row.items()} for row in EVENTS]
    lines = "\n".join(map(json.dumps, cells))
    for name, content in (("e.json", EVENTS), ("fetched.json", {"events": EVENTS, "cursor": None}), ("e.jsonl", lines)):
        path = written(tmp_path / name, content)
        with pytest.raises(InputError, match="asks 2 questions, 'helpful', 'scores'"):
            read_export(path)
        helpful = read_export(path, question="helpful")
        assert helpful.format == "braintrust"
        assert matrix(helpful) == {"s1": {"ann": 1, "bob": 0}}
        # The mean of the reviewers is no judge beside them.
        assert matrix(read_export(path, question="scores")) == {"s1": {"correct": 1}}
    flat = "id,input,output,scores.correct,scores.short\na,1+1,2,1,0\nb,2+2,2,0,\n"
    assert matrix(read_export(written(tmp_path / "e.csv", flat))) == {
        "a": {"correct": 1, "short": 0},
        "b": {"correct": 0, "short": None},
    }
    broken = flat.replace("scores.correct", "scores").replace("2,1,0", "2,1.0 0,0")
    with pytest.raises(InputError, match=r"cell '1\.0 0', line 1: not JSON"):
        read_export(written(tmp_path / "broken.csv", broken))


def test_deepeval(tmp_path):
    export = read_export(written(tmp_path / "test_run.json", DEEPEVAL))
    assert export.format == "deepeval"
    assert matrix(export) == {
        "test_case_0": {"Contains 2": "pass", "Contains four": "fail"},
        "test_case_1": {"Contains 2": "pass", "Contains four": None},
    }
    assert export.contents.query("left_out")[["what", "number"]].values.tolist() == [["metrics with an error", 1]]


def test_lm_eval_names_choices_as_its_targets(tmp_path):
    export = read_export(written(tmp_path / "samples_votes.jsonl", LM_EVAL[0]))
    assert export.predictions.categories.tolist() == ["no", "yes"]
    assert export.predictions.hard_labels().tolist() == [[1]]
    assert export.gold == {0: "yes"}
