"""Every blind method against gold (Jung and Lease): tables 2 to 9 and figures 2 to 5 for one set of systems."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import xarray as xr
from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError, one_of
from bayesagree.plots._panels import one_panel, style
from studies._command import Figures, flat, run, save_figures
from studies.blind_cases import blind_case, read_blind_case
from studies.blind_experiment import blind_experiment
from studies.blind_figures import plot_method_correlation, plot_quality_correlation
from studies.blind_tables import blind_table, overlap_summary, vote_quality

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLES = {
    2: "Table 2: overlap of the systems",
    4: "Tables 3 and 4: actual scores and ranks",
    5: "Table 5: ranks of the methods",
    6: "Table 6: correlations (* 95 %, ** 99 % from the baseline; swaps in %)",
    7: "Table 7: quality of the pseudo-gold",
    8: "Table 8: its correlation with the quality of the evaluation",
    9: "Table 9: predicted ranks of the best three systems and the worst",
}


def plot_vote_quality(quality: xr.DataArray, *, axes: "Axes | None" = None) -> "Axes":
    """Draw how well the vote of the systems matches the gold, by its threshold, one line for each metric.

    Parameters
    ----------
    quality
        Result of `vote_quality`.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Jung and Lease (2012), figure 2.

    Examples
    --------
    >>> from studies.systems import simulated_systems
    >>> systems = simulated_systems(n_items=50, accuracies=(0.6, 0.7, 0.8), random_seed=1)
    >>> len(plot_vote_quality(vote_quality(systems.predictions, dict(enumerate(systems.truth.tolist())))).lines)
    4
    """
    panel = one_panel(axes)
    for k, metric in enumerate(quality["metric"].values.tolist()):
        panel.plot(
            quality["threshold"].values, quality.sel(metric=metric).values, label=str(metric), **style(k)
        )
    panel.set_xlabel("share of votes that makes an item positive")
    panel.set_ylabel("score of the vote against gold")
    panel.legend(fontsize="small")
    return panel


def main(
    data: Annotated[str, Option("--data", help="A public case.")] = "trec2011-teams",
    systems: Annotated[
        Path | None, Option(help="Labels of the systems instead: columns model, item, label.")
    ] = None,
    crowd: Annotated[Path | None, Option(help="Crowd labels: columns item, annotator, label.")] = None,
    gold: Annotated[Path | None, Option(help="Gold: columns item, label.")] = None,
    correction: Annotated[
        str, Option(help="Triangle test: hotelling (the paper's) or williams.")
    ] = "hotelling",
    draws: Annotated[int, Option(help="Bootstrap draws, and gold sets of sampling.", min=2)] = 1000,
    random_seed: _options.Seed = 1,
    figures: Figures = None,
) -> _output.Answer:
    """Show all tables and figures of Jung and Lease (2 to 9, figures 2 to 5) for one set of systems with gold.

    Example: python -m studies.blind --data trec2011-teams --draws 200 --figures folder
    """
    case = (
        blind_case(data, random_seed=random_seed) if systems is None else read_blind_case(systems, crowd, gold)
    )
    if case.gold is None:
        raise InputError("the tables judge methods by gold: pass --gold FILE")
    test = one_of(correction, "correction", ("hotelling", "williams"))
    with _output.progress("judging", None) as advance:
        options: dict[str, Any] = {
            "correction": test,
            "draws": draws,
            "random_seed": random_seed,
            "progress": advance,
        }
        tree = blind_experiment(case.predictions, crowd=case.crowd, gold=case.gold, **options)
    tables = []
    for number, title in TITLES.items():
        table = blind_table(tree, number)
        wide = number in (5, 6)  # the screen shows one measure at a time
        tables.append(_output.Table(f"table_{number}", flat(table), title, most=0 if wide else None))
        measures = table.columns.unique(0) if wide else ()
        tables += [
            _output.Table("", flat(table.xs(measure, axis=1, level=0)), f"{title}: {measure}")
            for measure in measures
        ]
    tables.insert(
        1, _output.Table("overlap", [overlap_summary(tree).to_dict()], "Overlap of different systems")
    )
    drawn: dict[str, Any] = {
        "figure-3": lambda: plot_method_correlation(tree),
        "figure-4a": lambda: plot_method_correlation(tree, measure="spearman"),
        "figure-4b": lambda: plot_method_correlation(tree, measure="kendall"),
        "figure-5": lambda: plot_quality_correlation(tree),
    }
    if case.predictions.categories.size == 2:
        quality = vote_quality(case.predictions, case.gold, random_seed=random_seed)
        curve = quality.to_dataset("metric").to_dataframe()
        tables.append(_output.Table("figure_2", flat(curve), "Figure 2: quality of the vote"))
        drawn["figure-2"] = lambda: plot_vote_quality(quality)
    return _output.Answer(tables, save_figures(figures, drawn))


if __name__ == "__main__":
    run(main)
