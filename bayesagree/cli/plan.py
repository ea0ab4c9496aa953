"""`bayesagree plan`: how many items, and how many annotators per item."""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def plan(
    source: _options.Source,
    columns: _options.PredictionColumns,
    predictions: _options.PredictionsFile = None,
    items: Annotated[str, Option("--n-items", help="Numbers of items, comma separated.")] = "100,300,1000",
    annotators: Annotated[str | None, Option("--n-annotators", help="Numbers of annotators per item.")] = None,
    metric: Annotated[str | None, Option(help="Score or coefficient, such as phi.")] = None,
    target: Annotated[float | None, Option(help="Width of the interval that is wanted.")] = None,
    crossed: Annotated[bool, Option("--crossed", help="The same annotators label every item.")] = False,
    cost: Annotated[str | None, Option(help="Cost of an item and of a vote, such as 2,0.5.")] = None,
    replicates: Annotated[int, Option(min=2, help="Simulated studies of each design.")] = 16,
    random_seed: _options.Seed = 1,
    json: _options.Json = False,
    output: _options.TableFile = None,
) -> None:
    """Show the interval that each number of items and annotators would give, and its cost, from a pilot.

    Of comparisons of models: how many more would separate the two best.

    Example: bayesagree plan pilot.csv models.csv --n-items 200,500 --n-annotators 3,5 --target 0.05
    """
    from bayesagree.planning import value_of_votes
    from bayesagree.planning.designs import designs_to_simulate
    from bayesagree.planning.designs import plan as plan_designs

    pilot, models = source.read(predictions, columns)
    if pilot.kind == "comparisons":
        worth = value_of_votes(pilot, random_seed=random_seed)
        _output.write_table(worth, output)
        return _output.show([_output.Table("comparisons", worth, "More comparisons")], json=json, notes=_pair(worth))
    grid: dict[str, Any] = {
        "items": _options.numbers(items, "--n-items", whole=True),
        "annotators": _options.numbers(
            annotators or ("4,5,10" if crossed else "2,3,5,10" if models is None else "1,3,5,10"),
            "--n-annotators",
            whole=True,
        ),
    }
    prices: Any = None if cost is None else _options.numbers(cost, "--cost")
    if prices is not None and len(prices) != 2:
        raise InputError(f"--cost {cost!r} must be two numbers: an item, and a vote")
    agreement = "phi" if source.scale is not None else "fleiss_kappa"
    metric = metric or (agreement if models is None else "top_1_accuracy")
    total = len(designs_to_simulate(pilot.items.size, **grid)) * replicates
    with _output.progress("simulating", total) as advance:
        how: dict[str, Any] = {"metric": metric, "target": target, "cost": prices, "replicates": replicates}
        how["crossed"] = crossed
        found = plan_designs(pilot, models, **grid, **how, random_seed=random_seed, progress=advance)
    table = found.to_dataframe().reset_index()
    _output.write_table(table, output)
    _output.show([_output.Table("designs", table, f"Width of the interval of {metric}")], json=json, notes=_best(found))


def _pair(worth: "pd.DataFrame") -> list[str]:
    best, other = worth.attrs["models"]
    number = worth.attrs["separating"]
    if number is None:
        return [f"A million more comparisons of {best} and {other} would not separate them with probability 0.8."]
    return [f"{number:,} more comparisons of {best} and {other} separate them with probability 0.8."]


def _best(found: Any) -> list[str]:
    chosen = [found.attrs["choice"]] if found.attrs["choice"] else []
    if "target" not in found.attrs:
        return chosen
    width = found.attrs["target"]
    if "best_items" not in found.attrs:
        return [*chosen, f"No design of this grid has a width of {width:g} or less: more items narrow it most."]
    items, annotators = found.attrs["best_items"], found.attrs["best_annotators"]
    cheapest = f"The cheapest design with a width of at most {width:g}: {items} items, {annotators} annotators each."
    return [*chosen, cheapest]
