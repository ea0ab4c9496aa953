"""Scores under uncertain truth for scikit-learn: `cross_val_score`, `GridSearchCV` and their like."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.top_labels import Truth, labels_of, plausibility_draws
from bayesagree.errors import InputError, shorten
from bayesagree.metrics._scorer import TruthIs
from bayesagree.metrics.posterior_scores import score
from bayesagree.metrics.registry import AnyMetric, Metric


@checked
def make_scorer(
    metric: AnyMetric,
    truth: Truth,
    *,
    truth_is: TruthIs = "top",
    statistic: Literal["mean", "lower", "upper"] = "mean",
    ci_prob: float = 0.95,
    thin: int = 1,
    seed: Seed = None,
) -> Callable[[Any, Any, Any], float]:
    """Scorer for scikit-learn: an estimator's score against the draws of the truth of the items that it is tested on.

    The estimator learns from any target ``y``, such as majority votes; the scorer looks up the truth of the tested
    items by name. ``X`` (a data frame) or ``y`` (a series) must therefore have the items' names as its index.

    Parameters
    ----------
    metric
        As in `score`.
    truth
        A posterior of plausibilities, or a point estimate (item, category).
    truth_is, thin
        As in `score`.
    statistic
        The number to return: the posterior mean, or an end of its interval. A score of which lower is better is
        returned with its sign turned round, as scikit-learn asks.
    ci_prob
        Probability of that interval (equal tails).
    seed
        Of sampled truths: all candidates of a scorer see the same ones.

    Returns
    -------
    callable
        ``scorer(estimator, X, y) -> float``. The estimator's ``predict_proba`` counts where it has one, else its
        ``predict``.

    Raises
    ------
    InputError
        Items without names, or that the truth does not have; an unknown statistic.

    See Also
    --------
    score, Predictions.from_estimators

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from bayesagree import Labels, dirichlet
    >>> rng = np.random.default_rng(1)
    >>> X = pd.DataFrame({"x": rng.normal(size=60)})
    >>> shares = 1 / (1 + np.exp(-3 * X["x"].to_numpy()))
    >>> votes = Labels.from_counts(rng.multinomial(5, np.c_[1 - shares, shares]))
    >>> majority = votes.counts().argmax(axis=1)
    >>> scorer = make_scorer("accuracy", dirichlet(votes, seed=1))
    >>> bool(cross_val_score(LogisticRegression(), X, majority, scoring=scorer, cv=3).mean() > 0.7)
    True
    """
    if statistic not in ("mean", "lower", "upper"):
        raise InputError(f"statistic={statistic!r} is not one of 'mean', 'lower', 'upper'")
    requested = Metric.of(metric)
    sign = 1.0 if requested.record.higher_is_better else -1.0
    root = seed_sequence(seed)
    tails = {"lower": (1 - ci_prob) / 2, "upper": (1 + ci_prob) / 2}

    def scorer(estimator: Any, X: Any, y: Any = None) -> float:
        items = _items(X, y)
        part = _of_items(truth, items)
        given = Predictions.from_estimators(
            {"estimator": estimator}, X, items=items, labels=_categories(truth).tolist()
        )
        values = score(part, given, metric, truth_is=truth_is, thin=thin, seed=root) * sign
        return float(values.mean() if statistic == "mean" else values.quantile(tails[statistic]))

    return scorer


def _items(X: Any, y: Any) -> list[Any]:
    """Return the names of the items that are tested."""
    for table in (X, y):
        if isinstance(table, pd.DataFrame | pd.Series):
            return table.index.tolist()
    raise InputError("the items have no names: pass X as a data frame, or y as a series, indexed by item")


def _categories(truth: Truth) -> NDArray[Any]:
    if isinstance(truth, xr.DataArray):
        return np.asarray(truth["category"])
    return labels_of(truth)


def _of_items(truth: Truth, items: list[Any]) -> Truth:
    """Return the truth of some items."""
    known = truth if isinstance(truth, xr.DataArray) else truth["posterior"].to_dataset()
    place = pd.Index(np.asarray(known["item"])).get_indexer(pd.Index(items))
    if (place < 0).any():
        unknown = [item for item, at in zip(items, place) if at < 0]
        raise InputError(f"the truth has no items {shorten(unknown)}; index X or y by the names of the items")
    if isinstance(truth, xr.DataArray):
        return truth.isel(item=place)
    if "plausibility" in known:
        values = plausibility_draws(truth).isel(item=place)
        return xr.DataTree.from_dict({"posterior": values.to_dataset(name="plausibility")})
    tree = xr.DataTree.from_dict({"posterior": known.isel(item=place)})
    return tree.assign({"constant_data": xr.DataTree(xr.Dataset(coords={"category": labels_of(truth)}))})
