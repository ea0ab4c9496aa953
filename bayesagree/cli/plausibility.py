"""`bayesagree plausibility`: the posterior of the truth of each item, and how certain it is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.cli._output import Answer, Table
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr


def plausibility(
    source: _options.Source,
    sampling: _options.Sampling,
    plausibility: Annotated[str | None, Option(help="Posterior of the truth, such as dirichlet.")] = None,
    reliability: _options.Reliabilities = None,
    threshold: _options.Threshold = None,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Keep the items (.csv, ...) or draws (.nc).")
    ] = None,
) -> Answer:
    """Show the annotation certainty of the items, least certain first; -o keeps the items, or the draws of the truth.

    Example: bayesagree plausibility annotations.csv --reliability 1,3,10
    """
    import pandas as pd

    from bayesagree.evaluation.tables import OPEN
    from bayesagree.inference.results import settings_of
    from bayesagree.plausibility.certainty import annotation_certainty

    truth, _ = source.read()
    levels = reliability or [None]
    drawn = output is not None and output.suffix == ".nc"
    if drawn and len(levels) > 1:
        raise InputError(f"{output} keeps draws of one reliability: give one, not --reliability {levels}")
    _output.require(output, result=drawn)
    trees = [_posterior(truth, plausibility, level, vars(sampling), drawn) for level in levels]
    weights = [settings_of(tree).get("reliability", 1.0) for tree in trees]
    found = {w: annotation_certainty(tree, threshold=threshold).values for w, tree in zip(weights, trees)}
    parts = [
        pd.DataFrame({"item": truth.items, "reliability": w, "certainty": own}) for w, own in found.items()
    ]
    table = pd.concat(parts).sort_values(["reliability", "certainty", "item"], kind="stable")
    if output is not None:
        _output.keep(trees[0] if drawn else table, output)
    below = {f"share_below_{OPEN}": lambda values: float((values < OPEN).mean())}
    summary = table.groupby("reliability")["certainty"].agg(mean="mean", smallest="min", **below)
    shown = [
        Table("certainty", summary.reset_index(), "Annotation certainty"),
        Table("items", table, "Least certain items", most=20),
    ]
    return Answer(shown)


def _posterior(
    truth: Any, name: str | None, level: float | None, how: dict[str, Any], whole: bool
) -> "xr.DataTree":
    """Draw from the named posterior of the truth, or from the one that fits: whole, or the best labels alone."""
    from bayesagree.inference.posterior import Request
    from bayesagree.plausibility.registry import fitting_posteriors, record_for

    chosen = record_for(truth, name or fitting_posteriors(truth)[0].name)
    if chosen.specification.takes_predictions:
        raise InputError(
            f"{chosen.name} learns from predictions too; use bayesagree evaluate --plausibility {chosen.name}"
        )
    if chosen.specification.learns_reliability and level not in (None, 1):
        raise InputError(f"{chosen.name} learns the reliability of each annotator; leave --reliability at 1")
    specification = chosen.specification if level is None else chosen.specification.at(level)
    top = None if whole or truth.kind == "ratings" else 1
    n_draws = how["draws"] * how["chains"]
    total = n_draws if chosen.specification.learns_reliability else truth.items.size
    with _output.progress("drawing", total) as advance:
        return specification.draw(truth, Request(**how, top_labels=top, progress=advance))
