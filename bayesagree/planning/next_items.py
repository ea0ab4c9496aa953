"""The next label: the items where one more vote tells most, and when more votes no longer pay."""

from typing import Literal

import pandas as pd

from bayesagree._types import Advance, silent
from bayesagree.annotations import Comparisons, Labels, Rankings
from bayesagree.annotations.missing_predictions import Missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.comparisons.prior import DavidsonPrior
from bayesagree.errors import positive_int
from bayesagree.inference.streams import Seed
from bayesagree.planning._items import outlook_of
from bayesagree.plausibility.dirichlet._draws import Prior
from bayesagree.plausibility.registry import Plausibility

Goal = Literal["decision", "metric", "certainty"]


def annotate_next(
    annotations: Labels | Rankings | Comparisons,
    predictions: Predictions | None = None,
    *,
    n: int,
    goal: Goal | None = None,
    plausibility: Plausibility = "auto",
    prior: Prior | DavidsonPrior = None,
    missing: Missing = "error",
    random_seed: Seed = None,
    progress: Advance = silent,
) -> pd.DataFrame:
    r"""List the items to label next, best first, by the expected gain of one more vote.

    With s_i the score of item i, whose plausibilities :math:`\lambda_i` have a posterior, a vote y has probability
    :math:`E \lambda_{iy}`, weighs the posterior by :math:`\lambda_{iy}`, and lowers the variance of the score by

    .. math:: V_i - E_y V_{i \mid y} = \sum_y E(\lambda_{iy})\, E(s_i \mid y)^2 - E(s_i)^2.

    A sum over items loses what its items lose. From votes alone this is exact, since :math:`\lambda_i \mid y \sim
    \mathrm{Dirichlet}(\alpha_i + e_y)`; of another posterior it is a mean over 4000 draws, whose error adds up to
    :math:`(K - 1) V_i / 4000` to a gain. What a vote tells of other items is not counted.

    The certainty of an item rises only where votes can make another label the most plausible one. From 2:1 or 3:0 a
    single vote cannot, so its expected gain is 0 on every such item. The gain is therefore that of the fewest votes, m,
    that can (of draws, at most 10), divided by m. Only m equal votes for another label j change the answer,

    .. math:: \frac1m \sum_j \Pr(m \text{ votes for } j)\,[\Pr(j \text{ is most plausible} \mid \text{these votes})
              - \Pr(\text{the first is} \mid \text{these votes})].

    Under a Dirichlet posterior m is the lead of the first label's shape over the second's, rounded down, plus 1.

    Of comparisons the answer is pairs of models. A comparison by the average annotator, with outcomes of the posterior
    of `davidson`, lowers the variance of which model is the best (of the numbers 1 for the best and 0 for the others,
    summed over models), or of the strengths; draws of the posterior are weighted by the probability of the outcome.

    Parameters
    ----------
    annotations
        Votes so far; items without votes may be among them. Or rankings so far, of which a vote is the first place
        that one more annotator gives. Or comparisons so far.
    predictions
        Models, for ``"decision"`` and ``"metric"`` of labels. As in `evaluate`, the truth learns nothing from one that
        fits the votes better than independent voters could (with a warning).
    n
        Number of items, or pairs, to return.
    goal
        ``"decision"``: s_i is the difference of the top-1 accuracies of the two best models (0 where they predict
        alike, and votes there are wasted); ``"metric"``: the top-1 accuracy, mean gain over models; ``"certainty"``:
        the expected rise of the annotation certainty, Pr(the most plausible label is k) of the best k. By default
        ``"decision"`` with two models or more, ``"metric"`` with one, ``"certainty"`` without. Of comparisons
        ``"decision"``, which model is the best, or ``"metric"``, the strengths.
    plausibility
        As in `evaluate`: by default votes and predictions together where there are predictions, under the posterior
        that all models inform, else votes alone.
    prior
        Of the posterior; a number as in `dirichlet`, of comparisons as in `davidson`.
    missing
        As in `evaluate`: items that a model predicts nothing for.
    random_seed
        Of draws. It also orders items of equal gain and equal certainty; of equal gain, the least certain come first.
    progress
        As in `evaluate`.

    Returns
    -------
    DataFrame
        Columns ``item``, ``gain`` and ``votes``, best first. The gain is the variance of s_i that a vote is expected
        to take, or the certainty that it is expected to add when the item gets ``votes`` of them (the fewest that can
        change its answer; 1 for the other goals). An item is listed once; items do not affect each other.
        Of comparisons: ``first``, ``second`` (the order that the pair had less often), ``gain``,
        ``prob_first_better`` and ``comparisons``, the number so far.
        ``attrs["notes"]``: sentences about equal gains, empty where gains decide which items are listed;
        ``attrs["choice"]``: why this posterior was chosen, where there was a choice.

    Raises
    ------
    InputError
        Ratings, a goal without the models that it needs.

    See Also
    --------
    value_of_votes : when further votes no longer pay.
    plan : how many items and annotators in all.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 0], [2, 1], [1, 1]])
    >>> models = Predictions.from_labels({"A": [0, 0, 0], "B": [0, 1, 0]})
    >>> annotate_next(votes, models, n=1, random_seed=1)["item"].tolist()
    [1]
    >>> annotate_next(votes, n=1, random_seed=1)["item"].tolist()
    [2]
    >>> annotate_next(votes, n=3, random_seed=1)["votes"].tolist()
    [1, 2, 4]
    >>> table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AtBBA") * 6})
    >>> games = Comparisons.from_long(table.replace("t", "tie"))
    >>> annotate_next(games, n=1, random_seed=1)["comparisons"].tolist()
    [12]

    References
    ----------
    P. I. Frazier and W. B. Powell, "Paradoxes in learning and the marginal value of information", Decision Analysis 7,
    2010, doi:10.1287/deca.1100.0190 (value per observation, where a single one has none).
    """
    kept = positive_int(n, "n")
    outlook = outlook_of(annotations, predictions, plausibility, prior, missing, random_seed, progress)
    return outlook.best_first(kept, goal, random_seed)


