"""Figures of groups of annotators: whom a model serves, who disagrees, who annotated."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree.errors import InputError
from bayesagree.inference.intervals import column_hdi
from bayesagree.plots._panels import (
    Panels,
    new_panels,
    one_panel,
    with_sizes,
    wrapped_panels,
    write_cells,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_group_heatmap(result: xr.Dataset, *, axes: "Axes | None" = None) -> "Axes":
    """Draw the performance of every model (columns) for every group (rows), with the number of annotators.

    Parameters
    ----------
    result
        Result of `bayesagree.subjective.performance.group_performance`; groups without a value stay white.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Balayn and Bozzon (2019), figure 2.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesagree import Annotators, Labels, Predictions
    >>> from bayesagree.subjective import group_performance
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"]], annotators=list("xyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("xyz"), "gender": ["f", "f", "m"]}))
    >>> model = Predictions.from_labels({"A": ["a", "b"]}, labels=["a", "b"])
    >>> axes = plot_group_heatmap(group_performance(votes, model, people, by=["gender"]))
    >>> [text.get_text() for text in axes.texts]
    ['1.00', '0.00']
    """
    table = result["performance"].transpose("group", "model").values
    n_groups, n_models = table.shape
    figure, panel = one_panel(axes, width=1.2 * n_models + 3, height=0.35 * n_groups + 1.2)
    image = panel.imshow(table, aspect="auto", cmap="viridis")
    panel.set_yticks(range(n_groups), with_sizes(result["group"].values, result["n_annotators"].values))
    panel.set_xticks(range(n_models), [str(m) for m in result["model"].values])
    middle = (np.nanmin(table) + np.nanmax(table)) / 2
    write_cells(panel, table, lambda v, g, m: "" if v != v else f"{v:.2f}", light_above=False, limit=middle)
    figure.colorbar(image, ax=panel, label=str(result.attrs["metric"]))
    panel.set_ylabel(f"{result.attrs['by']} (annotators)")
    return panel


def plot_group_intervals(result: xr.DataTree, *, axes: Panels | None = None) -> Panels:
    """Draw the posterior of every group's accuracy as an interval (HDI 0.95), one panel per model.

    Parameters
    ----------
    result
        Result of `bayesagree.subjective.group_model.group_posterior`.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)
        The axes drawn in.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesagree import Annotators, Labels, Predictions, group_posterior
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"]], annotators=list("xyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("xyz"), "gender": ["f", "f", "m"]}))
    >>> model = Predictions.from_labels({"A": ["a", "b"]}, labels=["a", "b"])
    >>> result = group_posterior(votes, model, people, by=["gender"], draws=50, random_seed=1)
    >>> plot_group_intervals(result).flat[0].get_xlabel()
    'accuracy, HDI 0.95'
    """
    drawn = result["posterior"]["performance"].transpose("model", "chain", "draw", "group")
    models, groups = drawn["model"].values, drawn["group"].values
    sizes = result["constant_data"].to_dataset()["n_annotators"].values
    _, panels = new_panels(
        axes, 1, len(models), width=3, height=0.3 * len(groups) + 1.2, margin=(2, 0), sharex=True, sharey=True
    )
    for panel, model, draws in zip(panels[0], models, drawn.values.reshape(len(models), -1, len(groups))):
        mean = draws.mean(axis=0)
        panel.hlines(range(len(groups)), *column_hdi(draws), color="C0")
        panel.plot(mean, range(len(groups)), "o", color="C0")
        panel.axvline(mean.mean(), color="0.6", linestyle="--", linewidth=1)
        panel.set_title(str(model), fontsize="medium")
        panel.set_xlabel("accuracy, HDI 0.95")
    panels[0, 0].set_yticks(range(len(groups)), with_sizes(groups, sizes))
    panels[0, 0].invert_yaxis()
    return panels


def plot_disagreement_by_quality(
    rate: xr.DataArray,
    quality: xr.DataArray,
    *,
    edges: Sequence[float] = (0, 0.2, 0.4, 0.6, 0.8, 1),
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw the distribution of the disagreement rate for ranges of the annotators' CrowdTruth quality.

    Parameters
    ----------
    rate, quality
        `disagreement_rate` and the WQS of `crowdtruth`, on the same annotators.
    edges
        Edges of the ranges of quality; ranges without annotators are left out.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Balayn and Bozzon (2019), figure 3b.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> from bayesagree.subjective import crowdtruth, disagreement_rate
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> plot_disagreement_by_quality(disagreement_rate(votes), crowdtruth(votes)["wqs"]).get_xlabel()
    'quality WQS (annotators)'
    """
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
    _, panel = one_panel(axes, width=1.2 * len(boxes) + 1.5, height=3)
    panel.boxplot([values.to_numpy() for values in boxes.values()], widths=0.6, manage_ticks=False)
    panel.set_xticks(range(1, len(boxes) + 1), list(boxes))
    panel.set(xlabel="quality WQS (annotators)", ylabel="disagreement with the majority")
    return panel


