"""Figures; each function returns a matplotlib figure (extra ``plot``) and never changes global settings."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

import xarray as xr

from bayesagree.errors import InputError, some

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# AUC without ground truth


def plot_swap_errors(
    tree: xr.DataTree,
    case: str,
    *,
    labels_per_item: Sequence[int] = (5, 15, 45),
    labels_per_annotator: Sequence[int] = (5, 15, 45),
    auc_methods: Sequence[str] = ("dgt_published", "sgt", "pgt"),
) -> "Figure":
    """Draw the swap errors of one case of the AUC study as a grid of box plots.

    One panel per number of labels per item (rows) and per annotator (columns), one box per method over the runs; the
    dashed line is the mean of the supervised reference over the whole study.

    Parameters
    ----------
    tree
        Result of `bayesagree.studies.auc.auc_study`.
    case
        Which annotators, such as "average".
    labels_per_item, labels_per_annotator
        Rows and columns of the grid.
    auc_methods
        Boxes of each panel.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        A case, a number of labels or a method that the study does not have.

    References
    ----------
    Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
    data, figures 11 to 15.
    """
    from matplotlib.figure import Figure

    errors = tree["study"].to_dataset()["swap_error"]
    wanted = {
        "case": [case], "labels_per_item": labels_per_item, "labels_per_annotator": labels_per_annotator,
        "auc_method": auc_methods,
    }  # fmt: skip
    for dim, values in wanted.items():
        missing = [v for v in values if v not in errors[dim].values]
        if missing:
            raise InputError(f"the study has no {dim} {missing[0]!r}; it has {some(errors[dim].values, 10)}")
    reference = float(errors.sel({"auc_method": "supervised"}).mean())
    names = [name.replace("_published", "").upper() for name in auc_methods]
    n_rows, n_columns = len(labels_per_item), len(labels_per_annotator)
    figure = Figure(figsize=(2.4 * n_columns + 0.8, 2 * n_rows + 0.8), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    for (row, per_item), (column, per_annotator) in product(
        enumerate(labels_per_item), enumerate(labels_per_annotator)
    ):
        place = {"case": case, "labels_per_item": per_item, "labels_per_annotator": per_annotator}
        panel = panels[row, column]
        boxes = [errors.sel(place | {"auc_method": method}).values for method in auc_methods]
        panel.boxplot(boxes, widths=0.6, manage_ticks=False)
        panel.set_xticks(range(1, len(names) + 1), names)
        panel.axhline(reference, color="0.4", linestyle="--", linewidth=1)
        panel.set_title(f"{per_item} labels an item, {per_annotator} an annotator", fontsize="small")
    figure.supylabel("swap error")
    figure.suptitle(f"{case}: share of pairs of models ranked wrongly (dashed: supervised)")
    return figure


# Groups of annotators


def plot_group_heatmap(result: xr.Dataset) -> "Figure":
    """Draw the performance of every model (columns) for every group (rows), with the number of annotators.

    Parameters
    ----------
    result
        Result of `bayesagree.subjective.performance.group_performance`; groups without a value stay white.

    Returns
    -------
    Figure

    References
    ----------
    Balayn and Bozzon (2019), figure 2.
    """
    from matplotlib.figure import Figure

    table = result["performance"].transpose("group", "model")
    n_groups, n_models = table.shape
    figure = Figure(figsize=(1.2 * n_models + 3, 0.35 * n_groups + 1.2), layout="constrained")
    panel = figure.subplots()
    image = panel.imshow(table.values, aspect="auto", cmap="viridis")
    counts = zip(result["group"].values.tolist(), result["n_annotators"].values.tolist())
    panel.set_yticks(range(n_groups), [f"{name} ({n})" for name, n in counts])
    panel.set_xticks(range(n_models), [str(m) for m in result["model"].values])
    middle = (table.min() + table.max()) / 2
    for g, m in product(range(n_groups), range(n_models)):
        value = float(table[g, m])
        if value == value:
            panel.text(m, g, f"{value:.2f}", ha="center", va="center", color="black" if value > middle else "white")
    figure.colorbar(image, ax=panel, label=str(result.attrs["metric"]))
    panel.set_ylabel(f"{result.attrs['by']} (annotators)")
    return figure


def plot_group_intervals(tree: xr.DataTree) -> "Figure":
    """Draw the posterior of every group's accuracy as an interval (HDI 0.95), one panel per model.

    Parameters
    ----------
    tree
        Result of `bayesagree.subjective.group_model.group_posterior`.

    Returns
    -------
    Figure
    """
    from matplotlib.figure import Figure

    from bayesagree.subjective.group_model import group_summary

    summary = group_summary(tree)
    models, groups = summary["model"].values, summary["group"].values
    sizes = tree["constant_data"].to_dataset()["n_annotators"].values
    figure = Figure(figsize=(3 * len(models) + 2, 0.3 * len(groups) + 1.2), layout="constrained")
    panels = figure.subplots(1, len(models), sharex=True, sharey=True, squeeze=False)[0]
    for panel, model in zip(panels, models):
        one = summary.sel(model=model)
        panel.hlines(range(len(groups)), one["lower"].values, one["upper"].values, color="C0")
        panel.plot(one["mean"].values, range(len(groups)), "o", color="C0")
        panel.axvline(float(one["mean"].mean()), color="0.6", linestyle="--", linewidth=1)
        panel.set_title(str(model), fontsize="medium")
        panel.set_xlabel("accuracy, HDI 0.95")
    panels[0].set_yticks(range(len(groups)), [f"{g} ({n})" for g, n in zip(groups, sizes)])
    panels[0].invert_yaxis()
    return figure


def plot_disagreement_by_quality(
    rate: xr.DataArray, quality: xr.DataArray, *, edges: Sequence[float] = (0, 0.2, 0.4, 0.6, 0.8, 1)
) -> "Figure":
    """Draw the distribution of the disagreement rate for ranges of the annotators' CrowdTruth quality.

    Parameters
    ----------
    rate, quality
        `disagreement_rate` and the WQS of `crowdtruth`, on the same annotators.
    edges
        Edges of the ranges of quality; ranges without annotators are left out.

    Returns
    -------
    Figure

    References
    ----------
    Balayn and Bozzon (2019), figure 3b.
    """
    from matplotlib.figure import Figure

    if not rate["annotator"].equals(quality["annotator"]):
        raise InputError("rate and quality are of different annotators; compute both from the same labels")
    last = len(edges) - 2
    boxes: dict[str, xr.DataArray] = {}
    for i in range(last + 1):
        inside = (quality >= edges[i]) & ((quality <= edges[i + 1]) if i == last else (quality < edges[i + 1]))
        rates = rate.where(inside & rate.notnull(), drop=True)
        if rates.size:
            boxes[f"{edges[i]:g}-{edges[i + 1]:g}\n({rates.size})"] = rates
    if not boxes:
        raise InputError(f"no annotator has a quality within {edges[0]:g} to {edges[-1]:g}")
    figure = Figure(figsize=(1.2 * len(boxes) + 1.5, 3), layout="constrained")
    panel = figure.subplots()
    panel.boxplot([values.to_numpy() for values in boxes.values()], widths=0.6, manage_ticks=False)
    panel.set_xticks(range(1, len(boxes) + 1), list(boxes))
    panel.set_xlabel("quality WQS (annotators)")
    panel.set_ylabel("disagreement with the majority")
    return figure


# Reliability


def plot_reliability_curve(curves: Mapping[str, xr.Dataset] | xr.Dataset) -> "Figure":
    """Draw how far each reliability is behind the best one in predicting the annotator left out, and its agreement.

    Upper panels: log score behind the best with its HDI 0.95 over items (lower is better). Lower panels: probability
    that two further annotators make the same first choice; dashed, the observed share.

    Parameters
    ----------
    curves
        Results of `bayesagree.reliability.reliability_curve` by title, or one of them.

    Returns
    -------
    Figure
    """
    from matplotlib.figure import Figure

    named = {str(curves.attrs.get("plausibility", "")): curves} if isinstance(curves, xr.Dataset) else dict(curves)
    figure = Figure(figsize=(2.6 * len(named) + 0.6, 4.2), layout="constrained")
    panels = figure.subplots(2, len(named), sharex="col", squeeze=False)
    for column, (title, curve) in enumerate(named.items()):
        score, agreement = panels[:, column]
        at = curve["reliability"].values
        score.fill_between(at, curve["behind_lower"].values, curve["behind_upper"].values, alpha=0.3)
        score.plot(at, curve["behind"].values, marker=".")
        score.axvline(float(curve["best"]), color="0.6", linewidth=1)
        score.set_title(title, fontsize="small")
        agreement.fill_between(at, curve["agreement_lower"].values, curve["agreement_upper"].values, alpha=0.3)
        agreement.plot(at, curve["agreement"].values, marker=".")
        agreement.axhline(float(curve["observed_agreement"]), color="0.4", linestyle="--", linewidth=1)
        agreement.set_xscale("log")
        agreement.set_xlabel("reliability")
    panels[0, 0].set_ylabel("log score behind the best")
    panels[1, 0].set_ylabel("agreement")
    return figure
