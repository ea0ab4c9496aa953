"""`bayesagree plausibility` and `bayesagree certainty`: the truth of each item, and how sure it is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesagree.cli import _input, _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Annotations

_SHOWN = 20


def plausibility(
    annotations: _options.AnnotationsFile = None,
    data: _options.Data = None,
    plausibility: _options.Plausibility = None,
    reliability: Annotated[float, typer.Option(help="Trust in the annotators.")] = 1.0,
    top_labels: Annotated[
        int | None, typer.Option(help="Keep only the L best labels of each draw (large data).", min=1)
    ] = None,
    draws: _options.Draws = 1000,
    chains: _options.Chains = 4,
    seed: _options.Seed = 1,
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    rating: _options.RatingColumn = "rating",
    rank: _options.RankColumn = "rank",
    scale: _options.Scale = None,
    step: _options.Step = None,
    labels: _options.LabelNames = None,
    duplicates: _options.Duplicates = "error",
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the posterior goes: .nc or .zarr.")] = Path(
        "plausibility.nc"
    ),
) -> None:
    """Draw the plausibilities of each item and write them as a DataTree that ArviZ reads.

    Example: bayesagree plausibility annotations.csv --reliability 2 -o plausibility.nc
    """
    from bayesagree.io.files import write_result

    columns = {"item": item, "annotator": annotator, "label": label, "rating": rating, "rank": rank}
    truth, _ = _input.read(
        annotations, data, columns=columns, scale=scale, step=step, labels=labels, duplicates=duplicates
    )
    options: dict[str, Any] = {} if top_labels is None else {"top_labels": top_labels}
    tree = posterior(truth, plausibility, reliability=reliability, draws=draws, chains=chains, seed=seed, **options)
    write_result(tree, output)
    sizes = ", ".join(f"{n} {dim}" for dim, n in tree["posterior"].sizes.items())
    typer.echo(f"{output}: {', '.join(map(str, tree['posterior'].data_vars))} ({sizes})", err=True)


def certainty(
    annotations: _options.AnnotationsFile = None,
    data: _options.Data = None,
    plausibility: _options.Plausibility = None,
    reliability: Annotated[str, typer.Option(help="Trust in the annotators, one or several: 1,3,10.")] = "1",
    k: Annotated[int, typer.Option(help="Certainty of the k most plausible labels.", min=1)] = 1,
    exact: Annotated[bool, typer.Option(help="Without Monte-Carlo error (k = 1; closed forms only).")] = False,
    threshold: _options.Threshold = None,
    draws: _options.Draws = 1000,
    chains: _options.Chains = 4,
    seed: _options.Seed = 1,
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    rating: _options.RatingColumn = "rating",
    rank: _options.RankColumn = "rank",
    scale: _options.Scale = None,
    step: _options.Step = None,
    labels: _options.LabelNames = None,
    duplicates: _options.Duplicates = "error",
    json: _options.Json = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="All items, as CSV: item, reliability, certainty.")
    ] = None,
) -> None:
    """Say how sure the annotations are of each item, least certain first.

    Example: bayesagree certainty annotations.csv --reliability 1,3,10
    """
    import pandas as pd

    from bayesagree.certainty import annotation_certainty

    columns = {"item": item, "annotator": annotator, "label": label, "rating": rating, "rank": rank}
    truth, _ = _input.read(
        annotations, data, columns=columns, scale=scale, step=step, labels=labels, duplicates=duplicates
    )
    tables = []
    for level in _input.numbers(reliability, "--reliability"):
        depth: dict[str, Any] = {} if hasattr(truth, "rating") or exact else {"top_labels": k}
        tree = posterior(
            truth, plausibility, reliability=level, draws=1 if exact else draws, chains=chains, seed=seed, **depth
        )
        values = annotation_certainty(tree, k=k, threshold=threshold, exact=exact)
        tables.append(pd.DataFrame({"item": truth.items, "reliability": level, "certainty": values.values}))
    table = pd.concat(tables).sort_values(["reliability", "certainty", "item"], kind="stable")
    _output.write_table(table, output)
    summary = table.groupby("reliability")["certainty"].agg(["mean", "min", lambda c: float((c < 0.95).mean())])
    rows = [[level, *map(float, row)] for level, row in zip(summary.index, summary.to_numpy())]
    if json:
        keys = ("reliability", "mean_certainty", "smallest_certainty", "share_below_0.95")
        _output.show_json({"summary": [dict(zip(keys, row)) for row in rows], "items": table.to_dict(orient="records")})
        return
    _output.show_table(["reliability", "mean certainty", "smallest", "share of items below 0.95"], rows)
    least = table.head(_SHOWN)
    _output.show_table(list(least.columns), least.values.tolist(), title="\nLeast certain items")


def posterior(truth: "Annotations", name: str | None, *, reliability: float, **options: Any) -> "xr.DataTree":
    """Draw the named plausibility, or the one that fits the annotations."""
    from bayesagree.plausibility.registry import fitting_posteriors, posterior_for

    chosen = posterior_for(truth, name or fitting_posteriors(truth)[0].name)
    if not chosen.learns_reliability:
        options["reliability"] = int(reliability) if reliability.is_integer() else reliability
    elif reliability != 1:
        raise InputError("dawid_skene learns the reliability of each annotator; leave --reliability at 1")
    return chosen.posterior(truth, **options)
