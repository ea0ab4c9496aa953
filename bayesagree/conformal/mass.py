"""Sets that hold a stated mass of the plausibilities, with a stated probability.

Coverage on average may be reached by sets that hold all opinions of easy items and few of disputed ones. Here each item
counts: Pr(sum_k lambda_k 1[k in C(x)] >= q) >= 1 - alpha. Label k of item i is *critical* in a draw of lambda_i if the
mass reaches q with it, going down in conformity; a set misses the mass exactly when its threshold is above the
conformity of the critical label. So the probability that a label is critical is its weight, and the rest is
`conformalize`. The mass is not linear in lambda, so that the plausibilities have to be right, not only unbiased: from
three votes per item, vote shares reach 89 % instead of 90 (ChaosNLI-SNLI), from one vote 75 %, and draws of a flat
Dirichlet posterior make sets that are too wide (`benchmarks/results/conformal.md`).
"""

import numba
import numpy as np
from numpy.typing import NDArray

from bayesagree.annotations.gold import ItemGroup
from bayesagree.annotations.predictions import Predictions
from bayesagree.conformal._truth import Truth, plausibility_of, scores_of
from bayesagree.conformal.scores import Score, ScoreArray, conformity
from bayesagree.conformal.sets import ConformalSets, calibrated, check_coverage

# A mass this far below q reaches it: sums of vote shares carry rounding errors.
_ROUNDING = 1e-9


def conformalize_mass(
    truth: Truth,
    predictions: Predictions,
    *,
    mass: float = 0.9,
    coverage: float = 0.9,
    score: Score = "probability",
    by: ItemGroup | None = None,
) -> ConformalSets:
    """Conformal sets that hold a mass of the plausibilities of a new item with the stated probability.

    Parameters
    ----------
    truth
        Plausibilities of the calibration items: a posterior, all draws of which count; vote shares or another point
        estimate (item, category); or labels, whose vote shares count.
    predictions
        Scores of the models on these items, and perhaps on others, which do not calibrate.
    mass
        Mass q that a set has to hold, strictly between 0 and 1.
    coverage
        Probability 1 - alpha that it does.
    score, by
        As in `conformalize`.

    Returns
    -------
    ConformalSets

    Raises
    ------
    InputError
        As `conformalize`.

    See Also
    --------
    conformalize, set_coverage

    References
    ----------
    .. [1] A. Angelopoulos et al., "Conformal risk control", ICLR 2024, arXiv:2208.02814, theorem 1, for the loss
       1[mass < q].

    Examples
    --------
    >>> import xarray as xr
    >>> names = {"item": range(20), "category": [0, 1]}
    >>> shares = xr.DataArray([[0.7, 0.3], [1.0, 0.0]] * 10, names, ("item", "category"))
    >>> models = Predictions.from_scores({"A": [[0.6, 0.4], [0.9, 0.1]] * 10})
    >>> conformalize_mass(shares, models).predict_set(models).sum("category").values[0, :2].tolist()
    [2, 1]
    """
    coverage, mass = check_coverage(coverage), check_coverage(mass, "mass")
    draws = plausibility_of(truth)
    scores = conformity(score, scores_of(predictions, draws.items, draws.categories), predictions.models, draws.items)
    weight = np.zeros(scores.shape)
    for block in draws.blocks:
        plausibility = draws.read(block)
        for own, out in zip(scores, weight):
            count_critical(plausibility, np.argsort(-own[block], axis=1), mass - _ROUNDING, out[block])
    weight /= weight.sum(axis=2, keepdims=True)
    names = {"model": predictions.models, "item": draws.items, "category": draws.categories}
    return calibrated(scores, weight, names, coverage=coverage, score=score, by=by, method="mass", mass=mass)


@numba.njit(cache=True, nogil=True)
def count_critical(plausibility, order, mass, out):
    """Count in how many draws (sample, item, category) each label is critical, added to `out` (item, category).

    `order` (item, category) lists the labels from the most conforming one down.
    """
    n_samples, n_items, n_labels = plausibility.shape
    for s in range(n_samples):
        for i in range(n_items):
            held = 0.0
            for place in range(n_labels):
                k = order[i, place]
                held += plausibility[s, i, k]
                if held >= mass or place == n_labels - 1:
                    out[i, k] += 1.0
                    break


def mass_held(plausibility: ScoreArray, sets: NDArray[np.bool_]) -> ScoreArray:
    """Return the mass of draws (sample, item, category) in sets (item, category), shape (sample, item)."""
    return np.einsum("sik,ik->si", plausibility, sets.astype(np.float64))


def reaches(held: ScoreArray, mass: float) -> NDArray[np.bool_]:
    """Return whether a mass is held, up to rounding."""
    return held >= mass - _ROUNDING
