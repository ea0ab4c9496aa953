"""Maximum likelihood for the Dawid-Skene model by expectation maximisation (Dawid and Skene 1979)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.errors import one_of, positive_int
from bayesagree.inference.streams import Seed, block_generators
from bayesagree.plausibility.dawid_skene._crowd import Crowd

EMVariant = Literal["full", "class_conditional", "one_coin"]
EM_VARIANTS = ("full", "class_conditional", "one_coin")


@dataclass(frozen=True, eq=False)
class EMResult:
    """The best of all starts.

    Attributes
    ----------
    label_probability
        Pr(truth of item = label), shape (item, category).
    prevalence
        Share of each label among the items, shape (category,).
    log_likelihood
        Log likelihood (plus the log prior, where there is one) before each iteration, never decreasing.
    converged
        Whether the last gain fell below the tolerance.
    """

    crowd: Crowd
    label_probability: Floats
    prevalence: Floats
    log_chance: Floats
    log_likelihood: Floats
    converged: bool

    def confusion(self) -> Floats:
        """Return Pr(given label | true label) of every annotator, shape (annotator, category, observed category).

        Labels that an annotator never gave have probability 0; a row whose true label was never met is NaN.
        """
        crowd, given = self.crowd, np.flatnonzero(~self.crowd.rest)
        dense = np.zeros((crowd.n_annotators, crowd.n_labels, crowd.n_labels))
        dense[crowd.annotator[given], :, crowd.label[given]] = np.exp(self.log_chance[:, 0, given]).T
        dense[~(dense.sum(axis=2) > 0)] = np.nan
        return dense


def dawid_skene_em(
    item_index: NDArray[np.integer[Any]],
    annotator_index: NDArray[np.integer[Any]],
    label_index: NDArray[np.integer[Any]],
    *,
    n_items: int,
    n_annotators: int,
    n_labels: int,
    variant: EMVariant = "full",
    prior_confusion: Floats | None = None,
    prior_prevalence: float = 0.0,
    gold: NDArray[np.integer[Any]] | None = None,
    restarts: int = 0,
    random_seed: Seed = 0,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> EMResult:
    """Estimate true labels, prevalence and annotator confusion by expectation maximisation.

    log L = sum_i log sum_k prevalence_k prod_t confusion[annotator_t, k, label_t] is climbed from the vote shares,
    in log space, until an iteration gains less than ``tolerance * |log L|``.

    Parameters
    ----------
    item_index, annotator_index, label_index
        Codes of each annotation, shape (annotation,), in any order; repeated pairs are annotations of their own.
    n_items, n_annotators, n_labels
        Sizes of the axes.
    variant
        What an annotator is: a confusion matrix, one accuracy per true label, or one accuracy (wrong answers uniform).
    prior_confusion
        Pseudo-counts (true label, given label) added to every annotator, shape (label, label); None is maximum
        likelihood. The variants with accuracies use its diagonal and the rest of its rows.
    prior_prevalence
        Pseudo-count of each label.
    gold
        Known true label of each item, -1 where unknown, shape (item,).
    restarts
        How many further starts: vote shares mixed half and half with a random distribution per item, another in
        every restart. The best log likelihood wins.

    References
    ----------
    .. [1] A. P. Dawid, A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
       Applied Statistics 28 (1979) 20-28, equations 2.3-2.5.

    Examples
    --------
    >>> item, annotator = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    >>> fit = dawid_skene_em(
    ...     item, annotator, np.array([0, 0, 1, 1, 1, 1, 0, 0, 0]), n_items=3, n_annotators=3, n_labels=2
    ... )
    >>> fit.label_probability.argmax(axis=1).tolist()
    [0, 1, 0]
    """
    one_of(variant, "variant", EM_VARIANTS)
    positive_int(max_iterations, "max_iterations")
    crowd = Crowd.of((item_index, annotator_index, label_index), (n_items, n_annotators, n_labels), gold)
    prior = np.zeros((n_labels, n_labels)) if prior_confusion is None else np.asarray(prior_confusion, np.float64)
    starts = [crowd.shares]
    for rng in block_generators(random_seed, restarts):
        noise = rng.exponential(size=crowd.shares.shape)
        starts.append(0.5 * crowd.shares + 0.5 * noise / noise.sum(axis=0))
    fits = (_climb(crowd, start, variant, prior, prior_prevalence, tolerance, max_iterations) for start in starts)
    return max(fits, key=lambda fit: fit.log_likelihood[-1])


def _climb(
    crowd: Crowd,
    shares: Floats,
    variant: EMVariant,
    prior: Floats,
    prior_prevalence: float,
    tolerance: float,
    max_iterations: int,
) -> EMResult:
    """Alternate both steps from the label probabilities `shares`, (category, item)."""
    known, labels, history = crowd.known, np.arange(crowd.n_labels)[:, None], []
    possible = np.where((known < 0) | (known == labels), 0.0, -np.inf)
    shares = np.where(known < 0, shares, known == labels)
    prevalence, log_chance = np.empty(0), np.empty(0)
    maximise, converged = _rows if variant == "full" else _accuracies, False
    with np.errstate(divide="ignore", invalid="ignore"):
        while not converged and len(history) < max_iterations:
            count = shares @ crowd.counted + prior_prevalence
            prevalence = count / count.sum()
            counts = crowd.pairs_of_items(shares[:, None])
            log_chance, log_prior = maximise(crowd, counts, prior, variant == "one_coin")
            if prior_prevalence > 0:
                log_prior += prior_prevalence * float(np.log(prevalence).sum())
            joint = crowd.items_of_pairs(log_chance)[:, 0] + np.log(prevalence)[:, None] + possible
            top = joint.max(axis=0)
            weight = np.exp(joint - np.maximum(top, -1e300))
            total = weight.sum(axis=0)
            shares = weight / total
            history.append(float((top + np.log(total))[crowd.counted].sum()) + log_prior)
            converged = len(history) > 1 and history[-1] - history[-2] <= tolerance * abs(history[-1])
    return EMResult(crowd, shares.T, prevalence, log_chance, np.array(history), converged)


def _rows(crowd: Crowd, counts: Floats, prior: Floats, one_coin: bool) -> tuple[Floats, float]:
    """Return the log confusion of each pair, and the log prior of the maximum (0 without a prior)."""
    pseudo = np.append(prior, np.zeros((len(prior), 1)), axis=1)[:, None, crowd.label]
    whole = prior.sum(axis=1)[:, None, None]
    total = crowd.by_annotator(counts) + whole
    log_chance = np.nan_to_num(np.log((counts + pseudo) / total[..., crowd.annotator]), nan=-np.inf, neginf=-np.inf)
    if not prior.any():
        return log_chance, 0.0
    # Labels the annotator never gave keep the shares of their pseudo-counts, but for a constant.
    unseen = whole - crowd.by_annotator(pseudo)
    return log_chance, float((pseudo * log_chance)[pseudo > 0].sum() - (unseen * np.log(total)).sum())


def _accuracies(crowd: Crowd, counts: Floats, prior: Floats, one_coin: bool) -> tuple[Floats, float]:
    """Return the same where wrong answers are uniform."""
    right, total = (crowd.by_annotator(n) for n in (counts * crowd.right, counts))
    pseudo_right, pseudo_total = np.diag(prior)[:, None, None], prior.sum(axis=1)[:, None, None]
    if one_coin:  # one coin is tossed once: its pseudo-counts are the mean over the rows
        right, total = right.sum(axis=0)[None], total.sum(axis=0)[None]
        pseudo_right, pseudo_total = pseudo_right.mean(), pseudo_total.mean()
    accuracy = (right + pseudo_right) / (total + pseudo_total)
    log_prior = 0.0
    if prior.any():
        log_prior = float(
            (pseudo_right * np.log(accuracy) + (pseudo_total - pseudo_right) * np.log1p(-accuracy)).sum()
        )
    chance = accuracy[..., crowd.annotator]
    log_chance = np.log(np.where(crowd.right, chance, (1 - chance) / max(crowd.n_labels - 1, 1)))
    return np.nan_to_num(log_chance, nan=-np.inf, neginf=-np.inf), log_prior
