"""`bayesagree blind`: which system is better, without expert labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesagree.cli import _input, _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesagree.studies.blind_cases import BlindCase


def blind(
    system_labels: Annotated[
        Path | None, typer.Argument(help="Labels of the systems: columns model, item and label (or scores).")
    ] = None,
    crowd: Annotated[
        Path | None, typer.Option(help="Crowd labels of some items: columns item, annotator and label.")
    ] = None,
    gold: Annotated[Path | None, typer.Option(help="Gold to judge the methods by: columns item and label.")] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="A public case instead of files: trec2011-teams, cifar10h, chaosnli-snli, "
            "human-objects/edge, human-objects/sketch."
        ),
    ] = None,
    methods: Annotated[str | None, typer.Option(help="Comma separated; by default all that the data allow.")] = None,
    metrics: Annotated[
        str, typer.Option(help="accuracy, precision, recall, specificity, f1, balanced_accuracy.")
    ] = "accuracy,precision,recall,specificity",
    positive: Annotated[str | None, typer.Option(help="The positive label; by default the last of two.")] = None,
    leave_one_out: Annotated[bool, typer.Option(help="Judge each system by the others only.")] = False,
    baseline: Annotated[str, typer.Option(help="Method that the others' correlations are tested against.")] = "em",
    significance: Annotated[float, typer.Option(help="Level of the tests.")] = 0.05,
    multiplicity: Annotated[
        str, typer.Option(help="Adjust the tests: none, bonferroni, holm or benjamini_hochberg.")
    ] = "none",
    draws: Annotated[int, typer.Option(help="Bootstrap draws, and gold sets of sampling.", min=2)] = 1000,
    seed: _options.Seed = 1,
    model: Annotated[str, typer.Option(help="Column that names the system.")] = "model",
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    labels: _options.LabelNames = None,
    duplicates: _options.Duplicates = "error",
    json: _options.Json = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Keep the result: a .nc or .zarr file.")] = None,
) -> None:
    """Score and rank systems that no expert judged, by every method of Jung and Lease; with gold, judge the methods.

    Example: bayesagree blind systems.csv --crowd crowd.csv --gold gold.csv
    """
    from bayesagree.blind.independence import independence_check
    from bayesagree.io.files import write_result
    from bayesagree.studies.blind_methods import blind_experiment

    if (system_labels is None) == (data is None):
        raise InputError("give either a file of system labels or --data NAME, not both and not neither")
    if multiplicity not in ("none", "bonferroni", "holm", "benjamini_hochberg"):
        raise InputError(f"--multiplicity {multiplicity!r} is not one of none, bonferroni, holm, benjamini_hochberg")
    if data is not None:
        from bayesagree.studies.blind_cases import blind_case

        case = blind_case(data, seed=seed)
    else:
        columns = {"model": model, "item": item, "annotator": annotator, "label": label}
        case = _read(Path(str(system_labels)), crowd, gold, columns, labels, duplicates)
    names = case.predictions.categories.tolist()
    chosen = None if positive is None else next((name for name in names if str(name) == positive), positive)
    with _output.progress("judging", None) as advance:
        tree = blind_experiment(
            case.predictions, crowd=case.crowd, gold=case.gold, methods=methods.split(",") if methods else None,
            metrics=metrics.split(","), positive=chosen, leave_one_out=leave_one_out, baseline=baseline,
            significance=significance, multiplicity=multiplicity, draws=draws, seed=seed, progress=advance,
        )  # fmt: skip
        check = independence_check(case.predictions, seed=seed) if case.predictions.models.size > 2 else None
    if output is not None:
        write_result(tree, output)
    p_value = None if check is None else float(check["p_value"])
    if json:
        _output.show_json(answer(tree, p_value))
    else:
        show(tree, p_value)


def _read(
    systems: Path, crowd: Path | None, gold: Path | None, columns: dict[str, str], labels: str | None, duplicates: str
) -> "BlindCase":
    """Read the files; where the labels are not listed, they are all that the files hold."""
    from bayesagree.annotations import Labels
    from bayesagree.io.files import read_predictions, read_table
    from bayesagree.studies.blind_cases import BlindCase

    item, label = columns["item"], columns["label"]
    tables = {path: read_table(path) for path in (systems, crowd, gold) if path is not None}
    names = _input.label_names(labels)
    if names is None and label in tables[systems].columns:
        found = {v for t in tables.values() if label in t.columns for v in t[label].dropna().tolist()}
        names = sorted(found, key=lambda v: (isinstance(v, str), v))
    predictions = read_predictions(systems, model=columns["model"], item=item, label=label, labels=names)
    known = predictions.categories.tolist()
    voted = truth = None
    if crowd is not None:
        table = tables[crowd]
        if columns["annotator"] not in table.columns:  # one label an item: nobody needs a name
            table = table.assign(**{columns["annotator"]: "crowd"})
        voted = Labels.from_long(
            table,
            item=item,
            annotator=columns["annotator"],
            label=label,
            labels=known,
            duplicates=duplicates,  # type: ignore[arg-type]
        )
    if gold is not None:
        truth = _gold(tables[gold], item, label, gold)
    return BlindCase(predictions, voted, truth)


def _gold(table: "pd.DataFrame", item: str, label: str, path: Path) -> dict[Any, Any]:
    """Read item to label."""
    for name in (item, label):
        if name not in table.columns:
            raise InputError(f"{str(path)!r} has no column {name!r}; it has {', '.join(map(str, table.columns))}")
    items = table[item].tolist()
    truth = dict(zip(items, table[label].tolist()))
    if len(truth) < len(items):
        twice = next(name for name in truth if items.count(name) > 1)
        raise InputError(f"{str(path)!r}: item {twice!r} has more than one row; gold is one label per item")
    return truth


def answer(tree: "xr.DataTree", independence_p_value: float | None) -> dict[str, Any]:
    """Return what the command says, for JSON."""
    import json

    document = {"settings": json.loads(tree.attrs["settings"]), "independence_p_value": independence_p_value}
    groups = {"estimated": "scores", "actual": "actual", "methods": None, "outliers": "outliers"}
    for group, key in groups.items():
        if group in tree.children and key:
            document[key] = _records(tree[group].to_dataset())
    if "methods" in tree.children:
        methods = tree["methods"].to_dataset()
        document["methods"] = _records(methods[["correlation", "p_value", "method_rank"]])
        document["quality"] = _records(methods[["quality"]])
        document["quality_correlation"] = _records(methods[["quality_correlation"]])
    document["overlap"] = _records(tree["systems"].to_dataset())
    return document


def _records(data: "xr.Dataset") -> list[dict[str, Any]]:
    rows = data.to_dataframe().reset_index().to_dict("records")
    return [{str(k): None if v != v else v for k, v in row.items()} for row in rows]


def show(tree: "xr.DataTree", independence_p_value: float | None) -> None:
    """Print the tables of the paper, as far as there is gold for them."""
    import json

    settings = json.loads(tree.attrs["settings"])
    typer.echo(
        f"{settings['n_models']} systems, {settings['n_items']} items; crowd labels for {settings['n_crowd']}, "
        f"gold for {settings['n_gold']}."
    )
    if independence_p_value is not None:
        verdict = (
            "systems share errors: blind scores flatter those that do, and blind intervals are too narrow"
            if independence_p_value < 0.05
            else "no sign of shared errors"
        )
        typer.echo(f"Independence check: p = {independence_p_value:.2f}, {verdict}.")
    _show_scores(tree)
    _show_intervals(tree)
    if "methods" in tree.children:
        _show_correlations(tree, settings["baseline"])
        _show_quality(tree)
        _show_outliers(tree)


def _show_scores(tree: "xr.DataTree") -> None:
    estimated = tree["estimated"].to_dataset()[["score", "rank"]]
    judges = {m: estimated.sel(estimator=m) for m in estimated["estimator"].values.tolist()}
    if "actual" in tree.children:
        judges = {"gold": tree["actual"].to_dataset()} | judges
    for metric in estimated["metric"].values.tolist():
        rows = [
            [str(name), *(_score_and_rank(found.sel(metric=metric, model=name)) for found in judges.values())]
            for name in estimated["model"].values.tolist()
        ]
        _output.show_table(["system", *judges], rows, title=f"\n{metric}: score (rank)")


def _score_and_rank(found: "xr.Dataset") -> str:
    score, rank = float(found["score"]), float(found["rank"])
    return "-" if score != score else f"{score:.3f} ({rank:.0f})"


def _show_intervals(tree: "xr.DataTree") -> None:
    estimated = tree["estimated"].to_dataset()
    methods = estimated["estimator"].values.tolist()
    method = "dawid_skene" if "dawid_skene" in methods else methods[0]
    rows = []
    for metric in estimated["metric"].values.tolist():
        for name in estimated["model"].values.tolist():
            row = estimated.sel(estimator=method, metric=metric, model=name)
            values = [float(row[key]) for key in ("score", "lower", "upper", "prob_best", "expected_rank")]
            rows.append([metric, str(name), *values])
    _output.show_table(
        ["metric", "system", "score", "HDI lower", "HDI upper", "prob. best", "expected rank"],
        rows,
        title=f"\n{method}: 95 % HDI and ranks",
    )


def _show_correlations(tree: "xr.DataTree", baseline: str) -> None:
    data = tree["methods"].to_dataset()
    scored = int(tree["actual"]["score"].notnull().any("metric").sum())
    for measure in data["measure"].values.tolist():
        rows = [
            [method, *(_marked(data.sel(estimator=method, metric=k, measure=measure)) for k in data["metric"].values)]
            for method in data["estimator"].values.tolist()
        ]
        title = f"\n{measure} with the gold (rank of the method), n = {scored}"
        _output.show_table(["method", *data["metric"].values.tolist()], rows, title=title)
    typer.echo(f"* differs from {baseline} at 95 %, ** at 99 % (Williams' test); - does not exist")


def _marked(cell: "xr.Dataset") -> str:
    value, p_value, rank = (float(cell[key]) for key in ("correlation", "p_value", "method_rank"))
    if value != value:
        return "-"
    mark = "**" if p_value < 0.01 else "*" if p_value < 0.05 else ""
    return f"{value:.3f}{mark}" + ("" if rank != rank else f" ({rank:.0f})")


def _show_quality(tree: "xr.DataTree") -> None:
    data = tree["methods"].to_dataset()
    metrics = data["metric"].values.tolist()
    quality = data["quality"].dropna("estimator", how="all")
    judges = quality["estimator"].values.tolist()
    rows = [[m, *(_number(quality.sel(estimator=m, metric=k)) for k in metrics)] for m in judges]
    _output.show_table(["method", *metrics], rows, title="\nquality of the pseudo-gold")
    related = data["quality_correlation"]
    rows = [[k, *(_number(related.sel(metric=k, measure=r)) for r in related["measure"].values)] for k in metrics]
    title = "\ncorrelation over methods of that quality with"
    _output.show_table(["metric", *related["measure"].values.tolist()], rows, title=title)


def _show_outliers(tree: "xr.DataTree") -> None:
    data = tree["outliers"].to_dataset()
    rows = []
    for metric in data["metric"].values.tolist():
        for place in data["place"].values.tolist():
            found = data.sel(metric=metric, place=place)
            predicted = [_number(v, 0) for v in found["predicted_rank"].values]
            rows.append([metric, place, str(found["system"].item()), _number(found["actual_rank"], 0), *predicted])
    _output.show_table(
        ["metric", "place", "system", "gold", *data["estimator"].values.tolist()], rows,
        title="\nrank of the actual best and worst system",
    )  # fmt: skip


def _number(value: Any, places: int = 3) -> str:
    number = float(value)
    return "-" if number != number else f"{number:.{places}f}"