def plot_annotator_quality(
    quality: xr.DataArray, apart: Iterable[Any] = (), *, axes: "Axes | None" = None
) -> "Axes":
    """Draw the distribution of the annotators' CrowdTruth quality, some of them apart.

    Parameters
    ----------
    quality
        WQS of `crowdtruth` (annotator).
    apart
        Names of annotators to draw hatched, such as those who label as if at random.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Balayn and Bozzon (2019), figure 3a.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> from bayesagree.subjective import crowdtruth
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> plot_annotator_quality(crowdtruth(votes)["wqs"]).get_xlabel()
    'quality WQS'
    """
    known = quality.dropna("annotator")
    _, panel = one_panel(axes)
    named = known["annotator"].isin(list(apart)).values
    groups = (
        {"apart": known.values[named], "others": known.values[~named]}
        if named.any()
        else {"annotators": known.values}
    )
    edges = np.linspace(0, 1, 21)
    names = [f"{name} ({values.size})" for name, values in groups.items()]
    panel.hist(list(groups.values()), bins=edges.tolist(), stacked=True, label=names, edgecolor="0.2")
    for patches, hatch in zip(panel.containers, ("//", "") if named.any() else ("",)):
        for patch in patches:
            patch.set_hatch(hatch)
    panel.set(xlabel="quality WQS", ylabel="annotators")
    panel.legend(fontsize="small")
    return panel


def plot_shares(distributions: "pd.DataFrame", *, axes: Panels | None = None) -> Panels:
    """Draw how annotators, items and labels are distributed, one panel for each feature, with their targets.

    Parameters
    ----------
    distributions
        The table of a `SpecificationReport`: columns kind, feature, value, target, actual, n.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)
        The axes drawn in.

    References
    ----------
    Balayn and Bozzon (2019), figures 4 and 5.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesagree import Annotators, Labels
    >>> from bayesagree.subjective import EvaluationSpecification, check_specification
    >>> votes = Labels.from_matrix([["a", "b", "a"]], annotators=list("xyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("xyz"), "gender": ["f", "f", "m"]}))
    >>> declared = EvaluationSpecification("unequal accuracy", protected=["gender"])
    >>> [panel.get_title() for panel in plot_shares(check_specification(declared, votes, people).distributions).flat]
    ['annotator: gender', 'label: label']
    """
    groups = list(distributions.groupby(["kind", "feature"], sort=False))
    if not groups:
        raise InputError("there is no distribution to draw: the specification names no feature")
    _, panels = wrapped_panels(axes, len(groups), 3, width=3.2, height=2.4)
    for panel, (names, rows) in zip(panels.ravel(), groups):
        kind, feature = names  # type: ignore[misc]
        at = np.arange(len(rows))
        panel.barh(at, 100 * rows["actual"].to_numpy(float), color="C0", alpha=0.7, label="actual")
        panel.plot(100 * rows["target"].to_numpy(float), at, "D", color="0.1", label="target")
        panel.set_yticks(at, with_sizes(rows["value"], rows["n"]), fontsize="small")
        panel.invert_yaxis()
        panel.set_title(f"{kind}: {feature}", fontsize="medium")
        panel.set_xlabel("share (%)")
    panels[0, 0].legend(fontsize="small")
    return panels
