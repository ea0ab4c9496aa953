"""`bayesagree agreement`: how far do annotators agree, with an interval for every coefficient."""

from typing import Annotated, Any, Literal

from typer import Option

from bayesagree.cli._options import (
    AnnotatorsFile,
    Group,
    ItemFeatures,
    Seed,
    Source,
    groups_of,
    item_groups,
    unused,
)
from bayesagree.cli._output import Answer, Table, TableAnswer
from bayesagree.errors import InputError, one_of

# Details of `agreement_table`.
Detail = Literal["pair", "category", "item", "annotator"]


def agreement(
    source: Source,
    level: Annotated[str | None, Option(help="Weights: nominal, ordinal, interval or ratio.")] = None,
    item_features: ItemFeatures = None,
    by: Annotated[Detail | None, Option(help="Detail: pair, category, item or annotator.")] = None,
    cluster: Annotated[str | None, Option(help="Column of the item features: resampled together.")] = None,
    annotators: AnnotatorsFile = None,
    group: Group = None,
    seed: Seed = 1,
) -> TableAnswer:
    """Show the common agreement Phi and every classic coefficient, each with an interval.

    With --group also how far annotators of a group agree, and those of two groups. All rows are about these annotators.

    Example: bayesagree agreement ratings.csv --scale 1,5 --step 1
    """
    from bayesagree.agreement._coefficients import WEIGHTS_OF_LEVEL
    from bayesagree.agreement.coefficients import agreement_table
    from bayesagree.subjective import group_agreement

    if annotators is not None and group is None:
        raise InputError("--annotators holds features of annotators: name those to group by, --group FEATURES")
    given, _ = source.read()
    given = given.to_labels(source.duplicates) if given.kind == "comparisons" else given
    chosen: Any = one_of(level or given.level, "level", tuple(WEIGHTS_OF_LEVEL))
    groups = item_groups(item_features, source.item, cluster=cluster)
    table: Any = agreement_table(given, level=chosen, by=by, random_seed=seed, **groups)
    about: Any = {"hidden": ("ci_kind", "about")}
    if by is not None:
        unused(f"with --by {by}", "annotators", "group")
        return Answer([Table("agreement", table, f"By {by}", **about)], keep=table)
    weights = "no weights" if chosen == "nominal" else f"{WEIGHTS_OF_LEVEL[chosen]} weights"
    title = f"Agreement; kappas, AC and Brennan-Prediger with {weights} (intervals: 95 %)"
    if given.kind == "rankings":
        title = "Agreement of rankings: W of all annotators, tau-b of two (intervals: 95 %)"
    known = table["estimate"].notna()
    missing = table.loc[~known].groupby("note", sort=False)["coefficient"].agg(", ".join)
    tables = [Table("agreement", table, most=0), Table("", table[known], title, **about)]
    if group is not None:
        people = groups_of(given, source.features(annotators), group)
        title = f"Alpha within and between groups by {people.by}, 95 % HDI"
        tables.append(Table("groups", group_agreement(given, people, random_seed=seed), title))
    return Answer(tables, [f"No {names}: {note}." for note, names in missing.items()], table)
