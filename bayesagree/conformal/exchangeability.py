"""Whether calibration items and new items are alike, which is all that conformal prediction assumes."""

from typing import Any

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._inference.results import settings_of
from bayesagree._numerics.types import Floats
from bayesagree.annotations.predictions import Predictions
from bayesagree.conformal._truth import Truth, expected_plausibility, scores_of, winners
from bayesagree.conformal.scores import conformity
from bayesagree.conformal.sets import ConformalSets
from bayesagree.errors import InputError

# Expected count below which labels are pooled: the usual limit of the chi-squared approximation.
_FEWEST = 5.0


def exchangeability_check(sets: ConformalSets, predictions: Predictions, *, truth: Truth | None = None) -> pd.DataFrame:
    """Tests of whether new items are like the calibration items, for each model.

    Parameters
    ----------
    sets
        Calibrated sets.
    predictions
        Predictions for the new items, which must not be calibration items.
    truth
        Truth of the new items, where it is known: the only way to see that annotators changed and predictions did not.

    Returns
    -------
    DataFrame
        One row per ``model`` and ``statistic``: ``value`` and ``p_value``. Statistics: ``top_conformity``,
        Kolmogorov-Smirnov distance of the highest conformity of each item; ``predicted_label``, Cramer's V of how often
        each label is predicted (labels expected fewer than 5 times are pooled); with `truth` also
        ``expected_conformity``, Kolmogorov-Smirnov distance of each item's conformity averaged over its plausibilities.
        A small p-value in any row says that the guarantee may not hold; with r rows compare p with your level / r.

    Raises
    ------
    InputError
        Models or labels that calibration never saw; a truth, and sets that were calibrated on sampled labels.

    See Also
    --------
    conformalize, set_coverage

    References
    ----------
    .. [1] V. Vovk, A. Gammerman, G. Shafer, "Algorithmic learning in a random world", 2nd ed., Springer 2022,
       doi:10.1007/978-3-031-06649-8, chapter 8.

    Examples
    --------
    >>> from bayesagree import Labels, conformalize
    >>> rng = np.random.default_rng(1)
    >>> scores = rng.dirichlet([1, 1], 200)
    >>> votes = Labels.from_counts(rng.multinomial(5, scores))
    >>> sets = conformalize(votes, Predictions.from_scores({"A": scores}))
    >>> easier = Predictions.from_scores({"A": rng.dirichlet([0.2, 0.2], 200)})
    >>> bool(exchangeability_check(sets, easier)["p_value"].min() < 0.001)
    True
    """
    data = sets.calibration["constant_data"].to_dataset()
    weight = np.broadcast_to(data["weight"].values, data["conformity"].shape)
    items = None if truth is None else expected_plausibility(truth).items
    new_items = predictions.items if items is None else items
    scores = scores_of(predictions, items, sets.categories)
    new = conformity(sets.score, scores, predictions.models, new_items)
    new_weight = None if truth is None else _weights(sets, truth)
    known, rows = data["model"].values.tolist(), []
    for m, model in enumerate(predictions.models.tolist()):
        if model not in known:
            raise InputError(f"model {model!r} was not calibrated")
        old = data["conformity"].values[known.index(model)]
        tests = {
            "top_conformity": _kolmogorov_smirnov(old.max(axis=1), new[m].max(axis=1)),
            "predicted_label": _same_labels(old.argmax(axis=1), new[m].argmax(axis=1), old.shape[1]),
        }
        if new_weight is not None:
            own = weight[known.index(model)]
            tests["expected_conformity"] = _kolmogorov_smirnov(_expected(own, old), _expected(new_weight, new[m]))
        rows += [
            {"model": model, "statistic": name, "value": float(value), "p_value": float(p)}
            for name, (value, p) in tests.items()
        ]
    return pd.DataFrame(rows)


def _weights(sets: ConformalSets, truth: Truth) -> Floats:
    """Return the weights that the method of the sets would give to the new items."""
    found = expected_plausibility(truth)
    if not np.array_equal(found.categories, sets.categories):
        raise InputError("the truth has other labels than the calibration")
    method = settings_of(sets.calibration)["method"]
    if method not in ("exact", "majority"):
        raise InputError(f"sets of method {method!r} were not calibrated on plausibilities; leave out truth=")
    return found.values if method == "exact" else winners(found.values)


def _expected(weight: Floats, score: Floats) -> Floats:
    return np.einsum("ik,ik->i", weight, score)


def _kolmogorov_smirnov(old: NDArray[Any], new: NDArray[Any]) -> tuple[float, float]:
    found = sp.stats.ks_2samp(old, new)
    return found.statistic, found.pvalue


def _same_labels(old: NDArray[np.intp], new: NDArray[np.intp], n_labels: int) -> tuple[float, float]:
    """Return Cramer's V and the p-value of the chi-squared test; 0 and 1 where there is one label."""
    counts = np.stack([np.bincount(part, minlength=n_labels) for part in (old, new)])
    expected = counts.sum(axis=0) * counts.sum(axis=1).min() / counts.sum()
    rare = expected < _FEWEST
    table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    found = sp.stats.chi2_contingency(table, correction=False)
    return float(np.sqrt(found.statistic / table.sum())), float(found.pvalue)
