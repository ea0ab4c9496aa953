"""A truth and models of them for any metric: three labels, or two, or numbers; draws that are known exactly."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayesagree import Labels, Predictions, Ratings, dirichlet, normal_inverse_gamma
from bayesagree.metrics.records import MetricRecord

N_MODELS = 2


class Case(NamedTuple):
    """Draws of the truth (draw, item, label) or (draw, item) of numbers, and the models (model, item, ...)."""

    truth: xr.DataTree
    models: Predictions
    drawn: np.ndarray
    given: np.ndarray


def name_of(record: MetricRecord) -> str:
    """Return a name with its number and label."""
    if record.default == 90:
        return "interval_coverage_90"
    return record.pattern.replace("{}", "2").replace("{label}", "1")


def n_labels_of(record: MetricRecord) -> int:
    """Return 2 for metrics that take the last of two labels as positive."""
    return 2 if record.two_labels else 3


@cache
def labels_case(n_labels: int, n_items: int, kind: str) -> Case:
    """Return a truth of a thousand million votes an item, near shares that may lack a label, and soft models."""
    rng = np.random.default_rng([n_labels, n_items])
    shares = rng.dirichlet(np.ones(n_labels), n_items)
    if kind == "one label":
        shares = np.tile(np.linspace(1, 2, n_labels)[::-1], (n_items, 1))
        shares /= shares.sum(axis=1, keepdims=True)
    votes = Labels.from_counts((1e9 * shares).round().astype(np.int64), labels=range(n_labels), ordered=True)
    p = rng.dirichlet(np.ones(n_labels), (N_MODELS, n_items))
    if kind == "ties":
        p = rng.integers(1, 3, p.shape).astype(float)
        p /= p.sum(axis=-1, keepdims=True)
    truth = dirichlet(votes, draws=2, chains=1, random_seed=1)
    return Case(truth, soft(p), truth["posterior"]["plausibility"].values[0], p)


def soft(p: np.ndarray, items: Any = None, labels: Any = None) -> Predictions:
    """Return predictions from probabilities (model, item, label)."""
    named = {f"m{m}": table for m, table in enumerate(p)}
    return Predictions.from_scores(named, items=items, labels=range(p.shape[2]) if labels is None else labels)


@cache
def numbers_case() -> Case:
    """Return means of ratings, and samples of two models."""
    rng = np.random.default_rng(5)
    mean = rng.normal(50, 1, 70)  # spread over two blocks of items, far from 0
    ratings = Ratings.from_matrix(mean[:, None] + rng.normal(0, 0.7, (70, 3)), scale=(0, 100))
    truth = normal_inverse_gamma(ratings, draws=2, chains=1, random_seed=1)
    samples = mean[:, None] + rng.normal(0, 0.5, (N_MODELS, 70, 1)) + rng.normal(0, 0.4, (N_MODELS, 70, 41))
    return Case(truth, numbers(samples), truth["posterior"]["mean"].values[0], samples)


def numbers(samples: np.ndarray) -> Predictions:
    """Return predictions from samples (model, item, sample)."""
    return Predictions.from_numbers({f"m{m}": table for m, table in enumerate(samples)})


def case_of(record: MetricRecord, kind: str = "plain", n_items: int = 30) -> Case:
    """Return a case that the metric can score."""
    return numbers_case() if record.needs == "numbers" else labels_case(n_labels_of(record), n_items, kind)
