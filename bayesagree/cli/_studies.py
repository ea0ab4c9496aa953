"""The studies of `bayesagree study`: each shows the numbers of its paper's tables and writes its figures."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayesagree.plots._panels import Panels

Figures = Annotated[Path | None, Option("--figures", help="Folder to write the figures of the paper to, as PNG.")]
Repeats = Annotated[int, Option(help="Repetitions of a setting.", min=1)]


def save_figures(folder: Path | None, figures: Mapping[str, Callable[[], "Axes | Panels"]]) -> list[str]:
    """Write figures, if they are wanted; returns a note."""
    if folder is None:
        return []
    import matplotlib.pyplot as plt
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in figures.items():
        figure = np.asarray(draw(), dtype=object).flat[0].figure
        figure.savefig(folder / f"{name}.png", dpi=150)
        plt.close(figure)
    return [f"Figures in {folder}: {', '.join(figures)}."]


def _flat(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table with its index as columns and one row of names."""
    flat = table.reset_index()
    flat.columns = [" ".join(str(p) for p in (c if isinstance(c, tuple) else (c,)) if p != "") for c in flat.columns]
    return flat


def paradoxes(
    cases: Annotated[str | None, Option(help="Cases such as 7c,8b; all eighteen take minutes.")] = None,
    json: _options.Json = False,
) -> None:
    """Show where percent agreement and alpha mislead: Checco et al., tables 1 and 2.

    Example: bayesagree study paradoxes --cases 7c,8b
    """
    from bayesagree.studies import paradox_table

    with _output.stderr().status("computing"):
        table = paradox_table(None if cases is None else _options.words(cases))
    _output.show([_output.Table("paradoxes", table)], json=json)


def answers(
    raters: Annotated[str, Option(help="Raters of an item, comma separated.")] = "3,5,10,20,30,50",
    levels: Annotated[str, Option(help="Levels of the scale, comma separated.")] = "5,11",
    n_items: Annotated[int, Option(help="Items of a data set.", min=2)] = 100,
    repeats: Repeats = 40,
    seed: _options.Seed = 1,
    figures: Figures = None,
    json: _options.Json = False,
) -> None:
    """Show how often random answers are called agreement: Checco et al., figure 3.

    Example: bayesagree study answers --raters 3,10 --levels 5 --repeats 10 --figures folder
    """
    from bayesagree import plots
    from bayesagree.studies import random_answers

    counts, scales = (_options.numbers(v, n, whole=True) for v, n in ((raters, "--raters"), (levels, "--levels")))
    with _output.progress("data sets", len(counts) * len(scales) * repeats) as advance:
        found = random_answers(
            n_annotators=counts, n_levels=scales, n_items=n_items, repeats=repeats, seed=seed, progress=advance
        )
    table = found[["false_agreement", "false_disagreement"]].assign(mean_phi=found["phi"].mean("repeat"))
    notes = save_figures(figures, {"figure-3": lambda: plots.plot_random_answers(found)})
    rows = table.to_dataframe().reset_index()
    _output.show([_output.Table("answers", rows, "Share of intervals above and below 0")], json=json, notes=notes)


