"""`bayesagree next`: the items to label next."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.cli._output import Answer, Table
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# Probability from which the choice between two models needs no votes.
SETTLED = 0.99


def next(
    source: _options.WithPredictions,
    n: Annotated[int, Option("--number", "-n", min=1, help="How many items.")] = 20,
    goal: Annotated[Literal["decision", "metric", "certainty"] | None, Option(help="What to learn.")] = None,
    plausibility: _options.PlausibilityName = None,
    missing: _options.Missing = "error",
    seed: _options.Seed = 1,
    tool: Annotated[Literal["label_studio", "table"] | None, Option(help="Write for this tool.")] = None,
    contents: _options.ContentsFile = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Keep the items (.csv, ...).")] = None,
) -> Answer:
    """List the items whose next label tells most, best first; -o writes them, with --tool as that tool imports them.

    Of comparisons of models: the pairs that the next comparison should be of.

    Example: bayesagree next votes.csv --number 50 --tool label_studio --contents texts.csv -o tasks.json
    """
    from bayesagree.io.outputs import write_items
    from bayesagree.planning._items import outlook_of

    if output is not None and output.suffix != ".json":  # tasks of a tool
        _output.require(output, result=False)
    votes, models = source.read()
    if votes.kind == "ratings":
        raise InputError("next items are chosen for labels, rankings or comparisons, not for ratings")
    models, games = models and models.pooled(), votes.kind == "comparisons"
    how: Any = {"random_seed": seed}
    how |= {} if games else {"plausibility": _options.name_or_trace(plausibility), "missing": missing}
    outlook = outlook_of(votes, models, **how)
    table = outlook.best_first(n, goal, seed)
    decides = goal in (None, "decision") and outlook.lead is not None and not games
    worth = _worth(outlook.value(), n) if decides else []
    if output is not None and games:
        _output.keep(table, output)
    elif output is not None:
        write_items(table, output, contents=_contents(source, contents, tool), item=source.item)
    notes = [text for text in (table.attrs.get("choice"), *table.attrs["notes"], *worth) if text]
    shown = (
        ("pairs", table, "Pairs of models to compare next")
        if games
        else ("items", table, "Items to label next")
    )
    return Answer([Table(*shown, most=20)], notes)


def _contents(source: _options.Source, path: Path | None, tool: str | None) -> "pd.DataFrame | None":
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


def _worth(found: "pd.DataFrame", n: int) -> list[str]:
    """Return sentences on what votes on these items, and on all items that matter, do for the choice."""
    best, other = found.attrs["models"]
    most = int(found["votes"].iloc[-1])
    if most == 0:
        return [f"{best} and {other} predict alike on every item: no vote helps to choose."]
    right = [f"{probability:.2f}" for probability in found["prob_right"]]
    some = f"after votes on the {n} best items, with {right[n]}; " if n < most else ""
    settled = [f"{best} is the better one already: --goal certainty lists the items whose truth is most open."]
    return (settled if found["prob_right"].iloc[0] > SETTLED else []) + [
        f"The choice between {best} and {other} is right with probability {right[0]}; {some}"
        f"after a vote on every item where they differ ({most}), with {right[most]}."
    ]
