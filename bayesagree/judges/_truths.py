"""Verdicts of a panel and the truth of their items, drawn: what the error correlations and the panels' worth share."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._numerics.draws import categories
from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions, positions
from bayesagree.errors import InputError
from bayesagree.judges._panel import verdict_codes

# Draws of the truth forget where they began after some sweeps: each redraws every item given the verdict patterns.
TUNE, THIN = 200, 5


def single_verdicts(judges: Labels | Predictions) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64], NDArray[Any]]:
    """Return items, judges, the label each judge gave each item (item, judge), and the labels."""
    if isinstance(judges, Predictions):
        items, names, verdict = judges.items, judges.models, judges.hard_labels().T.astype(np.int64)
    elif isinstance(judges, Labels) and judges.annotators_known and not judges.has_repeats:
        items, names, verdict = judges.items, judges.annotators, verdict_codes(judges)
    else:
        raise InputError("judges are Labels with one verdict of each named judge on each item, or Predictions")
    if names.size < 2:
        raise InputError(f"a panel of {names.size} judge has no correlation of errors; give two judges or more")
    if (verdict < 0).any():
        i, j = np.argwhere(verdict < 0)[0]
        raise InputError(f"item {items[i]!r}: judge {names[j]!r} gave no verdict; leave the item out")
    return items, names, verdict, judges.categories


def known_truths(
    truth: Gold | xr.DataTree, items: NDArray[Any], labels: NDArray[Any]
) -> tuple[NDArray[np.bool_], Floats]:
    """Return which items count, and the probability of each of their labels, (item, category)."""
    if isinstance(truth, xr.DataTree):
        if "plausibility" not in truth["posterior"]:
            raise InputError("this result holds no plausibility of every label; draw it without top_labels=")
        mean = truth["posterior"]["plausibility"].mean(("chain", "draw")).transpose("item", "category")
        order = positions(labels, mean["category"].values, "the truth", "label")
        own = {name: k for k, name in enumerate(mean["item"].values.tolist())}
        place = np.array([own.get(name, -1) for name in items.tolist()])
        known, evidence = place >= 0, mean.values[place[place >= 0]][:, order]
    else:
        code = gold_codes(truth, items, labels)
        known, evidence = code >= 0, np.eye(labels.size)[code[code >= 0]]
    if not known.any():
        raise InputError("the truth of no judged item is known; give gold or people's posterior of some of them")
    return known, evidence


def weighted_truths(
    verdict: NDArray[np.int64], evidence: Floats, n_draws: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], Floats]]:
    """Yield true labels of the items, drawn anew, and the weights of a Bayesian bootstrap, which sum to 1.

    The evidence on an item is combined with the votes on other items that have the same pattern of verdicts.
    """
    certain = bool((evidence.max(axis=1) == 1).all())
    _, pattern = np.unique(verdict, axis=0, return_inverse=True)
    prevalence = evidence.mean(axis=0)
    ratio = evidence / np.where(prevalence > 0, prevalence, 1.0)
    truth = categories(rng, evidence)
    for draw in range(n_draws):
        for _ in range(0 if certain else THIN if draw else TUNE):
            truth = categories(rng, ratio * _joint(truth, pattern, evidence.shape[1], rng)[pattern])
        weight = rng.standard_exponential(truth.size)
        yield truth, weight / weight.sum()


def _joint(truth: NDArray[np.int64], pattern: NDArray[np.int64], n_labels: int, rng: np.random.Generator) -> Floats:
    """Draw the joint probabilities of verdict pattern and true label, (pattern, category), given the truths."""
    n_patterns = int(pattern.max()) + 1
    counts = np.bincount(pattern * n_labels + truth, minlength=n_patterns * n_labels).reshape(n_patterns, n_labels)
    # One item's worth of prior in all: patterns that were seen, each label alike.
    gamma = np.maximum(rng.standard_gamma(counts + 1 / counts.size), 1e-300)
    return gamma / gamma.sum()
