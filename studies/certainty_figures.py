"""Certainty beside agreement and risk, and one item of ratings: figures 8, 9, 10 and 13 of Stutz et al."""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from bayesagree.plots._panels import Panels, new_panels, one_panel, positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Densities are drawn of the first draws.
_SHOWN = 300


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
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figure 13.

    Examples
    --------
    >>> from bayesagree import Labels, annotation_certainty, dirichlet
    >>> from bayesagree.agreement import annotator_agreement
    >>> votes = Labels.from_counts([[4, 0], [3, 1], [2, 2]])
    >>> certainty = annotation_certainty(dirichlet(votes, random_seed=1), exact=True)
    >>> plot_certainty_by_agreement(certainty, annotator_agreement(votes)).get_title()
    '3 items, correlation 1.00'
    """
    x, y = agreement.values, certainty.sel(item=agreement["item"]).values
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 3:
        raise InputError(
            f"{int(known.sum())} items have both certainty and agreement; three or more are needed"
        )
    x, y = x[known], y[known]
    panel = one_panel(axes)
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
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figure 8.

    Examples
    --------
    >>> from bayesagree import Labels, annotation_certainty, dirichlet
    >>> from bayesagree.plausibility.certainty import expected_risk, risk_certainty
    >>> tree = dirichlet(Labels.from_counts([[4, 0, 1], [3, 1, 0]]), draws=50, random_seed=1)
    >>> risk = {0: 0, 1: 1, 2: 1}
    >>> certainty = annotation_certainty(tree, exact=True)
    >>> plot_risk(certainty, risk_certainty(tree, risk), expected_risk(tree, risk)).size
    2
    """
    _, panels = new_panels(axes, 1, 2, width=4, height=3)
    left, right = panels[0]
    left.plot(np.sort(certainty.values), "-", color="C0", label="label")
    left.plot(np.sort(risk_certainty.values), "--", color="C3", label="risk level")
    left.set_ylabel("certainty")
    left.legend(fontsize="small")
    right.plot(np.sort(expected_risk.values), color="0.2")
    right.set_ylabel("expected risk level")
    for panel in (left, right):
        panel.set_xlabel("items, sorted")
    return panels


def plot_rating_item(
    truth: xr.DataTree,
    ratings: Ratings,
    item: Any,
    *,
    threshold: float | None = None,
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw the ratings of one item and normal densities drawn from its posterior of mean and variance.

    Parameters
    ----------
    truth
        Result of `normal_inverse_gamma`.
    ratings
        The same ratings.
    item
        Name of the item.
    threshold
        Where the labels "below" and "at_or_above" part.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figures 9 and 10, right.

    Examples
    --------
    >>> from bayesagree import normal_inverse_gamma
    >>> given = Ratings.from_matrix([[1, 2, 2, 5]], scale=(1, 5), step=1)
    >>> truth = normal_inverse_gamma(given, draws=20, random_seed=1)
    >>> plot_rating_item(truth, given, 0, threshold=3).get_xlabel()
    'rating'
    """
    posterior = truth["posterior"].to_dataset()
    if "variance" not in posterior:
        raise InputError("the posterior has no variance of the ratings; draw it by normal_inverse_gamma")
    at = positions([item], ratings.items, "item")[0]
    low, high = ratings.scale
    x = np.linspace(low - 0.1 * (high - low), high + 0.1 * (high - low), 200)
    mean, variance = (
        posterior[name].sel(item=item).values.ravel()[:_SHOWN, None] for name in ("mean", "variance")
    )
    panel = one_panel(axes, height=2.8)
    own = ratings.rating[ratings.item_index == at]
    step = ratings.step or (high - low) / 20
    panel.hist(
        own,
        bins=np.arange(low - step / 2, high + step, step).tolist(),
        density=True,
        color="0.7",
        label="ratings",
    )
    panel.plot(
        x, sp.stats.norm.pdf(x, mean, np.sqrt(variance)).T[:, :30], color="C2", alpha=0.25, linewidth=0.8
    )
    if threshold is not None:
        share = float((posterior["mean"].sel(item=item) < threshold).mean())
        panel.axvline(threshold, color="0.1", linestyle="--")
        panel.set_title(f"item {item}: Pr(mean below {threshold:g}) = {share:.2f}", fontsize="medium")
    panel.set(
        ylim=(0, 1.6 * float(np.median(sp.stats.norm.pdf(0, 0, np.sqrt(variance))))),
        xlabel="rating",
        ylabel="density",
    )
    return panel
