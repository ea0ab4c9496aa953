"""When further votes no longer pay: the choice between two models, as it would be after the next votes."""

import pandas as pd

from bayesagree._inference.arguments import checked
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.planning._decision import Decision
from bayesagree.plausibility.dirichlet._draws import Prior


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
