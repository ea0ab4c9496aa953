"""Figures of the certainty of items, of risk and of agreement."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesagree.errors import InputError
from bayesagree.plots._panels import LINES, Panels, new_panels, on_axes, on_panels, one_panel, sorted_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@on_axes
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
    {axes}

    {returns}

    References
    ----------
    Stutz et al. (2023), figures 3, 7 and 14.

    Examples
    --------
    >>> from bayesagree import Labels, annotation_certainty, dirichlet
    >>> votes = Labels.from_counts([[2, 1], [5, 0], [3, 3]])
    >>> trees = {f"reliability {r}": dirichlet(votes, reliability=r, seed=1) for r in (1, 5)}
    >>> curves = {name: annotation_certainty(tree, exact=True) for name, tree in trees.items()}
    >>> len(plot_certainty(curves).lines)
    3
    """
    if not curves or (order is not None and order not in curves):
        raise InputError(f"there is no curve {order!r}; there is {', '.join(curves) or 'none at all'}")
    _, panel = one_panel(axes)
    for k, (name, values) in enumerate(curves.items()):
        at = np.arange(values.size)
        if order is None or name == order:
            panel.plot(
                at, sorted_curve(values.values).value, label=name, color=f"C{k % 10}", linestyle=LINES[k % len(LINES)]
            )
        else:
            reference = curves[order]
            y = values.sel(item=reference["item"]).values[np.argsort(reference.values, kind="stable")]
            panel.plot(at, y, ".", markersize=2, label=name, color=f"C{k % 10}")
    if limit is not None:
        panel.axhline(limit, color="0.5", linewidth=1, linestyle="-.")
    panel.set(xlabel="items, sorted" if order is None else f"items, sorted by {order}", ylabel=label)
    panel.legend(fontsize="small")
    return panel


@on_axes
def plot_certainty_by_agreement(
    certainty: xr.DataArray, agreement: xr.DataArray, *, axes: "Axes | None" = None
) -> "Axes":
    """Draw the annotation certainty of the items against the agreement of their annotators, with a straight line.

    Parameters
    ----------
    certainty
        `annotation_certainty` (item).
    agreement
        `annotator_agreement` (item); items without it are left out.
    {axes}

    {returns}

    References
    ----------
    Stutz et al. (2023), figure 13.

    Examples
    --------
    >>> from bayesagree import Labels, annotation_certainty, dirichlet
    >>> from bayesagree.agreement import annotator_agreement
    >>> votes = Labels.from_counts([[4, 0], [3, 1], [2, 2]])
    >>> certainty = annotation_certainty(dirichlet(votes, seed=1), exact=True)
    >>> plot_certainty_by_agreement(certainty, annotator_agreement(votes)).get_title()
    '3 items, correlation 1.00'
    """
    x, y = agreement.values, certainty.sel(item=agreement["item"]).values
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 3:
        raise InputError(f"{int(known.sum())} items have both certainty and agreement; three or more are needed")
    x, y = x[known], y[known]
    _, panel = one_panel(axes)
    shift = np.random.default_rng(1).uniform(-0.01, 0.01, x.size)
    panel.plot(x + shift, y, ".", markersize=3, alpha=0.5)
    title = f"{x.size} items"
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        slope, start = np.polyfit(x, y, 1)
        ends = np.array([x.min(), x.max()])
        panel.plot(ends, start + slope * ends, color="0.3")
        title += f", correlation {np.corrcoef(x, y)[0, 1]:.2f}"
    panel.set_title(title, fontsize="medium")
    panel.set(xlabel="agreement of the annotators", ylabel="annotation certainty")
    return panel


@on_panels
def plot_risk(
    certainty: xr.DataArray,
    risk_certainty: xr.DataArray,
    expected_risk: xr.DataArray,
    *,
    axes: Panels | None = None,
) -> Panels:
    """Draw how certain the label and the risk level of the items are, and the expected risk, each sorted.

    Parameters
    ----------
    certainty, risk_certainty, expected_risk
        Results of the functions of these names (item); `annotation_certainty` the first.
    {axes}

    {returns}

    References
    ----------
    Stutz et al. (2023), figure 8.

    Examples
    --------
    >>> from bayesagree import Labels, annotation_certainty, dirichlet
    >>> from bayesagree.plausibility.certainty import expected_risk, risk_certainty
    >>> tree = dirichlet(Labels.from_counts([[4, 0, 1], [3, 1, 0]]), draws=50, seed=1)
    >>> risk = {0: 0, 1: 1, 2: 1}
    >>> certainty = annotation_certainty(tree, exact=True)
    >>> plot_risk(certainty, risk_certainty(tree, risk), expected_risk(tree, risk)).size
    2
    """
    _, panels = new_panels(axes, 1, 2, width=4, height=3)
    left, right = panels[0]
    left.plot(sorted_curve(certainty.values).value, "-", color="C0", label="label")
    left.plot(sorted_curve(risk_certainty.values).value, "--", color="C3", label="risk level")
    left.set_ylabel("certainty")
    left.legend(fontsize="small")
    right.plot(sorted_curve(expected_risk.values).value, color="0.2")
    right.set_ylabel("expected risk level")
    for panel in (left, right):
        panel.set_xlabel("items, sorted")
    return panels
