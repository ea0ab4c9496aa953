"""The next label: the items where one more vote tells most, and when more votes no longer pay."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed
from bayesagree._numerics.dirichlet_argmax import argmax_probabilities
from bayesagree._numerics.types import Codes, Floats, Integers
from bayesagree.annotations import Comparisons, Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.comparisons._density import DavidsonPrior
from bayesagree.errors import InputError, positive_int
from bayesagree.planning._decision import Decision, after_a_vote, best_first, of_label, variance_drop
from bayesagree.planning._pairs import Pairs
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape

type Goal = Literal["decision", "metric", "certainty"]

_ROUNDING = 1e-9
"""Lead of a label that is no lead: prior shapes such as 1/3 are not exact."""


@checked
def annotate_next(
    annotations: Labels | Comparisons,
    predictions: Predictions | None = None,
    *,
    n: int,
    goal: Goal | None = None,
    models: Sequence[Any] | None = None,
    prior: Prior | DavidsonPrior = None,
    seed: Seed = None,
) -> pd.DataFrame:
    r"""Items that deserve the next label, best first, by what one further vote is expected to tell.

    With s_i the score of item i and plausibilities :math:`\lambda_i \sim \mathrm{Dirichlet}(\alpha_i)`, a further
    vote y lowers the variance of the score by

    .. math:: V_i - E_y V_{i \mid y} = \sum_y \frac{\alpha_{iy}}{\alpha_i} E(s_i \mid y)^2 - E(s_i)^2,

    exactly, since :math:`\lambda_i \mid y \sim \mathrm{Dirichlet}(\alpha_i + e_y)`. A sum over items loses what its
    items lose.

    The certainty of an item rises only where votes can make another label the most plausible one. From 2:1 or 3:0 a
    single vote cannot, so its expected gain is 0 on every such item. The gain is therefore that of the m votes that
    can, divided by m: with :math:`d` the lead of the first label's :math:`\alpha` over the second's,
    :math:`m = \lfloor d \rfloor + 1`, and only m equal votes for another label j change the answer,

    .. math:: \frac1m \sum_j \Pr(m \text{ votes for } j)\,[\Pr(j \text{ is most plausible} \mid \text{these votes})
              - \Pr(\text{the first is} \mid \text{these votes})].

    Of comparisons the answer is pairs of models. A comparison by the average annotator, with outcomes of the posterior
    of `davidson`, lowers the variance of which model is the best (of the numbers 1 for the best and 0 for the others,
    summed over models), or of the strengths; draws of the posterior are weighted by the probability of the outcome.

    Parameters
    ----------
    annotations
        Votes so far; items without votes may be among them. Or comparisons so far.
    predictions
        Models, for ``"decision"`` and ``"metric"`` of labels.
    n
        Number of items, or pairs, to return.
    goal
        ``"decision"``: s_i is the difference of the top-1 accuracies of the two best models (0 where they predict
        alike, and votes there are wasted); ``"metric"``: the top-1 accuracy, mean gain over models; ``"certainty"``:
        the expected rise of the annotation certainty, Pr(the most plausible label is k) of the best k. By default
        ``"decision"`` with two models or more, ``"metric"`` with one, ``"certainty"`` without. Of comparisons
        ``"decision"``, which model is the best, or ``"metric"``, the strengths.
    models
        Of comparisons: the models to choose among; by default all.
    prior
        As in `dirichlet`, or in `davidson`.
    seed
        Orders items of equal gain and equal certainty, which are many: those of equal votes and predictions. Of equal
        gain, the least certain come first.

    Returns
    -------
    DataFrame
        Columns ``item``, ``gain`` and ``votes``, best first. The gain is the variance of s_i that a vote is expected
        to take, or the certainty that it is expected to add when the item gets ``votes`` of them (the fewest that can
        change its answer; 1 for the other goals). An item is listed once; items do not affect each other.
        Of comparisons: ``first``, ``second`` (the order that the pair had less often), ``gain``,
        ``prob_first_better`` and ``comparisons``, the number so far.
        ``attrs["notes"]``: sentences about equal gains, empty where gains decide which items are listed.

    Raises
    ------
    InputError
        Not labels, a goal without the models that it needs.

    See Also
    --------
    value_of_votes : when further votes no longer pay.
    plan : how many items and annotators in all.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 0], [2, 1], [1, 1]])
    >>> models = Predictions.from_labels({"A": [0, 0, 0], "B": [0, 1, 0]})
    >>> annotate_next(votes, models, n=1, seed=1)["item"].tolist()
    [1]
    >>> annotate_next(votes, n=1, seed=1)["item"].tolist()
    [2]
    >>> annotate_next(votes, n=3, seed=1)["votes"].tolist()
    [1, 2, 4]
    >>> table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AtBBA") * 6})
    >>> games = Comparisons.from_long(table.replace("t", "tie"))
    >>> annotate_next(games, n=1, seed=1)["comparisons"].tolist()
    [12]

    References
    ----------
    P. I. Frazier and W. B. Powell, "Paradoxes in learning and the marginal value of information", Decision Analysis 7,
    2010, doi:10.1287/deca.1100.0190 (value per observation, where a single one has none).
    """
    kept = positive_int(n, "n")
    if isinstance(annotations, Comparisons):
        if goal not in (None, "decision", "metric"):
            raise InputError(f"goal={goal!r} of comparisons is not one of 'decision', 'metric'")
        return Pairs.of(annotations, models, prior, seed).next_pairs(kept, goal or "decision", seed)
    votes_prior = _of_labels(models, prior)
    chosen = _goal(goal, predictions)
    if chosen == "decision" and predictions is not None:
        return Decision.of(annotations, predictions, votes_prior).next_items(kept, seed)
    shape = annotations.counts() + prior_shape(votes_prior, annotations.categories.size)
    now = argmax_probabilities(shape)
    if chosen == "certainty" or predictions is None:
        gain, votes = _certainty_gain(shape)
    else:
        predicted = predictions.aligned(annotations.items, annotations.categories).hard_labels()
        gain, votes = _metric_gain(shape, now, predicted), None
    return best_first(annotations.items, gain, now.max(axis=1), kept, seed, votes)


@checked
def value_of_votes(
    annotations: Labels | Comparisons,
    predictions: Predictions | None = None,
    *,
    models: Sequence[Any] | None = None,
    prior: Prior | DavidsonPrior = None,
    seed: Seed = None,
) -> pd.DataFrame:
    r"""Probability of the right choice between the two best models, after each number of further votes.

    The difference of the two accuracies, given the items, is a sum over items and is taken as normal with mean
    :math:`\mu` and variance :math:`\sigma^2`. The m votes of `annotate_next`, one an item, are expected to take
    :math:`s_m^2`, the sum of their gains, from the variance; the mean then moves by a normal step of that variance,
    and the choice by its sign is right with probability

    .. math:: 1 - 2\, T\!\left(\mu / \sigma,\; \sqrt{\sigma^2 - s_m^2} / s_m\right)

    with Owen's function T, since difference and later mean are two normal variables of correlation :math:`s_m/\sigma`.
    Stop when what the next votes add is worth less than they cost.

    Of comparisons, m more of the two best models, with the information :math:`I` of one on the difference of their
    strengths, leave :math:`\sigma^2 / (1 + m I \sigma^2)` of its variance.

    Parameters
    ----------
    annotations
        Votes so far; items without votes may be among them. Or comparisons so far.
    predictions
        Two models or more; for labels.
    models
        Of comparisons: the models to choose between; by default all.
    prior
        As in `dirichlet`, or in `davidson`.
    seed
        Of comparisons: the seed of the posterior.

    Returns
    -------
    DataFrame
        Columns ``votes`` (0, 1, ... up to the number of items on which the two models differ), ``sd`` (expected
        standard deviation of the difference of the accuracies over all items) and ``prob_right``; attrs ``models``,
        the best and the next best today. Further rounds of votes on the same items are not foreseen: ask again after
        these. Of comparisons, numbers up to a million, ``sd`` of the difference of the strengths, and
        ``prob_separated``, with which its interval of 95 % will not hold 0; attrs ``separating``, the fewest (of
        numbers that differ by 7 %) with which it is 0.8, None beyond a million.

    Raises
    ------
    InputError
        Neither labels nor comparisons, fewer than two models.

    References
    ----------
    D. B. Owen, "Tables for computing bivariate normal probabilities", Annals of Mathematical Statistics 27, 1956,
    doi:10.1214/aoms/1177728074.
    H. Raiffa and R. Schlaifer, "Applied Statistical Decision Theory", 1961, chapter 5 (preposterior analysis).

    See Also
    --------
    annotate_next : the items of these votes.
    plan : how many items and annotators, before there are any.

    Examples
    --------
    >>> votes = Labels.from_counts([[1, 0], [1, 1], [0, 1], [1, 0]] * 3)
    >>> models = Predictions.from_labels({"A": [0, 0, 1, 0] * 3, "B": [0, 1, 0, 0] * 2 + [0, 1, 1, 0]})
    >>> found = value_of_votes(votes, models).set_index("votes")
    >>> found.attrs["models"]
    ['A', 'B']
    >>> found["prob_right"].loc[[0, 3, 5]].round(3).tolist()
    [0.733, 0.738, 0.746]
    >>> table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AtBBA") * 6})
    >>> value_of_votes(Comparisons.from_long(table.replace("t", "tie")), models="AB", seed=1).attrs["models"]
    ['B', 'A']
    """
    if isinstance(annotations, Comparisons):
        return Pairs.of(annotations, models, prior, seed).value_of_comparisons()
    votes_prior = _of_labels(models, prior)
    if predictions is None:
        raise InputError("a choice needs models; pass predictions= of two")
    return Decision.of(annotations, predictions, votes_prior).value_of_votes()


def _of_labels(models: Any, prior: Prior | DavidsonPrior) -> Prior:
    if models is not None or isinstance(prior, DavidsonPrior):
        raise InputError("models= and DavidsonPrior are for comparisons; leave them out for labels")
    return prior


def _goal(goal: Goal | None, predictions: Predictions | None) -> Goal:
    models = 0 if predictions is None else predictions.models.size
    if goal is None:
        return "decision" if models > 1 else "metric" if models else "certainty"
    needed = {"certainty": 0, "metric": 1, "decision": 2}
    if goal not in needed:
        raise InputError(f"goal={goal!r} is not one of {', '.join(needed)}")
    if models < needed[goal]:
        raise InputError(f"goal={goal!r} needs {needed[goal]} models, there are {models}; pass predictions=")
    return goal


def _certainty_gain(shape: Floats) -> tuple[Floats, Integers]:
    """Return the rise of certainty per vote, and how many votes it takes."""
    rows, first = np.arange(len(shape)), shape.argmax(axis=1)
    largest = shape[rows, first]
    others = shape.copy()
    others[rows, first] = -np.inf
    lead = largest - others.max(axis=1)
    votes = np.where(np.isfinite(lead), np.floor(lead + _ROUNDING) + 1, 1)
    gain = np.zeros(len(shape))
    for label in range(shape.shape[1]):
        at = np.flatnonzero((first != label) & (shape[:, label] + votes > largest + _ROUNDING))
        moved = shape[at].copy()
        moved[:, label] += votes[at]
        top = argmax_probabilities(moved)
        log_chance = sp.special.gammaln(moved[:, label]) - sp.special.gammaln(shape[at, label])
        total = shape[at].sum(axis=1)
        log_chance += sp.special.gammaln(total) - sp.special.gammaln(total + votes[at])
        gain[at] += np.exp(log_chance) * (top[:, label] - top[np.arange(at.size), first[at]])
    return np.maximum(gain, 0.0) / votes, votes.astype(np.int64)


def _metric_gain(shape: Floats, now: Floats, predicted: Codes) -> Floats:
    after, chance = after_a_vote(shape)
    gains = [variance_drop(of_label(now, label), of_label(after, label), chance) for label in predicted]
    return np.mean(gains, axis=0)
