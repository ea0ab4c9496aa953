"""`bayesagree subjective`: whose opinion a model serves."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesagree.cli import _input, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Labels
    from bayesagree.annotators import Annotators
    from bayesagree.subjective.groups import Groups
    from bayesagree.subjective.performance import ModelPredictions


def subjective(
    annotations: _input.AnnotationsFile = None,
    data: _input.Data = None,
    annotators: Annotated[
        Path | None, typer.Option("--annotators", help="Features: one row per annotator, any columns.")
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", help="Predictions per item, or with a column for the annotator per annotation."),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="Features to group by, comma separated; default: disagreement rate.")
    ] = None,
    bins: Annotated[int, typer.Option("--bins", help="Bins of the disagreement rate.", min=1)] = 5,
    specification: Annotated[
        Path | None, typer.Option("--specification", help="What was declared about the evaluation, JSON.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the specification report: .md or .json.")
    ] = None,
    item: _input.Item = "item",
    annotator: _input.Annotator = "annotator",
    label: _input.LabelColumn = "label",
    rating: _input.RatingColumn = "rating",
    scale: _input.Scale = None,
    step: _input.Step = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="For ratings: label them below or at_or_above this value.")
    ] = None,
    labels: _input.LabelNames = None,
    duplicates: _input.Duplicates = "error",
    draws: _input.Draws = 1000,
    seed: _input.SeedOption = 0,
    json: _input.Json = False,
) -> None:
    """Say how well each model predicts each group of annotators, and whether groups differ by more than chance.

    Example: bayesagree subjective labels.csv --annotators people.csv --group gender,age --predictions models.csv
    """
    from bayesagree.subjective.dispersion import dispersion_null
    from bayesagree.subjective.group_model import group_posterior
    from bayesagree.subjective.performance import group_performance

    columns = {"item": item, "annotator": annotator, "label": label, "rating": rating}
    given, known = _input.read(
        annotations, data, columns=columns, scale=scale, step=step, labels=labels, duplicates=duplicates
    )
    votes = _as_labels(given, threshold)
    models = _models(predictions, known, item=item, annotator=annotator, label=label)
    people = _people(annotators, data, annotator)
    groups = _groups(votes, people, group, bins)
    result = group_performance(votes, models, groups)
    tree = group_posterior(votes, models, groups, draws=draws, seed=seed)
    null = dispersion_null(result, seed=seed)
    if output is not None:
        _write_report(output, specification, votes, people, result)
    rows, summary = _rows(result, tree), _summary(result, tree, null)
    if json:
        document = {"by": groups.by, "metric": "accuracy", "ci_kind": "hdi", "ci_prob": 0.95, "seed": seed}
        _output.show_json(document | {"groups": rows, "models": summary})
        return
    _output.show_table(list(rows[0]), [list(r.values()) for r in rows], title=f"Accuracy by {groups.by}, 95 % HDI")
    _output.show_table(
        list(summary[0]), [list(r.values()) for r in summary], title="\nOver groups: dispersion = 1 - sd, 95 % HDI"
    )


def _as_labels(annotations: Any, threshold: float | None) -> "Labels":
    from bayesagree.annotations import Labels, Ratings
    from bayesagree.subjective.disagreement import recode

    if isinstance(annotations, Ratings):
        if threshold is None:
            raise InputError("ratings have to become labels: pass --threshold, such as the middle of the scale")
        return recode(annotations, threshold)
    if not isinstance(annotations, Labels):
        raise InputError("rankings have no groups here; give labels or ratings")
    return annotations


def _models(path: Path | None, known: Any, *, item: str, annotator: str, label: str) -> "ModelPredictions":
    """Read predictions per item, or per (item, annotator) where the file has a column for the annotator."""
    if path is None:
        if known is None:
            raise InputError("there are no predictions: give --predictions FILE")
        return known
    import pandas as pd

    from bayesagree.io import read_predictions, read_table

    table = read_table(path)
    if annotator not in table.columns:
        return read_predictions(path, item=item, label=label)
    missing = [name for name in ("model", item, label) if name not in table.columns]
    if missing:
        raise InputError(f"{path}: predictions per annotator need the columns model, {item}, {annotator}, {label}")
    return {str(m): pd.Series(part.set_index([item, annotator])[label]) for m, part in table.groupby("model")}


def _people(path: Path | None, data: str | None, annotator: str) -> "Annotators | None":
    from bayesagree.annotators import Annotators
    from bayesagree.io import read_table

    if path is not None:
        return Annotators.from_table(read_table(path), annotator=annotator)
    if data is not None:
        from bayesagree.datasets import load

        features = load(data).extra.get("annotators")
        return None if features is None else Annotators.from_table(features)
    return None


def _groups(votes: "Labels", people: "Annotators | None", features: str | None, bins: int) -> "Groups":
    from bayesagree.subjective.disagreement import disagreement_rate
    from bayesagree.subjective.groups import Groups

    if features is None:
        return Groups.by_disagreement(disagreement_rate(votes), bins=bins)
    if people is None:
        raise InputError(f"--group {features} needs the features of the annotators: give --annotators FILE")
    return Groups.by_features(votes, people, [name.strip() for name in features.split(",")])


def _rows(result: "xr.Dataset", tree: "xr.DataTree") -> list[dict[str, Any]]:
    """List every group of every model, also those without data."""
    from bayesagree.subjective.group_model import group_summary

    known = group_summary(tree)
    rows = []
    for model in result["model"].values.tolist():
        for g, name in enumerate(result["group"].values.tolist()):
            row: dict[str, Any] = {"model": model, "group": name}
            row["annotators"] = int(result["n_annotators"][g])
            row["annotations"] = int(result["n_annotations"][g])
            row["raw accuracy"] = float(result["performance"].sel(model=model, group=name))
            row |= dict.fromkeys(("posterior mean", "lower", "upper"), float("nan"))
            if name in known["group"]:
                cell = known.sel(model=model, group=name)
                row |= {"posterior mean": float(cell["mean"])}
                row |= {end: float(cell[end]) for end in ("lower", "upper")}
            rows.append(row)
    return rows


def _summary(result: "xr.Dataset", tree: "xr.DataTree", null: "xr.Dataset") -> list[dict[str, Any]]:
    from bayesagree.compare import hdi

    rows = []
    for m, model in enumerate(result["model"].values.tolist()):
        draws = tree["posterior"].to_dataset()["dispersion"].sel(model=model)
        low, high = hdi(draws.values.ravel(), 0.95)
        rows.append(
            {
                "model": model,
                "mean": float(result["mean_performance"][m]),
                "raw dispersion": float(result["dispersion"][m]),
                "dispersion": float(draws.mean()),
                "lower": float(low),
                "upper": float(high),
                "p (chance)": float(null["p_value"][m]),
                "differs": "yes" if bool(null["biased"][m]) else "not shown",
            }
        )
    return rows


def _write_report(
    path: Path, declared: Path | None, votes: "Labels", people: "Annotators | None", result: "xr.Dataset"
) -> None:
    from bayesagree.io import atomic_path
    from bayesagree.subjective.specification import EvaluationSpecification
    from bayesagree.subjective.specification_check import check_specification

    if declared is None or people is None:
        raise InputError(f"the report {path} compares --specification FILE with --annotators FILE; give both")
    if path.suffix not in (".md", ".json"):
        raise InputError(f"{path}: the report is written as .md or .json")
    specification = EvaluationSpecification.from_json(declared.read_text(encoding="utf-8"))
    report = check_specification(specification, votes, people, scores=result)
    with atomic_path(path) as temporary:
        text = report.to_markdown() if path.suffix == ".md" else report.to_json()
        temporary.write_text(text + "\n", encoding="utf-8")
