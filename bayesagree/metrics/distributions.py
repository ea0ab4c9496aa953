"""Terms of the metrics that compare a model's probabilities with the plausibilities of every draw, item by item."""

from typing import NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats

# Probabilities below this count as this in logarithms, as in scikit-learn's `log_loss`.
SMALLEST = float(np.finfo(np.float64).eps)


class Shares(NamedTuple):
    """One item: a model's probabilities and the plausibilities of its draws. Terms return shape (sample,)."""

    # Probabilities, shape (label,).
    p: Floats
    # Labels of the model, best first; of hard labels the one that it gives, -1 for none.
    order: NDArray[np.int32]
    # Plausibilities, shape (sample, label), and their entropies in nats, shape (sample,).
    truth: Floats
    truth_entropy: Floats

    @property
    def entropy(self) -> float:
        """Entropy of the probabilities in nats."""
        return float(sp.special.entr(self.p).sum())


def agreement(item: Shares) -> Floats:
    """Plausibility of the model's label."""
    best = item.order[0]
    return item.truth[:, best] if best >= 0 else np.zeros(len(item.truth))


def cross_entropy(item: Shares) -> Floats:
    """Minus the expected log probability of an annotator's label."""
    return -item.truth @ np.log(np.clip(item.p, SMALLEST, 1.0))


def kullback_leibler(item: Shares) -> Floats:
    """Cross-entropy less the entropy of the plausibilities."""
    return cross_entropy(item) - item.truth_entropy


def jensen_shannon(item: Shares) -> Floats:
    """Entropy of the middle beyond the mean of both entropies, in bits."""
    middle = sp.special.entr((item.p + item.truth) / 2).sum(axis=1)
    return np.maximum(middle - (item.entropy + item.truth_entropy) / 2, 0.0) / np.log(2)


def jensen_shannon_distance(item: Shares) -> Floats:
    """Root of the divergence."""
    return np.sqrt(jensen_shannon(item))


def positive_only_jensen_shannon(item: Shares) -> Floats:
    """One minus the mean over labels of the divergence of "this label or not"."""
    middle = _either((item.p + item.truth) / 2) - (_either(item.p) + _either(item.truth)) / 2
    return 1 - np.maximum(middle, 0.0).mean(axis=1) / np.log(2)


def _either(share: Floats) -> Floats:
    return sp.special.entr(share) + sp.special.entr(1 - share)


def total_variation(item: Shares) -> Floats:
    """Half of the sum of absolute differences."""
    return np.abs(item.p - item.truth).sum(axis=1) / 2


def wasserstein(item: Shares) -> Floats:
    """Steps on the ordered labels that mass has to move."""
    return np.abs(np.cumsum(item.p - item.truth, axis=1)[:, :-1]).sum(axis=1)


def entropy_difference(item: Shares) -> Floats:
    """Entropy of the probabilities less that of the plausibilities."""
    return item.entropy - item.truth_entropy


def entropy_gap(item: Shares) -> Floats:
    """Its absolute value."""
    return np.abs(entropy_difference(item))


def same_order(item: Shares) -> Floats:
    """1 where the plausibilities fall along the model's order of labels; equal ones in label order."""
    along = item.truth[:, item.order]
    first, second = along[:, :-1], along[:, 1:]
    falls = (first > second) | ((first == second) & (item.order[:-1] < item.order[1:]))
    return falls.all(axis=1).astype(np.float64)


def soft_accuracy(item: Shares) -> Floats:
    """Mass that both share."""
    return np.minimum(item.p, item.truth).sum(axis=1)


def soft_brier(item: Shares) -> Floats:
    """Squared distance."""
    return ((item.p - item.truth) ** 2).sum(axis=1)


# Moments of the entropies of model and truth, for `records.correlation`.
ENTROPY_MOMENTS = (
    lambda item: np.full(len(item.truth), item.entropy),
    lambda item: item.truth_entropy,
    lambda item: np.full(len(item.truth), item.entropy**2),
    lambda item: item.truth_entropy**2,
    lambda item: item.entropy * item.truth_entropy,
)
