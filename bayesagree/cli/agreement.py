"""`bayesagree agreement`: how far do annotators agree, with an interval for every coefficient."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesagree.cli import _input, _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def agreement(
    annotations: _options.AnnotationsFile = None,
    data: _options.Data = None,
    level: Annotated[
        str | None, typer.Option(help="nominal, ordinal, interval or ratio: weights of the kappas.")
    ] = None,
    item_mean: Annotated[
        str, typer.Option(help="Prior of the item means of Phi: hierarchical or flat.")
    ] = "hierarchical",
    likelihood: Annotated[str, typer.Option(help="Of Phi: binned, density or squeezed (as published).")] = "binned",
    paradoxes: Annotated[bool, typer.Option("--paradoxes", help="Show the paper's toy cases instead.")] = False,
    streamed: Annotated[
        bool, typer.Option("--streamed", help="The file is sorted by item and may be larger than memory: one pass.")
    ] = False,
    seed: _options.Seed = 1,
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    rating: _options.RatingColumn = "rating",
    scale: _options.Scale = None,
    step: _options.Step = None,
    labels: _options.LabelNames = None,
    duplicates: _options.Duplicates = "error",
    as_json: _options.Json = False,
    output: _options.TableFile = None,
) -> None:
    """Show the common agreement Phi and every classic coefficient, each with an interval.

    Example: bayesagree agreement ratings.csv --scale 1 5 --step 1
    """
    if paradoxes:
        _show(_paradoxes(), output, as_json=as_json, title="Limitations of agreement coefficients")
        return
    columns = {"item": item, "annotator": annotator, "label": label, "rating": rating, "rank": "rank"}
    if streamed:
        given = _input.stream(annotations, columns=columns, scale=scale, step=step, labels=labels)
    else:
        given, _ = _input.read(
            annotations, data, columns=columns, scale=scale, step=step, labels=labels, duplicates=duplicates
        )
    table = _coefficients(given, level, item_mean, likelihood, seed)
    _show(table, output, as_json=as_json, title="Agreement (intervals: 95 %)")


def _paradoxes() -> "pd.DataFrame":
    from bayesagree.studies.paradoxes import paradox_table

    with _output.stderr.status("18 toy cases, three models each"):
        return paradox_table()


def _coefficients(given: Any, level: str | None, item_mean: str, likelihood: str, seed: int) -> "pd.DataFrame":
    from bayesagree.agreement.coefficients import agreement_table
    from bayesagree.agreement.phi import common_agreement
    from bayesagree.annotations import Rankings, Ratings
    from bayesagree.patterns.patterns import RatingPatterns

    if isinstance(given, Rankings):
        raise InputError("agreement coefficients are for labels and ratings, not for rankings")
    chosen: Any = level or ("interval" if isinstance(given, Ratings | RatingPatterns) else "nominal")
    if chosen not in LEVELS:
        raise InputError(f"--level {chosen!r} is not one of {', '.join(LEVELS)}")
    table = agreement_table(given, level=chosen, seed=seed)
    if isinstance(given, Ratings | RatingPatterns) and (item_mean, likelihood) != ("hierarchical", "binned"):
        prior: Any = item_mean
        kind: Any = likelihood
        found = common_agreement(given, item_mean=prior, likelihood=kind, seed=seed)["agreement"].to_dataset()
        values = [float(found[name]) for name in ("mean", "lower", "upper")]
        table.loc[table["coefficient"] == "phi", ["estimate", "lower", "upper"]] = values
    return table


def _show(table: "pd.DataFrame", output: Path | None, *, as_json: bool, title: str) -> None:
    _output.write_table(table, output)
    if as_json:
        _output.show_json([{k: _plain(v) for k, v in row.items()} for row in table.to_dict("records")])
        return
    _output.show_table(list(table.columns), table.to_numpy(dtype=object).tolist(), title=title)


def _plain(value: Any) -> Any:
    """Return a value that JSON knows: a number that does not exist is null."""
    missing = value is None or (isinstance(value, float) and value != value) or str(value) == "<NA>"
    return None if missing else value
