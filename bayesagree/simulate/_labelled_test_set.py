"""A labelled test set with models, and models for annotations that have none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.annotations import Labels, Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import positive_int
from bayesagree.plausibility.dirichlet.inverse_rank_normalization import irn


@dataclass(frozen=True, eq=False)
class LabelledTestSet:
    """A simulated test set: the true plausibilities, what annotators said, and what models predict.

    Attributes
    ----------
    plausibility
        True plausibilities (item, category); the true label of an item is the most plausible one.
    labels
        Single labels of the annotators.
    predictions
        Scores of the models A, B, ...
    """

    plausibility: NDArray[np.float64]
    labels: Labels
    predictions: Predictions


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

    Plausibilities are Dirichlet(spread); every annotator of an item draws a label from them; a model scores a label
    by its log plausibility plus normal noise.

    Parameters
    ----------
    n_items, n_annotators, per_item, n_labels
        Numbers of items, of annotators, of annotators an item, and of labels.
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
    said = (rng.random((n_items, per_item, 1)) > truth.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    matrix = np.full((n_items, n_annotators), np.nan)
    np.put_along_axis(matrix, who, said.astype(float), axis=1)
    predictions = _noisy_scores(truth, noise, rng)
    labels = list(range(n_labels))
    return LabelledTestSet(
        truth, Labels.from_matrix(matrix, labels=labels), Predictions.from_scores(predictions, labels=labels)
    )


@checked
def noisy_models(annotations: Labels | Rankings, *, n_models: int = 4, seed: Seed = None) -> Predictions:
    """Simulate models for annotations that have none: log of the annotators' shares plus more and more normal noise.

    Such models know the annotations, so they say nothing about any real model; they make a pipeline run.

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
    return {_letters(m): log_share + sd * rng.standard_normal(share.shape) for m, sd in enumerate(noise)}


def _letters(number: int) -> str:
    """Return A, B, ..., Z, AA, AB, ..."""
    name = ""
    while number >= 0:
        name = chr(ord("A") + number % 26) + name
        number = number // 26 - 1
    return name
