"""Systems of known accuracy, with independent or shared errors, and models for annotations that have none."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree.annotations import Labels, Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.plausibility.prirn.inverse_ranks import irn


def noisy_models(annotations: Labels | Rankings, *, n_models: int = 4, random_seed: Seed = None) -> Predictions:
    """Simulate models for annotations that have none: the annotators' shares, with more and more noise.

    Their probabilities are the softmax of the log shares plus normal noise. Such models know the annotations, so they
    say nothing about any real model; they make a pipeline run.

    Parameters
    ----------
    annotations
        Labels (shares of the votes) or rankings (inverse rank normalisation).
    n_models
        Number of models; their noise grows from 1 to 3 standard deviations.
    random_seed
        Same seed, same predictions.
    """
    if annotations.kind == "labels":
        counts = annotations.counts() + 1 / annotations.categories.size
        share = counts / counts.sum(axis=1, keepdims=True)
    else:
        share = irn(annotations).values + 0.01
    rng = np.random.default_rng(seed_sequence(random_seed))
    noise = np.linspace(1, 3, positive_int(n_models, "n_models"))
    scores = {
        f"model {m}": sp.special.softmax(np.log(share) + sd * rng.standard_normal(share.shape), axis=1)
        for m, sd in enumerate(noise, 1)
    }
    return Predictions.from_scores(
        scores, items=annotations.items.tolist(), labels=annotations.categories.tolist()
    )


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


def simulated_systems(
    *,
    n_items: int = 500,
    accuracies: Sequence[float] = (0.55, 0.6, 0.65, 0.7, 0.75, 0.75, 0.8, 0.85, 0.9, 0.95),
    n_labels: int = 2,
    dependence: float = 0.0,
    missing: float = 0.0,
    random_seed: Seed = None,
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
    random_seed
        Same seed, same systems.

    Examples
    --------
    >>> systems = simulated_systems(n_items=10_000, accuracies=(0.5, 0.9), random_seed=1)
    >>> (systems.predictions.hard_labels() == systems.truth).mean(axis=1).round(1).tolist()
    [0.5, 0.9]
    """
    for name, share in (("dependence", dependence), ("missing", missing)):
        if not 0 <= share <= 1:
            raise InputError(f"{name}={share!r} must lie between 0 and 1")
    rng = np.random.default_rng(seed_sequence(random_seed))
    shape = (len(accuracies), positive_int(n_items, "n_items"))
    truth = rng.integers(n_labels, size=n_items)
    follows = rng.random(shape) < dependence
    uniform = np.where(follows, rng.random(n_items), rng.random(shape))
    wrong = (
        truth + np.where(follows, rng.integers(1, n_labels, n_items), rng.integers(1, n_labels, shape))
    ) % n_labels
    codes = np.where(uniform < np.asarray(accuracies)[:, None], truth, wrong)
    codes = np.where(rng.random(shape) < missing, -1, codes).astype(np.int32)
    models = np.array([f"system {m + 1}" for m in range(len(accuracies))])
    return SimulatedSystems(Predictions(models, np.arange(n_items), np.arange(n_labels), None, codes), truth)
