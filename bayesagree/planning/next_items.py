"""The next label: the items where one more vote tells most, and when more votes no longer pay."""

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed
from bayesagree._numerics.dirichlet_argmax import argmax_probabilities
from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int
from bayesagree.planning._decision import Decision, after_a_vote, best_first, of_label, variance_drop
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape

type Goal = Literal["decision", "metric", "certainty"]


@checked
def annotate_next(
    annotations: Labels,
    predictions: Predictions | None = None,
    *,
    n: int,
    goal: Goal | None = None,
    prior: Prior = None,
    seed: Seed = None,
) -> pd.DataFrame:
    r"""Items that deserve the next label, best first, by what one further vote is expected to tell.

    With s_i the score of item i and plausibilities :math:`\lambda_i \sim \mathrm{Dirichlet}(\alpha_i)`, a further
    vote y lowers the variance of the score by

    .. math:: V_i - E_y V_{i \mid y} = \sum_y \frac{\alpha_{iy}}{\alpha_i} E(s_i \mid y)^2 - E(s_i)^2,

    exactly, since :math:`\lambda_i \mid y \sim \mathrm{Dirichlet}(\alpha_i + e_y)`. A sum over items loses what its
    items lose.

    Parameters
    ----------
    annotations
        Votes so far; items without votes may be among them.
    predictions
        Models, for ``"decision"`` and ``"metric"``.
    n
        Number of items to return.
    goal
        ``"decision"``: s_i is the difference of the top-1 accuracies of the two best models (0 where they predict
        alike, and votes there are wasted); ``"metric"``: the top-1 accuracy, mean gain over models; ``"certainty"``:
        the expected rise of the annotation certainty, Pr(the most plausible label is k) of the best k. By default
        ``"decision"`` with two models or more, ``"metric"`` with one, ``"certainty"`` without.
    prior
        As in `dirichlet`.
    seed
        Orders items of equal gain, which are many: those of equal votes and predictions.

    Returns
    -------
    DataFrame
        Columns ``item`` and ``gain``, best first: variance of s_i, or certainty, that a vote is expected to win. An
        item is listed once; votes of a batch do not see each other.

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
    """
    kept, chosen = positive_int(n, "n"), _goal(goal, predictions)
    if chosen == "decision" and predictions is not None:
        return Decision.of(annotations, predictions, prior).next_items(kept, seed)
    shape = annotations.counts() + prior_shape(prior, annotations.categories.size)
    if chosen == "certainty" or predictions is None:
        gain = _certainty_gain(shape)
    else:
        gain = _metric_gain(shape, predictions.aligned(annotations.items, annotations.categories).hard_labels())
    return best_first(annotations.items, gain, kept, seed)


@checked
def value_of_votes(annotations: Labels, predictions: Predictions, *, prior: Prior = None) -> pd.DataFrame:
    r"""Probability of the right choice between the two best models, after each number of further votes.

    The difference of the two accuracies, given the items, is a sum over items and is taken as normal with mean
    :math:`\mu` and variance :math:`\sigma^2`. The m votes of `annotate_next`, one an item, are expected to take
    :math:`s_m^2`, the sum of their gains, from the variance; the mean then moves by a normal step of that variance,
    and the choice by its sign is right with probability

    .. math:: 1 - 2\, T\!\left(\mu / \sigma,\; \sqrt{\sigma^2 - s_m^2} / s_m\right)

    with Owen's function T, since difference and later mean are two normal variables of correlation :math:`s_m/\sigma`.
    Stop when what the next votes add is worth less than they cost.

    Parameters
    ----------
    annotations
        Votes so far; items without votes may be among them.
    predictions
        Two models or more.
    prior
        As in `dirichlet`.

    Returns
    -------
    DataFrame
        Columns ``votes`` (0, 1, ... up to the number of items on which the two models differ), ``sd`` (expected
        standard deviation of the difference of the accuracies over all items) and ``prob_right``; attrs ``models``,
        the best and the next best today. Further rounds of votes on the same items are not foreseen: ask again after
        these.

    Raises
    ------
    InputError
        Not labels, fewer than two models.

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
    """
    return Decision.of(annotations, predictions, prior).value_of_votes()


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


def _certainty_gain(shape: Floats) -> Floats:
    after, chance = after_a_vote(shape)
    now = argmax_probabilities(shape).max(axis=1)
    return np.maximum((chance.T * after.max(axis=2)).sum(axis=0) - now, 0.0)


def _metric_gain(shape: Floats, predicted: NDArray[np.int32]) -> Floats:
    now, (after, chance) = argmax_probabilities(shape), after_a_vote(shape)
    gains = [variance_drop(of_label(now, label), of_label(after, label), chance) for label in predicted]
    return np.mean(gains, axis=0)