def value_of_votes(
    annotations: Labels | Rankings | Comparisons,
    predictions: Predictions | None = None,
    *,
    plausibility: Plausibility = "auto",
    prior: Prior | DavidsonPrior = None,
    missing: Missing = "error",
    random_seed: Seed = None,
    progress: Advance = silent,
) -> pd.DataFrame:
    r"""Compute the probability of choosing the better of the two best models, after more votes.

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
        Votes or rankings so far; items without votes may be among them. Or comparisons so far.
    predictions
        Two models or more; for labels.
    plausibility, prior, missing
        As in `annotate_next`.
    random_seed
        Of draws; none are needed from votes alone.
    progress
        As in `evaluate`.

    Returns
    -------
    DataFrame
        Columns ``votes`` (0, 1, ... up to the number of items on which the two models differ), ``sd`` (expected
        standard deviation of the difference of the accuracies over all items), ``prob_right``, and ``prob_separated``,
        with which the interval of 95 % of the difference will not hold 0; attrs ``models``, the best and the next best
        today, ``separating``, the fewest votes with which the latter is 0.8, None where there are none, and ``choice``,
        why this posterior was chosen. Later rounds of votes on the same items are not counted: call again after these.
        Of comparisons, numbers up to a million and the difference of the strengths; ``separating`` is looked for among
        numbers that differ by 7 %.

    Raises
    ------
    InputError
        Ratings, fewer than two models.

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
    >>> found = value_of_votes(votes, models, plausibility="dirichlet").set_index("votes")
    >>> found.attrs["models"]
    ['A', 'B']
    >>> found["prob_right"].loc[[0, 3, 5]].round(3).tolist()
    [0.733, 0.738, 0.746]
    >>> table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AtBBA") * 6})
    >>> value_of_votes(Comparisons.from_long(table.replace("t", "tie")), random_seed=1).attrs["models"]
    ['B', 'A']
    """
    return outlook_of(annotations, predictions, plausibility, prior, missing, random_seed, progress).value()
