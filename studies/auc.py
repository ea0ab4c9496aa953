"""How well crowd labels rank models by their AUC (Urkullu, Perez and Calvo): tables, claims and figures."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import xarray as xr
from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.io.files import write_result
from studies._command import Drawings, Figures, run, save_figures
from studies.auc_claims import published_grid, study_claims
from studies.auc_figures import (
    annotator_quality_regions,
    plot_evaluations,
    plot_quality_regions,
    plot_swap_errors,
)
from studies.auc_simulation import CASES, ESTIMATORS, auc_study


def main(
    cases: Annotated[str, Option(help="Quality of the annotators, comma separated.")] = (
        "extreme,bad,average,good,outstanding"
    ),
    labels_per_item: Annotated[
        str, Option(help="Expected labels per item, comma separated.")
    ] = "3,5,9,15,27,45",
    labels_per_annotator: Annotated[str, Option(help="Expected labels per annotator.")] = "3,5,9,15,27,45",
    runs: Annotated[int, Option(help="Runs per configuration.", min=1)] = 100,
    random_seed: _options.Seed = 0,
    output: Annotated[Path | None, Option("--output", "-o", help="Keep the result: a .nc file.")] = None,
    label_level: Annotated[bool, Option(help="Rank by the AUC of the labels themselves too.")] = False,
    figures: Figures = None,
) -> _output.Answer:
    """Show how well crowd labels rank models: swap errors of DGT, SGT, PGT and the supervised reference.

    Simulates problems in every configuration and compares each method's ranking of 100 models with the true one. The
    default is the published study, 180 configurations of 100 runs, and its claims are checked. Figures: 5 to 15 of the
    paper, and each method's evaluations against the true one.

    Example: python -m studies.auc --cases good --labels-per-annotator 15 --runs 10 -o study.nc
    """
    grid: dict[str, Any] = {
        "cases": _options.names(cases),
        "labels_per_item": _options.numbers(labels_per_item),
        "labels_per_annotator": _options.numbers(labels_per_annotator),
    }
    total = runs * len(grid["cases"]) * len(grid["labels_per_item"]) * len(grid["labels_per_annotator"])
    further = ESTIMATORS if label_level else None
    options: dict[str, Any] = {"estimators": further, "keep_evaluations": figures is not None}
    options |= {"random_seed": random_seed}
    with _output.progress("runs", total) as advance:
        tree = auc_study(**grid, runs=runs, **options, progress=advance)
    if output is not None:
        write_result(tree, output)
    errors = tree["study"].to_dataset().swap_error
    means = errors.mean("run").to_series().unstack("auc_method").reset_index()
    claims = study_claims(tree) if published_grid(tree) else []
    tables = [
        _output.Table("mean_swap_error", means, "Mean swap error"),
        _output.Table("claims", claims, "Claims of the paper"),
    ]
    return _output.Answer(tables, save_figures(figures, _figures(tree, grid)))


def _figures(tree: xr.DataTree, grid: dict[str, list[Any]]) -> Drawings:
    """Return the quality regions, swap errors and evaluations of every case, by name."""
    rows, columns = grid["labels_per_item"], grid["labels_per_annotator"]
    size = {"labels_per_item": rows, "labels_per_annotator": columns}
    middle = {name: values[len(values) // 2] for name, values in size.items()}
    drawn: dict[str, Any] = {}
    for case in grid["cases"]:
        drawn[f"regions-{case}"] = partial(plot_quality_regions, annotator_quality_regions(*CASES[case]))
        drawn[f"swap-errors-{case}"] = partial(plot_swap_errors, tree, case, **size)
        drawn[f"evaluations-{case}"] = partial(plot_evaluations, tree, case, **middle)
    return drawn


if __name__ == "__main__":
    run(main)
