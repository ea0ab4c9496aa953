"""`bayesagree study`: the simulation studies of the papers, run again."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bayesagree.cli import _options, _output, _studies

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from bayesagree.plots._panels import Panels

study = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@study.callback()
def studies() -> None:
    """Run the simulation studies of the papers again."""


@study.command("auc")
def auc(
    cases: Annotated[str, Option(help="Quality of the annotators, comma separated.")] = (
        "extreme,bad,average,good,outstanding"
    ),
    labels_per_item: Annotated[str, Option(help="Expected labels per item, comma separated.")] = "3,5,9,15,27,45",
    labels_per_annotator: Annotated[str, Option(help="Expected labels per annotator.")] = "3,5,9,15,27,45",
    runs: Annotated[int, Option(help="Runs per configuration.", min=1)] = 100,
    seed: _options.Seed = 0,
    output: Annotated[
        Path | None, Option("--output", "-o", help="netCDF file; an interrupted study resumes from it.")
    ] = None,
    label_level: Annotated[bool, Option(help="Rank by the AUC of the labels themselves too.")] = False,
    figures: _studies.Figures = None,
    dask: _options.Dask = None,
    json: _options.Json = False,
) -> None:
    """Show how well crowd labels rank models: swap errors of DGT, SGT, PGT and the supervised reference.

    Simulates problems in every configuration and compares each method's ranking of 100 models with the true one. The
    default is the published study, 180 configurations of 100 runs, and its claims are checked. Figures: 5 to 15 of the
    paper, and each method's evaluations against the true one.

    Example: bayesagree study auc --cases good --labels-per-annotator 15 --runs 10 -o study.nc
    """
    from bayesagree.io.files import write_result
    from bayesagree.studies.auc_claims import published_grid, study_claims
    from bayesagree.studies.auc_simulation import ESTIMATORS, auc_study

    grid = {
        "cases": _options.words(cases),
        "labels_per_item": _options.numbers(labels_per_item, "--labels-per-item", whole=True),
        "labels_per_annotator": _options.numbers(labels_per_annotator, "--labels-per-annotator", whole=True),
    }
    total = runs * len(grid["cases"]) * len(grid["labels_per_item"]) * len(grid["labels_per_annotator"])
    further = ESTIMATORS if label_level else None
    journal = None if output is None else output.with_name(output.name + ".journal")
    with _output.progress("runs", total) as advance:
        tree = auc_study(
            **grid, runs=runs, estimators=further, keep_evaluations=figures is not None, seed=seed, journal=journal,
            client=_options.dask_client(dask), progress=advance,
        )  # fmt: skip
    if output is not None and journal is not None:
        write_result(tree, output)
        journal.unlink()
    errors = tree["study"].to_dataset().swap_error
    means = errors.mean("run").to_series().unstack("auc_method").reset_index()
    claims = study_claims(tree) if published_grid(tree) else []
    tables = [
        _output.Table("mean_swap_error", means, "Mean swap error"),
        _output.Table("claims", claims, "Claims of the paper"),
    ]
    _output.show(tables, json=json, notes=_studies.save_figures(figures, _figures(tree, grid)))


def _figures(tree: "xr.DataTree", grid: dict[str, list[Any]]) -> dict[str, Callable[[], "Axes | Panels"]]:
    """Return the quality regions, swap errors and evaluations of every case, by name."""
    from bayesagree import plots
    from bayesagree.simulate import annotator_quality_regions
    from bayesagree.studies.auc_simulation import CASES

    rows, columns = grid["labels_per_item"], grid["labels_per_annotator"]
    size = {"labels_per_item": rows, "labels_per_annotator": columns}
    middle = {name: values[len(values) // 2] for name, values in size.items()}
    drawn: dict[str, Callable[[], Axes | Panels]] = {}
    for case in grid["cases"]:
        drawn[f"regions-{case}"] = partial(plots.plot_quality_regions, annotator_quality_regions(*CASES[case]))
        drawn[f"swap-errors-{case}"] = partial(plots.plot_swap_errors, tree, case, **size)
        drawn[f"evaluations-{case}"] = partial(plots.plot_evaluations, tree, case, **middle)
    return drawn


_studies.add_to(study)