@_options.flattened
def sizes(
    source: _options.Source,
    shares: Annotated[str, Option(help="Shares of the items, comma separated.")] = "0.1,0.25,0.5,0.75,1",
    repeats: Repeats = 20,
    item_mean: Annotated[str, Option(help="hierarchical or flat (the paper's).")] = "hierarchical",
    likelihood: Annotated[str, Option(help="averaged, binned, density or squeezed (the paper's).")] = "averaged",
    seed: _options.Seed = 1,
    figures: Figures = None,
    json: _options.Json = False,
) -> None:
    """Show Phi, alpha and percent agreement on shares of the items: Checco et al., figures 4 and 5.

    Example: bayesagree study sizes --data truthfulness/s6 --repeats 5 --figures folder
    """
    from bayesagree import plots
    from bayesagree.annotations import Ratings
    from bayesagree.studies import agreement_by_size

    ratings, _ = source.read()
    if not isinstance(ratings, Ratings):
        raise InputError("Phi is of ratings; give --scale LOWEST HIGHEST")
    parts = _options.numbers(shares, "--shares")
    means = _options.one_of(item_mean, "--item-mean", ("hierarchical", "flat"))
    kind = _options.one_of(likelihood, "--likelihood", ("averaged", "binned", "density", "squeezed"))
    with _output.progress("subsamples", len(parts) * repeats) as advance:
        found = agreement_by_size(
            ratings, shares=parts, repeats=repeats, item_mean=means, likelihood=kind, seed=seed, progress=advance
        )
    notes = save_figures(figures, {"figures-4-5": lambda: plots.plot_agreement_by_size(found)})
    rows = found.mean("repeat").to_dataframe().reset_index()
    _output.show([_output.Table("sizes", rows, "Means over the subsamples")], json=json, notes=notes)


def toy(
    n_annotators: Annotated[int, Option(help="Labels of an item.", min=1)] = 5,
    reliability: Annotated[str, Option(help="Reliabilities, comma separated.")] = "0.5,1,2,5",
    seed: _options.Seed = 1,
    figures: Figures = None,
    json: _options.Json = False,
) -> None:
    """Show the certainty of the toy problem across reliabilities: Stutz et al., figure 2.

    Example: bayesagree study toy --figures folder
    """
    import numpy as np

    from bayesagree import dirichlet, plots
    from bayesagree.simulate import toy_classes
    from bayesagree.studies import certainty_by_reliability

    problem = toy_classes(n_annotators=n_annotators, seed=seed)
    levels = _options.numbers(reliability, "--reliability")
    certainty = certainty_by_reliability(problem.labels, reliability=levels, seed=seed)["certainty"]
    marked = [0, 16, 24]  # a clear item, one between two classes, one under the middle class
    drawn = {
        "figure-2": lambda: plots.plot_toy_classes(problem, certainty, items=marked),
        "figure-2-simplex": lambda: plots.plot_simplex(dirichlet(problem.labels, seed=seed), marked),
    }
    rows = [
        {"reliability": level, "mean_certainty": float(np.mean(row)), **{f"item_{i}": float(row[i]) for i in marked}}
        for level, row in zip(levels, certainty.values)
    ]
    notes = save_figures(figures, drawn)
    _output.show([_output.Table("certainty", rows, "Annotation certainty")], json=json, notes=notes)


@_options.flattened
def certainty(
    source: _options.Source,
    sampling: _options.ShortSampling,
    reliability: Annotated[str, Option(help="Reliabilities, comma separated.")] = "0.5,1,2,5",
    threshold: _options.Threshold = None,
    figures: Figures = None,
    json: _options.Json = False,
) -> None:
    """Show certainty of labels or ratings, and of published labels, by reliability: Stutz et al., figures 3, 9, 10.

    Example: bayesagree study certainty --data chaosnli-snli --figures folder
    """
    from bayesagree import normal_inverse_gamma, plots
    from bayesagree.annotations import Rankings, Ratings
    from bayesagree.studies import certainty_by_reliability

    given, _ = source.read()
    if isinstance(given, Rankings):
        raise InputError("these are rankings; `bayesagree rankings` shows their certainty under two models")
    gold = None
    if source.data is not None and not isinstance(given, Ratings):
        from bayesagree.datasets import load

        gold = load(source.data).gold
    levels = _options.numbers(reliability, "--reliability")
    found = certainty_by_reliability(given, reliability=levels, threshold=threshold, gold=gold, **vars(sampling))
    sure = found["certainty"]
    curves = {f"reliability {r:g}": sure.sel(reliability=r) for r in levels}
    drawn: dict[str, Any] = {"certainty": lambda: plots.plot_certainty(curves)}
    if isinstance(given, Ratings):
        least = sure.isel(reliability=0).idxmin("item").item()
        tree = normal_inverse_gamma(given, draws=50, seed=sampling.seed)
        drawn["item"] = lambda: plots.plot_rating_item(tree, given, least, threshold=threshold)
    if gold is not None:
        of_gold = found["gold_certainty"].isel(reliability=0, drop=True).dropna("item")
        both = {"annotation certainty": sure.isel(reliability=0, drop=True).sel(item=of_gold["item"])}
        both["published label"] = of_gold
        drawn["published"] = lambda: plots.plot_certainty(both, order="annotation certainty")
    published = {} if gold is None else found["gold_certainty"].mean("item").to_series().to_dict()
    rows = [
        {
            "reliability": r,
            "mean_certainty": float(sure.sel(reliability=r).mean()),
            "below_0.99": float((sure.sel(reliability=r) < 0.99).mean()),
            "published_labels": published.get(r),
        }
        for r in levels
    ]
    notes = save_figures(figures, drawn)
    title = "Annotation certainty; adjusted accuracy of the published labels"
    _output.show([_output.Table("certainty", rows, title)], json=json, notes=notes)


