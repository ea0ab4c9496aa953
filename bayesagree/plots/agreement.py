"""Figures of common agreement Phi: posterior, fit to each item, dependence on the sample."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._numerics.intervals import column_hdi
from bayesagree.agreement.bland_altman import limits_of_agreement, paired
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from bayesagree.plots._panels import LINES, Panels, on_panels, positions, wrapped_panels

_GRID = np.linspace(0.002, 0.998, 250)


@on_panels
def plot_item_fits(
    result: xr.DataTree, ratings: Ratings, *, items: Sequence[Any] | None = None, axes: Panels | None = None
) -> Panels:
    """Draw the ratings of each item with the Beta density that the model fits, and its band (HDI 0.95).

    Parameters
    ----------
    result
        Result of `common_agreement` with ``keep_item_means=True``.
    ratings
        The same ratings.
    items
        Which items, by default the first twelve.
    {axes}

    {returns}

    References
    ----------
    Checco et al. (2017), figure 2.

    Examples
    --------
    >>> from bayesagree import common_agreement
    >>> from bayesagree.datasets.simulate import ratings
    >>> given = ratings(n_items=3, seed=1).ratings
    >>> plot_item_fits(common_agreement(given, keep_item_means=True, draws=20, seed=1), given).size
    3
    """
    posterior = result["posterior"].to_dataset()
    if "item_mean" not in posterior:
        raise InputError("the posterior has no item means; call common_agreement with keep_item_means=True")
    shown = list(posterior["item"].values[:12]) if items is None else list(items)
    figure, panels = wrapped_panels(axes, len(shown), 4, width=2.4, height=1.9, sharex=True)
    low, high = ratings.scale
    phi = posterior["phi"].values.ravel()
    at = positions(shown, ratings.items, "item")
    for panel, name, row in zip(panels.ravel(), shown, at):
        means = (posterior["item_mean"].sel(item=name).values.ravel() - low) / (high - low)
        density = _density(means, phi) / (high - low)
        lower, upper = column_hdi(density)
        x = low + (high - low) * _GRID
        panel.fill_between(x, lower, upper, color="C2", alpha=0.3)
        panel.plot(x, density.mean(axis=0), color="C2")
        own = ratings.rating[ratings.item_index == row]
        panel.plot(own, np.zeros(own.size), "|", color="0.1", markersize=12, clip_on=False)
        panel.set_title(f"{name} ({own.size} ratings)", fontsize="small")
        panel.set_ylim(0, 1.15 * float(np.quantile(upper, 0.97)))
    figure.supxlabel("rating")
    figure.supylabel("density")
    return panels


@on_panels
def plot_bland_altman(
    ratings: Ratings, *, annotators: Sequence[Any] | None = None, axes: Panels | None = None
) -> Panels:
    """Draw the difference of two annotators' ratings against their mean, with the limits of agreement, for each pair.

    Parameters
    ----------
    ratings
        Ratings, one of each annotator and item.
    annotators
        Whose pairs, by default all; the first twelve pairs are drawn. Equal points are drawn larger.
    {axes}

    {returns}

    See Also
    --------
    bayesagree.agreement.limits_of_agreement : the numbers: mean difference and limits, whose intervals are the bands.

    References
    ----------
    Bland and Altman (1999), figure 2, doi:10.1177/096228029900800204.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import ratings
    >>> plot_bland_altman(ratings(n_items=20, ratings_per_item=3, seed=1).ratings).size
    3
    """
    table = limits_of_agreement(ratings, annotators=annotators).head(12)
    pairs = table.to_dict("records")
    figure, panels = wrapped_panels(axes, len(pairs), 4, width=2.6, height=2.3, sharex=True, sharey=True)
    for panel, pair in zip(panels.ravel(), pairs):
        who = positions([pair["annotator"], pair["other_annotator"]], ratings.annotators, "annotator")
        points, number = np.unique(np.stack(paired(ratings, *who)), axis=1, return_counts=True)
        panel.scatter(*points, s=12 * number, color="0.2", alpha=0.6)
        for k, name in enumerate(("difference", "low_limit", "high_limit")):
            panel.axhline(pair[name], color=f"C{min(k, 1)}", linestyle=LINES[min(k, 1)])
            panel.axhspan(pair[f"{name}_lower"], pair[f"{name}_upper"], color=f"C{min(k, 1)}", alpha=0.2)
        panel.set_title(f"{pair['annotator']} minus {pair['other_annotator']}", fontsize="small")
    figure.supxlabel("mean of both ratings")
    figure.supylabel("difference")
    return panels


def _density(means: NDArray[np.float64], phi: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Beta densities on the unit grid, shape (draw, grid); p = 2 (1 - log2(1 - Phi))."""
    precision = 2 * (1 - np.log2(1 - phi))
    return sp.stats.beta.pdf(_GRID, (means * precision)[:, None], ((1 - means) * precision)[:, None])
