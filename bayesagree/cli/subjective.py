"""`bayesagree subjective`: how well each model predicts each group of annotators."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Labels, Ratings
    from bayesagree.annotations.annotators import Annotators
    from bayesagree.annotations.groups import Groups
    from bayesagree.subjective.performance import ModelPredictions
    from bayesagree.subjective.specification import EvaluationSpecification


def subjective(
    source: _options.Source,
    annotators: Path | None = None,
    predictions: Path | None = None,
    group: str | None = None,
    smallest_group: int = 1,
    bins: int = 5,
    rate_share: float | None = None,
    metric: str | None = None,
    truth: str | None = None,
    phi: bool = True,
    specification: Path | None = None,
    output: Path | None = None,
    model: str = "model",
    threshold: float | None = None,
    draws: int = 1000,
    seed: int = 1,
    json: bool = False,
) -> None:
    """Show how well each model predicts each group of annotators.

    The last table says how far annotators agree within and between groups. With --specification the data are compared
    with it, also before there is any model.

    Example: bayesagree subjective labels.csv models.csv --annotators people.csv --group gender,age
    """
    from bayesagree.annotations import Rankings
    from bayesagree.subjective import tables

    given, known = source.read()
    if isinstance(given, Rankings):
        raise InputError("rankings have no groups here; give labels or ratings")
    people = source.features(annotators)
    if output is not None and (specification is None or people is None):
        raise InputError(f"the report {output} compares --specification FILE with --annotators FILE; give both")
    declared = None if specification is None else _declared(specification, people)
    if predictions is None and known is None:
        if declared is None:
            raise InputError("there are no predictions: give a file of predictions")
        _output.show(_specification_tables(declared, given, people, None, output), json=json)
        return
    if truth is not None:
        if truth != "by-group" or group is None:
            raise InputError(f"--truth {truth}: there is by-group, which needs --group FEATURES")
        labels = tables.as_labels(given, threshold)
        models = _models(predictions, known, labels, source, model)
        grouped = groups_by(labels, people, group, smallest_group)
        _output.show(_truth_tables(labels, models, grouped, draws=draws, seed=seed), json=json)
        return
    if group is None:
        groups, given = tables.disagreement_groups(
            given, threshold=threshold, bins=bins, rate_share=rate_share, seed=seed
        )
    else:
        groups = groups_by(given, people, group, smallest_group)
    labelled = metric == "accuracy" or (metric is None and threshold is not None)
    scored = tables.as_labels(given, threshold) if labelled else given
    models = _models(predictions, known, scored, source, model)
    result, shown = _performance_tables(given, scored, models, groups, metric=metric, phi=phi, draws=draws, seed=seed)
    if declared is not None:
        shown += _specification_tables(declared, scored, people, result, output)
    _output.show(shown, json=json)


def _performance_tables(
    given: "Labels | Ratings", scored: Any, models: "ModelPredictions", groups: "Groups", **how: Any
) -> tuple["xr.Dataset", list[_output.Table]]:
    """Return the performance by group, and the tables of it."""
    from bayesagree.annotations import Ratings
    from bayesagree.subjective import tables
    from bayesagree.subjective.agreement import group_phi
    from bayesagree.subjective.performance import group_performance

    metric, phi, draws, seed = (how[name] for name in ("metric", "phi", "draws", "seed"))
    result = group_performance(scored, models, groups, metric=metric)
    rated = given if phi and isinstance(given, Ratings) else None
    n_pairs = 0 if rated is None else groups.names.size * (groups.names.size + 1) // 2
    with _output.progress("comparing groups", 1 + n_pairs) as advance:
        sampled = tables.performance_draws(scored, models, groups, result, draws=draws, seed=seed)
        advance()
        drawn = None if rated is None else group_phi(rated, groups, draws=draws, seed=seed, progress=advance)
    name = result.attrs["metric"]
    title = f"{name.capitalize().replace('_', ' ')} by {groups.by}, 95 % HDI"
    agreement = tables.group_agreement_table(given, groups, drawn)
    of_phi = "" if drawn is None else ", 95 % HDI of Phi"
    return result, [
        _output.Table("settings", [{"by": groups.by, "metric": name, "seed": seed}], most=0),
        _output.Table("groups", tables.group_table(result, sampled), title),
        _output.Table("models", tables.dispersion_table(result, sampled), "Over groups: dispersion = 1 - sd, 95 % HDI"),
        _output.Table("agreement", agreement, f"Agreement within and between groups{of_phi}"),
    ]


def _truth_tables(
    labels: "Labels", models: "ModelPredictions", groups: "Groups", *, draws: int, seed: int
) -> list[_output.Table]:
    """Return scores against the truth of each group, how far groups differ, and the items that divide them."""
    from bayesagree.annotations import Predictions
    from bayesagree.subjective.group_truth import group_truth_tables

    if not isinstance(models, Predictions):
        raise InputError("--truth by-group scores predictions per item; these are per annotation")
    found = group_truth_tables(labels, models, groups, draws=draws, seed=seed)
    titles = {
        "scores": f"Scores against the truth of each group by {groups.by}, difference from the others, 95 % HDI",
        "groups": "How far groups differ; p values by permutation",
        "items": "Items that divide the groups, one in ten of them by chance",
    }
    settings = _output.Table("settings", [{"by": groups.by, "truth": "by-group", "seed": seed}], most=0)
    return [settings, *(_output.Table(name, found[name], title) for name, title in titles.items())]


def _declared(specification: Path, people: "Annotators | None") -> "EvaluationSpecification":
    from bayesagree.subjective.specification import EvaluationSpecification

    if people is None:
        raise InputError(
            f"--specification {specification} needs the features of the annotators: give --annotators FILE"
        )
    return EvaluationSpecification.from_json(specification.read_text(encoding="utf-8"))


def _specification_tables(
    declared: "EvaluationSpecification", given: Any, people: Any, result: Any, output: Path | None
) -> list[_output.Table]:
    """Compare the declaration with the data, write the report if it is requested, and return its tables."""
    from bayesagree.io.files import atomic_path
    from bayesagree.subjective.specification import check_specification, individual_unfairness

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


def groups_by(
    annotations: "Labels | Ratings", people: "Annotators | None", features: str, smallest: int = 1
) -> "Groups":
    """Group the annotators by the named features."""
    from bayesagree.annotations.groups import Groups

    if people is None:
        raise InputError(f"--group {features} needs the features of the annotators: give --annotators FILE")
    return Groups.by_features(annotations, people, _options.words(features)).merged(smallest)


def _models(
    path: Path | None, known: Any, scored: "Labels | Ratings", source: _options.Source, model: str
) -> "ModelPredictions":
    from bayesagree.annotations.missing_predictions import predictions_of
    from bayesagree.subjective.tables import read_model_predictions

    if path is not None:
        columns = {name: getattr(source, name) for name in ("item", "annotator", "label", "rating")}
        return read_model_predictions(path, scored, model=model, **columns)
    return predictions_of(known, scored.items)
