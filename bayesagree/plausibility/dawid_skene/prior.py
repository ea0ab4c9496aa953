"""Priors of the Dawid-Skene family."""

from dataclasses import asdict, dataclass

import numpy as np

from bayesagree._types import Floats
from bayesagree.errors import InputError, positive


@dataclass(frozen=True)
class DawidSkenePrior:
    """Hyperparameters of prevalence, confusion and ambiguity.

    Attributes
    ----------
    prevalence
        prevalence ~ Dirichlet(this, ..., this).
    strength, accuracy
        A confusion row is worth `strength` annotations, a share `accuracy` of them right and the others spread evenly:
        row k ~ Dirichlet(b_k), b_kk = strength * accuracy, b_kl = strength (1 - accuracy)/(K - 1). The accuracies of
        one_coin and class_conditional are Beta with the same counts; phi_k of the hierarchical variants ~
        Dirichlet(b_k). There this prior alone tells which label is which: two labels and a crowd little better than
        chance leave the reverse open (in 12 % of the draws on the bluebird set). Where a crowd is known to be better
        than that, say so: ``accuracy=0.7, strength=20`` (0 %), or give gold.
    concentration, concentration_sd
        log kappa_k ~ N(log concentration, concentration_sd^2).
    ambiguity, ambiguity_sd
        log alpha ~ N(log ambiguity, ambiguity_sd^2): alpha -> 0 is a single truth per item.

    Examples
    --------
    >>> prior = DawidSkenePrior(accuracy=0.8, strength=20)  # annotators known to be good
    >>> prior.prevalence
    3.0
    """

    prevalence: float = 3.0
    strength: float = 8.0
    accuracy: float = 0.6
    concentration: float = 8.0
    concentration_sd: float = 1.0
    ambiguity: float = 0.3
    ambiguity_sd: float = 1.0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            positive(value, name)
        if self.accuracy >= 1:
            raise InputError(f"accuracy={self.accuracy!r} must lie between 0 and 1")

    def confusion(self, n_labels: int) -> Floats:
        """Return the prior counts of a confusion matrix, shape (label, observed label)."""
        wrong = self.strength * (1 - self.accuracy) / max(n_labels - 1, 1)
        return np.where(np.eye(n_labels, dtype=bool), self.strength * self.accuracy, wrong)
