"""Figure of the reliability that best predicts a held-out annotator."""

from collections.abc import Mapping

import xarray as xr

from bayesagree.plots._panels import Panels, new_panels, on_panels


@on_panels
def plot_reliability_curve(curves: Mapping[str, xr.Dataset] | xr.Dataset, *, axes: Panels | None = None) -> Panels:
    """Draw the elpd difference of each reliability to the best one for a held-out annotator, and its agreement.

    Upper panels: elpd difference to the best with its HDI 0.95 over items (lower is better). Lower panels: probability
    that two other annotators make the same first choice; dashed, the observed share.

    Parameters
    ----------
    curves
        Results of `bayesagree.predictive.reliability_curve` by title, or one of them.
    {axes}

    {returns}

    Examples
    --------
    >>> from bayesagree import simulate
    >>> from bayesagree.predictive.reliability import reliability_curve
    >>> curve = reliability_curve(simulate.labelled_test_set(n_items=50, seed=1).labels, [0.3, 1, 3], seed=1)
    >>> plot_reliability_curve(curve).size
    2
    """
    named = {str(curves.attrs.get("plausibility", "")): curves} if isinstance(curves, xr.Dataset) else dict(curves)
    _, panels = new_panels(axes, 2, len(named), width=2.6, height=2.1, margin=(0.6, 0), sharex="col")
    for column, (title, curve) in enumerate(named.items()):
        score, agreement = panels[:, column]
        at = curve["reliability"].values
        score.fill_between(at, curve["difference_lower"].values, curve["difference_upper"].values, alpha=0.3)
        score.plot(at, curve["difference"].values, marker=".")
        score.axvline(float(curve["best"]), color="0.6", linewidth=1)
        score.set_title(title, fontsize="small")
        agreement.fill_between(at, curve["agreement_lower"].values, curve["agreement_upper"].values, alpha=0.3)
        agreement.plot(at, curve["agreement"].values, marker=".")
        agreement.axhline(float(curve["observed_agreement"]), color="0.4", linestyle="--", linewidth=1)
        agreement.set_xscale("log")
        agreement.set_xlabel("reliability")
    panels[0, 0].set_ylabel("elpd difference to the best")
    panels[1, 0].set_ylabel("agreement")
    return panels
