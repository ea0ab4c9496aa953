"""Figures of the certainty of items."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesagree._types import Named
from bayesagree.errors import InputError
from bayesagree.plots._panels import one_panel, plain, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_certainty(
    curves: Mapping[str, xr.DataArray],
    *,
    order: str | None = None,
    label: str = "annotation certainty",
    limit: float | None = 0.95,
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw values of all items, sorted: the certainty under several models or reliabilities, or a score per item.

    Parameters
    ----------
    curves
        Name to values (item), such as `annotation_certainty` or `per_item` of one model.
    order
        Sort all by this curve, which is then a line and the others are dots; by default each curve is sorted by
        itself.
    label
        What the values are.
    limit
        Where to draw a line, such as the limit of open items; None for none.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figures 3, 7 and 14.

    Examples
    --------
    >>> from bayesagree import Labels, annotation_certainty, dirichlet
    >>> votes = Labels.from_counts([[2, 1], [5, 0], [3, 3]])
    >>> trees = {f"reliability {r}": dirichlet(votes, reliability=r, random_seed=1) for r in (1, 5)}
    >>> curves = {name: annotation_certainty(tree, exact=True) for name, tree in trees.items()}
    >>> len(plot_certainty(curves).lines)
    3
    """
    if not curves or (order is not None and order not in curves):
        raise InputError(f"there is no curve {order!r}; there is {', '.join(curves) or 'none at all'}")
    panel = one_panel(axes)
    for k, (name, values) in enumerate(curves.items()):
        at = np.arange(values.size)
        if order is None or name == order:
            look: Named = style(k) | {"marker": ""}
            panel.plot(at, np.sort(values.values), label=plain(name), **look)
        else:
            reference = curves[order]
            y = values.sel(item=reference["item"]).values[np.argsort(reference.values, kind="stable")]
            panel.plot(at, y, ".", markersize=2, label=plain(name), color=style(k)["color"])
    if limit is not None:
        panel.axhline(limit, color="0.5", linewidth=1, linestyle="-.")
    panel.set(xlabel="items, sorted" if order is None else f"items, sorted by {order}", ylabel=label)
    panel.legend(fontsize="small")
    return panel
