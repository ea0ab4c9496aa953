"""Figures of the study of AUC without ground truth: quality of the annotators, swap errors, evaluations."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree.errors import InputError, shorten
from bayesagree.plots._panels import Panels, heat_map, new_panels, one_panel
from studies.binary_crowds import rate_shapes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REGIONS = (("very bad", "bad", "skewed"), ("bad", "average", "good"), ("skewed", "good", "very good"))
"""Names of the nine regions of annotator quality, by thirds of the true (rows) and false positive rate."""


def annotator_quality_regions(mean_tpr: float, mean_fpr: float) -> xr.DataArray:
    """Compute the probability of each of nine regions of annotator quality under `crowdsourced_binary`.

    TPR in [1/2, 1] and FPR in [0, 1/2] are each cut into thirds; the table is the product of the two marginals.

    Returns
    -------
    DataArray
        Probabilities with dims (tpr, fpr), each from the worst third to the best.

    Raises
    ------
    InputError
        A mean outside (1/2, 1) for TPR or (0, 1/2) for FPR.

    Examples
    --------
    >>> annotator_quality_regions(0.9, 0.1).sel(tpr="good", fpr="good").round(4).item()
    0.5926

    References
    ----------
    Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
    data, figures 5 to 10 (figure 7 is misprinted: its cells sum to .960).
    """
    a, b = rate_shapes(mean_tpr, mean_fpr)
    thirds = ["bad", "middle", "good"]
    # FPR = Beta(a, 2) / 2, so that 1 - 2 FPR ~ Beta(2, a): both are Beta(2, .) on a scale from worst to best.
    table = np.outer(_thirds(b), _thirds(a))
    return xr.DataArray(table, dims=("tpr", "fpr"), coords={"tpr": thirds, "fpr": thirds}, name="probability")


def _thirds(shape: float) -> NDArray[np.float64]:
    above = sp.special.betaincc(2, shape, [0, 1 / 3, 2 / 3, 1])
    return above[:-1] - above[1:]


def plot_swap_errors(
    tree: xr.DataTree,
    case: str,
    *,
    labels_per_item: Sequence[int] = (5, 15, 45),
    labels_per_annotator: Sequence[int] = (5, 15, 45),
    auc_methods: Sequence[str] = ("dgt_published", "sgt", "pgt"),
    axes: Panels | None = None,
) -> Panels:
    """Draw the swap errors of one case of the AUC study as a grid of box plots.

    One panel per number of labels per item (rows) and per annotator (columns), one box per method over the runs; the
    dashed line is the mean of the supervised reference over the whole study.

    Parameters
    ----------
    tree
        Result of `auc_study`.
    case
        Which annotators, such as "average".
    labels_per_item, labels_per_annotator
        Rows and columns of the grid.
    auc_methods
        Boxes of each panel.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)

    Raises
    ------
    InputError
        A case, a number of labels or a method that the study does not have.

    References
    ----------
    Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
    data, figures 11 to 15.

    Examples
    --------
    >>> from studies.auc_simulation import auc_study
    >>> tree = auc_study(cases=["good"], labels_per_item=[5], labels_per_annotator=[5], runs=2, n_items=50, n_models=5)
    >>> plot_swap_errors(tree, "good", labels_per_item=[5], labels_per_annotator=[5]).size
    1
    """
    errors = tree["study"].to_dataset()["swap_error"]
    wanted = {
        "case": [case], "labels_per_item": labels_per_item, "labels_per_annotator": labels_per_annotator,
        "auc_method": auc_methods,
    }  # fmt: skip
    for dim, values in wanted.items():
        missing = [v for v in values if v not in errors[dim].values]
        if missing:
            raise InputError(f"the study has no {dim} {missing[0]!r}; it has {shorten(errors[dim].values, 10)}")
    reference = float(errors.sel({"auc_method": "supervised"}).mean())
    names = [name.replace("_published", "").upper() for name in auc_methods]
    n_rows, n_columns = len(labels_per_item), len(labels_per_annotator)
    figure, panels = new_panels(
        axes, n_rows, n_columns, width=2.4, height=2, margin=(0.8, 0.8), sharex=True, sharey=True
    )
    for (row, per_item), (column, per_annotator) in product(
        enumerate(labels_per_item), enumerate(labels_per_annotator)
    ):
        place = {"case": case, "labels_per_item": per_item, "labels_per_annotator": per_annotator}
        panel = panels[row, column]
        boxes = [errors.sel(place | {"auc_method": method}).values for method in auc_methods]
        panel.boxplot(boxes, widths=0.6, manage_ticks=False)
        panel.set_xticks(range(1, len(names) + 1), names)
        panel.axhline(reference, color="0.4", linestyle="--", linewidth=1)
        panel.set_title(f"{per_item} labels per item, {per_annotator} per annotator", fontsize="small")
    figure.supylabel("swap error")
    figure.suptitle(f"{case}: share of pairs of models ranked wrongly (dashed: supervised)")
    return panels


def plot_quality_regions(regions: xr.DataArray, *, axes: "Axes | None" = None) -> "Axes":
    """Draw the probability of the nine regions of annotator quality, from very bad to very good.

    Parameters
    ----------
    regions
        Result of `annotator_quality_regions`.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes

    References
    ----------
    Urkullu, Perez, Calvo: figures 5 to 10.

    Examples
    --------
    >>> len(plot_quality_regions(annotator_quality_regions(0.8, 0.2)).texts)
    9
    """
    table = regions.transpose("tpr", "fpr").values
    panel = one_panel(axes, width=4.4, height=3.6)
    heat_map(panel, table, _region_text, label="share", middle=0.5, vmin=0, vmax=1)
    thirds = [str(third) for third in regions["fpr"].values]
    panel.set_xticks(range(3), thirds)
    panel.set_yticks(range(3), [str(third) for third in regions["tpr"].values])
    panel.set_xlabel("false positive rate")
    panel.set_ylabel("true positive rate")
    return panel


def _region_text(value: float, row: int, column: int) -> str:
    return f"{REGIONS[row][column]}\n" + (f"{value:.3f}" if value >= 0.0005 else f"{value:.0e}")


def plot_evaluations(
    tree: xr.DataTree,
    case: str,
    *,
    labels_per_item: int,
    labels_per_annotator: int,
    run: int = 0,
    axes: Panels | None = None,
) -> Panels:
    """Draw every method's evaluation of the models of one run against the true one; and the true ones of all runs.

    Parameters
    ----------
    tree
        Result of `auc_study` with ``keep_evaluations``.
    case, labels_per_item, labels_per_annotator, run
        Which problem.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes
        The axes drawn in.

    References
    ----------
    Urkullu, Perez, Calvo: supplement, scatter plots of evaluations and box plots of the true one.

    Examples
    --------
    >>> from studies.auc_simulation import auc_study
    >>> size = {"labels_per_item": [5], "labels_per_annotator": [5], "runs": 2, "n_items": 50, "n_models": 5}
    >>> tree = auc_study(cases=["good"], keep_evaluations=True, **size)
    >>> plot_evaluations(tree, "good", labels_per_item=5, labels_per_annotator=5).size
    6
    """
    if "evaluations" not in tree.children:
        raise InputError("the study kept no evaluations; run auc_study with keep_evaluations=True")
    kept = tree["evaluations"].to_dataset()
    place = {"case": case, "labels_per_item": labels_per_item, "labels_per_annotator": labels_per_annotator}
    for dim, value in place.items():
        if value not in kept[dim].values:
            raise InputError(f"the study has no {dim} {value!r}; it has {shorten(kept[dim].values, 10)}")
    here = kept.sel(place)
    truth, estimate = here["truth"].sel(run=run).values, here["estimate"].sel(run=run)
    methods = estimate["auc_method"].values.tolist()
    _, panels = new_panels(axes, 1, len(methods) + 1, width=2.2, height=2.3)
    for panel, method in zip(panels[0], methods):
        panel.plot(truth, estimate.sel({"auc_method": method}).values, ".", markersize=3)
        panel.set_title(method.replace("_", " "), fontsize="small")
        panel.set_xlabel("true evaluation")
    panels[0, 0].set_ylabel("estimate")
    models = np.unique(np.linspace(0, truth.size - 1, 10).astype(int))
    panels[0, -1].boxplot(here["truth"].isel(model=models).transpose("run", "model").values, manage_ticks=False)
    panels[0, -1].set_xticks(range(1, models.size + 1), models + 1, fontsize="x-small")
    panels[0, -1].set_title("true evaluation, all runs", fontsize="small")
    panels[0, -1].set_xlabel("model")
    return panels
