"""Posteriors and predictions for tests of metrics."""

import numpy as np
import xarray as xr

from bayesagree import Predictions


def posterior(plausibility, categories=None):
    """A posterior with the given draws, shape (chain, draw, item, category)."""
    values = np.asarray(plausibility, float)
    dims = ("chain", "draw", "item", "category")
    coords = {dim: np.arange(n) for dim, n in zip(dims, values.shape)}
    if categories is not None:
        coords["category"] = categories
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset({"plausibility": (dims, values)}, coords)})
    tree.attrs["settings"] = "{}"
    return tree


def one_hot(labels, n_labels):
    """A posterior that is sure of labels (draw, item)."""
    return posterior(np.eye(n_labels)[np.asarray(labels)][None])


def estimate(plausibility, items=None, categories=None):
    """A point estimate."""
    values = np.asarray(plausibility, float)
    coords = {"item": range(len(values)) if items is None else items}
    coords["category"] = range(values.shape[1]) if categories is None else categories
    return xr.DataArray(values, dims=("item", "category"), coords=coords)


def random_case(random_seed, n_draws=6, n_items=12, n_labels=3, n_models=2, ties=False):
    """True labels (draw, item), and probabilities (model, item, category), rounded to make ties."""
    rng = np.random.default_rng(random_seed)
    truth = rng.integers(0, n_labels, (n_draws, n_items))
    p = rng.dirichlet(np.ones(n_labels), (n_models, n_items))
    if ties:
        p = rng.integers(1, 3, p.shape).astype(float)
        p /= p.sum(axis=-1, keepdims=True)
    return truth, p


def models(probabilities, **names):
    """Predictions of models 0, 1, ..."""
    return Predictions.from_scores({f"m{m}": table for m, table in enumerate(probabilities)}, **names)
