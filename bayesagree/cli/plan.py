"""`bayesagree plan`: how many items, and how many annotators per item."""

from typing import Annotated, Any

from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.cli._output import Answer, Table, TableAnswer
from bayesagree.errors import InputError


def plan(
    source: _options.WithPredictions,
    items: Annotated[
        Any, Option("--n-items", parser=_options.integers, help="Numbers of items.")
    ] = "100,300,1000",
    annotators: Annotated[
        Any, Option("--n-annotators", parser=_options.integers, help="Numbers of annotators per item.")
    ] = None,
    runs: Annotated[
        Any, Option(parser=_options.integers, help="Numbers of runs of a model on an item.")
    ] = None,
    metric: Annotated[str | None, Option(help="Score or coefficient, such as fleiss_kappa.")] = None,
    target: Annotated[float | None, Option(help="Width of the interval that is wanted.")] = None,
    difference: Annotated[
        float | None, Option(help="True difference of two models that is to be found.")
    ] = None,
    power: Annotated[float | None, Option(help="Probability to find it, such as 0.8.")] = None,
    cost: Annotated[Any, Option(parser=_options.two, metavar="ITEM,VOTE", help="Costs, such as 2,0.5.")] = None,
    replicates: Annotated[int, Option(min=2, help="Simulated studies of each design.")] = 16,
    seed: _options.Seed = 1,
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
        more = "A million more" if number is None else f"{number:,} more"
        note = f"{more} comparisons of {best} and {other} would {'not ' if number is None else ''}separate them with "
        shown = Table("comparisons", worth, "More comparisons")
        return Answer([shown], [f"{note}probability 0.8."], worth)
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
    notes = [found.attrs["choice"]] if found.attrs["choice"] else []
    if (width := found.attrs.get("target")) is not None:
        sentence = f"No design of this grid has a width of {width:g} or less: more items narrow it most."
        if "best_items" in found.attrs:
            n, m = found.attrs["best_items"], found.attrs["best_annotators"]
            sentence = f"The cheapest design with a width of at most {width:g}: {n} items, {m} annotators each."
            if (number := found.attrs.get("best_runs")) is not None:
                sentence = f"{sentence[:-1]}, {number} runs."
        notes.append(sentence)
    return Answer([Table("designs", table, f"Width of the interval of {metric}")], notes, table)
