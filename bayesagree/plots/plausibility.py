"""Figures of the posterior of an item: strips of plausibilities, and points on the simplex."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._types import SAMPLE, Floats
from bayesagree.errors import InputError
from bayesagree.inference.cells import row_shares
from bayesagree.inference.top_labels import plausibility_draws
from bayesagree.plots._panels import COLOURS, MARKERS, one_panel, plain, positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 300


def plot_plausibility(
    truth: xr.DataTree,
    item: Any,
    *,
    point: xr.DataArray | None = None,
    most: int = 8,
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw the plausibilities of one item, a dot for every draw, with the share of draws in which each label leads.

    Parameters
    ----------
    truth
        A posterior with full plausibilities.
    item
        Name of the item.
    point
        A point estimate (item, category) to draw as bars, such as `irn`.
    most
        How many labels, those with the largest mean plausibility.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figures 1, 5 and 15.

    Examples
    --------
    >>> from bayesagree import Labels, dirichlet
    >>> truth = dirichlet(Labels.from_counts([[30, 1, 1]], labels=["cat", "dog", "fox"]), draws=50, random_seed=1)
    >>> plot_plausibility(truth, 0).get_title()
    'item 0: 200 draws, line = mean'
    """
    values = _draws(truth, [item])[0]
    labels = np.asarray(truth["posterior/category"])[: values.shape[1]]
    shown = np.argsort(-values.mean(axis=0), kind="stable")[:most]
    leads = (values.argmax(axis=1)[:, None] == shown).mean(axis=0)
    panel = one_panel(axes, width=0.9 * len(shown) + 1.5, height=3.4)
    if point is not None:
        at = positions([item], point["item"].values, "item")[0]
        known = positions(labels[shown].tolist(), point["category"].values, "category")
        heights = point.transpose("item", "category").values[at, known]
        panel.bar(range(len(shown)), heights, color="0.8", label=str(point.name or "point"))
    few = values[:: max(1, len(values) // _SHOWN)]
    shift = np.linspace(-0.28, 0.28, len(few))[np.random.default_rng(1).permutation(len(few))]
    for k, label in enumerate(shown):
        panel.plot(k + shift, few[:, label], ".", color=COLOURS[0], markersize=2.5, alpha=0.6)
        panel.plot([k - 0.35, k + 0.35], [values[:, label].mean()] * 2, color="0.1", linewidth=1.5)
    names = [f"{plain(labels[k])}\n{share:.0%} on top" for k, share in zip(shown, leads)]
    panel.set_xticks(range(len(shown)), names, rotation=30, ha="right", fontsize="small")
    panel.set(ylabel="plausibility", ylim=(0, None))
    panel.set_title(f"item {plain(item)}: {len(values)} draws, line = mean", fontsize="medium")
    if point is not None:
        panel.legend(fontsize="small")
    return panel


def plot_simplex(
    truth: xr.DataTree, items: Sequence[Any], *, labels: Sequence[Any] | None = None, axes: "Axes | None" = None
) -> "Axes":
    """Draw the plausibilities of items on the triangle of three labels: at a corner one label is certain.

    The spread of an item's points is what more annotations could settle; their place is how ambiguous the item is.

    Parameters
    ----------
    truth
        A posterior with full plausibilities.
    items
        Names of a few items; each gets a colour and a marker.
    labels
        The three labels at the corners, by default all where there are three. With more labels, their plausibilities
        are rescaled to sum to one.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figure 2.

    Examples
    --------
    >>> from bayesagree import Labels, dirichlet
    >>> votes = Labels.from_counts([[3, 1, 0], [0, 0, 9]], labels=["cat", "dog", "fox"])
    >>> truth = dirichlet(votes, draws=50, random_seed=1)
    >>> [text.get_text() for text in plot_simplex(truth, [0, 1]).texts]
    ['cat', 'dog', 'fox']
    """
    if "category" not in truth["posterior"].coords:
        raise InputError("a simplex is of labels, and this posterior has none")
    names = np.asarray(truth["posterior/category"])
    corners = names.tolist() if labels is None else list(labels)
    if len(corners) != 3:
        raise InputError(f"a simplex has three labels, not {len(corners)}; choose them with labels=[...]")
    at = positions(corners, names, "category")
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    panel = one_panel(axes, width=4.6, height=4.2)
    panel.fill(*triangle.T, facecolor="none", edgecolor="0.4")
    for k, (item, values) in enumerate(zip(items, _draws(truth, items))):
        spots = row_shares(values[:: max(1, len(values) // _SHOWN), at]) @ triangle
        marker = MARKERS[k % len(MARKERS)]
        panel.plot(
            *spots.T, marker, color=COLOURS[k % len(COLOURS)], markersize=3, alpha=0.5, label=plain(item)
        )
    for name, corner, side in zip(corners, triangle, ("right", "left", "center")):
        panel.annotate(
            plain(name), corner, ha=side, xytext=(0, 8 if side == "center" else -12), textcoords="offset points"
        )
    panel.set_axis_off()
    panel.set_aspect("equal")
    panel.margins(0.08)
    panel.legend(title="item", fontsize="small", markerscale=2, loc="upper right")
    return panel


def _draws(truth: xr.DataTree, items: Sequence[Any]) -> Floats:
    """Return plausibilities, shape (item, draw, label)."""
    if "plausibility" not in truth["posterior"].data_vars:
        if "mean" in truth["posterior"].data_vars:
            raise InputError("this posterior is of ratings and has no plausibilities")
        raise InputError("the posterior has no full plausibilities; draw it without top_labels")
    values = plausibility_draws(truth)
    at = positions(items, values["item"].values, "item")
    return values.isel(item=at).stack(sample=SAMPLE).transpose("item", "sample", "category").values
