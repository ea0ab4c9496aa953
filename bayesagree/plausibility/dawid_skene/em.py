"""Maximum likelihood for the Dawid-Skene model by expectation maximisation (Dawid and Skene 1979)."""

from typing import Any, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._types import Floats
from bayesagree.inference.cells import row_shares
from bayesagree.plausibility.dawid_skene._crowd import VARIANTS, Crowd, Rows
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

EM_VARIANTS = ("full", "class_conditional", "one_coin")


class EMResult(NamedTuple):
    """The maximum.

    Attributes
    ----------
    label_probability
        Pr(truth of item = label), shape (item, category).
    prevalence
        Share of each label among the items, shape (category,).
    confusion
        Pr(given label | true label) of every annotator, shape (annotator, category, observed category): 0 of labels
        that an annotator never gave, unless there is a prior; a row whose true label was never met is NaN.
    log_likelihood
        Log likelihood (plus the log prior, where there is one) before each iteration, never decreasing.
    converged
        Whether the last gain fell below the tolerance.
    """

    label_probability: Floats
    prevalence: Floats
    confusion: Floats
    log_likelihood: Floats
    converged: bool


def dawid_skene_em(
    crowd: Crowd,
    *,
    variant: str = "full",
    prior: DawidSkenePrior | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> EMResult:
    """Estimate true labels, prevalence and annotator confusion by expectation maximisation.

    log L = sum_i log sum_k prevalence_k prod_t confusion[annotator_t, k, label_t] is climbed from the vote shares,
    in log space, until an iteration gains less than ``tolerance * |log L|``.

    Parameters
    ----------
    crowd
        Codes of annotations and known labels.
    variant
        What an annotator is: a confusion matrix, one accuracy per true label, or one accuracy (wrong answers uniform).
    prior
        Its counts are added to every annotator's rows and to the prevalence; None is maximum likelihood.

    References
    ----------
    .. [1] A. P. Dawid, A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
       Applied Statistics 28 (1979) 20-28, equations 2.3-2.5.

    Examples
    --------
    >>> item, annotator = np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3)
    >>> crowd = Crowd.of((item, annotator, np.array([0, 0, 1, 1, 1, 1, 0, 0, 0])), (3, 3, 2))
    >>> dawid_skene_em(crowd).label_probability.argmax(axis=1).tolist()
    [0, 1, 0]
    """
    n, people = crowd.n_labels, crowd.n_annotators
    rows = Rows.of(VARIANTS[variant], n, prior or DawidSkenePrior())
    base, pseudo = (rows.base, prior.prevalence) if prior else (0 * rows.base, 0.0)
    # How often an item has each label of each annotator.
    ones = np.ones(crowd.item.size)
    place = (crowd.item, crowd.annotator * n + crowd.label)
    given: Any = sp.sparse.csr_array((ones, place), shape=(crowd.n_items, people * n))
    by_answer: Any = given.T.tocsr()
    answer: Any = slice(None), rows.row[:, None], rows.column
    shares, counted = crowd.shares, (crowd.sizes > 0) | crowd.gold.any(axis=1)
    impossible = (crowd.known[:, None] >= 0) & ~crowd.gold
    prevalence, confusion, history, converged = np.empty(0), np.empty(0), [], False
    with np.errstate(divide="ignore", invalid="ignore"):
        while not converged and len(history) < max_iterations:
            prevalence = (pseudo + shares[counted].sum(axis=0)) / (n * pseudo + counted.sum())
            counts = np.tile(base, (people, 1, 1))
            np.add.at(counts, answer, (by_answer @ shares).reshape(people, n, n).swapaxes(1, 2))
            p = row_shares(counts)
            confusion = rows.matrices(p)
            log_chance = np.nan_to_num(np.log(confusion), nan=-np.inf, neginf=-np.inf)
            joint = given @ np.ascontiguousarray(log_chance.swapaxes(1, 2)).reshape(-1, n) + np.log(prevalence)
            joint[impossible] = -np.inf
            top = joint.max(axis=1, keepdims=True)
            weight = np.exp(joint - np.maximum(top, -1e300))
            total = weight.sum(axis=1, keepdims=True)
            shares = weight / total
            log_prior = (base * np.log(p)).sum() + pseudo * np.log(prevalence).sum() if prior else 0.0
            history.append(float((top + np.log(total))[counted].sum() + log_prior))
            converged = len(history) > 1 and history[-1] - history[-2] <= tolerance * abs(history[-1])
    return EMResult(shares, prevalence, confusion, np.array(history), converged)
