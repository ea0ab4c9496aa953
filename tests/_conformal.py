"""Simulated items whose plausibilities are known, and a plain twin of the threshold."""

import numpy as np
import xarray as xr

import bayesagree as ba


def items(n, n_labels=4, random_seed=1, sharpness=3.0):
    """Return plausibilities and predicted probabilities of n items, as (shares, predictions)."""
    rng = np.random.default_rng(random_seed)
    logits = sharpness * rng.standard_normal((n, n_labels))
    truth = softmax(logits)
    predicted = softmax(logits + rng.standard_normal((n, n_labels)))
    return shares_of(truth), ba.Predictions.from_scores({"A": predicted})


def softmax(logits):
    weight = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weight / weight.sum(axis=-1, keepdims=True)


def shares_of(values):
    values = np.asarray(values, dtype=float)
    names = {"item": np.arange(values.shape[0]), "category": np.arange(values.shape[1])}
    return xr.DataArray(values, names, ("item", "category"))


def plain_threshold(score, weight, n, alpha):
    """Return the smallest score with (1 + weight up to it) / (n + 1) > alpha, by going through all of them."""
    if 1 / (n + 1) > alpha + 1e-9:
        return -np.inf
    for e in np.unique(score[weight > 0]):
        if (1 + weight[score <= e].sum()) / (n + 1) > alpha + 1e-9:
            return e
    raise AssertionError("no score is large enough")
