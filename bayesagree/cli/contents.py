"""`bayesagree contents FILE`, or `bayesagree FILE` alone: what a file holds and which commands fit."""

from typing import Any

from bayesagree.cli import _options, _output


def contents(source: _options.Source, json: _options.Json = False) -> None:
    """Show what a file holds: annotations, predictions, gold, answers left out; and the commands that fit.

    Example: bayesagree contents export.json
    """
    export = source.export()
    rows = [{"what": "format", "value": export.format}]
    for part in (export.annotations, export.predictions):
        if part is not None:
            rows.append({"what": "read as", "value": type(part).__name__})
            rows += [{"what": name, "value": str(value)} for name, value in part.overview().items()]
    if export.gold:
        rows.append({"what": "items with a gold label", "value": str(len(export.gold))})
    left_out = export.contents.loc[export.contents["left_out"], ["what", "number"]]
    commands = _fitting(source.as_typed(), export.annotations)
    tables = [
        _output.Table("contents", rows),
        _output.Table("left_out", left_out, "Left out"),
        _output.Table("commands", [{"command": name} for name in commands], "Commands that fit"),
    ]
    _output.show(tables, json=json, notes=export.notes)


def _fitting(file: str, annotations: Any) -> list[str]:
    """Return the commands that answer a question with these annotations."""
    if annotations is None:
        return [f"bayesagree evaluate ANNOTATIONS {file}"]
    if annotations.kind == "comparisons":
        return [f"bayesagree {command} {file}" for command in ("preferences", "agreement", "report", "next", "plan")]
    middle = f" --threshold {sum(annotations.scale) / 2:g}" if annotations.kind == "ratings" else ""
    commands = [f"bayesagree agreement {file}", f"bayesagree plausibility {file}{middle}"]
    if annotations.kind == "labels" and annotations.annotators_known:
        commands.append(f"bayesagree annotators {file}")
    commands.append(f"bayesagree report {file}")
    return commands
