"""`bayesagree evaluate`: the main job on files or a named data set."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from bayesagree.cli import _input, _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Annotations
    from bayesagree.predictions import Predictions


def evaluate(
    annotations: _options.AnnotationsFile = None,
    predictions: _options.PredictionsFile = None,
    data: _options.Data = None,
    simulated_models: Annotated[
        int, typer.Option(help="Where a data set has no predictions: simulate this many noisy models.", min=0)
    ] = 0,
    plausibility: _options.Plausibility = None,
    reliability: Annotated[str, typer.Option(help="Trust in the annotators, one or several: 0.1,1,10.")] = "1",
    metrics: Annotated[str, typer.Option(help="Comma separated, such as top_1_accuracy,average_overlap_3.")] = (
        "top_1_accuracy"
    ),
    items: _options.ItemsAre = "fixed",
    draws: _options.Draws = 1000,
    chains: _options.Chains = 4,
    seed: _options.Seed = 1,
    threshold: _options.Threshold = None,
    model: _options.ModelColumn = "model",
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    rating: _options.RatingColumn = "rating",
    rank: _options.RankColumn = "rank",
    scale: _options.Scale = None,
    step: _options.Step = None,
    labels: _options.LabelNames = None,
    duplicates: _options.Duplicates = "error",
    dask: _options.Dask = None,
    json: _options.Json = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Keep the draws: a .nc or .zarr file.")] = None,
) -> None:
    """Score models under the uncertainty that the annotations leave about the truth.

    Example: bayesagree evaluate annotations.csv predictions.csv --item task --annotator worker --reliability 0.1,1,10
    """
    from bayesagree.evaluation.scoring import evaluate as run
    from bayesagree.io.files import write_result
    from bayesagree.plausibility.registry import fitting_posteriors

    columns = {"item": item, "annotator": annotator, "label": label, "rating": rating, "rank": rank}
    truth, models = _input.read(
        annotations, data, columns=columns, scale=scale, step=step, labels=labels, duplicates=duplicates
    )
    models = _predictions(truth, models, predictions, simulated_models, model, item, label, seed)
    chosen = plausibility or fitting_posteriors(truth)[0].name
    options: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
    levels = _input.numbers(reliability, "--reliability")
    if items not in ("fixed", "bootstrap"):
        raise InputError(f"--items {items!r} is not one of fixed, bootstrap")
    with _output.progress("scoring", truth.items.size * len(levels)) as advance:
        tree = run(
            truth, models, plausibility=chosen, reliability=levels, metrics=metrics.split(","), draws=draws,
            chains=chains, seed=seed, items=items, client=_input.dask_client(dask), progress=advance,
            **options,
        )  # fmt: skip
    if output is not None:
        write_result(tree, output)
    if json:
        _output.show_json(answer(tree))
    else:
        show(tree)


def answer(tree: "xr.DataTree") -> dict[str, Any]:
    """Return what the command says, for JSON: settings, scores with intervals, and who is better than whom."""
    import json

    return {
        "settings": json.loads(tree.attrs["settings"]),
        "seed": json.loads(tree.attrs["seed"]),
        "ci_kind": "hdi",
        "ci_prob": 0.95,
        "scores": [dict(zip(_COLUMNS, row)) for row in _rows(tree)],
        "prob_better": [
            {"metric": metric, "reliability": level, "model": a, "other_model": b, "probability": p}
            for metric, level, a, b, p in _pairs(tree)
        ],
        "open_items": [{"reliability": level, "share_below_0.95": share} for level, share in _open_items(tree)],
    }


def show(tree: "xr.DataTree") -> None:
    """Print the share of open items, and per metric and reliability the models, best first."""
    for level, share in _open_items(tree):
        typer.echo(f"Reliability {level:g}: on {share:.0%} of the items the annotation certainty is below 0.95.")
    columns = ["metric", "reliability", "model", "mean", "95 % HDI", "best with probability", "better than the next"]
    _output.show_table(columns, _short_rows(tree))


_COLUMNS = ["metric", "reliability", "model", "mean", "lower", "upper", "best_with_probability"]


def _comparisons(tree: "xr.DataTree") -> list[tuple[str, float, "xr.Dataset"]]:
    from bayesagree.evaluation.comparison import compare

    posterior = tree["posterior"].to_dataset()
    levels = posterior["reliability"].values.tolist()
    return [(str(m), r, compare(tree, metric=str(m), reliability=r)) for m in posterior.data_vars for r in levels]


def _rows(tree: "xr.DataTree") -> list[list[Any]]:
    return [
        [metric, level, name, *(float(result[key].sel(model=name)) for key in ("score", "score_lower", "score_upper")),
         float(result["rank_probability"].sel(model=name, rank=1))]
        for metric, level, result in _comparisons(tree)
        for name in sorted(result["model"].values.tolist(), key=lambda n: -float(result["score"].sel(model=n)))
    ]  # fmt: skip


def _short_rows(tree: "xr.DataTree") -> list[list[Any]]:
    better = {(metric, level, a, b): f"{p:.3f}" for metric, level, a, b, p in _pairs(tree)}
    rows = _rows(tree)
    below = [after[2] if after[:2] == row[:2] else "" for row, after in zip(rows, [*rows[1:], [""] * 3])]
    return [
        [
            metric,
            f"{level:g}",
            name,
            mean,
            f"{lower:.3f} - {upper:.3f}",
            best,
            better.get((metric, level, name, after), ""),
        ]
        for (metric, level, name, mean, lower, upper, best), after in zip(rows, below)
    ]


def _pairs(tree: "xr.DataTree") -> list[tuple[str, float, str, str, float]]:
    return [
        (metric, level, a, b, float(result["prob_better"].sel(model=a, other_model=b)))
        for metric, level, result in _comparisons(tree)
        for a in result["model"].values.tolist()
        for b in result["model"].values.tolist()
        if a != b
    ]


def _open_items(tree: "xr.DataTree") -> list[tuple[float, float]]:
    certainty = tree["certainty"]["annotation_certainty"].transpose("reliability", "item")
    levels = np.asarray(certainty["reliability"]).tolist()
    return [(level, float((row < 0.95).mean())) for level, row in zip(levels, np.asarray(certainty))]


def _predictions(
    truth: "Annotations",
    known: "Predictions | None",
    path: Path | None,
    simulated: int,
    model: str,
    item: str,
    label: str,
    seed: int,
) -> "Predictions":
    from bayesagree.annotations import Ratings

    if path is not None:
        from bayesagree.io.files import read_predictions

        return read_predictions(path, model=model, item=item, label=label)
    if known is not None:
        return known
    if simulated and not isinstance(truth, Ratings):
        from bayesagree.simulate import noisy_models

        return noisy_models(truth, n_models=simulated, seed=seed)
    raise InputError("there are no predictions: give a file of predictions, or --simulated-models N to try it out")
