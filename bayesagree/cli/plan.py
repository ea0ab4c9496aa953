"""`bayesagree plan`: how many items, and how many annotators per item."""

from typing import Annotated, Any

from typer import Option

from bayesagree.cli import _output
from bayesagree.cli._options import AS_LABELS, Seed, WithPredictions, numbers, unused
from bayesagree.cli._output import Answer, Table, TableAnswer
from bayesagree.errors import InputError

# What the cheapest design has.
# What comparisons of models do not ask.
OF_LABELS = "predictions items annotators runs metric target difference power cost replicates"
PARTS = {"best_items": "items", "best_annotators": "annotators each", "best_runs": "runs"}


def plan(
    source: WithPredictions,
    items: Annotated[Any, Option("--n-items", parser=numbers, help="Numbers of items.")] = "100,300,1000",
    annotators: Annotated[Any, Option("--n-annotators", parser=numbers, help="Annotators per item.")] = None,
    runs: Annotated[Any, Option(parser=numbers, help="Numbers of runs of a model on an item.")] = None,
    metric: Annotated[str | None, Option(help="Score or coefficient, such as fleiss_kappa.")] = None,
    target: Annotated[float | None, Option(help="Width of the interval that is wanted.")] = None,
    difference: Annotated[float | None, Option(help="True difference of two models to be found.")] = None,
    power: Annotated[float | None, Option(help="Probability to find it, such as 0.8.")] = None,
    cost: Annotated[Any, Option(parser=numbers, metavar="ITEM,VOTE[,RUN]", help="Such as 2,0.5,0.1.")] = None,
    replicates: Annotated[int, Option(min=2, help="Simulated studies of each design.")] = 16,
    seed: Seed = 1,
) -> TableAnswer:
    """Show the interval that each number of items and annotators would give, and its cost, from a pilot.

    Of comparisons of models: how many more would separate the two best.

    Example: bayesagree plan pilot.csv models.csv --n-items 200,500 --n-annotators 3,5 --target 0.05
    """
    from bayesagree.planning import value_of_votes
    from bayesagree.planning.designs import designs_to_simulate
    from bayesagree.planning.designs import plan as plan_designs

    pilot, models = source.read()
    if pilot.kind == "comparisons":
        unused("for comparisons of models", *OF_LABELS.split())
        worth = value_of_votes(pilot, random_seed=seed)
        (best, other), number = worth.attrs["models"], worth.attrs["separating"]
        more, do = ("A million", "would not") if number is None else (f"{number:,}", "would")
        note = f"{more} more comparisons of {best} and {other} {do} separate them with probability 0.8."
        return Answer([Table("comparisons", worth, "More comparisons")], [note], worth)
    if pilot.kind != "labels":
        raise InputError(f"plans are for labels or comparisons, not for {pilot.kind}; {AS_LABELS}")
    if cost is not None and len(cost) not in (2, 3):
        raise InputError(
            f"--cost {cost} must be two numbers, or three with the cost of a run, such as 2,0.5,0.1"
        )
    least, measure = (2, "fleiss_kappa") if models is None else (1, "accuracy")
    grid = {"items": items, "annotators": annotators or [least, 3, 5, 10]}
    how = {"metric": metric or measure, "target": target, "cost": cost, "runs": runs}
    how |= grid | {"difference": difference, "power": power, "replicates": replicates, "random_seed": seed}
    total = len(designs_to_simulate(pilot.items.size, **grid)) * replicates
    with _output.progress("simulating", total) as advance:
        found = plan_designs(pilot, models, **how, progress=advance)
    notes = [found.attrs["choice"]] if found.attrs["choice"] else []
    if runs is not None:
        notes.append("worth: how many times as many items of one run have an interval of that width.")
    if (width := found.attrs.get("target")) is not None:
        best = [f"{found.attrs[name]} {what}" for name, what in PARTS.items() if name in found.attrs]
        notes.append(
            f"The cheapest design with a width of at most {width:g}: {', '.join(best)}."
            if best
            else f"No design of this grid has a width of {width:g} or less: more items narrow it most."
        )
    table = found.to_dataframe().reset_index()
    return Answer([Table("designs", table, f"Width of the interval of {how['metric']}")], notes, table)