def blind(
    data: Annotated[str, Option("--data", help="A public case, as in `bayesagree blind`.")] = "trec2011-teams",
    systems: Annotated[Path | None, Option(help="Labels of the systems instead: columns model, item, label.")] = None,
    crowd: Annotated[Path | None, Option(help="Crowd labels: columns item, annotator, label.")] = None,
    gold: Annotated[Path | None, Option(help="Gold: columns item, label.")] = None,
    correction: Annotated[str, Option(help="Triangle test: hotelling (the paper's) or williams.")] = "hotelling",
    draws: Annotated[int, Option(help="Bootstrap draws, and gold sets of sampling.", min=2)] = 1000,
    seed: _options.Seed = 1,
    figures: Figures = None,
    json: _options.Json = False,
) -> None:
    """Show all tables and figures of Jung and Lease (2 to 9, figures 2 to 5) for one set of systems with gold.

    Example: bayesagree study blind --data trec2011-teams --draws 200 --figures folder
    """
    from bayesagree import plots
    from bayesagree.studies import blind_case, blind_experiment, blind_table, overlap_summary, vote_quality
    from bayesagree.studies.blind_files import read_blind_case

    case = blind_case(data, seed=seed) if systems is None else read_blind_case(systems, crowd, gold)
    if case.gold is None:
        raise InputError("the tables judge methods by gold: pass --gold FILE")
    test = _options.one_of(correction, "--correction", ("hotelling", "williams"))
    with _output.progress("judging", None) as advance:
        tree = blind_experiment(
            case.predictions, crowd=case.crowd, gold=case.gold, correction=test, draws=draws, seed=seed,
            progress=advance,
        )  # fmt: skip
    titles = {
        2: "Table 2: overlap of the systems", 4: "Tables 3 and 4: actual scores and ranks",
        5: "Table 5: ranks of the methods", 6: "Table 6: correlations (* 95 %, ** 99 % from the baseline; swaps in %)",
        7: "Table 7: quality of the pseudo-gold", 8: "Table 8: its correlation with the quality of the evaluation",
        9: "Table 9: predicted ranks of the best three systems and the worst",
    }  # fmt: skip
    tables = []
    for number, title in titles.items():
        table = blind_table(tree, number)
        wide = number in (5, 6)  # the screen shows one measure at a time
        tables.append(_output.Table(f"table_{number}", _flat(table), title, most=0 if wide else None))
        measures = table.columns.unique(0) if wide else ()
        tables += [
            _output.Table("", _flat(table.xs(measure, axis=1, level=0)), f"{title}: {measure}") for measure in measures
        ]
    tables.insert(1, _output.Table("overlap", [overlap_summary(tree).to_dict()], "Overlap of different systems"))
    drawn: dict[str, Any] = {
        "figure-3": lambda: plots.plot_method_correlation(tree),
        "figure-4a": lambda: plots.plot_method_correlation(tree, measure="spearman"),
        "figure-4b": lambda: plots.plot_method_correlation(tree, measure="kendall"),
        "figure-5": lambda: plots.plot_quality_correlation(tree),
    }
    if case.predictions.categories.size == 2:
        quality = vote_quality(case.predictions, case.gold, seed=seed)
        curve = quality.to_dataset("metric").to_dataframe()
        tables.append(_output.Table("figure_2", _flat(curve), "Figure 2: quality of the vote"))
        drawn["figure-2"] = lambda: plots.plot_vote_quality(quality)
    _output.show(tables, json=json, notes=save_figures(figures, drawn))


