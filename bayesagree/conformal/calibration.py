"""Conformal prediction under ambiguous ground truth: sets that cover the labels of annotators.

With vote winners as labels, conformal sets cover vote winners. Annotators whose opinion lost the vote are not covered,
and the more votes there are, the surer the winner and the smaller the sets. Monte-Carlo conformal prediction samples
labels from the plausibilities lambda_i of each calibration item instead. Its limit of infinitely many samples needs no
random number: item i puts the weight lambda_iy on the conformity of label y,

    p(x, k) = (1 + sum_i sum_y lambda_iy 1[E(x_i, y) <= E(x, k)]) / (n + 1),        C(x) = {k : p(x, k) > alpha}.

The weight below the threshold is the mass of the plausibilities that sets leave out, so that this is conformal risk
control of that mass: E[sum_k lambda_k 1[k in C(x)]] >= 1 - alpha for any n, without the factor 2 or the correction that
averages of p-values need. It is linear in lambda_i: unbiased vote shares do, however few votes there are.

Sources: D. Stutz, A. G. Roy, T. Matejovicova, P. Strachan, A. T. Cemgil, A. Doucet, "Conformal prediction under
ambiguous ground truth", TMLR 2023, arXiv:2307.09302; A. Angelopoulos et al., "Conformal risk control", ICLR 2024,
arXiv:2208.02814.
"""

from typing import Literal

import numpy as np

from bayesagree._types import Array, Integers
from bayesagree.annotations.gold import ItemGroup
from bayesagree.annotations.predictions import Predictions
from bayesagree.conformal._truth import Truth, expected_plausibility, scores_of, winners
from bayesagree.conformal.scores import Score, conformity
from bayesagree.conformal.sets import ConformalSets, WeightedScores, groups_of
from bayesagree.errors import one_of, probability, shorten, warn
from bayesagree.inference.results import result_tree
from bayesagree.io.doors import as_predictions, as_truth

Method = Literal["exact", "majority"]

# The one group where no groups were requested.
EVERYONE = "all items"


def conformalize(
    truth: Truth,
    predictions: Predictions,
    *,
    coverage: float = 0.9,
    method: Method = "exact",
    score: Score = "probability",
    by: ItemGroup | None = None,
) -> ConformalSets:
    """Calibrate prediction sets that cover the stated share of annotators' labels of new items.

    Parameters
    ----------
    truth
        Plausibilities of the calibration items: a posterior, of which the expected plausibilities count; vote shares or
        another point estimate (item, category); or labels, whose vote shares count.
    predictions
        Scores of the models on these items, and perhaps on others, which do not calibrate.
    coverage
        Wanted coverage 1 - alpha, strictly between 0 and 1.
    method
        ``"exact"``: every label of an item weighs as much as it is plausible. ``"majority"``: the most plausible label
        of each item, the first in label order among equal ones; covers vote winners only.
    score
        Conformity: ``"probability"``, ``"aps"``, ``"margin"``, or a function of the scores (item, category)
        of one model with values of the same shape, the higher the better.
    by
        Group of each item (Mondrian): every group gets a threshold and the guarantee of its own.

    Returns
    -------
    ConformalSets
        Predicts sets and p-values.

    Raises
    ------
    InputError
        A coverage of 0 or 1; hard labels; scores that cannot be compared between items; items without predictions;
        plausibilities that do not sum to one.

    Warns
    -----
    UserWarning
        Fewer calibration items than 1 / alpha - 1, whose sets are full; items without annotations, which do not
        calibrate; labels that no annotator ever gave.

    See Also
    --------
    set_coverage, cross_sets

    References
    ----------
    .. [1] D. Stutz et al., "Conformal prediction under ambiguous ground truth", TMLR 2023, arXiv:2307.09302, section
       3.2: the same from labels sampled from the plausibilities.
    .. [2] A. Angelopoulos et al., "Conformal risk control", ICLR 2024, arXiv:2208.02814, theorem 1.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> votes = Labels.from_counts([[7, 3], [1, 9], [6, 4], [8, 2]] * 10, labels=["no", "yes"])
    >>> scores = [[0.7, 0.3], [0.2, 0.8], [0.55, 0.45], [0.9, 0.1]] * 10
    >>> models = Predictions.from_scores({"A": scores}, labels=["no", "yes"])
    >>> sets = conformalize(votes, models)
    >>> sets.predict_set(models).sum("category").values[0, :4].tolist()
    [2, 1, 2, 1]
    """
    truth = as_truth(truth)
    predictions = as_predictions(predictions, truth)
    probability(coverage, "coverage")
    one_of(method, "method", ("exact", "majority"))
    items, categories, plausibility = expected_plausibility(truth)
    scores = conformity(score, scores_of(predictions, items, categories), predictions.models, items)
    if (unseen := categories[plausibility.max(axis=0) <= 0]).size:
        warn(
            f"calibration never saw the labels {shorten(unseen)}: coverage holds on average over items, and says "
            "nothing about items whose truth they are"
        )
    weight = winners(plausibility) if method == "majority" else plausibility
    groups = np.array([EVERYONE])
    index = np.zeros(items.size, int)
    if by is not None:
        groups, index = np.unique(groups_of(by, items), return_inverse=True)
    sizes = np.bincount(index, minlength=groups.size)
    _warn_small(groups, sizes, coverage)
    found = [[WeightedScores.of(e[index == g], weight[index == g], int(n)).threshold(1 - coverage)
              for g, n in enumerate(sizes)] for e in scores]  # fmt: skip
    tree = result_tree(
        {
            "constant_data": {
                "conformity": (("model", "item", "category"), scores),
                "weight": (("item", "category"), weight),
                "group_index": (("item",), index),
            },
            "derived": {"threshold": (("model", "group"), np.array(found)), "n_items": (("group",), sizes)},
        },
        {"model": predictions.models, "item": items, "category": categories, "group": groups},
        model="conformal sets",
        engine="exact",
        random_seed=None,
        settings={
            "coverage": float(coverage),
            "score": "function" if callable(score) else score,
            "grouped": by is not None,
            "method": method,
        },
    )
    return ConformalSets(tree, score)


def _warn_small(groups: Array, sizes: Integers, coverage: float) -> None:
    """Warn of sets that are full because there are fewer calibration items than 1 / alpha - 1."""
    fewest = round(1 / (1 - coverage), 9) - 1
    small = sizes < fewest
    if small.any():
        whose = "" if groups.size == 1 else f" of group {shorten(groups[small])}"
        warn(
            f"{sizes[small].min()} calibration items{whose} are fewer than 1 / (1 - coverage) - 1 = {fewest:g}: "
            f"no smaller set than that of all labels covers {coverage:g} for certain"
        )
