"""Test sets with models, systems of known accuracy, and models for annotations that have none."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, product
from string import ascii_uppercase
from typing import NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree.annotations import Labels, Rankings
from bayesagree.annotations._display import fields_in_short
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive, positive_int
from bayesagree.inference.streams import Seed, seed_sequence
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
    >>> labelled_test_set(n_items=20, random_seed=1).predictions
    Predictions(models 'A', 'B', 'C', 20 items, categories 0, 1, 2, 3, predicted scores)
    """

    plausibility: NDArray[np.float64]
    labels: Labels
    predictions: Predictions

    __repr__ = fields_in_short


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
    predictions = Predictions.from_scores(_noisy_scores(truth, noise, rng), labels=labels)
    return LabelledTestSet(truth, Labels.from_matrix(matrix, labels=labels), predictions)


def noisy_models(annotations: Labels | Rankings, *, n_models: int = 4, random_seed: Seed = None) -> Predictions:
    """Simulate models for annotations that have none: the annotators' shares, with more and more noise.

    Their probabilities are the softmax of the log shares plus normal noise. Such models know the annotations, so they
    say nothing about any real model; they make a pipeline run.

    Parameters
    ----------
    annotations
        Labels (shares of the votes) or rankings (inverse rank normalisation).
    n_models
        Number of models A, B, ...; their noise grows from 1 to 3 standard deviations.
    random_seed
        Same seed, same predictions.
    """
    if annotations.kind == "labels":
        counts = annotations.counts() + 1 / annotations.categories.size
        share = counts / counts.sum(axis=1, keepdims=True)
    else:
        share = irn(annotations).values + 0.01
    rng = np.random.default_rng(seed_sequence(random_seed))
    scores = _noisy_scores(share, np.linspace(1, 3, positive_int(n_models, "n_models")), rng)
    return Predictions.from_scores(scores, items=annotations.items.tolist(), labels=annotations.categories.tolist())


