"""One page per format of files, from its reader's own words and an example that runs."""

from importlib import import_module
from inspect import getdoc

from bayesagree.io.formats.registry import Format, formats
from bayesagree.io.formats.spreadsheet import LAYOUTS

EXPORTED = {
    "label_studio": "In the project: *Export*, *JSON*.",
    "argilla": "`dataset.records.to_json(path)`, or `dataset.records.to_list(flatten=True)` as JSON or JSON Lines.",
    "prodigy": "`prodigy db-out NAME > file.jsonl`.",
    "doccano": "*Dataset*, *Export*, *JSONL*, without shared annotations: a ZIP with a file per annotator.",
    "inspect": "The file in `logs/`; `.eval` of recent versions needs the extra `logs` (Zstandard).",
    "lm_eval": "`lm_eval --log_samples --output_path ...`: the files `samples_*.jsonl`.",
    "promptfoo": "`promptfoo eval -o results.json`.",
    "phoenix": "`client.spans.get_span_annotations_dataframe(...).to_csv(...)`.",
    "langsmith": "`evaluate(...).to_pandas().to_csv(path)`, `client.get_test_results(...).to_csv(path)`, or the rows "
    "of `client.list_feedback(...)` as CSV or JSON Lines.",
    "braintrust": "*Export* of logs or of an experiment, as JSON or CSV; or the events that the server returns.",
    "deepeval": "The file `test_run_*.json` in the folder that `DEEPEVAL_RESULTS_FOLDER` names.",
    "comparisons": "A row per comparison: arena battles (JSON, JSON Lines, Parquet, CSV), MT-Bench, AlpacaEval.",
    "preflib": "Files of votes from preflib.org: `.soc`, `.soi`, `.toc`, `.toi`, `.cat`.",
    "long": "A row per annotation: columns item, annotator, label (or rating, or label and rank).",
    "wide": "A row per item, a column per annotator; empty cells are missing.",
    "counts": "A row per item, a column per label: how many annotators chose it. Who they were is not known.",
    "lists": "A row per item, its annotations as a list in a cell; annotators, where known, as a list beside it.",
    "places": "A row per ranking: columns that end in 1, 2, ... hold its labels, best first; `A / B` is a tie.",
}
"""How a file comes about."""

