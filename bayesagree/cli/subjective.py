"""`bayesagree subjective`: how well each model predicts each group of annotators."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from bayesagree.cli._options import (
    AnnotatorsFile,
    Draws,
    ModelColumn,
    Seed,
    Source,
    Threshold,
    groups_of,
    unused,
)
from bayesagree.cli._output import Answer, Table
from bayesagree.errors import InputError


def subjective(
    source: Source,
    group: Annotated[str, Option(help="Features of annotators to group by, comma separated.")],
    annotators: AnnotatorsFile = None,
    predictions: Annotated[Path | None, Argument(help="Per item, or per item and annotator.")] = None,
    truth: Annotated[Literal["by-group"] | None, Option(help="Score against the truth of each group.")] = None,
    model: ModelColumn = "model",
    threshold: Threshold = None,
    draws: Draws = 1000,
    seed: Seed = 1,
) -> Answer:
    """Show how well each model predicts each group of annotators.

    The last table says how far annotators agree within and between groups.

    Example: bayesagree subjective labels.csv models.csv --annotators people.csv --group gender,age
    """
    from bayesagree.annotations import Predictions
    from bayesagree.subjective import group_agreement, tables
    from bayesagree.subjective.group_truth import group_truth_tables
    from bayesagree.subjective.performance import group_performance

    given, known = source.read()
    if given.kind != "ratings":
        unused(f"for {given.kind}", "threshold")
    if predictions is None and known is None:
        raise InputError("there are no predictions: give a file of predictions")
    scored = tables.as_labels(given, threshold) if truth is not None or threshold is not None else given
    groups = groups_of(scored, source.features(annotators), group)
    if predictions is None:
        models = known.on_items(scored.items).aligned(scored.items, known.categories)
    else:
        names = {name: getattr(source, name) for name in ("item", "annotator", "label", "rating")}
        models = tables.read_model_predictions(predictions, scored, model=model, **names)
    how = {"draws": draws, "random_seed": seed}
    if truth is not None:
        if not isinstance(models, Predictions):
            raise InputError("--truth by-group scores predictions per item; these are per annotation")
        found = group_truth_tables(scored, models, groups, **how)
        chosen, by_group = {"truth": "by-group"}, f"Scores against the truth of each group by {groups.by}"
        shown = [
            Table("scores", found["scores"], f"{by_group}, difference from the others, 95 % HDI"),
            Table("groups", found["groups"], "How far groups differ; p values by permutation"),
            Table("items", found["items"], "Items that divide the groups, one in ten by chance"),
        ]
    else:
        result = group_performance(scored, models, groups)
        chosen, name = {"metric": result.attrs["metric"]}, result.attrs["metric"].capitalize().replace("_", " ")
        sampled = tables.performance_draws(scored, models, groups, result, **how)
        dispersion, agreed = (
            tables.dispersion_table(result, sampled),
            group_agreement(given, groups, random_seed=seed),
        )
        shown = [
            Table("groups", tables.group_table(result, sampled), f"{name} by {groups.by}, 95 % HDI"),
            Table("models", dispersion, "Over groups: dispersion = 1 - sd, 95 % HDI"),
            Table("agreement", agreed, "Krippendorff's alpha within and between groups, 95 % interval"),
        ]
    return Answer([Table("settings", [{"by": groups.by, "seed": seed} | chosen], most=0), *shown])
