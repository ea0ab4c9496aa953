"""Figures of common agreement Phi: posterior, fit to each item, dependence on the sample."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._numerics.intervals import column_hdi
from bayesagree.agreement.bland_altman import limits_of_agreement, paired
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from bayesagree.plots._panels import LINES, Panels, new_panels, positions, style, wrapped_panels

_GRID = np.linspace(0.002, 0.998, 250)


@checked
def plot_beta_shapes(
    *,
    phi: Sequence[float] = (-0.5, 0.0, 0.4, 0.8),
    item_mean: Sequence[float] = (0.5, 0.2),
    axes: Panels | None = None,
) -> Panels:
    """Draw the four shapes that ratings of one item can have: two camps, random, weak and strong agreement.

    Parameters
    ----------
    phi
        Values of common agreement, each below 1; one panel each.
    item_mean
        Means of the item on the unit scale, one line each.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)

    References
    ----------
    Checco et al. (2017), figure 1.

    Examples
    --------
    >>> plot_beta_shapes(phi=(0.0, 0.5)).size
    2
    """
    if not all(-np.inf < value < 1 for value in phi) or not all(0 < mean < 1 for mean in item_mean):
        raise InputError(f"phi={list(phi)} must lie below 1 and item_mean={list(item_mean)} between 0 and 1")
    _, panels = new_panels(axes, 1, len(phi), width=2.4, height=2.6, sharey=True)
    for panel, value in zip(panels[0], phi):
        for k, mean in enumerate(item_mean):
            line = {"color": f"C{k}", "linestyle": LINES[k % len(LINES)]}
            panel.plot(_GRID, _density(np.array([mean]), np.array([value]))[0], label=f"mean {mean:g}", **line)
        panel.set_title(f"Phi = {value:g}")
        panel.set_xlabel("rating, unit scale")
        panel.set_ylim(0, 4)
    panels[0, 0].set_ylabel("density")
    panels[0, 0].legend(fontsize="small")
    return panels


@checked
def plot_item_fits(
    tree: xr.DataTree, ratings: Ratings, *, items: Sequence[Any] | None = None, axes: Panels | None = None
) -> Panels:
    """Draw the ratings of each item with the Beta density that the model fits, and its band (HDI 0.95).

    Parameters
    ----------
    tree
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

    References
    ----------
    Checco et al. (2017), figure 2.

    Examples
    --------
    >>> from bayesagree import common_agreement
    >>> from bayesagree.simulate import ratings
    >>> given = ratings(n_items=3, seed=1).ratings
    >>> plot_item_fits(common_agreement(given, keep_item_means=True, draws=20, seed=1), given).size
    3
    """
    posterior = tree["posterior"].to_dataset()
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


@checked
def plot_agreement_by_size(result: xr.Dataset, *, axes: Panels | None = None) -> Panels:
    """Draw Phi against the share of the items used, with its interval; beside it alpha and percent agreement.

    Parameters
    ----------
    result
        Result of `bayesagree.studies.agreement_by_size`.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)

    References
    ----------
    Checco et al. (2017), figures 4 and 5.

    Examples
    --------
    >>> from bayesagree.simulate import ratings
    >>> from bayesagree.studies.sample_size import agreement_by_size
    >>> result = agreement_by_size(ratings(n_items=20, seed=1).ratings, shares=(0.5, 1), repeats=2, seed=1)
    >>> plot_agreement_by_size(result).size
    2
    """
    _, panels = new_panels(axes, 1, 2, width=3.6, height=3, sharex=True, sharey=True)
    share = 100 * result["share"].values
    mean = result.mean("repeat")
    left, right = panels[0]
    left.fill_between(share, mean["lower"].values, mean["upper"].values, alpha=0.3)
    left.plot(share, mean["phi"].values, **style(0))
    left.set_title("Phi, HDI 0.95", fontsize="medium")
    shown = {"phi": "Phi", "alpha": "alpha", "percent": "percent agreement"}
    for k, (name, label) in enumerate(shown.items()):
        spread = result[name].std("repeat").values
        right.errorbar(share, mean[name].values, yerr=spread, capsize=3, label=label, **style(k))
    right.set_title("means over subsamples, ± sd", fontsize="medium")
    right.legend()
    for panel in (left, right):
        panel.axhline(0, color="0.6", linewidth=1)
        panel.set_xlabel("share of the items (%)")
    left.set_ylabel("agreement")
    return panels


@checked
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
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)

    See Also
    --------
    bayesagree.agreement.limits_of_agreement : the numbers: mean difference and limits, whose intervals are the bands.

    References
    ----------
    Bland and Altman (1999), figure 2, doi:10.1177/096228029900800204.

    Examples
    --------
    >>> from bayesagree.simulate import ratings
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


@checked
def plot_random_answers(result: xr.Dataset, *, axes: Panels | None = None) -> Panels:
    """Draw how often random answers are called agreement, by the number of raters, with Jeffreys intervals.

    Parameters
    ----------
    result
        Result of `bayesagree.studies.random_answers`.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes
        The axes drawn in.

    References
    ----------
    Checco et al. (2017), figure 3.

    Examples
    --------
    >>> from bayesagree.studies import random_answers
    >>> found = random_answers(n_annotators=[3], n_levels=[5], n_items=20, repeats=2, seed=1)
    >>> plot_random_answers(found)[0, 0].get_title()
    '5 levels'
    """
    levels, raters = result["n_levels"].values, result["n_annotators"].values
    n = result.sizes["repeat"]
    _, panels = new_panels(axes, 1, levels.size, width=3.2, height=2.8, sharey=True)
    for panel, level in zip(panels[0], levels):
        for k, means in enumerate(result["item_mean"].values.tolist()):
            share = result["false_agreement"].sel(n_levels=level, item_mean=means).values
            ends = sp.stats.beta.ppf([[0.025], [0.975]], share * n + 0.5, n - share * n + 0.5)
            bars = np.maximum([share - ends[0], ends[1] - share], 0)
            panel.errorbar(raters, share, yerr=bars, capsize=3, label=f"{means} item means", **style(k))
        panel.axhline(1 - result.attrs["ci_prob"], color="0.6", linewidth=1)
        panel.set_title(f"{level} levels")
        panel.set_xlabel("raters of an item")
    panels[0, 0].set_ylabel("called agreement")
    panels[0, 0].legend(fontsize="small")
    return panels
