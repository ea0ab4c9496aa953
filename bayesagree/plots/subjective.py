"""Figures of groups of annotators: whom a model serves."""

import numpy as np
import xarray as xr

from bayesagree.inference.intervals import column_hdi
from bayesagree.plots._panels import COLOURS, Panels, heat_map, new_panels, plain, with_sizes


def plot_groups(result: xr.Dataset | xr.DataTree, *, axes: Panels | None = None) -> Panels:
    """Draw how well every model serves every group of annotators.

    Parameters
    ----------
    result
        Of `bayesagree.subjective.performance.group_performance`: one panel, a cell for each group (row) and model
        (column), white without a value. Of `group_posterior`: a panel for each model, with the interval (HDI 0.95) of
        every group and a dashed line at their mean.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)
        The axes drawn in. The number behind a group is that of its annotators.

    References
    ----------
    Balayn and Bozzon (2019), figure 2.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesagree import Annotators, Labels, Predictions, group_posterior
    >>> from bayesagree.subjective import group_performance
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"]], annotators=list("xyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("xyz"), "gender": ["f", "f", "m"]}))
    >>> model = Predictions.from_labels({"A": ["a", "b"]}, labels=["a", "b"])
    >>> axes = plot_groups(group_performance(votes, model, people, by=["gender"]))
    >>> [text.get_text() for text in axes[0, 0].texts]
    ['1.00', '0.00']
    >>> result = group_posterior(votes, model, people, by=["gender"], draws=50, random_seed=1)
    >>> plot_groups(result)[0, 0].get_xlabel()
    'accuracy, HDI 0.95'
    """
    return _intervals(result, axes) if isinstance(result, xr.DataTree) else _cells(result, axes)


def _cells(result: xr.Dataset, axes: Panels | None) -> Panels:
    table = result["performance"].transpose("group", "model").values
    n_groups, n_models = table.shape
    _, panels = new_panels(axes, width=1.2 * n_models + 3, height=0.35 * n_groups + 1.2)
    panel = panels[0, 0]
    options = {"aspect": "auto", "label": str(result.attrs["metric"])}
    middle = (np.nanmin(table) + np.nanmax(table)) / 2
    heat_map(panel, table, lambda v, g, m: "" if v != v else f"{v:.2f}", middle=middle, **options)
    panel.set_yticks(range(n_groups), with_sizes(result["group"].values, result["n_annotators"].values))
    panel.set_xticks(range(n_models), [plain(m) for m in result["model"].values])
    panel.set_ylabel(f"{plain(result.attrs['by'])} (annotators)")
    return panels


def _intervals(result: xr.DataTree, axes: Panels | None) -> Panels:
    drawn = result["posterior/performance"].transpose("model", "chain", "draw", "group")
    models, groups = drawn["model"].values, drawn["group"].values
    names = with_sizes(groups, result["constant_data"].to_dataset()["n_annotators"].values)
    at = range(len(groups))
    _, panels = new_panels(
        axes, 1, len(models), width=3, height=0.3 * len(groups) + 1.2, margin=(2, 0), sharex=True, sharey=True
    )
    for panel, model, draws in zip(panels[0], models, drawn.values.reshape(len(models), -1, len(groups))):
        panel.hlines(at, *column_hdi(draws), color=COLOURS[0])
        panel.plot(draws.mean(axis=0), at, "o", color=COLOURS[0])
        panel.axvline(draws.mean(), color="0.6", linestyle="--", linewidth=1)
        panel.set(title=plain(model), xlabel="accuracy, HDI 0.95")
    panels[0, 0].set_yticks(at, names)
    panels[0, 0].invert_yaxis()
    return panels
