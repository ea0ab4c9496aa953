"""Binary labels of a crowd on items whose truth is a probability, with models (Urkullu et al.)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive, positive_int
from bayesagree.inference.streams import Seed, seed_sequence


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

    @property
    def labels(self) -> Labels:
        """The crowd's labels, 0 or 1."""
        items, annotators = np.arange(self.plausibility.size), np.arange(self.tpr.size)
        once = np.broadcast_to(np.int64(1), self.positive.shape)
        label = self.positive.astype(np.int32)
        return Labels(items, annotators, self.item_index, self.annotator_index, np.arange(2), label, once)

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
    return CrowdsourcedBinary(
        p, scores, tpr, fpr, item.astype(np.int32), annotator.astype(np.int32), says_positive
    )


def rate_shapes(mean_tpr: float, mean_fpr: float) -> tuple[float, float]:
    _within(mean_tpr, "mean_tpr", 0.5, 1, closed=False)
    _within(mean_fpr, "mean_fpr", 0, 0.5, closed=False)
    return 4 * mean_fpr / (1 - 2 * mean_fpr), (4 * mean_tpr - 4) / (1 - 2 * mean_tpr)


def _within(value: float, name: str, low: float, high: float, *, closed: bool = True) -> None:
    inside = low <= value <= high if closed else low < value < high
    if not inside:
        ends = f"[{low:g}, {high:g}]" if closed else f"({low:g}, {high:g})"
        raise InputError(f"{name}={value!r} must lie in {ends}")
