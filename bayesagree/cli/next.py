"""`bayesagree next`: the items that deserve the next label."""

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from bayesagree.cli import _options, _output


@_options.flattened
def next(
    source: _options.Source,
    predictions: Annotated[
        Path | None, Option("--predictions", help="Columns model, item and label, score, or one column per label.")
    ] = None,
    n: Annotated[int, Option("--number", "-n", help="How many items.", min=1)] = 20,
    goal: Annotated[
        str | None, Option("--goal", help="decision between two models, metric of each, or certainty of items.")
    ] = None,
    model: _options.ModelColumn = "model",
    seed: _options.Seed = 1,
    json: _options.Json = False,
    tool: _options.Tool = None,
    contents: _options.Contents = None,
    output: _options.TableFile = None,
) -> None:
    """List the items whose next label tells most, best first; -o writes them, with --tool as that tool imports them.

    Example: bayesagree next votes.csv --number 50 --tool label_studio --contents texts.csv -o tasks.json
    """
    from bayesagree.planning import annotate_next

    votes: Any
    votes, models = source.read()
    if predictions is not None:
        models = source.predictions(predictions, model)
    chosen = None if goal is None else _options.one_of(goal, "--goal", ("decision", "metric", "certainty"))
    table = annotate_next(votes, models, n=n, goal=chosen, seed=seed)
    _options.write_items(table, output, tool, contents, source.item)
    _output.show([_output.Table("items", table, "Items that deserve the next label", most=20)], json=json)
