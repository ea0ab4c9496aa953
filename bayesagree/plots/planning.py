"""Figures of designs and of more votes."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.errors import InputError
from bayesagree.plots._panels import one_panel, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_designs(
    designs: xr.Dataset, *, today: tuple[float, float] | None = None, axes: "Axes | None" = None
) -> "Axes":
    """Draw the width of the interval against the annotators per item, a line for each number of items.

    Parameters
    ----------
    designs
        From `plan`.
    today
        Annotators an item and width of the interval of the study that there is, marked by a cross.
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
    >>> axes = plot_designs(designs, today=(3, 0.4))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['today', '50 items', '200 items']
    """
    _, panel = one_panel(axes)
    found = designs.transpose("items", "annotators")
    x = found["annotators"].values
    for k, size in enumerate(found["items"].values.tolist()):
        row = found.sel(items=size)
        below, above = row["width"] - row["width_lower"], row["width_upper"] - row["width"]
        panel.errorbar(x, row["width"], yerr=np.stack([below, above]), label=f"{size} items", capsize=2, **style(k))
    if today is not None:
        panel.plot(*today, "kx", markersize=9, label="today")
    if "target" in designs.attrs:
        panel.axhline(designs.attrs["target"], color="grey", linestyle=":", label="wanted")
    panel.set_xticks(x)
    panel.set(
        xlabel="annotators per item", ylabel=f"width of the interval of {designs.attrs['metric']}", ylim=(0, None)
    )
    panel.legend(fontsize="small")
    return panel


def plot_value_of_votes(votes: pd.DataFrame, *, enough: float | None = None, axes: "Axes | None" = None) -> "Axes":
    """Draw the probability that the choice between the two best models is right against the number of more votes.

    Parameters
    ----------
    votes
        From `value_of_votes`.
    enough
        A sufficient probability, drawn as a line; the fewest votes that are expected to give it are marked.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        With the two models in the title.

    Raises
    ------
    InputError
        A probability outside 0 to 1.

    Examples
    --------
    >>> from bayesagree import Labels, Predictions
    >>> from bayesagree.planning import value_of_votes
    >>> counts = Labels.from_counts([[1, 0], [1, 1], [0, 1], [1, 0]] * 3)
    >>> models = Predictions.from_labels({"A": [0, 0, 1, 0] * 3, "B": [0, 1, 0, 0] * 2 + [0, 1, 1, 0]})
    >>> plot_value_of_votes(value_of_votes(counts, models)).get_title()
    'A or B?'
    """
    if enough is not None and not 0 < enough < 1:
        raise InputError(f"enough={enough!r} is a probability, between 0 and 1")
    _, panel = one_panel(axes)
    panel.plot(votes["votes"], votes["prob_right"], color="C0")
    if enough is not None:
        panel.axhline(enough, color="grey", linestyle=":")
        reached = votes["votes"].to_numpy()[votes["prob_right"].to_numpy() >= enough]
        if reached.size:
            panel.axvline(reached[0], color="grey", linestyle=":", label=f"{reached[0]} votes")
            panel.legend(fontsize="small")
    first, second = votes.attrs["models"]
    panel.set(
        title=f"{first} or {second}?",
        xlabel="more votes, on the items that matter most",
        ylabel="probability that the choice is right",
        ylim=(None, 1),
    )
    return panel
