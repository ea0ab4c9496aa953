"""`bayesagree annotators`: what every annotator is worth, and what is odd about the crowd."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesagree.cli import _input, _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayesagree.annotations import Labels

_SWITCHED = 0.01
"""Share of draws with switched labels that is worth a word."""
_SHOWN = 30


def annotators(
    annotations: _options.AnnotationsFile = None,
    data: _options.Data = None,
    gold: Annotated[
        Path | None, typer.Option("--gold", help="Table of items whose true label is known: columns item and label.")
    ] = None,
    variant: Annotated[
        str,
        typer.Option(help="full, one_coin, class_conditional, hierarchical, item_difficulty or mixed_membership."),
    ] = "hierarchical",
    draws: _options.Draws = 500,
    chains: _options.Chains = 4,
    seed: _options.Seed = 1,
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    labels: _options.LabelNames = None,
    duplicates: _options.Duplicates = "error",
    as_json: _options.Json = False,
) -> None:
    """Rate the annotators: posterior accuracy, confusion, labels given, flags, and checks of the crowd.

    With --gold, gold items teach the annotators' confusion, and a second fit without them shows how far the claimed
    confidence is from the accuracy on gold, before and after calibration.

    Example: bayesagree annotators labels.csv --gold gold.csv
    """
    from bayesagree.annotations import Labels
    from bayesagree.plausibility.dawid_skene.posterior import dawid_skene

    columns = {"item": item, "annotator": annotator, "label": label}
    crowd, _ = _input.read(
        annotations, data, columns=columns, scale=None, step=None, labels=labels, duplicates=duplicates
    )
    if not isinstance(crowd, Labels):
        raise InputError(f"annotators are rated on single labels, not on {type(crowd).__name__.lower()}")
    known = {} if gold is None else _read_gold(gold, item, label, crowd)
    options: dict[str, Any] = {"variant": variant, "draws": draws, "chains": chains, "seed": seed}
    with _output.progress("rating annotators", 4 if known else 2) as advance:
        tree = blind = dawid_skene(crowd, **options)
        advance()
        if known:
            tree = dawid_skene(crowd, **options, gold=known)
            advance()
        answer = _summary(crowd, tree)
        advance()
        if known:
            answer["confidence"] = _confidence(blind, known, seed)
            advance()
    if as_json:
        _output.show_json(answer)
    else:
        _show(answer)


def _read_gold(path: Path, item: str, label: str, crowd: "Labels") -> dict[Any, Any]:
    """Read gold labels; items nobody labelled are left out."""
    from bayesagree.io.files import read_table

    table = read_table(path)
    column = next((c for c in (label, "gold", "truth") if c in table.columns), None)
    if item not in table.columns or column is None:
        raise InputError(f"{str(path)!r} needs the columns {item!r} and {label!r}; it has {', '.join(table.columns)}")
    items = set(crowd.items.tolist())
    gold = {i: truth for i, truth in zip(table[item].tolist(), table[column].tolist()) if i in items}
    if not gold:
        raise InputError(f"{str(path)!r}: none of its items has labels in the annotations")
    return gold


def _summary(crowd: "Labels", tree: "xr.DataTree") -> dict[str, Any]:
    from bayesagree.predictive.annotator_checks import (
        agreement_check,
        annotation_parts,
        annotator_table,
        label_switching,
    )

    table = annotator_table(tree)
    confusion = tree["posterior"].to_dataset()["confusion"].mean(("chain", "draw"))
    table["confusion"] = confusion.transpose("annotator", "category", "observed_category").values.tolist()
    parts = annotation_parts(crowd)
    agreement = agreement_check(crowd, tree, seed=1)
    return {
        "labels": crowd.labels.tolist(),
        "annotators": _records(table.drop(columns="flags")) | {"flags": table["flags"].tolist()},
        "checks": {
            "disconnected_groups_of_annotators": int(parts.max()) + 1,
            "share_of_draws_with_switched_labels": label_switching(tree),
            "agreement_varies_more_than_independent_errors_z": float(agreement["z"].sel(statistic="variance")),
            "agreement_unlike_independent_errors_p": float(agreement["p_value"].sel(statistic="histogram")),
            "largest_r_hat": float(tree["sample_stats"].to_dataset()["r_hat"].max()),
        },
    }


def _records(table: "pd.DataFrame") -> dict[str, Any]:
    return {str(name): table[name].tolist() for name in table.columns}


def _confidence(tree: "xr.DataTree", gold: dict[Any, Any], seed: int) -> dict[str, Any]:
    from bayesagree.calibration.recalibration import calibrate, calibration_scores, gold_items_needed, label_probability

    claimed = calibration_scores(label_probability(tree), gold)
    calibrated = calibrate(tree, gold, seed=seed)
    confidence = calibrated["posterior"].to_dataset()["mean_confidence"]
    return {
        "gold_items": len(gold),
        "accuracy_on_gold": float(claimed["mean_accuracy"]),
        "claimed_on_gold": float(claimed["mean_confidence"]),
        "calibrated_over_all_items": float(confidence.mean()),
        "calibrated_sd": float(confidence.std()),
        "gold_items_for_an_interval_of_0.04": gold_items_needed(calibrated, width=0.04),
    }


def _show(answer: dict[str, Any]) -> None:
    table = answer["annotators"]
    order = sorted(range(len(table["annotator"])), key=lambda j: (not table["flags"][j], -table["n_labels_given"][j]))
    numbers = ("n_labels_given", "accuracy", "lower", "upper", "prob_below_chance")
    rows = [
        [str(table["annotator"][j]), *(table[name][j] for name in numbers), ", ".join(table["flags"][j])]
        for j in order[:_SHOWN]
    ]
    title = f"Annotators ({len(rows)} of {len(order)}, flagged first); intervals are HDI 0.95"
    _output.show_table(
        ["annotator", "labels", "accuracy", "lower", "upper", "Pr(below chance)", "flags"], rows, title=title
    )
    checks = [[name.replace("_", " "), float(value)] for name, value in answer["checks"].items()]
    _output.show_table(["check", "value"], checks)
    if answer["checks"]["share_of_draws_with_switched_labels"] > _SWITCHED:
        typer.echo(
            "Some draws switch labels: nothing but the prior says that this crowd is better than chance; pass --gold.",
            err=True,
        )
    if "confidence" in answer:
        rows = [[name.replace("_", " "), float(value)] for name, value in answer["confidence"].items()]
        _output.show_table(["confidence", "value"], rows)
    else:
        typer.echo(
            "Labels alone do not tell how far the confidence is too high; pass --gold with 50 or more items.", err=True
        )
