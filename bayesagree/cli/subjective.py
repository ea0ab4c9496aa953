"""`bayesagree subjective`: whose opinion a model serves."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesagree.cli import _input, _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Labels, Ratings
    from bayesagree.annotations.annotators import Annotators
    from bayesagree.subjective.groups import Groups
    from bayesagree.subjective.performance import ModelPredictions


def subjective(
    annotations: _options.AnnotationsFile = None,
    data: _options.Data = None,
    annotators: _options.AnnotatorsFile = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", help="Predictions per item, or with a column for the annotator per annotation."),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="Features to group by, comma separated; default: disagreement rate.")
    ] = None,
    bins: Annotated[int, typer.Option("--bins", help="Bins of the disagreement rate.", min=1)] = 5,
    rate_share: Annotated[
        float | None,
        typer.Option(
            "--rate-share", help="Take the disagreement rate from this share of the items, score on the others."
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="accuracy (labels), absolute_error or correlation (ratings)."),
    ] = None,
    phi: Annotated[
        bool, typer.Option(help="For ratings: Phi within and between groups, about a second for each pair of groups.")
    ] = True,
    specification: _options.SpecificationFile = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to write the specification report: .md or .json.")
    ] = None,
    model: _options.ModelColumn = "model",
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    rating: _options.RatingColumn = "rating",
    scale: _options.Scale = None,
    step: _options.Step = None,
    threshold: Annotated[
        float | None,
        typer.Option("--threshold", help="For ratings: turn them into the labels below and at_or_above this value."),
    ] = None,
    labels: _options.LabelNames = None,
    duplicates: _options.Duplicates = "error",
    draws: _options.Draws = 1000,
    seed: _options.Seed = 1,
    json: _options.Json = False,
) -> None:
    """Say how well each model predicts each group of annotators, and whether groups differ by more than chance.

    The last table says how far annotators agree within and between groups.

    Example: bayesagree subjective labels.csv --annotators people.csv --group gender,age --predictions models.csv
    """
    from bayesagree.annotations import Rankings, Ratings
    from bayesagree.subjective.dispersion import dispersion_null
    from bayesagree.subjective.performance import group_performance

    columns = {"item": item, "annotator": annotator, "label": label, "rating": rating}
    given, known = _input.read(
        annotations, data, columns=columns, scale=scale, step=step, labels=labels, duplicates=duplicates
    )
    if isinstance(given, Rankings):
        raise InputError("rankings have no groups here; give labels or ratings")
    people = _input.annotators(annotators, data, annotator)
    if group is None:
        groups, given = _bins(given, threshold, bins, rate_share, seed)
    else:
        groups = _groups(given, people, group)
    labelled = metric == "accuracy" or (metric is None and threshold is not None)
    scored = _as_labels(given, threshold) if labelled else given
    models = _models(
        predictions,
        known,
        scored,
        model=model,
        item=item,
        annotator=annotator,
        column=rating if isinstance(scored, Ratings) else label,
    )
    result = group_performance(scored, models, groups, metric=metric)
    rated = given if phi and isinstance(given, Ratings) else None
    n_pairs = 0 if rated is None else groups.names.size * (groups.names.size + 1) // 2
    with _output.progress("comparing groups", 2 + n_pairs) as advance:
        tree = _posterior(scored, models, groups, result, draws, seed)
        advance()
        null = dispersion_null(result, seed=seed)
        advance()
        phi_draws = None if rated is None else _phi_draws(rated, groups, draws, seed, advance)
    if output is not None:
        _write_report(output, specification, scored, people, result)
    rows, summary = _rows(result, tree), _summary(result, tree, null)
    agreement = _agreement_rows(given, groups, phi_draws)
    if json:
        document = {"by": groups.by, "metric": result.attrs["metric"], "ci_kind": "hdi", "ci_prob": 0.95, "seed": seed}
        _output.show_json(document | {"groups": rows, "models": summary, "agreement": agreement})
        return
    titles = (
        f"{result.attrs['metric'].capitalize().replace('_', ' ')} by {groups.by}, 95 % HDI",
        "\nOver groups: dispersion = 1 - sd, 95 % HDI",
        "\nAgreement within and between groups, 95 % HDI of Phi",
    )
    for title, table in zip(titles, (rows, summary, agreement)):
        _output.show_table(list(table[0]), [list(row.values()) for row in table], title=title)


def _as_labels(annotations: "Labels | Ratings", threshold: float | None) -> "Labels":
    from bayesagree.annotations import Labels
    from bayesagree.subjective.disagreement import recode

    if isinstance(annotations, Labels):
        return annotations
    if threshold is None:
        raise InputError(
            "accuracy and the disagreement rate are of labels, and these are ratings: pass --threshold, such as the "
            "middle of the scale"
        )
    return recode(annotations, threshold)


def _models(
    path: Path | None, known: Any, scored: "Labels | Ratings", *, model: str, item: str, annotator: str, column: str
) -> "ModelPredictions":
    """Read predictions per item, or per (item, annotator) where the file has a column for the annotator."""
    from bayesagree.annotations import Labels
    from bayesagree.io.files import read_predictions, read_table
    from bayesagree.subjective.agreement import predictions_of

    if path is None:
        if known is None:
            raise InputError("there are no predictions: give --predictions FILE")
        return predictions_of(known, scored.items)
    import pandas as pd

    table = read_table(path)
    index = [item, annotator] if annotator in table.columns else item
    if isinstance(scored, Labels) and index == item:
        return predictions_of(read_predictions(path, model=model, item=item, label=column), scored.items)
    missing = [name for name in (model, item, column) if name not in table.columns]
    if missing:
        raise InputError(f"{path}: no column {missing[0]!r}; these predictions need {model}, {item}, {column}")
    return {str(m): pd.Series(part.set_index(index)[column]) for m, part in table.groupby(model)}


def _groups(annotations: "Labels | Ratings", people: "Annotators | None", features: str) -> "Groups":
    from bayesagree.subjective.groups import Groups

    if people is None:
        raise InputError(f"--group {features} needs the features of the annotators: give --annotators FILE")
    return Groups.by_features(annotations, people, [name.strip() for name in features.split(",")])


def _bins(
    annotations: "Labels | Ratings", threshold: float | None, bins: int, rate_share: float | None, seed: int
) -> tuple["Groups", "Labels | Ratings"]:
    """Group annotators by their disagreement rate; also return the annotations that the rate is not of."""
    import numpy as np

    from bayesagree.subjective.disagreement import disagreement_rate, without_items
    from bayesagree.subjective.groups import Groups

    votes = _as_labels(annotations, threshold)
    if rate_share is None:
        return Groups.by_disagreement(disagreement_rate(votes), bins=bins), annotations
    if not 0 < rate_share < 1:
        raise InputError(f"--rate-share {rate_share:g} is not between 0 and 1")
    n = max(round(rate_share * votes.items.size), 1)
    chosen = np.random.default_rng(seed).permutation(votes.items)[:n]
    groups = Groups.by_disagreement(disagreement_rate(votes, items=chosen), bins=bins)
    return groups, without_items(annotations, chosen)


def _posterior(
    scored: "Labels | Ratings",
    models: "ModelPredictions",
    groups: "Groups",
    result: "xr.Dataset",
    draws: int,
    seed: int,
) -> "xr.DataTree":
    from bayesagree.annotations import Labels
    from bayesagree.subjective.group_model import group_posterior
    from bayesagree.subjective.normal_group_model import normal_group_posterior

    if isinstance(scored, Labels):
        return group_posterior(scored, models, groups, draws=draws, seed=seed)
    return normal_group_posterior(result, draws=draws, seed=seed)


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
            row["raw_mean"] = float(result["performance"].sel(model=model, group=name))
            row |= dict.fromkeys(("posterior_mean", "lower", "upper"), float("nan"))
            if name in known["group"]:
                cell = known.sel(model=model, group=name)
                row |= {"posterior_mean": float(cell["mean"])}
                row |= {end: float(cell[end]) for end in ("lower", "upper")}
            rows.append(row)
    return rows


def _summary(result: "xr.Dataset", tree: "xr.DataTree", null: "xr.Dataset") -> list[dict[str, Any]]:
    from bayesagree._numerics.intervals import hdi

    rows = []
    for m, model in enumerate(result["model"].values.tolist()):
        draws = tree["posterior"].to_dataset()["dispersion"].sel(model=model)
        low, high = hdi(draws.values.ravel(), 0.95)
        rows.append(
            {
                "model": model,
                "mean": float(result["mean_performance"][m]),
                "raw_dispersion": float(result["dispersion"][m]),
                "dispersion": float(draws.mean()),
                "lower": float(low),
                "upper": float(high),
                "p_value": float(null["p_value"][m]),
                "differs": bool(null["biased"][m]),
            }
        )
    return rows


def _phi_draws(ratings: "Ratings", groups: "Groups", draws: int, seed: int, advance: Callable[[int], None]) -> Any:
    """Draw Phi within and between groups, shape (chain, draw, group, other group)."""
    from bayesagree.subjective.agreement import group_phi

    return group_phi(ratings, groups, draws=draws, seed=seed, progress=advance)["posterior"]["phi"].values


def _agreement_rows(annotations: "Labels | Ratings", groups: "Groups", phi: Any) -> list[dict[str, Any]]:
    """List alpha, and Phi where there is one, within every group and between every two."""
    from bayesagree._numerics.intervals import hdi
    from bayesagree.subjective.agreement import group_agreement

    known = group_agreement(annotations, groups)
    rows = []
    for g, name in enumerate(groups.names.tolist()):
        for h, other in enumerate(groups.names.tolist()[g:], start=g):
            row: dict[str, Any] = {"group": name, "other_group": other, "pairs": int(known["n_pairs"][g, h])}
            row["alpha"] = float(known["alpha"][g, h])
            if phi is not None:
                draws = phi[:, :, g, h].ravel()
                row |= dict(zip(("Phi", "lower", "upper"), (float(draws.mean()), *hdi(draws, 0.95))))
            rows.append(row)
    return rows


def _write_report(
    path: Path, declared: Path | None, scored: "Labels | Ratings", people: "Annotators | None", result: "xr.Dataset"
) -> None:
    from bayesagree.io.files import atomic_path
    from bayesagree.subjective.specification import EvaluationSpecification
    from bayesagree.subjective.specification_check import check_specification

    if declared is None or people is None:
        raise InputError(f"the report {path} compares --specification FILE with --annotators FILE; give both")
    if path.suffix not in (".md", ".json"):
        raise InputError(f"{path}: the report is written as .md or .json")
    specification = EvaluationSpecification.from_json(declared.read_text(encoding="utf-8"))
    report = check_specification(specification, scored, people, scores=result)
    with atomic_path(path) as temporary:
        text = report.to_markdown() if path.suffix == ".md" else report.to_json()
        temporary.write_text(text + "\n", encoding="utf-8")
