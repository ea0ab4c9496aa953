"""`bayesagree annotators`: accuracy and confusion of every annotator, and checks of the crowd."""

from typing import Annotated, Any

from typer import Option

from bayesagree.cli._options import AS_LABELS, AllowUnmixed, GoldFile, ShortSampling, Source, unused
from bayesagree.cli._output import Answer, Table, TableAnswer
from bayesagree.errors import InputError

# Share of draws with switched labels above which a note says so: one draw in a hundred is no accident.
_SWITCHED = 0.01
_PRIOR_ONLY = "Draws switch labels: only the prior says that this crowd is better than chance; pass --gold."
# Annotators on the screen: what fits without scrolling back; the document has all.
_SHOWN = 30


def annotators(
    source: Source,
    sampling: ShortSampling,
    gold: GoldFile = None,
    variant: Annotated[str, Option(help="Variant of Dawid-Skene, such as one_coin; see docs.")] = "auto",
    allow_unmixed: AllowUnmixed = False,
) -> TableAnswer:
    """Rate the annotators: posterior accuracy, confusion, labels given, flags, and checks of the crowd.

    Accuracy is the probability of the right label given what the annotator perceives of the item, in the variant that
    the note names; column matches_truth is the share of the annotator's labels that are the drawn truth of their item.
    Of ratings: how much stricter or milder each annotator is, and the components of variance.
    With --gold, gold items teach the annotators' confusion, and a second fit without them shows how far the predicted
    confidence is from the accuracy on gold, before and after calibration. -o keeps the annotators.

    Example: bayesagree annotators labels.csv --gold gold.csv
    """
    import pandas as pd

    from bayesagree._types import SAMPLE
    from bayesagree.inference.results import settings_of
    from bayesagree.plausibility.calibration import label_probability
    from bayesagree.plausibility.dawid_skene._results import choice_notes, require_mixed
    from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
    from bayesagree.predictive.annotator_checks import annotator_table, confidence_on_gold, crowd_checks

    crowd, _ = source.read()
    known = source.gold(gold, crowd)
    if crowd.kind == "ratings":
        unused("for ratings", "variant", "allow_unmixed")
        from bayesagree.agreement import icc
        from bayesagree.agreement.annotator_effects import annotator_levels
        from bayesagree.plausibility.normal_inverse_gamma.posterior import normal_inverse_gamma

        levels = annotator_levels(normal_inverse_gamma(crowd, annotator_effects="shift", **vars(sampling)))
        parts = icc(crowd, random_seed=sampling.random_seed).attrs["variances"]
        shown = Table("annotators", levels, "Levels, strictest first, HDI 0.95", most=_SHOWN)
        return Answer([shown, Table("variances", _named("part", parts), "Components of variance")], keep=levels)
    if crowd.kind != "labels":
        raise InputError(f"annotators are rated on labels or ratings, not on {crowd.kind}; {AS_LABELS}")
    options: Any = {"variant": variant} | vars(sampling)
    blind = dawid_skene(crowd, **options)
    tree = dawid_skene(crowd, **options, gold=known) if known else blind
    if not allow_unmixed:
        require_mixed(tree)
    table, checks = annotator_table(tree), crowd_checks(crowd, tree)
    matched = label_probability(tree).transpose("item", "category").values[crowd.item_index, crowd.label_index]
    given: Any = pd.DataFrame({"n": crowd.count, "right": matched * crowd.count})
    found = given.groupby(crowd.annotator_index).sum().reindex(range(len(table)))
    table.insert(2, "matches_truth", found["right"] / found["n"])
    table = table.sort_values("flags", key=lambda flags: flags.map(len) == 0, kind="stable")
    confusion = tree["posterior/confusion"].mean(SAMPLE).rename("probability")
    tables = [
        Table("annotators", table, "Annotators, flagged first; intervals are HDI 0.95", most=_SHOWN),
        Table("confusion", confusion.to_dataframe().reset_index(), most=0),
        Table("checks", _named("check", checks), "Checks of the crowd"),
    ]
    notes = [_PRIOR_ONLY] if checks["share_of_draws_with_switched_labels"] > _SWITCHED else []
    if known:
        rows = _named("measure", confidence_on_gold(blind, known, random_seed=sampling.random_seed))
        tables.append(Table("confidence", rows, "Confidence"))
    else:
        notes.append("Labels alone do not tell how far the confidence is too high; pass --gold with 50 items.")
    return Answer(tables, [*notes, *choice_notes(settings_of(tree))], table)


def _named(key: str, values: dict[str, float]) -> list[dict[str, Any]]:
    return [{key: name, "value": value} for name, value in values.items()]
