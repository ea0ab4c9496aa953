"""Figures of common agreement Phi: its fit to each item."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._types import Floats
from bayesagree.agreement._phi.posterior import precision_of
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from bayesagree.inference.intervals import column_hdi
from bayesagree.plots._panels import COLOURS, Panels, plain, positions, wrapped_panels

_GRID = np.linspace(0.002, 0.998, 250)


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
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)
        The axes drawn in.

    References
    ----------
    Checco et al. (2017), figure 2.

    Examples
    --------
    >>> from bayesagree import common_agreement
    >>> from bayesagree.datasets.simulate import ratings
    >>> given = ratings(n_items=3, random_seed=1).ratings
    >>> plot_item_fits(common_agreement(given, keep_item_means=True, draws=20, random_seed=1), given).size
    3
    """
    posterior = result["posterior"].to_dataset()
    if "item_mean" not in posterior:
        raise InputError("the posterior has no item means; call common_agreement with keep_item_means=True")
    shown = list(posterior["item"].values[:12]) if items is None else list(items)
    figure, panels = wrapped_panels(axes, len(shown), 4, width=2.4, height=1.9, sharex=True)
    low, high = ratings.scale
    phi = posterior["phi"].values.ravel()
    for panel, name, row in zip(panels.ravel(), shown, positions(shown, ratings.items, "item")):
        means = (posterior["item_mean"].sel(item=name).values.ravel() - low) / (high - low)
        density = _density(means, phi) / (high - low)
        lower, upper = column_hdi(density)
        x = low + (high - low) * _GRID
        panel.fill_between(x, lower, upper, color=COLOURS[0], alpha=0.3)
        panel.plot(x, density.mean(axis=0), color=COLOURS[0])
        own = ratings.rating[ratings.item_index == row]
        panel.plot(own, np.zeros(own.size), "|", color="0.1", markersize=12, clip_on=False)
        panel.set_title(f"{plain(name)} ({own.size} ratings)", fontsize="small")
        panel.set_ylim(0, 1.15 * float(np.quantile(upper, 0.97)))
    figure.supxlabel("rating")
    figure.supylabel("density")
    return panels


def _density(means: Floats, phi: Floats) -> Floats:
    """Return the Beta densities on the unit grid, shape (draw, grid); p = 2 (1 - log2(1 - Phi))."""
    precision = precision_of(phi)
    means = means.clip(1e-12, 1 - 1e-12)  # drawn means may round to an end, where there is no density
    return sp.stats.beta.pdf(_GRID, (means * precision)[:, None], ((1 - means) * precision)[:, None])
