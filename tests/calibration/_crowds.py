"""Crowds whose annotators do not err independently."""

import numpy as np

from bayesagree import Labels


def crowd(
    rng, *, n_items=1500, n_labels=3, accuracy=0.7, copying=0.0, pair=0.0, guessing=0.0, n_annotators=10, per_item=5
):
    """Simulate annotators of one true label who copy the first one of the item, or guess; return labels and truth.

    With chance `pair` the second annotator of the crowd copies the first one, where both label an item.
    """
    truth = rng.integers(0, n_labels, n_items)
    guesser = rng.random(n_annotators) < guessing
    matrix = np.full((n_items, n_annotators), -1)
    for i in range(n_items):
        who = rng.permutation(n_annotators)[:per_item]
        for place, j in enumerate(who):
            right = rng.random() < (1 / n_labels if guesser[j] else accuracy)
            own = truth[i] if right else (truth[i] + rng.integers(1, n_labels)) % n_labels
            matrix[i, j] = matrix[i, who[0]] if place and rng.random() < copying else own
    if pair:
        both = (matrix[:, 0] >= 0) & (matrix[:, 1] >= 0) & (rng.random(n_items) < pair)
        matrix[both, 1] = matrix[both, 0]
    named = np.where(matrix < 0, None, matrix.astype(object))
    return Labels.from_matrix(named, labels=list(range(n_labels))), truth
