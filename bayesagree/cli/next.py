"""`bayesagree next`: the items that deserve the next label."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

from bayesagree.cli import _options, _output

if TYPE_CHECKING:
    import pandas as pd


def next(
    source: _options.Source,
    columns: _options.PredictionColumns,
    predictions: _options.PredictionsFile = None,
    n: Annotated[int, Option("--number", "-n", min=1, help="How many items.")] = 20,
    goal: Annotated[Literal["decision", "metric", "certainty"] | None, Option(help="What to learn.")] = None,
    plausibility: _options.PlausibilityName = None,
    missing: _options.Missing = "error",
    random_seed: _options.Seed = 1,
    json: _options.Json = False,
    tool: _options.Tool = None,
    contents: _options.ContentsFile = None,
    output: _options.TableFile = None,
) -> None:
    """List the items whose next label tells most, best first; -o writes them, with --tool as that tool imports them.

    Of comparisons of models: the pairs that the next comparison should be of.

    Example: bayesagree next votes.csv --number 50 --tool label_studio --contents texts.csv -o tasks.json
    """
    from bayesagree.planning._decision import Decision, Outlook
    from bayesagree.planning.next_items import annotate_next

    votes, models = source.read(predictions, columns)
    if votes.kind == "comparisons":
        pairs = annotate_next(votes, n=n, goal=goal, random_seed=random_seed)
        _output.write_table(pairs, output)
        title = "Pairs of models that deserve the next comparison"
        return _output.show([_output.Table("pairs", pairs, title, most=20)], json=json, notes=pairs.attrs["notes"])
    how: Any = {"plausibility": _options.name_or_trace(plausibility), "missing": missing, "random_seed": random_seed}
    worth: list[str] = []
    if goal in (None, "decision") and models and models.models.size > 1 and votes.kind == "labels":
        decision = Decision.of(Outlook.of(votes, models, **how), models.models)
        table, worth = decision.next_items(n, random_seed), _worth(decision.value_of_votes(), n)
    else:
        table = annotate_next(votes, models, n=n, goal=goal, **how)
    _options.write_items(table, output, tool, contents, source.item)
    notes = [text for text in (table.attrs["choice"], *table.attrs["notes"], *worth) if text]
    _output.show([_output.Table("items", table, "Items that deserve the next label", most=20)], json=json, notes=notes)


def _worth(found: "pd.DataFrame", n: int) -> list[str]:
    """Return sentences on what votes on these items, and on all items that matter, do for the choice."""
    best, other = found.attrs["models"]
    most = int(found["votes"].iloc[-1])
    if most == 0:
        return [f"{best} and {other} predict alike on every item: no vote helps to choose."]
    probability = found["prob_right"]
    sentence = f"The choice between {best} and {other} is right with probability {probability.iloc[0]:.2f}; "
    if n < most:
        sentence += f"after votes on the {n} best items, with {probability.iloc[n]:.2f}; "
    return [f"{sentence}after a vote on every item where they differ ({most}), with {probability.iloc[most]:.2f}."]
