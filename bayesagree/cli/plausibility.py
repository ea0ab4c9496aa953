"""`bayesagree plausibility`: the posterior of the truth of each item, and how certain it is."""

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from bayesagree.cli import _output
from bayesagree.cli._options import Reliabilities, Sampling, Source, Threshold, unused
from bayesagree.cli._output import Answer, Table
from bayesagree.errors import InputError


def plausibility(
    source: Source,
    sampling: Sampling,
    plausibility: Annotated[str | None, Option(help="Posterior of the truth, such as dirichlet.")] = None,
    reliability: Reliabilities = None,
    threshold: Threshold = None,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Keep items (.csv, ...), draws (.nc).")
    ] = None,
) -> Answer:
    """Show the annotation certainty of the items, least certain first; -o keeps the items, or the draws of the truth.

    Example: bayesagree plausibility annotations.csv --reliability 1,3,10
    """
    import pandas as pd

    from bayesagree.evaluation.tables import OPEN
    from bayesagree.inference.posterior import Request
    from bayesagree.plausibility.certainty import annotation_certainty
    from bayesagree.plausibility.registry import fitting_posteriors, record_for, reliabilities_of

    truth, _ = source.read()
    if truth.kind != "ratings":
        unused(f"for {truth.kind}", "threshold")
    drawn = output is not None and output.suffix == ".nc"
    _output.require(output, result=drawn)
    posterior = record_for(truth, plausibility or fitting_posteriors(truth)[0].name).specification
    if posterior.takes_predictions:
        command = f"bayesagree evaluate --plausibility {posterior.name}"
        raise InputError(f"{posterior.name} learns from predictions too; use {command}")
    levels = reliabilities_of(posterior, tuple(reliability) if reliability else None)
    if drawn and len(levels) > 1:
        raise InputError(f"{output} keeps draws of one reliability: give one, not --reliability {reliability}")
    top = None if drawn or truth.kind == "ratings" else 1  # the best labels alone
    steps = sampling.draws * sampling.chains if posterior.learns_reliability else truth.items.size
    with _output.progress("drawing", steps * len(levels)) as advance:
        request = Request(**vars(sampling), top_labels=top, progress=advance)
        trees = {level: posterior.at(level).draw(truth, request) for level in levels}
    found: Any = {at: annotation_certainty(tree, threshold=threshold).to_series() for at, tree in trees.items()}
    table: Any = pd.concat(found, names=["reliability", "item"]).rename("certainty").reset_index()
    order = ["reliability", "certainty", "item"]
    table = table[["item", *order[:2]]].sort_values(order, kind="stable")
    if output is not None:
        _output.keep(next(iter(trees.values())) if drawn else table, output)
    below = {f"share_below_{OPEN}": lambda values: float((values < OPEN).mean())}
    summary = table.groupby("reliability")["certainty"].agg(mean="mean", smallest="min", **below)
    shown = [
        Table("certainty", summary.reset_index(), "Annotation certainty"),
        Table("items", table, "Least certain items", most=20),
    ]
    return Answer(shown)
