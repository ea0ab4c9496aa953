"""Files as tools write them, made of the same votes by their published schemas; nothing here knows the readers.

Each function takes a folder and votes (item, annotator, label), and returns the path of its file. The label None is an
annotator who was shown the item and gave no answer, in the way of the tool: cancelled, ignored, discarded, rejected.
"""

import csv
import json
import random
import zipfile
from itertools import groupby


def votes(n_items, n_annotators, random_seed=1):
    """Return votes of all annotators on all items; seven of ten agree on the first label."""
    dice = random.Random(random_seed)
    return [
        (i, f"w{j}", "yes" if dice.random() < 0.7 else "no") for i in range(n_items) for j in range(n_annotators)
    ]  # fmt: skip


def by_item(rows):
    return [(item, list(group)) for item, group in groupby(sorted(rows, key=lambda row: row[0]), lambda row: row[0])]


def _lines(path, rows):
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def _json(path, content):
    path.write_text(json.dumps(content))
    return path


def _csv(path, header, rows):
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(header)
        table.writerows(rows)
    return path


def label_studio(folder, rows):
    """Label Studio 1.13, export as JSON: https://labelstud.io/guide/task_format."""

    def region(label):
        value = {"choices": [label]}
        return {"from_name": "verdict", "to_name": "text", "type": "choices", "value": value, "id": "x"}

    tasks = [
        {"id": item, "data": {"text": f"text {item}"}, "predictions": [], "annotations": [
            {"id": 1, "completed_by": who, "was_cancelled": label is None, "ground_truth": False,
             "result": [] if label is None else [region(label)]}
            for _, who, label in group]}
        for item, group in by_item(rows)
    ]  # fmt: skip
    return _json(folder / "label_studio.json", tasks)


def argilla(folder, rows):
    """Argilla 2.8, `dataset.records.to_list(flatten=True)` as JSON Lines."""
    return _lines(folder / "argilla.jsonl", (
        {"id": str(item), "text": f"text {item}", "verdict.responses": [label for *_, label in group],
         "verdict.responses.users": [who for _, who, _ in group],
         "verdict.responses.status": ["discarded" if label is None else "submitted" for *_, label in group]}
        for item, group in by_item(rows)
    ))  # fmt: skip


def prodigy(folder, rows):
    """Prodigy 1.15, `db-out` of a choice interface."""
    return _lines(folder / "prodigy.jsonl", (
        {"text": f"text {item}", "options": [{"id": "yes"}, {"id": "no"}], "_input_hash": item, "_task_hash": item,
         "_view_id": "choice", "accept": [] if label is None else [label],
         "answer": "ignore" if label is None else "accept", "_annotator_id": who, "_session_id": who}
        for item, who, label in rows
    ))  # fmt: skip


def doccano(folder, rows):
    """Doccano 1.8, a project of text classification whose members see their own labels: one file each."""
    path, of = folder / "doccano.zip", {}
    for item, who, label in rows:
        of.setdefault(who, []).append(
            json.dumps({"id": item, "text": f"text {item}", "label": [label] if label else []})
        )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for who, lines in of.items():
            archive.writestr(f"{who}.jsonl", "\n".join(lines))
    return path


def inspect(folder, rows, summaries=True):
    """Inspect 0.3 (log version 2), an `.eval` archive; every annotator is a scorer of every sample."""
    path = folder / "log.eval"
    scored = [
        {"id": item, "epoch": 1, "input": f"text {item}", "scores": {who: {"value": label} for _, who, label in group}}
        for item, group in by_item(rows)
    ]
    log = {"version": 2, "status": "success", "eval": {"model": "openai/gpt", "config": {"epochs": 1}}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(log))
        if summaries:
            archive.writestr("summaries.json", json.dumps(scored))
        for sample in scored:
            transcript = {"messages": [{"role": "user", "content": sample["input"] * 50}]}
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample | transcript))
    return path


def promptfoo(folder, rows):
    """Promptfoo 0.118, results of `eval -o` (schema 3); every annotator is an assertion of a metric of that name."""

    def component(who, label):
        return {"pass": label == "yes", "assertion": {"type": "llm-rubric", "metric": who}}

    results = [
        {"promptIdx": 0, "testIdx": item, "success": True, "provider": {"id": "openai:gpt"}, "gradingResult": {
            "pass": True, "componentResults": [component(who, label) for _, who, label in group]}}
        for item, group in by_item(rows)
    ]  # fmt: skip
    return _json(folder / "promptfoo.json", {"evalId": "e", "results": {"version": 3, "results": results}})


def phoenix(folder, rows):
    """Phoenix 11, `get_span_annotations_dataframe` as CSV."""
    header = ["span_id", "name", "annotator_kind", "label", "score", "identifier"]
    return _csv(folder / "spans.csv", header, ((f"s{i}", "verdict", "HUMAN", k, "", who) for i, who, k in rows))


def lm_eval(folder, rows):
    """lm-evaluation-harness 0.4.9, `samples_*.jsonl`: outputs and targets, no annotators; one row an item."""
    home = folder / "a-model"
    home.mkdir(exist_ok=True)
    return _lines(home / "samples_task_2026.jsonl", (
        {"doc_id": item, "target": "yes", "filter": "none", "filtered_resps": [group[0][2]], "acc": 1.0}
        for item, group in by_item(rows)
    ))  # fmt: skip


def long_csv(folder, rows):
    """A row per annotation."""
    return _csv(folder / "long.csv", ["item", "annotator", "label"], rows)


def long_tsv(folder, rows):
    """The same, tabs between."""
    lines = ["item\tannotator\tlabel", *("\t".join(map(str, row)) for row in rows)]
    path = folder / "long.tsv"
    path.write_text("\n".join(lines))
    return path


def long_jsonl(folder, rows):
    """Hugging Face rows, long."""
    return _lines(folder / "long.jsonl", ({"item": i, "annotator": who, "label": k} for i, who, k in rows))


def lists_jsonl(folder, rows):
    """Hugging Face rows, with lists in the cells."""
    return _lines(folder / "lists.jsonl", (
        {"id": item, "text": f"text {item}", "annotations": [k for *_, k in group],
         "annotators": [who for _, who, _ in group]}
        for item, group in by_item(rows)
    ))  # fmt: skip


def wide_csv(folder, rows):
    """A column per annotator."""
    names = sorted({who for _, who, _ in rows})
    table = ([item, *map({who: k for _, who, k in group}.get, names)] for item, group in by_item(rows))
    return _csv(folder / "wide.csv", ["item", *names], table)


def counts_csv(folder, rows):
    """A column per label."""
    labels = sorted({k for *_, k in rows})
    table = ([item, *(sum(k == one for *_, k in group) for one in labels)] for item, group in by_item(rows))
    return _csv(folder / "counts.csv", ["item", *labels], table)


TOOLS = {f.__name__: f for f in (label_studio, argilla, prodigy, doccano, inspect, promptfoo, phoenix)}
TABLES = {f.__name__: f for f in (long_csv, long_tsv, long_jsonl, lists_jsonl, wide_csv, counts_csv)}
