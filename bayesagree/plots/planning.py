"""Figures of designs."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesagree.plots._panels import one_panel, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_designs(designs: xr.Dataset, *, axes: "Axes | None" = None) -> "Axes":
    """Draw the width of the interval against the annotators per item, a line for each number of items.

    Parameters
    ----------
    designs
        From `plan`.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        Bars are where the width of one such study will lie (95 %); a dotted line is the width that was wanted.

    Examples
    --------
    >>> from bayesagree import Labels, plan
    >>> pilot = Labels.from_counts([[3, 0], [2, 1], [0, 3], [3, 0], [1, 2], [0, 3]] * 5)
    >>> designs = plan(pilot, items=[50, 200], annotators=[3, 5], metric="fleiss_kappa", replicates=4, random_seed=1)
    >>> axes = plot_designs(designs)
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['50 items', '200 items']
    """
    panel = one_panel(axes)
    found = designs.transpose("items", "annotators")
    x = found["annotators"].values
    for k, size in enumerate(found["items"].values.tolist()):
        row = found.sel(items=size)
        below = row["width"] - row["width_lower"]
        above = row["width_upper"] - row["width"]
        panel.errorbar(
            x, row["width"], yerr=np.stack([below, above]), label=f"{size} items", capsize=2, **style(k)
        )
    if "target" in designs.attrs:
        panel.axhline(designs.attrs["target"], color="grey", linestyle=":", label="wanted")
    panel.set_xticks(x)
    panel.set(
        xlabel="annotators per item",
        ylabel=f"width of the interval of {designs.attrs['metric']}",
        ylim=(0, None),
    )
    panel.legend(fontsize="small")
    return panel
