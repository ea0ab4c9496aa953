"""How well each blind method replaces gold: figures 3 to 5 of Jung and Lease."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from bayesagree.errors import InputError, shorten
from bayesagree.plots._panels import one_panel, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_method_correlation(
    result: xr.DataTree, *, measure: str = "pearson", axes: "Axes | None" = None
) -> "Axes":
    """Draw the correlation of estimated with actual scores or ranks, by method, one line for each metric.

    Parameters
    ----------
    result
        Result of `blind_experiment` with gold.
    measure
        ``"pearson"``, ``"spearman"``, ``"kendall"`` or ``"swap_rate"``.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Jung and Lease (2012), figures 3 and 4.

    Examples
    --------
    >>> from studies.blind_experiment import blind_experiment
    >>> from studies.systems import simulated_systems
    >>> systems = simulated_systems(n_items=50, accuracies=(0.6, 0.7, 0.8, 0.9), random_seed=1)
    >>> gold = dict(enumerate(systems.truth.tolist()))
    >>> result = blind_experiment(systems.predictions, gold=gold, methods=["majority", "em"], draws=20, random_seed=1)
    >>> plot_method_correlation(result, measure="spearman").get_ylabel()
    'spearman with gold'
    """
    data = _methods(result, measure)
    found = data["correlation"].sel(measure=measure).transpose("metric", "estimator")
    methods = [str(name).replace("_", "\n") for name in found["estimator"].values]
    panel = one_panel(axes, width=0.75 * len(methods) + 1.8, height=3.4)
    for k, metric in enumerate(found["metric"].values.tolist()):
        panel.plot(range(len(methods)), found.sel(metric=metric).values, label=str(metric), **style(k))
    panel.set_xticks(range(len(methods)), methods, fontsize="small")
    panel.set_ylabel(f"{measure.replace('_', ' ')} with gold")
    panel.legend(fontsize="small")
    panel.grid(axis="y", alpha=0.3)
    return panel


def plot_quality_correlation(
    result: xr.DataTree, *, measure: str = "pearson", axes: "Axes | None" = None
) -> "Axes":
    """Draw the correlation that each method achieves against the quality of its pseudo-gold, with straight lines.

    Parameters
    ----------
    result, measure
        As in `plot_method_correlation`.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Jung and Lease (2012), figure 5.

    Examples
    --------
    >>> from studies.blind_experiment import blind_experiment
    >>> from studies.systems import simulated_systems
    >>> systems = simulated_systems(n_items=50, accuracies=(0.6, 0.7, 0.8, 0.9), random_seed=1)
    >>> gold = dict(enumerate(systems.truth.tolist()))
    >>> result = blind_experiment(systems.predictions, gold=gold, methods=["majority", "em"], draws=20, random_seed=1)
    >>> plot_quality_correlation(result).get_xlabel()
    'quality of the pseudo-gold'
    """
    data = _methods(result, measure)
    panel = one_panel(axes)
    for k, metric in enumerate(data["metric"].values.tolist()):
        x = data["quality"].sel(metric=metric).values
        y = data["correlation"].sel(metric=metric, measure=measure).values
        related = float(data["quality_correlation"].sel(metric=metric, measure=measure))
        note = "" if np.isnan(related) else f" (r = {related:.2f})"
        panel.plot(x, y, label=f"{metric}{note}", **style(k, line=False))
        both = np.isfinite(x) & np.isfinite(y)
        if both.sum() > 2 and np.ptp(x[both]) > 0:
            slope, start = np.polyfit(x[both], y[both], 1)
            ends = np.array([x[both].min(), x[both].max()])
            panel.plot(ends, start + slope * ends, color=f"C{k % 10}", linewidth=1)
    panel.set(xlabel="quality of the pseudo-gold", ylabel=f"{measure.replace('_', ' ')} with gold")
    panel.legend(fontsize="small")
    return panel


def _methods(result: xr.DataTree, measure: str) -> xr.Dataset:
    if "methods" not in result.children:
        raise InputError("methods are judged by gold; run blind_experiment with gold=")
    data = result["methods"].to_dataset()
    if measure not in data["measure"].values:
        raise InputError(f"measure={measure!r} is not one of {shorten(data['measure'].values)}")
    return data
