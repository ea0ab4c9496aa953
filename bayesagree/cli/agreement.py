"""`bayesagree agreement`: how far do annotators agree, with an interval for every coefficient."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesagree.cli import _options, _output, with_options

if TYPE_CHECKING:
    import pandas as pd


def agreement(
    source: _options.Source,
    level: str | None = None,
    item_mean: str = "hierarchical",
    likelihood: str = "averaged",
    annotators: str = "fixed",
    item_features: Path | None = None,
    cluster: str | None = None,
    seed: int = 1,
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Show the common agreement Phi and every classic coefficient, each with an interval.

    Example: bayesagree agreement ratings.csv --scale 1 5 --step 1
    """
    from bayesagree.agreement._coefficients import WEIGHTS_OF_LEVEL
    from bayesagree.cli.evaluate import item_groups

    given: Any = source.read()[0]
    given = given.to_labels(source.duplicates) if given.kind == "comparisons" else given
    chosen = _options.one_of(level or given.level, "--level", tuple(WEIGHTS_OF_LEVEL))
    groups = item_groups(item_features, source.item, {"cluster": cluster})
    table = _coefficients(given, chosen, annotators, groups, item_mean, likelihood, seed)
    table = table.assign(note=[with_options(note) for note in table["note"]])
    _output.write_table(table, output)
    weights = "no weights" if chosen == "nominal" else f"{WEIGHTS_OF_LEVEL[chosen]} weights"
    title = f"Agreement; kappas, AC and Brennan-Prediger with {weights} (intervals: 95 %)"
    if given.kind == "rankings":
        title = "Agreement of rankings: W of all annotators, tau-b and overlap of two (intervals: 95 %)"
    known = table["estimate"].notna()
    missing = table.loc[~known].groupby("note", sort=False)["coefficient"].agg(", ".join)
    tables = [
        _output.Table("agreement", table, most=0),
        _output.Table("", table.loc[known].drop(columns="ci_kind"), title),
    ]
    _output.show(tables, json=json, notes=[] if json else [f"No {names}: {note}." for note, names in missing.items()])


def _coefficients(
    given: Any, level: Any, annotators: Any, groups: Any, item_mean: Any, likelihood: Any, seed: int
) -> "pd.DataFrame":
    from bayesagree.agreement.coefficients import agreement_table
    from bayesagree.annotations import Ratings

    rated = isinstance(given, Ratings)
    table = agreement_table(given, level=level, annotators=annotators, seed=seed, **groups)
    if rated and (item_mean, likelihood) != ("hierarchical", "averaged"):
        from bayesagree.agreement.phi import common_agreement

        found = common_agreement(given, item_mean=item_mean, likelihood=likelihood, seed=seed)["agreement"].to_dataset()
        values = [float(found[name]) for name in ("mean", "lower", "upper")]
        table.loc[table["coefficient"] == "phi", ["estimate", "lower", "upper"]] = values
    return table
