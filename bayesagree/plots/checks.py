"""Figures of prediction sets."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesagree.errors import InputError, positive_int
from bayesagree.plots._panels import one_panel, plain, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_set_size(
    sets: xr.DataArray, certainty: xr.DataArray, *, bins: int = 8, axes: "Axes | None" = None
) -> "Axes":
    """Draw the mean size of the prediction sets of each model against the certainty of the annotations.

    Parameters
    ----------
    sets
        Whether a label is in the set, bool (model, item, category).
    certainty
        `annotation_certainty`, or another number for each item (item); items of the sets that it lacks are left out.
    bins
        Number of groups of equally many items, in the order of their certainty.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        Dots are means of a group, bars plus and minus two standard errors.

    Examples
    --------
    >>> from bayesagree import Labels, Predictions, annotation_certainty, conformalize, dirichlet
    >>> votes = Labels.from_counts([[7, 3], [1, 9], [6, 4], [8, 2]] * 10)
    >>> models = Predictions.from_scores({"A": [[0.7, 0.3], [0.2, 0.8], [0.55, 0.45], [0.9, 0.1]] * 10})
    >>> sets = conformalize(votes, models).predict_set(models)
    >>> axes = plot_set_size(sets, annotation_certainty(dirichlet(votes, random_seed=1), exact=True), bins=2)
    >>> axes.get_ylabel()
    'labels in the set'
    """
    shared = [item for item in certainty["item"].values.tolist() if item in set(sets["item"].values.tolist())]
    if len(shared) < 2 * positive_int(bins, "bins"):
        raise InputError(f"{len(shared)} items have both a set and a certainty: too few for bins={bins}")
    at = certainty.sel(item=shared).values
    size = sets.sel(item=shared).sum("category").transpose("model", "item").values
    groups = np.array_split(np.argsort(at, kind="stable"), bins)
    panel = one_panel(axes)
    x = np.array([at[group].mean() for group in groups])
    for k, (model, own) in enumerate(zip(sets["model"].values.tolist(), size)):
        mean = [own[group].mean() for group in groups]
        error = [2 * own[group].std(ddof=1) / np.sqrt(group.size) for group in groups]
        panel.errorbar(x, mean, yerr=error, label=plain(model), capsize=2, **style(k))
    panel.set(xlabel="annotation certainty", ylabel="labels in the set")
    panel.legend(fontsize="small")
    return panel
