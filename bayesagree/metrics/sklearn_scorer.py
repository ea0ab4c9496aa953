"""Scores under uncertain truth for scikit-learn: `cross_val_score`, `GridSearchCV` and their like."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from bayesagree._types import Root
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.inference.top_labels import Truth, names_of, of_items
from bayesagree.metrics._scorer import TruthIs
from bayesagree.metrics.posterior_scores import score
from bayesagree.metrics.registry import AnyMetric
from bayesagree.plausibility.dirichlet.posterior import dirichlet


@dataclass(eq=False, repr=False)
class Scorer:
    """Callable ``scorer(estimator, X, y, votes=None) -> float`` with scikit-learn's metadata routing."""

    _metric: AnyMetric
    _truth: Any
    _labels: Sequence[Any] | None
    _truth_is: TruthIs
    _seed: Root

    def __post_init__(self) -> None:
        from sklearn.utils.metadata_routing import MetadataRequest  # scikit-learn takes a second to load

        self._request = MetadataRequest(owner=self)

    def set_score_request(self, *, votes: bool | str | None) -> Self:
        """Request the votes, or metadata of another name, from functions such as `cross_validate`."""
        self._request.score.add_request(param="votes", alias=votes)
        return self

    def get_metadata_routing(self) -> Any:
        """Return what scikit-learn is to pass."""
        return self._request

    def __call__(self, estimator: Any, X: Any, y: Any = None, votes: ArrayLike | None = None) -> float:
        """Return the score of an estimator on these items."""
        if (self._truth is None) == (votes is None):
            raise InputError(
                "a scorer has a truth, make_scorer(metric, truth), or gets votes in each call: make_scorer(metric, "
                "labels=[...]).set_score_request(votes=True) and params={'votes': counts} with "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        truth = self._truth
        if votes is not None:
            counted = Labels.from_counts(votes, labels=self._labels)
            truth = dirichlet(counted, random_seed=self._seed)
            items = counted.items.tolist()
        else:
            tables = [table for table in (X, y) if isinstance(table, pd.DataFrame | pd.Series)]
            if not tables:
                raise InputError(
                    "the items have no names: pass X as a data frame, or y as a series, indexed by item"
                )
            items = tables[0].index.tolist()
            truth = of_items(truth, items)
        named = truth["category"] if isinstance(truth, xr.DataArray) else names_of(truth, "category")
        labels = np.asarray(named).tolist()
        if hasattr(estimator, "predict_proba"):
            # A label that the estimator has never seen has probability zero.
            table = pd.DataFrame(estimator.predict_proba(X), columns=estimator.classes_).reindex(columns=labels)
            given = Predictions.from_scores(table.fillna(0.0), items=items, probabilities=True)
        else:
            given = Predictions.from_labels(estimator.predict(X), items=items, labels=labels)
        values = score(truth, given, self._metric, random_seed=self._seed, truth_is=self._truth_is)
        return float(values.mean() if values.attrs["higher_is_better"] else -values.mean())


def make_scorer(
    metric: AnyMetric,
    truth: Truth | None = None,
    *,
    labels: Sequence[Any] | None = None,
    truth_is: TruthIs = "top",
    random_seed: Seed = None,
) -> Scorer:
    """Make a scorer for scikit-learn: an estimator's score against the draws of the truth of its test items.

    The estimator learns from any target ``y``, such as majority votes; the scorer looks up the truth of the tested
    items by name. ``X`` (a data frame) or ``y`` (a series) must therefore have the items' names as its index. Without
    a `truth` the votes themselves follow the folds, by scikit-learn's metadata routing (its ``enable_metadata_routing``
    is set): ``make_scorer("accuracy", labels=["no", "yes"]).set_score_request(votes=True)`` takes
    ``cross_validate(..., params={"votes": counts})`` with counts (item, label), and draws the truth of the tested items
    by `dirichlet`.

    Parameters
    ----------
    metric
        As in `score`.
    truth
        A posterior of plausibilities, or a point estimate (item, category). None: from the votes passed to the scorer.
    labels
        Without a `truth`: the label of each column of the votes.
    truth_is
        As in `score`.
    random_seed
        Of sampled truths: all candidates of a scorer see the same ones.

    Returns
    -------
    Scorer
        ``scorer(estimator, X, y) -> float``, the posterior mean; of a score of which lower is better its negative, as
        scikit-learn expects. The estimator's ``predict_proba`` counts where it has one, else its
        ``predict``.

    Raises
    ------
    InputError
        Items without names, or that the truth does not have; neither truth nor labels, or both.

    See Also
    --------
    score

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
    >>> scorer = make_scorer("accuracy", dirichlet(votes, random_seed=1))
    >>> bool(cross_val_score(LogisticRegression(), X, majority, scoring=scorer, cv=3).mean() > 0.7)
    True
    """
    if (truth is None) == (labels is None):
        raise InputError(
            "make_scorer takes a truth, or the labels of the votes that each call of the scorer gets"
        )
    return Scorer(metric, truth, labels, truth_is, seed_sequence(random_seed))
