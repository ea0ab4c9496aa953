"""Inspect: logs of an evaluation, `.eval` archives or JSON. Every scorer judges every sample and may keep an answer."""

from collections.abc import Iterator
from typing import Any

from bayesagree.io._json import parse
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def read(file: File, question: str | None) -> Found:
    """Read the score of each sample by each scorer: an item is a sample, and its epoch where there are several."""
    found = Found()
    log, samples = _log(file)
    epochs = (log["eval"].get("config") or {}).get("epochs") or 1
    system = str(log["eval"]["model"])
    for sample in samples:
        if sample.get("error"):
            found.left_out["failed samples"] += 1
            continue
        item = sample["id"] if epochs == 1 else f"{sample['id']} (epoch {sample.get('epoch', 1)})"
        scores = sample.get("scores") or {}
        kept = [one["answer"] for one in scores.values() if one.get("answer") is not None]
        if kept:
            found.outputs.append((system, sample["id"], kept[0], None))
            found.runs.append(sample.get("epoch", 1))
        for judge, score in scores.items():
            for question_, who, value in _values(judge, score.get("value")):
                if isinstance(value, float) and value != value:
                    found.left_out["samples that were not scored"] += 1
                    continue
                found.answers.append((question_, item, who, value))
    if epochs > 1:
        found.notes.append(
            f"{epochs} epochs: a judged item is one epoch of a sample; resample samples for intervals"
        )
    return found


def _log(file: File) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    if file.suffix != ".eval":
        return file.json, iter(file.json["samples"])
    names = [name for name in file.members if name.startswith("samples/") and name.endswith(".json")]
    header = next(name for name in ("header.json", "_journal/start.json") if name in file.members)
    summary = [name for name in file.members if name == "summaries.json"]
    (_, text), *_ = file.contents([header])
    log = parse(text, f"{file.name}, {header}")
    if summary:  # scores of all samples in one member: no need to unpack every transcript
        (_, rows), *_ = file.contents(summary)
        return log, iter(parse(rows, f"{file.name}, summaries.json"))
    return log, (parse(text, f"{file.name}, {name}") for name, text in file.contents(names))


def _values(judge: str, value: Any) -> list[tuple[str, str, Any]]:
    """Question, judge and value of a score: a list holds one grade per judge, an object one per question."""
    if isinstance(value, list):
        return [("score", f"{judge} {number + 1}", grade) for number, grade in enumerate(value)]
    if isinstance(value, dict):
        return [(question, judge, grade) for question, grade in value.items()]
    return [("score", judge, value)]
