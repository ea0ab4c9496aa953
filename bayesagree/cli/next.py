"""`bayesagree next`: the items to label next."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Option

from bayesagree.cli import _output
from bayesagree.cli._options import (
    AS_LABELS,
    ContentsFile,
    Missing,
    PlausibilityName,
    Seed,
    Source,
    WithPredictions,
    name_or_trace,
    unused,
)
from bayesagree.cli._output import Answer, Table
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def next(
    source: WithPredictions,
    n: Annotated[int, Option("--number", "-n", min=1, help="How many items.")] = 20,
    goal: Annotated[Literal["decision", "metric", "certainty"] | None, Option(help="What to learn.")] = None,
    plausibility: PlausibilityName = None,
    missing: Missing = "error",
    seed: Seed = 1,
    tool: Annotated[Literal["label_studio", "table"] | None, Option(help="Write for this tool.")] = None,
    contents: ContentsFile = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Keep the items (.csv, ...).")] = None,
) -> Answer:
    """List the items whose next label tells most, best first; -o writes them, with --tool as that tool imports them.

    Of comparisons of models: the pairs that the next comparison should be of.

    Example: bayesagree next votes.csv --number 50 --tool label_studio --contents texts.csv -o tasks.json
    """
    from bayesagree.io.outputs import write_items
    from bayesagree.planning.next_items import annotate_next

    if output is not None and output.suffix != ".json":  # tasks of a tool
        _output.require(output, result=False)
    votes, models = source.read()
    if votes.kind == "ratings":
        raise InputError(f"next items are of labels, rankings or comparisons, not ratings; {AS_LABELS}")
    how = {"plausibility": name_or_trace(plausibility), "missing": missing, "random_seed": seed}
    table = annotate_next(votes, models, n=n, goal=goal, **how)
    notes = [text for text in (table.attrs.get("choice"), *table.attrs["notes"]) if text]
    if votes.kind == "comparisons":
        unused("for comparisons of models", "predictions", "plausibility", "missing", "tool", "contents")
        if output is not None:
            _output.keep(table, output)
        return Answer([Table("pairs", table, "Pairs of models to compare next", most=20)], notes)
    if output is None:
        unused("without --output", "tool", "contents")
    else:
        write_items(table, output, contents=_contents(source, contents, tool), item=source.item)
    return Answer([Table("items", table, "Items to label next", most=20)], notes)


def _contents(source: Source, path: Path | None, tool: str | None) -> "pd.DataFrame | None":
    """Read what annotators see of the items: from a table, or for a tool from an export of Label Studio."""
    import pandas as pd

    from bayesagree.io.formats._file import File
    from bayesagree.io.tables import read_table

    if path is not None:
        return read_table(path)
    export = None if source.annotations is None or tool is None else File(str(source.annotations))
    if export is None or "data" not in export.first:
        return None
    named = source.item != "item"  # by a field of the data
    return pd.DataFrame([({} if named else {"item": task["id"]}) | task["data"] for task in export.json])
