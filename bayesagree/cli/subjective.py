"""`bayesagree subjective`: how well each model predicts each group of annotators."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations.groups import Groups


def subjective(
    source: _options.Source,
    annotators: _options.AnnotatorsFile = None,
    predictions: Annotated[Path | None, Argument(help="Predictions per item, or per item and annotator.")] = None,
    group: _options.Group = None,
    smallest_group: _options.SmallestGroup = 1,
    bins: Annotated[int, Option(min=1, help="Bins of disagreement, without --group.")] = 5,
    metric: Annotated[str | None, Option(help="accuracy, absolute_error or correlation.")] = None,
    truth: Annotated[str | None, Option(help="by-group: score against the truth of each group.")] = None,
    phi: Annotated[bool, Option("--phi/--no-phi", help="Phi of ratings within and between groups.")] = True,
    specification: _options.SpecificationFile = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Report on the specification (.md).")] = None,
    model: Annotated[str, Option(help="Column of the predictions that names the model.")] = "model",
    threshold: Annotated[float | None, Option(help="Turns ratings into labels.")] = None,
    draws: _options.Draws = 1000,
    random_seed: _options.Seed = 1,
    json: _options.Json = False,
) -> None:
    """Show how well each model predicts each group of annotators.

    The last table says how far annotators agree within and between groups. With --specification the data are compared
    with it, also before there is any model.

    Example: bayesagree subjective labels.csv models.csv --annotators people.csv --group gender,age
    """
    from bayesagree.annotations.missing_predictions import predictions_of
    from bayesagree.subjective import tables

    given, known = source.read()
    if given.kind == "rankings":
        raise InputError("rankings have no groups here; give labels or ratings")
    people = source.features(annotators)
    if specification is not None and people is None:
        raise InputError(
            f"--specification {specification} needs the features of the annotators: give --annotators FILE"
        )
    if output is not None and specification is None:
        raise InputError(f"the report {output} compares --specification FILE with --annotators FILE; give both")
    if predictions is None and known is None:
        if specification is None:
            raise InputError("there are no predictions: give a file of predictions")
        return _output.show(_specification(specification, given, people, None, output), json=json)
    if truth is not None and (truth != "by-group" or group is None):
        raise InputError(f"--truth {truth}: there is by-group, which needs --group FEATURES")
    labelled = truth is not None or metric == "accuracy" or (metric is None and threshold is not None)
    scored = tables.as_labels(given, threshold) if labelled else given
    if group is None:
        groups, _ = tables.disagreement_groups(given, threshold=threshold, bins=bins, random_seed=random_seed)
    else:
        groups = _options.groups_of(scored, people, group, smallest_group)
    if predictions is None:
        models: Any = predictions_of(known, scored.items)
    else:
        names = {name: getattr(source, name) for name in ("item", "annotator", "label", "rating")}
        models = tables.read_model_predictions(predictions, scored, model=model, **names)
    if truth is not None:
        return _output.show(_by_group(scored, models, groups, draws=draws, random_seed=random_seed), json=json)
    how = {"metric": metric, "phi": phi and given.kind == "ratings", "draws": draws, "random_seed": random_seed}
    result, shown = _performance(given, scored, models, groups, **how)
    if specification is not None:
        shown += _specification(specification, scored, people, result, output)
    _output.show(shown, json=json)


def _performance(
    given: Any, scored: Any, models: Any, groups: "Groups", *, metric: Any, phi: bool, draws: int, random_seed: int
) -> tuple["xr.Dataset", list[_output.Table]]:
    """Return the performance by group, and the tables of it."""
    from bayesagree.subjective import tables
    from bayesagree.subjective.agreement import group_phi
    from bayesagree.subjective.performance import group_performance

    result = group_performance(scored, models, groups, metric=metric)
    n_pairs = groups.names.size * (groups.names.size + 1) // 2 if phi else 0
    with _output.progress("comparing groups", 1 + n_pairs) as advance:
        sampled = tables.performance_draws(scored, models, groups, result, draws=draws, random_seed=random_seed)
        advance()
        drawn = group_phi(given, groups, draws=draws, random_seed=random_seed, progress=advance) if phi else None
    name = result.attrs["metric"]
    of_performance = f"{name.capitalize().replace('_', ' ')} by {groups.by}, 95 % HDI"
    of_dispersion = "Over groups: dispersion = 1 - sd, 95 % HDI"
    of_agreement = f"Agreement within and between groups{', 95 % HDI of Phi' if phi else ''}"
    return result, [
        _output.Table("settings", [{"by": groups.by, "metric": name, "seed": random_seed}], most=0),
        _output.Table("groups", tables.group_table(result, sampled), of_performance),
        _output.Table("models", tables.dispersion_table(result, sampled), of_dispersion),
        _output.Table("agreement", tables.group_agreement_table(given, groups, drawn), of_agreement),
    ]


def _by_group(labels: Any, models: Any, groups: "Groups", *, draws: int, random_seed: int) -> list[_output.Table]:
    """Return scores against the truth of each group, how far groups differ, and the items that divide them."""
    from bayesagree.annotations import Predictions
    from bayesagree.subjective.group_truth import group_truth_tables

    if not isinstance(models, Predictions):
        raise InputError("--truth by-group scores predictions per item; these are per annotation")
    found = group_truth_tables(labels, models, groups, draws=draws, random_seed=random_seed)
    titles = {
        "scores": f"Scores against the truth of each group by {groups.by}, difference from the others, 95 % HDI",
        "groups": "How far groups differ; p values by permutation",
        "items": "Items that divide the groups, one in ten of them by chance",
    }
    settings = _output.Table("settings", [{"by": groups.by, "truth": "by-group", "seed": random_seed}], most=0)
    return [settings, *(_output.Table(name, found[name], title) for name, title in titles.items())]


def _specification(path: Path, given: Any, people: Any, result: Any, output: Path | None) -> list[_output.Table]:
    """Compare the declaration with the data, write the report if it is requested, and return its tables."""
    from bayesagree.io.files import atomic_path
    from bayesagree.subjective.specification import EvaluationSpecification, check_specification, individual_unfairness

    declared = EvaluationSpecification.from_json(path.read_text(encoding="utf-8"))
    report = check_specification(declared, given, people)
    if output is not None:
        with atomic_path(output) as temporary:
            temporary.write_text(report.to_markdown(), encoding="utf-8")
    gaps = [{"gap": gap} for gap in report.gaps] or [{"gap": "none found"}]
    shown = [
        _output.Table("specification", report.distributions, "Declared and actual distributions"),
        _output.Table("gaps", gaps, "Gaps between the declaration and the data"),
    ]
    if result is not None and declared.fairness == "individual":
        unfair = individual_unfairness(people, result["annotator_performance"], declared.similarity)
        title = "Mean difference between similar annotators; 0 is individual fairness"
        shown.append(_output.Table("individual", unfair.to_dataframe().reset_index(), title))
    return shown
