"""Figures of how good models are: across reliabilities, over draws, and which place they take."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Floats, Named
from bayesagree.evaluation.comparison import compare, computed_name, metric_draws
from bayesagree.evaluation.tables import score_intervals
from bayesagree.metrics._scorer import ANOTHER_ANNOTATOR
from bayesagree.plots._panels import COLOURS, heat_map, one_panel, plain, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_scores(
    result: xr.DataTree, *, metric: str, plug_in: xr.DataArray | None = None, axes: "Axes | None" = None
) -> "Axes":
    """Draw the score of every model with its interval (HDI 0.95) across reliabilities.

    Another annotator, if `evaluate` scored one, is a grey dashed line. Without several reliabilities models stand in
    rows, best first, with a line between tiers (`compare`).

    Parameters
    ----------
    result
        Result of `evaluate`, or any posterior of scores with dims (chain, draw, model), such as `davidson`.
    metric
        One of its metrics.
    plug_in
        The plug-in metric (model), against a point estimate of the truth, or its draws: dotted lines, in rows crosses.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figure 6.

    Examples
    --------
    >>> from bayesagree import evaluate, simulate
    >>> given = simulate.labelled_test_set(random_seed=1)
    >>> how = {"plausibility": "dirichlet", "reliability": [0.3, 3], "draws": 50, "random_seed": 1}
    >>> result = evaluate(given.labels, given.predictions, **how)
    >>> len(plot_scores(result, metric="accuracy").containers)
    3
    """
    posterior = result["posterior"].to_dataset()
    metric = computed_name(metric, posterior)
    if "reliability" not in posterior[metric].dims:
        return _score_rows(compare(result, metric), plug_in, axes)
    found = score_intervals(result).sel(metric=metric).transpose("model", "reliability")
    levels = found["reliability"].values
    models = found["model"].values.tolist()
    panel = one_panel(axes)
    for m, model in enumerate(models):
        score, lower, upper = (found[key].values[m] for key in ("score", "lower", "upper"))
        at = np.arange(levels.size) + 0.08 * (m - (len(models) - 1) / 2)
        line: Named = {"color": "0.3", "linestyle": "--"} if model == ANOTHER_ANNOTATOR else style(m)
        panel.errorbar(at, score, yerr=[score - lower, upper - score], capsize=3, label=plain(model), **line)
        if plug_in is not None and model in plug_in["model"]:
            panel.axhline(
                float(plug_in.sel(model=model).mean()), color=style(m)["color"], linestyle=":", linewidth=1
            )
    panel.set_xticks(range(levels.size), [f"{level:g}" for level in levels])
    panel.set(
        xlabel="reliability" + ("" if plug_in is None else " (dotted: plug-in metric)"),
        ylabel=metric.replace("_", " "),
    )
    panel.legend(fontsize="small")
    return panel


def _score_rows(found: pd.DataFrame, plug_in: xr.DataArray | None, axes: "Axes | None") -> "Axes":
    """Draw one row per model, and a line between tiers."""
    rows = np.arange(len(found))
    panel = one_panel(axes, height=0.25 * rows.size + 1.2)
    score, lower, upper = (found[name].to_numpy() for name in ("score", "lower", "upper"))
    for row in np.flatnonzero(np.diff(found["tier"])):
        panel.axhline(row + 0.5, color="0.8", linewidth=1)
    panel.errorbar(score, rows, xerr=[score - lower, upper - score], fmt="o", capsize=3, color=COLOURS[0])
    if plug_in is not None:
        known = [name for name in found.index if name in plug_in["model"]]
        values = [float(plug_in.sel(model=name).mean()) for name in known]
        panel.plot(values, found.index.get_indexer(known), "x", color=COLOURS[1], label="plug-in metric")
        panel.legend(fontsize="small")
    panel.set_yticks(rows, [plain(name) for name in found.index])
    panel.invert_yaxis()
    panel.set_xlabel(str(found.attrs["metric"]).replace("_", " "))
    return panel


def plot_score_draws(
    result: xr.DataTree, *, metric: str, reliability: float | None = None, axes: "Axes | None" = None
) -> "Axes":
    """Draw the distribution of the score of every model over the draws of the truth.

    Parameters
    ----------
    result
        Result of `evaluate`, or any posterior of scores with dims (chain, draw, model).
    metric
        One of its metrics.
    reliability
        Which reliability, when there are several.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figure 7 (right).

    Examples
    --------
    >>> from bayesagree import evaluate, simulate
    >>> given = simulate.labelled_test_set(random_seed=1)
    >>> result = evaluate(given.labels, given.predictions, draws=50, random_seed=1)
    >>> plot_score_draws(result, metric="accuracy").get_xlabel()
    'accuracy'
    """
    draws, scores, _ = metric_draws(result, metric, reliability)
    panel = one_panel(axes)
    edges = _edges(draws)
    for m, model in enumerate(scores["model"].values.tolist()):
        values, look = draws[:, m], style(m, line=False)
        panel.hist(values, bins=edges, color=look["color"], alpha=0.35)
        panel.hist(values, bins=edges, color=look["color"], histtype="step", label=plain(model), linewidth=1.5)
        panel.plot(values.mean(), 0, **look, clip_on=False, zorder=3)
    panel.set(xlabel=metric.replace("_", " "), ylabel="draws")
    panel.legend(fontsize="small")
    return panel


def _edges(draws: Floats) -> list[float]:
    """Return edges of about 40 bins, between the values of a score that has a grid (n right of so many)."""
    steps = np.diff(np.unique(draws.round(9)))
    step = steps.min(initial=np.ptp(draws) + 1e-9)
    width = np.ptp(draws) / 40
    if not np.allclose(steps / step, np.round(steps / step), atol=1e-3):
        return np.histogram_bin_edges(draws, bins=40).tolist()
    wide = step * max(round(width / step), 1)
    return np.arange(draws.min() - step / 2, draws.max() + wide, wide).tolist()


def plot_rank_probability(result: xr.Dataset, *, axes: "Axes | None" = None) -> "Axes":
    """Draw the probability of every place for every model, best model first.

    Parameters
    ----------
    result
        Result of `pairwise`.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    Examples
    --------
    >>> from bayesagree import evaluate, pairwise, simulate
    >>> given = simulate.labelled_test_set(random_seed=1)
    >>> result = pairwise(evaluate(given.labels, given.predictions, draws=50, random_seed=1))
    >>> [label.get_text() for label in plot_rank_probability(result).get_yticklabels()]
    ['B', 'A', 'C']
    """
    table = result["rank_probability"].transpose("model", "rank").values
    panel = one_panel(axes, width=0.6 * table.shape[1] + 2, height=0.4 * table.shape[0] + 1.2)
    options = {"vmin": 0, "vmax": 1, "aspect": "auto", "label": "probability", "middle": 0.5}
    heat_map(panel, table, lambda p, row, column: f"{p:.2f}" if p >= 0.005 else "", **options)
    panel.set_yticks(range(table.shape[0]), [plain(m) for m in result["model"].values])
    panel.set_xticks(range(table.shape[1]), [str(r) for r in result["rank"].values])
    panel.set_xlabel(f"place by {result.attrs.get('metric', 'score')}".replace("_", " "))
    return panel
