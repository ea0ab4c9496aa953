"""`bayesagree annotators`: accuracy and confusion of every annotator, and checks of the crowd."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Labels

_SWITCHED = 0.01
"""Share of draws with switched labels above which the user is told: one draw in a hundred is no accident."""
_SHOWN = 30
"""Annotators on the screen: what fits without scrolling back; the document has all."""


@_options.flattened
def annotators(
    source: _options.Source,
    sampling: _options.ShortSampling,
    gold: Annotated[
        Path | None, Option("--gold", help="Table of items whose true label is known: columns item and label.")
    ] = None,
    variant: Annotated[
        str, Option(help="full, one_coin, class_conditional, hierarchical, item_difficulty or mixed_membership.")
    ] = "hierarchical",
    json: _options.Json = False,
) -> None:
    """Rate the annotators: posterior accuracy, confusion, labels given, flags, and checks of the crowd.

    With --gold, gold items teach the annotators' confusion, and a second fit without them shows how far the predicted
    confidence is from the accuracy on gold, before and after calibration.

    Example: bayesagree annotators labels.csv --gold gold.csv
    """
    from bayesagree.annotations import Labels
    from bayesagree.plausibility.dawid_skene.posterior import dawid_skene

    crowd, _ = source.read()
    if not isinstance(crowd, Labels):
        raise InputError(f"annotators are rated on single labels, not on {type(crowd).__name__.lower()}")
    known = {} if gold is None else _read_gold(gold, source, crowd)
    options: Any = {"variant": variant} | vars(sampling)
    with _output.progress("rating annotators", 4 if known else 2) as advance:
        tree = blind = dawid_skene(crowd, **options)
        advance()
        if known:
            tree = dawid_skene(crowd, **options, gold=known)
            advance()
        tables, notes = _tables(crowd, tree)
        advance()
        if known:
            rows = _named("measure", _confidence(blind, known, sampling.seed))
            tables.append(_output.Table("confidence", rows, "Confidence"))
            advance()
        else:
            notes.append("Labels alone do not tell how far the confidence is too high; pass --gold with 50 items.")
    _output.show(tables, json=json)
    for note in notes:
        typer.echo(note, err=True)


def _read_gold(path: Path, source: _options.Source, crowd: "Labels") -> dict[Any, Any]:
    """Read gold labels; items without annotations are left out."""
    from bayesagree.io.files import read_table

    table = read_table(path)
    item, label = source.item, source.label
    column = next((c for c in (label, "gold", "truth") if c in table.columns), None)
    if item not in table.columns or column is None:
        raise InputError(f"{str(path)!r} needs the columns {item!r} and {label!r}; it has {', '.join(table.columns)}")
    items = set(crowd.items.tolist())
    gold = {i: truth for i, truth in zip(table[item].tolist(), table[column].tolist()) if i in items}
    if not gold:
        raise InputError(f"{str(path)!r}: none of its items has labels in the annotations")
    return gold


def _tables(crowd: "Labels", tree: "xr.DataTree") -> tuple[list[_output.Table], list[str]]:
    """Return annotators, flagged ones first, their confusion, and the checks of the crowd."""
    from bayesagree.predictive.annotator_checks import (
        agreement_check,
        annotation_parts,
        annotator_table,
        label_switching,
    )

    table = annotator_table(tree)
    table["flagged"] = [not flags for flags in table["flags"]]
    table = table.sort_values(["flagged", "n_labels_given"], ascending=[True, False], kind="stable").drop(
        columns="flagged"
    )
    confusion = tree["posterior"].to_dataset()["confusion"].mean(("chain", "draw"))
    agreement = agreement_check(crowd, tree, seed=1)
    switched = label_switching(tree)
    checks = {
        "disconnected_groups_of_annotators": int(annotation_parts(crowd).max()) + 1,
        "share_of_draws_with_switched_labels": switched,
        "agreement_varies_more_than_independent_errors_z": float(agreement["z"].sel(statistic="variance")),
        "agreement_unlike_independent_errors_p": float(agreement["p_value"].sel(statistic="histogram")),
        "largest_r_hat": _largest_r_hat(tree),
    }
    title = f"Annotators ({min(_SHOWN, len(table))} of {len(table)}, flagged first); intervals are HDI 0.95"
    tables = [
        _output.Table("annotators", table, title, most=_SHOWN),
        _output.Table("confusion", confusion.rename("probability").to_dataframe().reset_index(), most=0),
        _output.Table("checks", _named("check", checks), "Checks of the crowd"),
    ]
    prior_only = "Some draws switch labels: only the prior says that this crowd is better than chance; pass --gold."
    return tables, [prior_only] if switched > _SWITCHED else []


def _largest_r_hat(tree: "xr.DataTree") -> float:
    return float(tree["diagnostics"].to_dataset()["r_hat"].max())


def _named(key: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{key: name, "value": value} for name, value in values.items()]


def _confidence(tree: "xr.DataTree", gold: dict[Any, Any], seed: int) -> dict[str, Any]:
    from bayesagree.calibration.recalibration import calibrate, calibration_scores, gold_items_needed, label_probability

    predicted = calibration_scores(label_probability(tree), gold)
    calibrated = calibrate(tree, gold, seed=seed)
    confidence = calibrated["posterior"].to_dataset()["mean_confidence"]
    return {
        "gold_items": len(gold),
        "accuracy_on_gold": float(predicted["mean_accuracy"]),
        "predicted_on_gold": float(predicted["mean_confidence"]),
        "calibrated_over_all_items": float(confidence.mean()),
        "calibrated_sd": float(confidence.std()),
        "gold_items_for_an_interval_of_0.04": gold_items_needed(calibrated, width=0.04),
    }
