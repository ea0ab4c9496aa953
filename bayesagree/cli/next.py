"""`bayesagree next`: the items to label next."""

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
    source: _options.Source,
    columns: _options.PredictionColumns,
    kept: _options.ItemsFile,
    predictions: _options.PredictionsFile = None,
    n: Annotated[int, Option("--number", "-n", min=1, help="How many items.")] = 20,
    goal: Annotated[Literal["decision", "metric", "certainty"] | None, Option(help="What to learn.")] = None,
    plausibility: _options.PlausibilityName = None,
    missing: _options.Missing = "error",
    seed: _options.Seed = 1,
) -> Answer:
    """List the items whose next label tells most, best first; -o writes them, with --tool as that tool imports them.

    Of comparisons of models: the pairs that the next comparison should be of.

    Example: bayesagree next votes.csv --number 50 --tool label_studio --contents texts.csv -o tasks.json
    """
    from bayesagree.planning._decision import Decision, Outlook
    from bayesagree.planning.next_items import annotate_next

    _output.require(kept.output, result=False)
    votes, models = source.read(predictions, columns)
    models = models and models.pooled()
    if votes.kind == "comparisons":
        pairs = annotate_next(votes, n=n, goal=goal, random_seed=seed)
        if kept.output is not None:
            _output.keep(pairs, kept.output)
        shown = Table("pairs", pairs, "Pairs of models to compare next", most=20)
        return Answer([shown], pairs.attrs["notes"])
    if votes.kind == "ratings":
        raise InputError(
            "next items are chosen for labels, rankings or comparisons, not for ratings; bayesagree plausibility lists "
            "the least certain items"
        )
    how: Any = {"plausibility": _options.name_or_trace(plausibility), "missing": missing, "random_seed": seed}
    worth: list[str] = []
    if goal in (None, "decision") and models and models.models.size > 1:
        decision = Decision.of(Outlook.of(votes, models, **how), models.models)
        table, worth = decision.next_items(n, seed), _worth(decision.value_of_votes(), n)
    else:
        table = annotate_next(votes, models, n=n, goal=goal, **how)
    kept.write(table, source)
    notes = [text for text in (table.attrs["choice"], *table.attrs["notes"], *worth) if text]
    return Answer([Table("items", table, "Items to label next", most=20)], notes)


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
