"""`bayesagree agreement`: how far do annotators agree, with an interval for every coefficient."""

from typing import Annotated, Any, Literal

from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError, one_of

# Details of `agreement_table`.
Detail = Literal["pair", "category", "item", "annotator"]


def agreement(
    source: _options.Source,
    level: Annotated[
        str | None, Option(help="nominal, ordinal, interval or ratio: weights of the kappas.")
    ] = None,
    item_features: _options.ItemFeatures = None,
    by: Annotated[Detail | None, Option(help="Detail: pair, category, item or annotator.")] = None,
    cluster: Annotated[str | None, Option(help="Column of the item features: resampled together.")] = None,
    annotators: _options.AnnotatorsFile = None,
    group: _options.Group = None,
    seed: _options.Seed = 1,
) -> _output.TableAnswer:
    """Show the common agreement Phi and every classic coefficient, each with an interval.

    With --group also how far annotators of a group agree, and those of two groups. All rows are about these annotators.

    Example: bayesagree agreement ratings.csv --scale 1,5 --step 1
    """
    from bayesagree.agreement._coefficients import WEIGHTS_OF_LEVEL
    from bayesagree.agreement.coefficients import agreement_table
    from bayesagree.subjective import group_agreement

    if annotators is not None and group is None:
        raise InputError(
            "--annotators holds features of the annotators: name those to group by, --group FEATURES"
        )
    given, _ = source.read()
    given = given.to_labels(source.duplicates) if given.kind == "comparisons" else given
    chosen: Any = one_of(level or given.level, "level", tuple(WEIGHTS_OF_LEVEL))
    groups = _options.item_groups(item_features, source.item, {"cluster": cluster})
    table: Any = agreement_table(given, level=chosen, by=by, random_seed=seed, **groups)
    weights = "no weights" if chosen == "nominal" else f"{WEIGHTS_OF_LEVEL[chosen]} weights"
    title = f"Agreement; kappas, AC and Brennan-Prediger with {weights} (intervals: 95 %)"
    if given.kind == "rankings":
        title = "Agreement of rankings: W of all annotators, tau-b and overlap of two (intervals: 95 %)"
    if by is not None:
        shown = _output.Table("agreement", table, f"By {by}", hidden=("ci_kind", "about", "ci_prob"))
        return _output.Answer([shown], [], table)
    known = table["estimate"].notna()
    missing = table.loc[~known].groupby("note", sort=False)["coefficient"].agg(", ".join)
    tables = [
        _output.Table("agreement", table, most=0),
        _output.Table("", table[known], title, hidden=("ci_kind", "about")),
    ]
    if group is not None:
        people = _options.groups_of(given, source.features(annotators), group, 1)
        by_group = group_agreement(given, people)
        tables.append(
            _output.Table("groups", by_group, f"Alpha within and between groups by {people.by}, 95 % HDI")
        )
    return _output.Answer(tables, [f"No {names}: {note}." for note, names in missing.items()], table)
