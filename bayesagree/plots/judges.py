"""Figures of judges."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesagree.plots._panels import on_axes, one_panel, write_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@on_axes
def plot_error_correlation(result: xr.DataTree, *, axes: "Axes | None" = None) -> "Axes":
    """Draw the mean correlation of each two judges' errors as a matrix.

    Parameters
    ----------
    result
        From `effective_judges`.
    {axes}

    {returns}
        Red cells are pairs that err together, blue ones pairs whose errors cancel out; cells of a judge that never errs
        are empty. The title has the effective number of judges with its 95 % equal-tailed interval.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> from bayesagree.judges import effective_judges
    >>> verdicts = Labels.from_matrix([[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]] * 10, annotators=[*"abc"])
    >>> result = effective_judges(verdicts, dict(enumerate([0, 1, 1, 1] * 10)), draws=50, chains=1, seed=1)
    >>> plot_error_correlation(result).get_title()
    'worth 2.4 of 3 judges (2.0 to 2.9)'
    """
    posterior = result["posterior"].to_dataset()
    names = [str(name) for name in posterior["judge"].values]
    mean = posterior["correlation"].transpose("chain", "draw", "judge", "other_judge").mean(("chain", "draw")).values
    figure, panel = one_panel(axes)
    image = panel.imshow(mean, cmap="RdBu_r", vmin=-1, vmax=1)
    write_cells(panel, mean, lambda v, j, k: "" if np.isnan(v) else f"{v:.2f}", limit=0.6, light_above=True)
    panel.set_xticks(range(len(names)), names, rotation=90)
    panel.set_yticks(range(len(names)), names)
    figure.colorbar(image, ax=panel, label="correlation of errors")
    worth = posterior["n_effective"].values
    low, high = np.nanquantile(worth, [0.025, 0.975])
    panel.set_title(f"worth {np.nanmean(worth):.1f} of {len(names)} judges ({low:.1f} to {high:.1f})")
    return panel
