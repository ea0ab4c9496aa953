"""Conformity scores: how well each label conforms to a prediction, the higher the better.

A score takes the probabilities of one model (item, category) and returns conformities of the same shape. No score draws
random numbers; labels of equal probability have equal conformities, whatever their order.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Array
from bayesagree.annotations._model_outputs import require_probabilities
from bayesagree.errors import InputError, as_python

ScoreArray = NDArray[np.floating[Any]]
# Name of a conformity score, or a function of the scores (item, category) of one model.
Score = Literal["probability", "aps", "margin"] | Callable[[ScoreArray], ScoreArray]


def probability(scores: ScoreArray) -> ScoreArray:
    """Conformity of a label as its predicted probability: the smallest sets on average.

    Parameters
    ----------
    scores
        Probabilities (item, category).

    References
    ----------
    .. [1] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with bounded error levels", JASA
       2019, doi:10.1080/01621459.2017.1395341.
    """
    return scores


def aps(scores: ScoreArray) -> ScoreArray:
    """Conformity as minus the probability of all labels that are at least as probable (adaptive prediction sets).

    Without the random part of the source, so that equal predictions have equal sets. A label of probability 0 adds
    nothing to a set: its conformity is minus infinity.

    Parameters
    ----------
    scores
        Probabilities (item, category).

    References
    ----------
    .. [1] Y. Romano, M. Sesia, E. Candes, "Classification with valid and adaptive coverage", NeurIPS 2020,
       arXiv:2006.02544, section 2.

    Examples
    --------
    >>> aps(np.array([[0.5, 0.3, 0.2]])).tolist()
    [[-0.5, -0.8, -1.0]]
    >>> aps(np.array([[1.0, 0.0, 0.0]])).tolist()
    [[-1.0, -inf, -inf]]
    """
    order = np.argsort(-scores, axis=1)
    ordered = np.take_along_axis(scores, order, axis=1)
    mass = np.minimum(np.cumsum(ordered, axis=1), 1)
    for k in range(scores.shape[1] - 2, -1, -1):  # labels that tie share the mass of the last of them
        tied = ordered[:, k] == ordered[:, k + 1]
        mass[tied, k] = mass[tied, k + 1]
    mass[ordered < np.finfo(mass.dtype).eps] = np.inf
    return -np.take_along_axis(mass, np.argsort(order, axis=1), axis=1)


def margin(scores: ScoreArray) -> ScoreArray:
    """Conformity as the lead of a label over the best other one; for any scores on one scale, also logits.

    Parameters
    ----------
    scores
        Scores (item, category) of two or more categories.

    References
    ----------
    .. [1] H. Linusson, U. Johansson, H. Bostroem, T. Loefstroem, "Classification with reject option using conformal
       prediction", PAKDD 2018, doi:10.1007/978-3-319-93034-3_8.

    Examples
    --------
    >>> margin(np.array([[0.5, 0.3, 0.2]])).round(3).tolist()
    [[0.2, -0.2, -0.3]]
    """
    if scores.shape[1] < 2:
        raise InputError("score='margin' compares a label with the others, and there is one label")
    two_best = np.partition(scores, -2, axis=1)[:, -2:]
    return scores - np.where(scores == two_best[:, 1:], two_best[:, :1], two_best[:, 1:])


SCORES: dict[str, Callable[[ScoreArray], ScoreArray]] = {
    "probability": probability,
    "aps": aps,
    "margin": margin,
}


def conformity(score: Score, scores: ScoreArray, models: Array, items: Array) -> ScoreArray:
    """Return the conformity of every label, shape (model, item, category), or refuse scores it cannot compare.

    Raises
    ------
    InputError
        An unknown name, scores that are not probabilities, a function that returns another shape or NaN.
    """
    if isinstance(score, str):
        if score not in SCORES:
            raise InputError(
                f"score={score!r} is not one of {', '.join(map(repr, SCORES))}; or pass a function"
            )
        if score != "margin":
            why = f"score={score!r} compares probabilities between items"
            require_probabilities(scores, models, items, why, ", or pass score='margin' or a function")
    function = SCORES[score] if isinstance(score, str) else score
    found = [np.asarray(function(one)) for one in scores]
    for model, one, own in zip(models, scores, found):
        if own.shape != one.shape or own.dtype.kind not in "fiu" or np.isnan(own).any():
            raise InputError(
                f"model {as_python(model)!r}: the function score= returned shape {own.shape} of {own.dtype} (NaN: "
                f"{np.isnan(own).sum() if own.dtype.kind == 'f' else 0}); it must return one number for each of "
                f"the {one.shape} scores (item, category)"
            )
    return np.stack(found)
