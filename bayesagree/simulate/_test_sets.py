"""Test sets with models, systems of known accuracy, and models for annotations that have none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.annotations import Labels, Rankings
from bayesagree.annotations._display import fields_in_short
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int
from bayesagree.plausibility.prirn.inverse_ranks import irn


@dataclass(frozen=True, eq=False)
class LabelledTestSet:
    """A simulated test set: the true plausibilities, the annotators' labels, and the models' predictions.

    Attributes
    ----------
    plausibility
        True plausibilities (item, category); the true label of an item is the most plausible one.
    labels
        Single labels of the annotators.
    predictions
        Probabilities that the models A, B, ... give to the labels.

    Examples
    --------
    >>> labelled_test_set(n_items=20, seed=1).predictions
    Predictions(models 'A', 'B', 'C', 20 items, categories 0, 1, 2, 3, predicted scores)
    """

    plausibility: NDArray[np.float64]
    labels: Labels
    predictions: Predictions

    __repr__ = fields_in_short


@checked
def labelled_test_set(
    *,
    n_items: int = 400,
    n_annotators: int = 12,
    per_item: int = 5,
    n_labels: int = 4,
    spread: float = 0.1,
    noise: Sequence[float] = (2.1, 2.0, 4.0),
    seed: Seed = None,
) -> LabelledTestSet:
    """Simulate a test set whose items are partly open to debate.

    Plausibilities are Dirichlet(spread); every annotator of an item draws a label from them; a model's probabilities
    are the softmax of the log plausibilities plus normal noise.

    Parameters
    ----------
    n_items, n_annotators, per_item, n_labels
        Numbers of items, of annotators, of annotators per item, and of labels.
    spread
        Shape of the plausibilities: small values make items clear, large ones ambiguous.
    noise
        Standard deviation of each model's noise.
    seed
        Same seed, same test set.
    """
    rng = np.random.default_rng(seed_sequence(seed))
    truth = rng.dirichlet(np.full(n_labels, spread), size=n_items)
    who = rng.random((n_items, n_annotators)).argsort(axis=1)[:, :per_item]
    # Inverse CDF: one uniform number per annotation.
    label = (rng.random((n_items, per_item, 1)) > truth.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    matrix = np.full((n_items, n_annotators), np.nan)
    np.put_along_axis(matrix, who, label.astype(float), axis=1)
    labels = list(range(n_labels))
    predictions = Predictions.from_scores(_noisy_scores(truth, noise, rng), labels=labels)
    return LabelledTestSet(truth, Labels.from_matrix(matrix, labels=labels), predictions)


@checked
def noisy_models(annotations: Labels | Rankings, *, n_models: int = 4, seed: Seed = None) -> Predictions:
    """Simulate models for annotations that have none: the annotators' shares, with more and more noise.

    Their probabilities are the softmax of the log shares plus normal noise. Such models know the annotations, so they
    say nothing about any real model; they make a pipeline run.

    Parameters
    ----------
    annotations
        Labels (shares of the votes) or rankings (inverse rank normalisation).
    n_models
        Number of models A, B, ...; their noise grows from 1 to 3 standard deviations.
    seed
        Same seed, same predictions.
    """
    if annotations.kind == "labels":
        counts = annotations.counts() + 1 / annotations.categories.size
        share = counts / counts.sum(axis=1, keepdims=True)
    else:
        share = irn(annotations).values + 0.01
    rng = np.random.default_rng(seed_sequence(seed))
    scores = _noisy_scores(share, np.linspace(1, 3, positive_int(n_models, "n_models")), rng)
    return Predictions.from_scores(scores, items=annotations.items.tolist(), labels=annotations.categories.tolist())


def _noisy_scores(
    share: NDArray[np.float64], noise: Sequence[float] | NDArray[np.float64], rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    log_share = np.log(np.maximum(share, 1e-12))
    noisy = (log_share + sd * rng.standard_normal(share.shape) for sd in noise)
    return {_letters(m): sp.special.softmax(scores, axis=1) for m, scores in enumerate(noisy)}


def _letters(number: int) -> str:
    """Return A, B, ..., Z, AA, AB, ..."""
    name = ""
    while number >= 0:
        name = chr(ord("A") + number % 26) + name
        number = number // 26 - 1
    return name


class SimulatedSystems(NamedTuple):
    """Systems and what they were made from.

    Attributes
    ----------
    predictions
        Labels of the systems.
    truth
        True label of each item, shape (item,).
    """

    predictions: Predictions
    truth: NDArray[np.int64]

    __repr__ = fields_in_short


@checked
def simulated_systems(
    *,
    n_items: int = 500,
    accuracies: Sequence[float] = (0.55, 0.6, 0.65, 0.7, 0.75, 0.75, 0.8, 0.85, 0.9, 0.95),
    n_labels: int = 2,
    dependence: float = 0.0,
    missing: float = 0.0,
    seed: Seed = None,
) -> SimulatedSystems:
    """Simulate systems that label the same items.

    System m is right on item i where u_mi is below its accuracy, and else picks one of the other labels. Every u_mi is
    uniform: with probability `dependence` it is the item's own u_i, the same for all systems (hard items are hard for
    all), otherwise a new one. The accuracies are the same for any dependence.

    Parameters
    ----------
    n_items, n_labels
        Sizes; labels are equally frequent.
    accuracies
        One per system.
    dependence
        Share of judgements that follow the item instead of the system, 0 to 1.
    missing
        Share of labels that a system does not give.
    seed
        Same seed, same systems.

    Examples
    --------
    >>> systems = simulated_systems(n_items=10_000, accuracies=(0.5, 0.9), seed=1)
    >>> (systems.predictions.hard_labels() == systems.truth).mean(axis=1).round(1).tolist()
    [0.5, 0.9]
    """
    for name, share in (("dependence", dependence), ("missing", missing)):
        if not 0 <= share <= 1:
            raise InputError(f"{name}={share!r} must lie between 0 and 1")
    rng = np.random.default_rng(seed_sequence(seed))
    shape = (len(accuracies), positive_int(n_items, "n_items"))
    truth = rng.integers(n_labels, size=n_items)
    follows = rng.random(shape) < dependence
    uniform = np.where(follows, rng.random(n_items), rng.random(shape))
    wrong = (truth + np.where(follows, rng.integers(1, n_labels, n_items), rng.integers(1, n_labels, shape))) % n_labels
    codes = np.where(uniform < np.asarray(accuracies)[:, None], truth, wrong)
    codes = np.where(rng.random(shape) < missing, -1, codes).astype(np.int32)
    models = np.array([f"system {m + 1}" for m in range(len(accuracies))])
    return SimulatedSystems(Predictions(models, np.arange(n_items), np.arange(n_labels), None, codes), truth)
