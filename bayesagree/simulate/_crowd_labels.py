"""Labels of annotators with confusion matrices of their own, as Dawid and Skene assume them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.draws import categories, log_dirichlets
from bayesagree.annotations import Labels
from bayesagree.annotations._display import fields_in_short
from bayesagree.errors import InputError, positive, positive_int


@dataclass(frozen=True, eq=False)
class CrowdLabels:
    """A simulated crowd whose annotators confuse labels each in their own way.

    Attributes
    ----------
    labels
        The crowd's labels.
    truth
        True label of each item, shape (item,), as position; the gold label where items are ambiguous.
    prevalence
        Share of each label, shape (label,).
    confusion
        Pr(given label | latent label), shape (annotator, category, observed_category).
    plausibility
        Each item's distribution over labels, shape (item, category): one-hot unless ``ambiguity`` is positive.
    """

    labels: Labels
    truth: NDArray[np.int64]
    prevalence: NDArray[np.float64]
    confusion: NDArray[np.float64]
    plausibility: NDArray[np.float64]

    __repr__ = fields_in_short


@checked
def crowd_labels(
    *,
    n_items: int = 2000,
    n_annotators: int = 40,
    n_labels: int = 4,
    labels_per_item: int = 3,
    prevalence: Sequence[float] | None = None,
    confusion: NDArray[np.float64] | None = None,
    ambiguity: float = 0.0,
    seed: Seed = None,
) -> CrowdLabels:
    """Simulate a crowd that labels items one by one, as `dawid_skene` assumes it.

    Each item is labelled by different annotators drawn at random. Annotator j has a latent label c of item i and gives
    label l with probability confusion_jcl. Without ambiguity c is the true label; with ambiguity alpha every item has
    lambda_i ~ Dirichlet(alpha prevalence), and every annotator, like the gold standard, draws c ~ lambda_i anew.

    Parameters
    ----------
    n_items, n_annotators, n_labels, labels_per_item
        Sizes.
    prevalence
        Share of each label; by default equal.
    confusion
        Confusion matrices (annotator, category, observed_category); by default row k of annotator j ~ Dirichlet with
        1 + c_j for label k and 1 for the others, c_j ~ U(1, 8).
    ambiguity
        Concentration alpha of the items' plausibilities; 0 is one true label per item.
    seed
        Same seed, same crowd.

    Examples
    --------
    >>> crowd = crowd_labels(n_items=10, n_annotators=5, seed=1)
    >>> crowd.labels.n_annotations, crowd.confusion.shape
    (30, (5, 4, 4))
    """
    sizes = {"n_items": n_items, "n_annotators": n_annotators, "n_labels": n_labels}
    n, j, k = (positive_int(size, name) for name, size in sizes.items())
    votes = positive_int(labels_per_item, "labels_per_item")
    if votes > j:
        raise InputError(f"labels_per_item={votes} is more than the {j} annotators there are")
    rng = np.random.default_rng(seed_sequence(seed))
    share = np.full(k, 1 / k) if prevalence is None else np.asarray(prevalence, dtype=np.float64)
    if confusion is None:
        shape = np.ones((j, k, k)) + rng.uniform(1, 8, j)[:, None, None] * np.eye(k)
        confusion = rng.standard_gamma(shape)
        confusion /= confusion.sum(axis=2, keepdims=True)
    if positive(ambiguity, "ambiguity", zero=True) > 0:
        plausibility = np.exp(log_dirichlets(rng, np.broadcast_to(ambiguity * share, (n, k))))
    else:
        plausibility = np.eye(k)[categories(rng, np.broadcast_to(share, (n, k)))]
    truth = categories(rng, plausibility)
    item = np.repeat(np.arange(n), votes)
    annotator = np.argsort(rng.random((n, j)), axis=1)[:, :votes].ravel()
    read = categories(rng, plausibility[item])
    given = categories(rng, confusion[annotator, read])
    order = np.lexsort((annotator, item))
    item, annotator, given = (column[order].astype(np.int32) for column in (item, annotator, given))
    once = np.broadcast_to(np.int64(1), item.shape)
    labels = Labels(np.arange(n), np.arange(j), np.arange(k), item, annotator, given, once)
    return CrowdLabels(labels, truth, share, np.asarray(confusion), plausibility)