_REGION = '[{"from_name": "mood", "type": "choices", "value": {"choices": [label]}}]'
_JSON = "path.write_text(json.dumps(content))"
_LINES = 'path.write_text("".join(json.dumps(row) + "\\n" for row in content))'
_TEXT = "path.write_text(content)"
EXAMPLES = {
    "label_studio": (
        "export.json",
        "content = [\n"
        '    {"id": task, "data": {"text": "..."}, "annotations": [\n'
        f'        {{"completed_by": who, "was_cancelled": False, "result": {_REGION}}}\n'
        '        for who, label in ((7, "glad"), (8, mood))]}\n'
        '    for task, mood in ((1, "glad"), (2, "sad"))\n'
        "]",
        _JSON,
    ),
    "argilla": (
        "records.jsonl",
        "content = [\n"
        '    {"id": "r1", "mood.responses": ["glad", "sad"], "mood.responses.users": ["u", "v"],\n'
        '     "mood.responses.status": ["submitted", "submitted"]},\n'
        '    {"id": "r2", "mood.responses": ["sad", None], "mood.responses.users": ["u", "v"],\n'
        '     "mood.responses.status": ["submitted", "discarded"]},\n'
        "]",
        _LINES,
    ),
    "comparisons": (
        "battles.jsonl",
        "content = [\n"
        '    {"model_a": "x", "model_b": "y", "winner": winner, "judge": who}\n'
        '    for who, winner in (("ann", "model_a"), ("bob", "tie"))\n'
        "]",
        _LINES,
    ),
    "preflib": (
        "votes.toi",
        'content = """# TITLE: Council\n# ALTERNATIVE NAME 1: Ada\n# ALTERNATIVE NAME 2: Bo\n'
        '# ALTERNATIVE NAME 3: Cy\n2: 1,{2,3}\n1: 3\n"""',
        _TEXT,
    ),
    "prodigy": (
        "annotations.jsonl",
        "content = [\n"
        '    {"_input_hash": item, "_task_hash": item, "_view_id": "choice", "_annotator_id": who,\n'
        '     "accept": [label], "answer": answer}\n'
        "    for item, who, label, answer in (\n"
        '        (1, "x", "A", "accept"), (1, "y", "B", "accept"), (2, "x", "A", "ignore"))\n'
        "]",
        _LINES,
    ),
    "doccano": (
        "project.zip",
        'content = {"ann": [{"id": 1, "label": ["pos"]}, {"id": 2, "label": []}],\n'
        '           "bob": [{"id": 1, "label": ["neg"]}]}',
        'with zipfile.ZipFile(path, "w") as archive:\n'
        "    for who, rows in content.items():\n"
        '        archive.writestr(f"{who}.jsonl", "\\n".join(map(json.dumps, rows)))',
    ),
    "inspect": (
        "log.json",
        "content = {\n"
        '    "eval": {"model": "openai/x", "config": {"epochs": 1}},\n'
        '    "samples": [{"id": i, "epoch": 1, "scores": {"judge_a": {"value": "C"}, "judge_b": {"value": "CI"[i]}}}\n'
        "                for i in (0, 1)],\n"
        "}",
        _JSON,
    ),
    "lm_eval": (
        "samples_task.jsonl",
        'content = [{"doc_id": d, "target": "yes", "filter": "none", "filtered_resps": [answer]}\n'
        '           for d, answer in enumerate(["yes", "no"])]',
        _LINES,
    ),
    "promptfoo": (
        "results.json",
        'content = {"results": {"results": [\n'
        '    {"testIdx": 0, "promptIdx": 0, "success": False, "provider": {"id": "openai:x"}, "gradingResult": {\n'
        '        "pass": False, "componentResults": [{"pass": True, "assertion": {"type": "llm-rubric"}},\n'
        '                                            {"pass": False, "assertion": {"type": "contains"}}]}}\n'
        "]}}",
        _JSON,
    ),
    "phoenix": (
        "spans.csv",
        'content = """span_id,name,annotator_kind,label,identifier\n'
        's1,mood,HUMAN,glad,ann\ns1,mood,HUMAN,sad,bob\ns1,mood,LLM,glad,judge\n"""',
        _TEXT,
    ),
    "langsmith": (
        "experiment.csv",
        'content = """inputs.q,outputs.answer,feedback.correct,feedback.short,execution_time,example_id,id\n'
        '1+1,2,True,True,0.1,e1,r1\n2+2,2,False,True,0.1,e2,r2\n"""',
        _TEXT,
    ),
    "braintrust": (
        "events.json",
        "content = [\n"
        '    {"span_id": item, "input": "...", "output": "...", "scores": {"correct": score, "short": 1}}\n'
        '    for item, score in (("s1", 1), ("s2", 0))\n'
        "]",
        _JSON,
    ),
    "deepeval": (
        "test_run.json",
        'content = {"testCases": [\n'
        '    {"name": "case 1", "metricsData": [{"name": "Answer Relevancy", "success": True, "score": 0.9},\n'
        '                                       {"name": "Faithfulness", "success": False, "score": 0.2}]}\n'
        "]}",
        _JSON,
    ),
    "long": ("votes.csv", 'content = "task,worker,answer\\n1,ann,cat\\n1,bob,dog\\n2,ann,cat\\n"', _TEXT),
    "wide": ("votes.csv", 'content = "image,Ann,Bob,Eve\\np1,cat,dog,cat\\np2,dog,dog,\\n"', _TEXT),
    "counts": ("votes.csv", 'content = "image,cat,dog\\np1,2,1\\np2,0,2\\n"', _TEXT),
    "lists": (
        "votes.jsonl",
        'content = [{"id": "p1", "annotations": ["cat", "dog"], "annotators": ["ann", "bob"]},\n'
        '           {"id": "p2", "annotations": ["dog"], "annotators": ["bob"]}]',
        _LINES,
    ),
    "places": (
        "findings.csv",
        'content = "item,annotator,diagnosis 1,diagnosis 2\\nc1,ann,eczema,tinea / psoriasis\\nc1,bob,tinea,eczema\\n"',
        _TEXT,
    ),
}
"""Name of a file, its content, and how it is written: the smallest file of the format."""


def names() -> list[str]:
    """Every format with a page."""
    return [*formats(), *LAYOUTS]


def page(name: str) -> str:
    """Page of a format: how the file comes about, what is read, an example, the command."""
    record: Format | None = formats().get(name)
    title = f"{name} (table)" if record is None else record.title
    file, content, write = EXAMPLES[name]
    story = "" if record is None else f"{_story(record)}\n\n"
    option = f', format="{name}"' if name in ("counts", "wide") else ""
    flag = f" --format {name}" if option else ""
    only_outputs = name == "lm_eval"
    shown = "export.predictions" if only_outputs else "export.annotations"
    use = f"bayesagree evaluate ANNOTATIONS.csv {file}" if only_outputs else f"bayesagree report {file}{flag}"
    imports = "import json, pathlib, tempfile" + (", zipfile" if "zipfile" in write else "")
    return (
        f"---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# {title}\n\n{EXPORTED[name]}\n\n{story}"
        f"```{{code-cell}} python\n{imports}\nimport bayesagree as ba\n\n"
        f'path = pathlib.Path(tempfile.mkdtemp()) / "{file}"\n{content}\n{write}\n'
        f"export = ba.io.read_export(path{option})\n{shown}\n```\n\n"
        "What was read, and what was left out:\n\n```{code-cell} python\nexport.contents\n```\n\n"
        f"On the command line:\n\n```console\nbayesagree contents {file}{flag}\n{use}\n```\n"
    )


def index() -> str:
    """Page that lists all formats."""
    rows = "".join(f"| `{name}` | []({name}.md) |\n" for name in names())
    toc = "\n".join(names())
    return (
        "# Formats\n\n`read_export`, `read_annotations` and every command read these files as they are; the file says "
        "which it is.\n\n| `format` | page |\n| --- | --- |\n"
        + rows
        + f"\n```{{toctree}}\n:hidden:\n{toc}\n```\n"
    )


def _story(record: Format) -> str:
    module = import_module(record.read.__module__)
    first = (getdoc(module) or "").split("\n\n")[0]
    second = (getdoc(record.read) or "").split("\n\n")[0].removeprefix("Read ")
    return f"{first}\n\nWhat is read: {second}"
