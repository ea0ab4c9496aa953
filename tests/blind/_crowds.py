"""Systems with independent errors, a crowd, and the truth."""

import numpy as np

from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions

METRICS = ("accuracy", "precision", "recall", "specificity")


def simulated(n_items=300, accuracies=(0.6, 0.7, 0.8, 0.9), n_labels=2, missing=0.0, random_seed=1):
    """Systems with independent errors, a crowd that is right on 85 %, and the truth."""
    rng = np.random.default_rng(random_seed)
    truth = rng.integers(n_labels, size=n_items)

    def noisy(accuracy):
        other = (truth + rng.integers(1, n_labels, size=n_items)) % n_labels
        said = np.where(rng.random(n_items) < accuracy, truth, other).astype(object)
        said[rng.random(n_items) < missing] = None
        return said

    systems = Predictions.from_labels({f"s{a:.2f}": noisy(a) for a in accuracies}, labels=range(n_labels))
    crowd = Labels.from_matrix(noisy(0.85)[:, None], labels=range(n_labels))
    return systems, crowd, dict(enumerate(truth))
