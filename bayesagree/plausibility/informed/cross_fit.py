"""What the votes for other items say of an item: the prior means of `informed_dirichlet`, cross-fitted."""

import numpy as np
import xarray as xr

from bayesagree._inference.streams import Seed, stream_apart
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.plausibility.informed._kernels import prior_means
from bayesagree.plausibility.informed.covariates import Covariates, Excluded, on_items_of
from bayesagree.plausibility.informed.fit import Votes, fit_parameters
from bayesagree.plausibility.informed.prior import InformedPrior, Layout

FOLDS = 5


def informed_prior_mean(
    labels: Labels,
    predictions: Predictions,
    *,
    exclude: Excluded = None,
    prior: InformedPrior | None = None,
    seed: Seed = None,
) -> xr.DataArray:
    """Mean plausibilities of each item by the predictions and the votes for other items.

    Items with votes are dealt into five folds, and the prior of `informed_dirichlet` is fitted five times, without one
    fold each. An item of a fold gets its mean from the fit without it, an item without votes the average of all five.
    No mean knows its item's own votes: beside the votes themselves (`score` with ``proxy=``) it lets items without
    votes count, and the score stays right on average however wrong the mean is.

    Parameters
    ----------
    labels
        Single labels, of some or all items of the predictions.
    predictions
        Models whose output tells what items look like, as in `informed_dirichlet`.
    exclude
        Names of models that are left out, one or several.
    prior
        By default `InformedPrior()`.
    seed
        Of the folds.

    Returns
    -------
    DataArray
        Plausibilities, dims (item, category), which sum to one over category; items are those of the predictions.

    Raises
    ------
    InputError
        Items with labels and without predictions, other labels, an unknown model in `exclude`.

    See Also
    --------
    score, informed_dirichlet

    References
    ----------
    T. Zrnic, E. J. Candes, "Cross-prediction-powered inference", PNAS 121 (2024),
    https://doi.org/10.1073/pnas.2322083121, section 2.

    Examples
    --------
    >>> from bayesagree import score, simulate
    >>> given = simulate.labelled_test_set(n_items=500, seed=1)
    >>> voted = given.labels.select(given.labels.item_index < 100)
    >>> proxy = informed_prior_mean(voted, given.predictions, seed=1)
    >>> dict(proxy.sizes)
    {'item': 500, 'category': 4}
    >>> powered = score(voted, given.predictions, "agreement", proxy=proxy, seed=1)
    >>> powered.mean(("chain", "draw")).values.round(2).tolist()
    [0.77, 0.72, 0.6]
    """
    everywhere = on_items_of(labels, predictions)
    predictions = predictions.aligned(everywhere.items, everywhere.categories)
    covariates, votes = Covariates.of(predictions, exclude), Votes.of(everywhere)
    layout = Layout(covariates.names, tuple(map(str, everywhere.categories)), prior or InformedPrior())
    rng = np.random.default_rng(stream_apart(seed, "folds"))
    voted = rng.permutation(np.flatnonzero(np.diff(votes.start)))
    if voted.size < 2:
        raise InputError(f"labels on {voted.size} items: each item is predicted from others; label two or more")
    fold = np.full(everywhere.items.size, -1)
    fold[voted] = np.arange(voted.size) % FOLDS
    out = np.zeros((fold.size, everywhere.categories.size))
    means = np.empty(out.shape)
    for f in range(FOLDS):
        others = np.flatnonzero((fold >= 0) & (fold != f))
        mode = fit_parameters(votes, covariates, layout, items=others).mode
        prior_means(mode, covariates.dense, covariates.hit, means)
        out[fold == f] = means[fold == f]
        out[fold < 0] += means[fold < 0] / FOLDS
    return xr.DataArray(
        out, dims=("item", "category"), coords={"item": everywhere.items, "category": everywhere.categories}
    )
