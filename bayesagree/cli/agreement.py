"""`bayesagree agreement`: how far do annotators agree, with an interval for every coefficient."""

from typing import Annotated

from typer import Option

from bayesagree.cli import _options, _output


def agreement(
    source: _options.Source,
    level: Annotated[str | None, Option(help="nominal, ordinal, interval or ratio: weights of the kappas.")] = None,
    item_features: _options.ItemFeatures = None,
    cluster: Annotated[str | None, Option(help="Column of the item features: resampled together.")] = None,
    random_seed: _options.Seed = 1,
    json: _options.Json = False,
    output: _options.TableFile = None,
) -> None:
    """Show the common agreement Phi and every classic coefficient, each with an interval.

    Example: bayesagree agreement ratings.csv --scale 1 5 --step 1
    """
    from bayesagree.agreement._coefficients import WEIGHTS_OF_LEVEL
    from bayesagree.agreement.coefficients import agreement_table

    given, _ = source.read()
    given = given.to_labels(source.duplicates) if given.kind == "comparisons" else given
    chosen = _options.one_of(level or given.level, "--level", tuple(WEIGHTS_OF_LEVEL))
    groups = _options.item_groups(item_features, source.item, {"cluster": cluster})
    table = agreement_table(given, level=chosen, random_seed=random_seed, **groups)
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
