"""`bayesagree blind`: which system is better, without expert labels."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def blind(
    system_labels: Path | None = None,
    crowd: Path | None = None,
    gold: Path | None = None,
    data: str | None = None,
    methods: str | None = None,
    metrics: str = "accuracy,precision,recall,specificity",
    positive: str | None = None,
    leave_one_out: bool = False,
    threshold: float = 0.5,
    calibrate_for: str = "accuracy",
    baseline: str = "em",
    significance: float = 0.05,
    multiplicity: str = "none",
    draws: int = 1000,
    seed: int = 1,
    model: str = "model",
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    labels: str | None = None,
    duplicates: str = "error",
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Score and rank systems that no expert judged, by every method of Jung and Lease; with gold, judge the methods.

    Example: bayesagree blind systems.csv --crowd crowd.csv --gold gold.csv
    """
    from bayesagree.blind.experiment import blind_experiment
    from bayesagree.blind.independence import independence_check
    from bayesagree.io.files import write_result
    from bayesagree.metrics.hard_labels import METRICS

    if (system_labels is None) == (data is None):
        raise InputError("give either a file of system labels or --data NAME, not both and not neither")
    adjusted = _options.one_of(multiplicity, "--multiplicity", ("none", "bonferroni", "holm", "benjamini_hochberg"))
    tuned = _options.one_of(calibrate_for, "--calibrate-for", (*METRICS, "each"))
    if data is not None:
        from bayesagree.blind.cases import blind_case

        case = blind_case(data, seed=seed)
    else:
        from bayesagree.blind.cases import read_blind_case

        columns = {"model": model, "item": item, "annotator": annotator, "label": label}
        known, kept = _options.label_names(labels), _options.one_of(duplicates, "--duplicates", _options.DUPLICATES)
        case = read_blind_case(str(system_labels), crowd, gold, labels=known, duplicates=kept, **columns)
    names = case.predictions.categories.tolist()
    chosen = None if positive is None else next((name for name in names if str(name) == positive), positive)
    with _output.progress("judging", None) as advance:
        how: dict[str, Any] = {
            "methods": _options.words(methods) if methods else None,
            "metrics": _options.words(metrics),
            "positive": chosen,
            "calibrate_for": tuned,
            "multiplicity": adjusted,
        }
        how |= {"leave_one_out": leave_one_out, "threshold": threshold, "baseline": baseline}
        how |= {"significance": significance, "draws": draws, "seed": seed}
        tree = blind_experiment(case.predictions, crowd=case.crowd, gold=case.gold, progress=advance, **how)
        check = independence_check(case.predictions, seed=seed) if case.predictions.models.size > 2 else None
    if output is not None:
        write_result(tree, output)
    p_value = None if check is None else float(check["p_value"])
    _output.show([*_document(tree, p_value), *_screen(tree)], json=json, notes=list(_notes(tree, p_value)))


def _document(tree: "xr.DataTree", p_value: float | None) -> Iterator[_output.Table]:
    """Yield all numbers as long tables, which are in the document only."""
    from bayesagree._inference.results import settings_of

    def table(name: str, data: "xr.Dataset") -> _output.Table:
        return _output.Table(name, data.to_dataframe().reset_index(), most=0)

    yield _output.Table("settings", [settings_of(tree) | {"independence_p_value": p_value}], most=0)
    for name, group in {
        "scores": "estimated",
        "actual": "actual",
        "outliers": "outliers",
        "overlap": "systems",
    }.items():
        if group in tree.children:
            yield table(name, tree[group].to_dataset())
    if "methods" in tree.children:
        found = tree["methods"].to_dataset()
        yield table("methods", found[["correlation", "p_value", "method_rank"]])
        yield table("quality", found[["quality"]])
        yield table("quality_correlation", found[["quality_correlation"]])


def _notes(tree: "xr.DataTree", p_value: float | None) -> Iterator[str]:
    from bayesagree._inference.results import settings_of

    sizes = settings_of(tree)
    yield (
        f"{sizes['n_models']} systems, {sizes['n_items']} items; crowd labels for {sizes['n_crowd']}, "
        f"gold for {sizes['n_gold']}."
    )
    if p_value is not None:
        verdict = (
            "systems share errors: blind scores flatter those that do, and blind intervals are too narrow"
            if p_value < 0.05
            else "no sign of shared errors"
        )
        yield f"Independence check: p = {p_value:.2f}, {verdict}."
    if "methods" in tree.children and sizes["baseline"] in tree["methods"]["estimator"]:
        yield f"* differs from {sizes['baseline']} at 95 %, ** at 99 % (Williams' test); - does not exist"


def _screen(tree: "xr.DataTree") -> Iterator[_output.Table]:
    """Yield the tables of the paper, as far as there is gold for them."""
    estimated = tree["estimated"].to_dataset()
    methods, metrics = estimated["estimator"].values.tolist(), estimated["metric"].values.tolist()
    judges = {m: estimated.sel(estimator=m) for m in methods}
    if "actual" in tree.children:
        judges = {"gold": tree["actual"].to_dataset()} | judges
    for metric in metrics:
        rows = [
            {"system": name} | {m: _ranked(found.sel(metric=metric, model=name)) for m, found in judges.items()}
            for name in estimated["model"].values.tolist()
        ]
        yield _output.Table("", rows, f"{metric}: score (rank)")
    method = "dawid_skene" if "dawid_skene" in methods else methods[0]
    columns = ["score", "lower", "upper", "prob_best", "expected_rank"]
    intervals = estimated.sel(estimator=method, drop=True)[columns].to_dataframe(dim_order=["metric", "model"])
    yield _output.Table("", intervals.reset_index(), f"{method}: 95 % HDI and ranks")
    if "methods" not in tree.children:
        return
    data = tree["methods"].to_dataset()
    scored = int(tree["actual"]["score"].notnull().any("metric").sum())
    for measure in data["measure"].values.tolist():
        rows = [
            {"method": m} | {k: _marked(data.sel(estimator=m, metric=k, measure=measure)) for k in metrics}
            for m in data["estimator"].values.tolist()
        ]
        yield _output.Table("", rows, f"{measure} with the gold (rank of the method), n = {scored}")
    yield _output.Table("", _wide(data["quality"], "estimator").dropna(thresh=2), "quality of the pseudo-gold")
    related = _wide(data["quality_correlation"], "metric")
    yield _output.Table("", related, "correlation over methods of that quality with")
    outliers = tree["outliers"].to_dataset()
    ranks = _wide(outliers["predicted_rank"], "metric", "place")
    shown = outliers[["system", "actual_rank"]].to_dataframe().reset_index().merge(ranks, on=["metric", "place"])
    yield _output.Table("", shown, "rank of the actual best and worst system")


def _wide(data: "xr.DataArray", *rows: str) -> "pd.DataFrame":
    """Return an array as a table: these dimensions as rows, the other one as columns."""
    table = data.to_series().unstack([dim for dim in data.dims if dim not in rows])
    return table.reset_index().rename_axis(columns=None)


def _ranked(found: "xr.Dataset") -> str:
    score, rank = float(found["score"]), float(found["rank"])
    return "-" if score != score else f"{score:.3f} ({rank:.0f})"


def _marked(cell: "xr.Dataset") -> str:
    value, p_value, rank = (float(cell[key]) for key in ("correlation", "p_value", "method_rank"))
    if value != value:
        return "-"
    mark = "**" if p_value < 0.01 else "*" if p_value < 0.05 else ""
    return f"{value:.3f}{mark}" + ("" if rank != rank else f" ({rank:.0f})")
