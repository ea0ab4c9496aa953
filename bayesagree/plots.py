"""Figures; each function returns a matplotlib figure (extra ``plot``) and never changes global settings."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import xarray as xr

from bayesagree.errors import InputError, some

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# AUC without ground truth


def plot_swap_errors(
    tree: xr.DataTree,
    case: str,
    *,
    labels_per_item: Sequence[int] = (5, 15, 45),
    labels_per_annotator: Sequence[int] = (5, 15, 45),
    auc_methods: Sequence[str] = ("dgt_published", "sgt", "pgt"),
) -> "Figure":
    """Draw the swap errors of one case of the AUC study as a grid of box plots.

    One panel per number of labels per item (rows) and per annotator (columns), one box per method over the runs; the
    dashed line is the mean of the supervised reference over the whole study.

    Parameters
    ----------
    tree
        Result of `bayesagree.auc_study.auc_study`.
    case
        Which annotators, such as "average".
    labels_per_item, labels_per_annotator
        Rows and columns of the grid.
    auc_methods
        Boxes of each panel.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        A case, a number of labels or a method that the study does not have.

    References
    ----------
    Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
    data, figures 11 to 15.
    """
    from matplotlib.figure import Figure

    errors = tree["study"].to_dataset()["swap_error"]
    wanted = {
        "case": [case], "labels_per_item": labels_per_item, "labels_per_annotator": labels_per_annotator,
        "auc_method": auc_methods,
    }  # fmt: skip
    for dim, values in wanted.items():
        missing = [v for v in values if v not in errors[dim].values]
        if missing:
            raise InputError(f"the study has no {dim} {missing[0]!r}; it has {some(errors[dim].values, 10)}")
    reference = float(errors.sel({"auc_method": "supervised"}).mean())
    names = [name.replace("_published", "").upper() for name in auc_methods]
    n_rows, n_columns = len(labels_per_item), len(labels_per_annotator)
    figure = Figure(figsize=(2.4 * n_columns + 0.8, 2 * n_rows + 0.8), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    for (row, per_item), (column, per_annotator) in product(
        enumerate(labels_per_item), enumerate(labels_per_annotator)
    ):
        place = {"case": case, "labels_per_item": per_item, "labels_per_annotator": per_annotator}
        panel = panels[row, column]
        boxes = [errors.sel(place | {"auc_method": method}).values for method in auc_methods]
        panel.boxplot(boxes, widths=0.6, manage_ticks=False)
        panel.set_xticks(range(1, len(names) + 1), names)
        panel.axhline(reference, color="0.4", linestyle="--", linewidth=1)
        panel.set_title(f"{per_item} labels an item, {per_annotator} an annotator", fontsize="small")
    figure.supylabel("swap error")
    figure.suptitle(f"{case}: share of pairs of models ranked wrongly (dashed: supervised)")
    return figure
