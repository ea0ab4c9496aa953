"""`bayesagree subjective`: how well each model predicts each group of annotators."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    from bayesagree.annotations.groups import Groups


def subjective(
    source: _options.Source,
    annotators: _options.AnnotatorsFile = None,
    predictions: Annotated[Path | None, Argument(help="Predictions per item, or per item and annotator.")] = None,
    group: _options.Group = None,
    smallest_group: _options.SmallestGroup = 1,
    bins: Annotated[int, Option(min=1, help="Bins of disagreement, without --group.")] = 5,
    metric: Annotated[str | None, Option(help="accuracy, absolute_error or correlation.")] = None,
    truth: Annotated[Literal["by-group"] | None, Option(help="Score against the truth of each group.")] = None,
    model: Annotated[str, Option(help="Column of the predictions that names the model.")] = "model",
    threshold: Annotated[float | None, Option(help="Turns ratings into labels.")] = None,
    draws: _options.Draws = 1000,
    seed: _options.Seed = 1,
) -> _output.Answer:
    """Show how well each model predicts each group of annotators.

    The last table says how far annotators agree within and between groups.

    Example: bayesagree subjective labels.csv models.csv --annotators people.csv --group gender,age
    """
    from bayesagree.annotations.groups import Groups
    from bayesagree.annotations.missing_predictions import predictions_of
    from bayesagree.subjective import disagreement_rate, tables

    given, known = source.read()
    if given.kind == "rankings":
        raise InputError("rankings have no groups here; give labels or ratings")
    if predictions is None and known is None:
        raise InputError("there are no predictions: give a file of predictions")
    if truth is not None and group is None:
        raise InputError("--truth by-group needs --group FEATURES")
    labelled = truth is not None or metric == "accuracy" or (metric is None and threshold is not None)
    scored = tables.as_labels(given, threshold) if labelled else given
    if group is None:
        groups = Groups.by_disagreement(disagreement_rate(tables.as_labels(given, threshold)), bins=bins)
    else:
        groups = _options.groups_of(scored, source.features(annotators), group, smallest_group)
    if predictions is None:
        models: Any = predictions_of(known, scored.items)
    else:
        names = {name: getattr(source, name) for name in ("item", "annotator", "label", "rating")}
        models = tables.read_model_predictions(predictions, scored, model=model, **names)
    how = {"draws": draws, "random_seed": seed}
    if truth is not None:
        return _output.Answer(_by_group(scored, models, groups, **how))
    return _output.Answer(_performance(given, scored, models, groups, metric, **how))


def _performance(
    given: Any, scored: Any, models: Any, groups: "Groups", metric: Any, **how: int
) -> list[_output.Table]:
    """Return the tables of the performance by group."""
    from bayesagree.subjective import group_agreement, group_performance, tables

    result = group_performance(scored, models, groups, metric=metric)
    sampled = tables.performance_draws(scored, models, groups, result, **how)
    name = result.attrs["metric"]
    of_performance = f"{name.capitalize().replace('_', ' ')} by {groups.by}, 95 % HDI"
    of_agreement = "Krippendorff's alpha within and between groups, 95 % interval"
    settings = {"by": groups.by, "metric": name, "seed": how["random_seed"]}
    return [
        _output.Table("settings", [settings], most=0),
        _output.Table("groups", tables.group_table(result, sampled), of_performance),
        _output.Table(
            "models", tables.dispersion_table(result, sampled), "Over groups: dispersion = 1 - sd, 95 % HDI"
        ),
        _output.Table("agreement", group_agreement(given, groups), of_agreement),
    ]


def _by_group(labels: Any, models: Any, groups: "Groups", **how: int) -> list[_output.Table]:
    """Return scores against the truth of each group, how far groups differ, and the items that divide them."""
    from bayesagree.annotations import Predictions
    from bayesagree.subjective.group_truth import group_truth_tables

    if not isinstance(models, Predictions):
        raise InputError("--truth by-group scores predictions per item; these are per annotation")
    found = group_truth_tables(labels, models, groups, **how)
    titles = {
        "scores": f"Scores against the truth of each group by {groups.by}, difference from the others, 95 % HDI",
        "groups": "How far groups differ; p values by permutation",
        "items": "Items that divide the groups, one in ten of them by chance",
    }
    settings = {"by": groups.by, "truth": "by-group", "seed": how["random_seed"]}
    shown = [_output.Table(name, found[name], title) for name, title in titles.items()]
    return [_output.Table("settings", [settings], most=0), *shown]
