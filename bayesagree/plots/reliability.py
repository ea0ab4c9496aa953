"""Which reliability predicts the annotator left out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import xarray as xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_reliability_curve(curves: Mapping[str, xr.Dataset] | xr.Dataset) -> "Figure":
    """Draw how far each reliability is behind the best one in predicting the annotator left out, and its agreement.

    Upper panels: log score behind the best with its HDI 0.95 over items (lower is better). Lower panels: probability
    that two further annotators make the same first choice; dashed, the observed share.

    Parameters
    ----------
    curves
        Results of `bayesagree.reliability.reliability_curve` by title, or one of them.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from bayesagree import simulate
    >>> from bayesagree.predictive.reliability import reliability_curve
    >>> curve = reliability_curve(simulate.labelled_test_set(n_items=50, seed=1).labels, [0.3, 1, 3], seed=1)
    >>> len(plot_reliability_curve(curve).axes)
    2
    """
    from matplotlib.figure import Figure

    named = {str(curves.attrs.get("plausibility", "")): curves} if isinstance(curves, xr.Dataset) else dict(curves)
    figure = Figure(figsize=(2.6 * len(named) + 0.6, 4.2), layout="constrained")
    panels = figure.subplots(2, len(named), sharex="col", squeeze=False)
    for column, (title, curve) in enumerate(named.items()):
        score, agreement = panels[:, column]
        at = curve["reliability"].values
        score.fill_between(at, curve["behind_lower"].values, curve["behind_upper"].values, alpha=0.3)
        score.plot(at, curve["behind"].values, marker=".")
        score.axvline(float(curve["best"]), color="0.6", linewidth=1)
        score.set_title(title, fontsize="small")
        agreement.fill_between(at, curve["agreement_lower"].values, curve["agreement_upper"].values, alpha=0.3)
        agreement.plot(at, curve["agreement"].values, marker=".")
        agreement.axhline(float(curve["observed_agreement"]), color="0.4", linestyle="--", linewidth=1)
        agreement.set_xscale("log")
        agreement.set_xlabel("reliability")
    panels[0, 0].set_ylabel("log score behind the best")
    panels[1, 0].set_ylabel("agreement")
    return figure