@_options.flattened
def crowd(
    source: _options.Source,
    sampling: _options.ShortSampling,
    threshold: _options.Threshold = None,
    figures: Figures = None,
    json: _options.Json = False,
) -> None:
    """Show CrowdTruth on four readings of a scale, its validation by gold, and disagreement without spammers.

    The experiments of Balayn and Bozzon: set-ups need ratings on five levels, the validation a named data set with
    gold. Disagreement is of labels, or of ratings cut at the threshold (the middle of the scale by default).

    Example: bayesagree study crowd --data popquorn --draws 20 --figures folder
    """
    from bayesagree import crowdtruth, plots
    from bayesagree.annotations import Labels, Ratings
    from bayesagree.studies import accuracy_against, crowd_setups, crowd_validation, disagreement_without
    from bayesagree.subjective import disagreement_rate, recode
    from bayesagree.subjective.crowd_quality import crowdtruth_posterior, spammers

    given, _ = source.read()
    tables, drawn = [], {}
    if isinstance(given, Ratings):
        if given.step is not None and round((given.scale[1] - given.scale[0]) / given.step) == 4:
            setups = crowd_setups(given)
            means = setups[["mean_uqs", "mean_wqs", "mean_aqs"]].to_dataframe().reset_index()
            tables.append(_output.Table("setups", means, "Mean quality under each reading of the scale"))
            drawn["setups"] = lambda: plots.plot_crowd_setups(setups)
        labels = recode(given, sum(given.scale) / 2 if threshold is None else threshold)
    elif isinstance(given, Labels):
        labels = given
    else:
        raise InputError("CrowdTruth is of labels, or of ratings read as labels")
    quality = crowdtruth(labels)
    if source.data is not None and isinstance(given, Labels):
        from bayesagree.datasets import load

        if (gold := load(source.data).gold) is not None:
            accuracy = accuracy_against(labels, gold).dropna().to_dict()
            mse = float(crowd_validation(quality, annotator_quality=accuracy)["wqs_mse"])
            row = {"annotators": len(accuracy), "wqs_mse": mse}
            tables.append(_output.Table("validation", [row], "WQS against the accuracy on gold"))
    with _output.stderr().status("resampling items"):
        people = spammers(crowdtruth_posterior(labels, **vars(sampling)))
    removed = people.index[people["prob_spammer"].to_numpy() >= 0.5]
    without = _flat(disagreement_without(labels, removed).rename_axis("spammers"))
    tables.append(_output.Table("disagreement", without, "Disagreement with the majority, spammers removed"))
    drawn["figure-3a"] = lambda: plots.plot_annotator_quality(quality["wqs"], people)
    drawn["figure-3b"] = lambda: plots.plot_disagreement_by_quality(disagreement_rate(labels), quality["wqs"])
    _output.show(tables, json=json, notes=save_figures(figures, drawn))


def add_to(study: typer.Typer) -> None:
    """Add the studies to the group."""
    for command in (paradoxes, answers, sizes, toy, certainty, blind, crowd):
        study.command(command.__name__)(command)
