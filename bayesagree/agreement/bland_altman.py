"""Bland-Altman limits of agreement: how far two annotators' ratings of the same item lie apart.

The differences d of two annotators are taken as normal; 95 % of them lie between mean(d) - 1.96 s and mean(d) + 1.96 s.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree.annotations import Ratings
from bayesagree.annotations._model_outputs import positions
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, probability, shorten
from bayesagree.io.doors import as_annotations, as_predictions

# Items that two annotators must share: from two the interval of a limit is ten standard deviations wide.
FEWEST = 3


def limits_of_agreement(
    ratings: Ratings,
    predictions: Predictions | None = None,
    *,
    annotators: Sequence[Any] | None = None,
    share: float = 0.95,
    ci_prob: float = 0.95,
) -> pd.DataFrame:
    """Compute Bland-Altman limits of agreement of each pair of annotators, or of each model and annotator.

    Parameters
    ----------
    ratings
        Ratings on a bounded scale, one of each annotator and item.
    predictions
        Predicted numbers of all rated items (`Predictions.from_numbers`): pairs are then of a model, as `annotator`,
        and an annotator. Where they lie no further apart than two annotators do, the model is as good as one of them.
    annotators
        Whose pairs, by default all.
    share
        Part of the differences between the limits.
    ci_prob
        Probability of the intervals.

    Returns
    -------
    DataFrame
        One row per pair with three shared items or more: annotator, other_annotator, n_items; `difference`, the mean of
        the first's rating minus the other's, `low_limit` and `high_limit`, all in units of the scale, each with
        ``_lower`` and ``_upper``. The intervals are equal-tailed, exact for normal differences: under the prior 1 / s
        of their mean and standard deviation s they are posterior intervals. They take the items as independent: of
        items that come in clusters, such as documents, read the mean of each cluster as one item.

    Raises
    ------
    InputError
        An annotator that has no rating, no pair that shares three items, repeated ratings, rated items without a
        prediction, predictions that are labels.

    See Also
    --------
    annotator_levels : levels of all annotators at once, which need not share items.

    References
    ----------
    J. M. Bland, D. G. Altman, "Measuring agreement in method comparison studies", Statistical Methods in Medical
    Research 8 (1999), doi:10.1177/096228029900800204. Interval of a limit: A. Carkeet, Optometry and Vision Science 92
    (2015), doi:10.1097/OPX.0000000000000513, by the noncentral t distribution.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[1, 2], [3, 3], [4, 5], [2, 4], [3, 4]], scale=(1, 5), step=1)
    >>> limits_of_agreement(ratings)[["difference", "low_limit", "high_limit"]].round(2).values.tolist()
    [[-1.0, -2.39, 0.39]]
    >>> models = Predictions.from_numbers({"A": [1.5, 3.0, 4.0, 3.0, 3.5]})
    >>> limits_of_agreement(ratings, models)[["other_annotator", "difference"]].round(2).values.tolist()
    [[0.0, 0.4], [1.0, -0.6]]
    """
    ratings = as_annotations(ratings, (Ratings,), "ratings")
    predictions = as_predictions(predictions, ratings)
    probability(share, "share")
    tail = (1 - ci_prob) / 2
    z = float(sp.stats.norm.ppf((1 + share) / 2))
    if ratings.has_repeats:
        raise InputError("an annotator rated an item more than once: read the ratings with duplicates='first'")
    matrix = ratings.to_matrix()
    names = list(matrix) if annotators is None else list(annotators)
    if strange := [name for name in names if name not in matrix]:
        raise InputError(f"annotators={strange[0]!r} is not one of {shorten(list(matrix))}")
    if predictions is None:
        pairs = [(a, b, matrix[a] - matrix[b]) for a, b in combinations(names, 2)]
    else:
        points = predictions.points()[
            :, positions(matrix.index.to_numpy(), predictions.items, "the predictions", "item")
        ]
        pairs = [(a, b, own - matrix[b]) for a, own in zip(predictions.models, points) for b in names]
    rows = []
    for first, second, difference in pairs:
        x = np.asarray(difference.dropna(), float)
        if (n := x.size) < FEWEST:
            continue
        mean, sd = float(x.mean()), float(x.std(ddof=1))
        row = {"annotator": first, "other_annotator": second, "n_items": n}
        for name, side in (("difference", 0.0), ("low_limit", -z), ("high_limit", z)):
            # The posterior of mu + side sigma is mean + sd T / sqrt(n), T noncentral t at side sqrt(n).
            away = sp.stats.nct.ppf([tail, 1 - tail], n - 1, side * np.sqrt(n)) / np.sqrt(n)
            lower, upper = (mean + sd * away).tolist()
            row |= {name: mean + side * sd, f"{name}_lower": lower, f"{name}_upper": upper}
        rows.append(row)
    if not rows:
        raise InputError(f"no two annotators rated {FEWEST} items in common")
    return pd.DataFrame(rows)
