"""`bayesagree auc`: area under the curve of models against crowd labels of two kinds."""

from pathlib import Path
from typing import TYPE_CHECKING

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from bayesagree.annotations import Labels
    from bayesagree.annotations.predictions import Predictions
    from bayesagree.metrics.crowd_auc import AucMethod


def auc(
    source: _options.Source,
    columns: _options.PredictionColumns,
    sampling: _options.Sampling,
    predictions: Path | None = None,
    positive: str | None = None,
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Show the area under the curve of each model without ground truth, by every definition of the truth.

    auc is against the labels themselves, with its interval; pgt, dgt and sgt are the published estimates. prob_best is
    of draws of plausible truths.

    Example: bayesagree auc labels.csv scores.csv
    """
    labels, known = source.read()
    if labels.kind != "labels":
        raise InputError("the AUC is of labels of two kinds; turn ratings into labels by a threshold first")
    labels = _with_positive(labels, positive)
    if predictions is not None:
        known = source.predictions(predictions, columns, labels.categories.tolist())
    if known is None:
        raise InputError("there are no predictions: give a file of predictions")
    table, ceiling = _areas(labels, known, sampling)
    _output.write_table(table, output)
    settings = {
        "positive": labels.categories[-1],
        "items": labels.items.size,
        "ceiling": ceiling,
        "seed": sampling.seed,
    }
    note = (
        f"{settings['positive']} is positive; {settings['items']} items. A model that ranks items by their share of "
        f"positive labels has an auc of {ceiling:.3f}."
    )
    shown = [
        _output.Table("settings", [settings], most=0),
        _output.Table("auc", table, "Area under the curve, 95 % HDI over items"),
    ]
    _output.show(shown, json=json, notes=[note])


def _areas(labels: "Labels", predictions: "Predictions", sampling: _options.Sampling) -> tuple["pd.DataFrame", float]:
    """Return one row for each model, the best first, and the largest area that the labels allow."""
    import pandas as pd

    from bayesagree._numerics.intervals import column_hdi
    from bayesagree._numerics.ranks import rank_probabilities
    from bayesagree.metrics import auc as estimate
    from bayesagree.metrics import auc_posterior

    n_models, drawing = predictions.models.size, vars(sampling)
    tree = auc_posterior(labels, predictions, truth_is="labels", **drawing)["posterior"].to_dataset()
    truths = auc_posterior(labels, predictions, **drawing)["posterior"].to_dataset()["auc"]
    drawn = tree["auc"].values.reshape(-1, n_models)
    lower, upper = column_hdi(drawn)
    table = pd.DataFrame({"model": predictions.models, "auc": drawn.mean(axis=0), "lower": lower, "upper": upper})
    methods: list[AucMethod] = ["pgt", "dgt", "sgt"] if labels.annotators_known else ["pgt", "dgt"]
    for method in methods:
        table[method] = estimate(labels, predictions, method=method, seed=sampling.seed).values
    table["prob_best"] = rank_probabilities(truths.values.reshape(-1, n_models))[:, 0]
    return table.sort_values("auc", ascending=False, ignore_index=True), float(tree["ceiling"].mean())


def _with_positive(labels: "Labels", positive: str | None) -> "Labels":
    """Return the labels with the positive one last."""
    from dataclasses import replace

    names = [str(name) for name in labels.categories]
    if len(names) != 2:
        raise InputError(f"the AUC is of labels of two kinds, here are {len(names)}; make one against the rest")
    if positive is None or positive == names[1]:
        return labels
    if positive not in names:
        raise InputError(f"--positive {positive!r} is not one of {', '.join(names)}")
    return replace(labels, categories=labels.categories[::-1].copy(), label_index=1 - labels.label_index)
