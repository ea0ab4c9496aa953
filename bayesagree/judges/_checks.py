"""The closed formulas beside `corrected_rate`, for each system and judge by itself."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree.judges._panel import Panel
from bayesagree.judges.estimators import prediction_powered_mean, rogan_gladen

type Variables = dict[str, tuple[tuple[str, ...], Any]]

NOTHING = (np.nan,) * 3


def classical_checks(panel: Panel, ci_prob: float) -> Variables:
    """PPI++ of the vote shares and Rogan-Gladen of the majority, with intervals; NaN where a formula has no value."""
    shape = (panel.system.levels.size, panel.judges.size, 3)
    ppi, corrected = np.full(shape, np.nan), np.full(shape, np.nan)
    share = panel.positive / np.maximum(panel.votes, 1)
    for s in range(shape[0]):
        for j in range(shape[1]):
            rows = (panel.system.code == s) & np.isfinite(panel.verdict[:, j])
            seen, verdict = panel.seen[rows], panel.verdict[rows, j]
            chance = None if panel.inclusion is None else panel.inclusion[rows][seen]
            ppi[s, j] = _ppi(share[rows][seen], verdict[seen], verdict[~seen], chance, ci_prob)
            corrected[s, j] = _rogan_gladen(share[rows][seen], verdict[seen], verdict[~seen], ci_prob)
    ends = ("", "_lower", "_upper")
    both = {"ppi": ppi, "rogan_gladen": corrected}
    return {name + end: (("system", "judge"), v[:, :, k]) for name, v in both.items() for k, end in enumerate(ends)}


def _ppi(
    share: NDArray[Any], verdict: NDArray[Any], others: NDArray[Any], chance: NDArray[Any] | None, ci_prob: float
) -> tuple[float, ...]:
    if share.size < 2 or others.size == 0:
        return NOTHING
    return prediction_powered_mean(share, verdict, others, inclusion=chance, ci_prob=ci_prob)[:3]


def _rogan_gladen(
    share: NDArray[Any], verdict: NDArray[Any], others: NDArray[Any], ci_prob: float
) -> tuple[float, ...]:
    """Take the majority for the truth; items with a tie tell nothing about the judge."""
    yes, no = verdict[share > 0.5], verdict[share < 0.5]
    if min(yes.size, no.size, others.size) == 0 or yes.mean() - no.mean() <= 0:
        return NOTHING
    found = rogan_gladen(
        others.mean(), others.size, specificity=1 - no.mean(), n_negative=no.size, sensitivity=yes.mean(),
        n_positive=yes.size, ci_prob=ci_prob,
    )  # fmt: skip
    return found[:3]
