"""`bayesagree preferences`: a leaderboard with honest intervals, from comparisons of two models."""

from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Option

from bayesagree.cli._options import Sampling, unused
from bayesagree.cli._output import Answer, ResultAnswer, Table

Effect = Literal["auto", "common", "annotator", "none"]
Scale = Literal["strength", "win_rate", "arena"]


def preferences(
    file: Annotated[Path, Argument(help="Comparisons: an export of an arena, or a table.")],
    sampling: Sampling,
    first: Annotated[str | None, Option(help="Column of the model that was shown first.")] = None,
    second: Annotated[str | None, Option(help="Column of the other model.")] = None,
    winner: Annotated[str | None, Option(help="Column of the winner: its name, or left, right, tie.")] = None,
    annotator: Annotated[str | None, Option(help="Column of who compared.")] = None,
    item: Annotated[str | None, Option(help="Column of what was compared.")] = None,
    order: Annotated[Effect, Option(help="Effect of the first place.")] = "auto",
    item_effects: Annotated[bool, Option("--item-effects", help="Let strengths vary over items.")] = False,
    scale: Annotated[Scale, Option(help="Log odds, share or points.")] = "strength",
    format: Annotated[str | None, Option(help="Tool or layout of the file (detected by default).")] = None,
) -> ResultAnswer:
    """Show the strengths of models from comparisons, with intervals, places, ties and annotators.

    Example: bayesagree preferences battles.parquet --scale arena
    """
    from bayesagree.annotations import Comparisons
    from bayesagree.comparisons import effect_table, preference_table
    from bayesagree.comparisons.posterior import davidson
    from bayesagree.io.exports import read_export
    from bayesagree.io.formats.pairwise import NO_VERDICT, with_verdict
    from bayesagree.io.tables import read_table

    given = {"first": first, "second": second, "winner": winner, "annotator": annotator, "item": item}
    named: Any = {name: column for name, column in given.items() if column is not None}
    if named:
        unused("where columns are named", "format")
        rows, absent = with_verdict(read_table(file), winner)
        found: Any = Comparisons.from_long(rows, **named)
        notes = [f"left out {absent} {NO_VERDICT}"] if absent else []
    else:
        export = read_export(str(file), format=format, kind="comparisons")
        found, notes = export.annotations, export.sentences()
    tree = davidson(
        found, order=None if order == "none" else order, item_effects=item_effects, **vars(sampling)
    )
    board: Any = preference_table(tree, scale=scale)
    shown: Any = board.drop(columns="component") if board["component"].nunique() == 1 else board
    tables = [
        Table("comparisons", [found.overview()], most=0),
        Table("models", shown, f"Models by {scale}, with the 95 % HDI and rank set"),
        Table("effects", effect_table(tree), "Two equal models: all annotators, and each", most=20),
    ]
    return Answer(tables, notes, tree)
