"""`bayesagree plan`: how many items, and how many annotators per item."""

from typing import Annotated, Any

from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.cli._output import Answer, Table, TableAnswer
from bayesagree.errors import InputError


def plan(
    source: _options.WithPredictions,
    items: _options.Integers = "100,300,1000",
    annotators: _options.Integers = None,
    runs: _options.Integers = None,
    metric: str | None = None,
    target: float | None = None,
    difference: float | None = None,
    power: float | None = None,
    cost: _options.Two = None,
    replicates: Annotated[int, Option(min=2)] = 16,
    seed: int = 1,
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
        worth = value_of_votes(pilot, random_seed=seed)
        (best, other), number = worth.attrs["models"], worth.attrs["separating"]
        more = "A million more comparisons would not" if number is None else f"{number:,} more comparisons would"
        note = f"{more} separate {best} and {other} with probability 0.8."
        return Answer([Table("comparisons", worth, "More comparisons")], [note], worth)
    if pilot.kind != "labels":
        raise InputError(f"studies are planned for labels or comparisons, not for {pilot.kind}")
    each = annotators or ([2, 3, 5, 10] if models is None else [1, 3, 5, 10])
    grid: dict[str, Any] = {"items": items, "annotators": each}
    metric = metric or ("fleiss_kappa" if models is None else "accuracy")
    how: dict[str, Any] = {"metric": metric, "target": target, "cost": cost, "replicates": replicates}
    how |= grid | {"difference": difference, "power": power, "random_seed": seed}
    how |= {} if runs is None else {"runs": runs}
    with _output.progress(
        "simulating", len(designs_to_simulate(pilot.items.size, **grid)) * replicates
    ) as advance:
        found = plan_designs(pilot, models, **how, progress=advance)
    table = found.to_dataframe().reset_index()
    made = found.attrs
    notes = [made["choice"]] if made["choice"] else []
    if (width := made.get("target")) is not None:
        best = [f"{made['best_' + of]} {of}" for of in ("items", "annotators", "runs") if "best_" + of in made]
        narrow = f"No design of this grid has a width of {width:g} or less: more items narrow it most."
        cheap = f"The cheapest design with a width of at most {width:g}: {', '.join(best)}."
        notes.append(cheap if best else narrow)
    return Answer([Table("designs", table, f"Width of the interval of {metric}")], notes, table)
