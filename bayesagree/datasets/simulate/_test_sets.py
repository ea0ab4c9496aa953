"""Test sets with models."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, product
from string import ascii_uppercase

import numpy as np
import scipy as sp

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.inference.streams import Seed, seed_sequence


@dataclass(frozen=True, eq=False, repr=False)
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
    >>> labelled_test_set(n_items=20, random_seed=1).predictions
    Predictions(models 'A', 'B', 'C', 20 items, categories 0, 1, 2, 3, predicted scores)
    """

    plausibility: Floats
    labels: Labels
    predictions: Predictions


def labelled_test_set(
    *,
    n_items: int = 400,
    n_annotators: int = 12,
    per_item: int = 5,
    n_labels: int = 4,
    spread: float = 0.1,
    noise: Sequence[float] = (2.1, 2.0, 4.0),
    random_seed: Seed = None,
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
    random_seed
        Same seed, same test set.
    """
    rng = np.random.default_rng(seed_sequence(random_seed))
    truth = rng.dirichlet(np.full(n_labels, spread), size=n_items)
    who = rng.random((n_items, n_annotators)).argsort(axis=1)[:, :per_item]
    # Inverse CDF: one uniform number per annotation.
    label = (rng.random((n_items, per_item, 1)) > truth.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    matrix = np.full((n_items, n_annotators), np.nan)
    np.put_along_axis(matrix, who, label.astype(float), axis=1)
    labels = list(range(n_labels))
    log_truth = np.log(np.maximum(truth, 1e-12))
    scores = [sp.special.softmax(log_truth + sd * rng.standard_normal(truth.shape), axis=1) for sd in noise]
    names = map("".join, chain(ascii_uppercase, product(ascii_uppercase, repeat=2)))  # A, ..., Z, AA, AB, ...
    predictions = Predictions.from_scores(dict(zip(names, scores)), labels=labels)
    return LabelledTestSet(truth, Labels.from_matrix(matrix, labels=labels), predictions)