def _noisy_scores(
    share: NDArray[np.float64], noise: Sequence[float] | NDArray[np.float64], rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    log_share = np.log(np.maximum(share, 1e-12))
    noisy = (log_share + sd * rng.standard_normal(share.shape) for sd in noise)
    names = map("".join, chain(ascii_uppercase, product(ascii_uppercase, repeat=2)))  # A, ..., Z, AA, AB, ...
    return {name: sp.special.softmax(scores, axis=1) for name, scores in zip(names, noisy)}


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


@dataclass(frozen=True, eq=False)
class CrowdsourcedBinary:
    """A simulated binary problem: what is true, what the models say, and what the crowd says.

    Attributes
    ----------
    plausibility
        Probability that each item is positive, shape (item,).
    scores
        Score of each model, shape (model, item); the first is the best, each next one more disturbed.
    tpr, fpr
        True and false positive rate of each annotator, shape (annotator,).
    item_index, annotator_index, positive
        The labels: which item, whose, and whether positive, shape (row,); sorted by item, then annotator.
    """

    plausibility: NDArray[np.float64]
    scores: NDArray[np.float64]
    tpr: NDArray[np.float64]
    fpr: NDArray[np.float64]
    item_index: NDArray[np.int32]
    annotator_index: NDArray[np.int32]
    positive: NDArray[np.bool_]

    __repr__ = fields_in_short

    @property
    def labels(self) -> Labels:
        """The crowd's labels, 0 or 1."""
        items, annotators = np.arange(self.plausibility.size), np.arange(self.tpr.size)
        once = np.broadcast_to(np.int64(1), self.positive.shape)
        label = self.positive.astype(np.int32)
        return Labels(items, annotators, np.arange(2), self.item_index, self.annotator_index, label, once)

    @property
    def predictions(self) -> Predictions:
        """The models' scores as probabilities of 0 and 1."""
        names = [f"model {m + 1}" for m in range(len(self.scores))]
        both = np.stack([1 - self.scores, self.scores], axis=-1)
        return Predictions.from_scores(dict(zip(names, both)), labels=[0, 1], probabilities=True)


def crowdsourced_binary(
    *,
    n_items: int = 1000,
    n_models: int = 100,
    labels_per_item: float = 5,
    labels_per_annotator: float = 15,
    mean_tpr: float = 0.7,
    mean_fpr: float = 0.3,
    disturbance: float = 0.45,
    item_prior: tuple[float, float] = (1.0, 1.0),
    random_seed: Seed = None,
) -> CrowdsourcedBinary:
    """Simulate models and a crowd on items whose truth is a probability.

    Item i is positive with probability p_i ~ Beta(item_prior). Model d = 1 .. n_models disturbs it by
    h = disturbance (d - 1) / (n_models - 1): its score is p_i U(1 - h, 1) + (1 - p_i) U(0, h). Annotator j labels
    each item with probability labels_per_annotator / n_items, and says positive with probability
    p_i TPR_j + (1 - p_i) FPR_j, where TPR_j ~ 1/2 + Beta(2, b)/2 and FPR_j ~ Beta(a, 2)/2 have the given means.

    Parameters
    ----------
    n_items, n_models
        Sizes of the problem.
    labels_per_item, labels_per_annotator
        Expected numbers; there are n_items * labels_per_item / labels_per_annotator annotators (rounded).
    mean_tpr, mean_fpr
        Mean true positive rate, in (1/2, 1), and false positive rate, in (0, 1/2), of the annotators.
    disturbance
        Disturbance h of the worst model, in [0, 1].
    item_prior
        Parameters of the Beta distribution of the items' plausibilities.
    random_seed
        Same seed, same problem.

    Raises
    ------
    InputError
        A parameter outside its range, or fewer than one annotator.

    Examples
    --------
    >>> size = {"n_items": 200, "n_models": 3, "labels_per_item": 4, "labels_per_annotator": 20}
    >>> problem = crowdsourced_binary(**size, random_seed=1)
    >>> problem.tpr.size, problem.scores.shape
    (40, (3, 200))

    References
    ----------
    Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
    data, section 4, steps 1 to 3.
    """
    n_items, n_models = positive_int(n_items, "n_items"), positive_int(n_models, "n_models")
    share = positive(labels_per_annotator, "labels_per_annotator") / n_items
    n_annotators = round(n_items * positive(labels_per_item, "labels_per_item") / labels_per_annotator)
    _within(share, "labels_per_annotator / n_items", 0, 1)
    _within(disturbance, "disturbance", 0, 1)
    if n_annotators < 1:
        raise InputError(
            f"labels_per_item={labels_per_item:g} and labels_per_annotator={labels_per_annotator:g} leave no "
            f"annotator for {n_items} items; ask for more labels per item or fewer per annotator"
        )
    a, b = rate_shapes(mean_tpr, mean_fpr)
    rng = np.random.Generator(np.random.SFC64(seed_sequence(random_seed)))
    p = rng.beta(*item_prior, n_items)
    h = np.linspace(0, disturbance, n_models)[:, None]
    up, down = rng.random((2, n_models, n_items))
    scores = p * (1 - h * up) + (1 - p) * (h * down)
    tpr, fpr = 0.5 + rng.beta(2, b, n_annotators) / 2, rng.beta(a, 2, n_annotators) / 2
    item, annotator = np.nonzero(rng.random((n_items, n_annotators)) < share)
    says_positive = rng.random(item.size) < p[item] * tpr[annotator] + (1 - p[item]) * fpr[annotator]
    return CrowdsourcedBinary(p, scores, tpr, fpr, item.astype(np.int32), annotator.astype(np.int32), says_positive)


def rate_shapes(mean_tpr: float, mean_fpr: float) -> tuple[float, float]:
    _within(mean_tpr, "mean_tpr", 0.5, 1, closed=False)
    _within(mean_fpr, "mean_fpr", 0, 0.5, closed=False)
    return 4 * mean_fpr / (1 - 2 * mean_fpr), (4 * mean_tpr - 4) / (1 - 2 * mean_tpr)


def _within(value: float, name: str, low: float, high: float, *, closed: bool = True) -> None:
    inside = low <= value <= high if closed else low < value < high
    if not inside:
        ends = f"[{low:g}, {high:g}]" if closed else f"({low:g}, {high:g})"
        raise InputError(f"{name}={value!r} must lie in {ends}")
