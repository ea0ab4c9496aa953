"""Conformity scores: how well each label conforms to a prediction, the higher the better.

A score takes the probabilities of one model (item, category) and returns conformities of the same shape. No score draws
random numbers; labels of equal probability have equal conformities, whatever their order.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree.annotations._model_outputs import require_probabilities
from bayesagree.errors import InputError, as_python, positive, positive_int

ScoreArray = NDArray[np.floating[Any]]
# Name of a conformity score, or a function of the scores (item, category) of one model.
Score = Literal["probability", "aps", "raps", "margin"] | Callable[[ScoreArray], ScoreArray]


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
    return -_at_least_as_probable(scores)[0]


def raps(scores: ScoreArray, *, penalty: float = 0.01, free: int = 5) -> ScoreArray:
    """Conformity as that of `aps` less a penalty for every label beyond the first few (regularised sets).

    Parameters
    ----------
    scores
        Probabilities (item, category).
    penalty
        Price of each further label, in units of probability.
    free
        Number of labels without a price.

    References
    ----------
    .. [1] A. Angelopoulos et al., "Uncertainty sets for image classifiers using conformal prediction", ICLR 2021,
       arXiv:2009.14193, equation (4). The defaults are those of A. Angelopoulos and S. Bates, "A gentle introduction to
       conformal prediction", arXiv:2107.07511, section 2.1.

    Examples
    --------
    >>> raps(np.array([[0.5, 0.3, 0.2]]), penalty=0.1, free=1).round(3).tolist()
    [[-0.5, -0.9, -1.2]]
    """
    mass, rank = _at_least_as_probable(scores)
    return -(mass + positive(penalty, "penalty", zero=True) * np.maximum(rank - positive_int(free, "free"), 0))


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
    is_best = scores == two_best[:, 1:]
    return scores - np.where(is_best, two_best[:, :1], two_best[:, 1:])


def _at_least_as_probable(scores: ScoreArray) -> tuple[ScoreArray, NDArray[np.int64]]:
    """Return the probability and the number of the labels at least as probable as each, both (item, category).

    Of a label whose own probability is lost in that sum the probability is infinite.
    """
    order = np.argsort(-scores, axis=1)
    ordered = np.take_along_axis(scores, order, axis=1)
    mass = np.cumsum(ordered, axis=1)
    rank = np.broadcast_to(np.arange(1, scores.shape[1] + 1), scores.shape).copy()
    for k in range(
        scores.shape[1] - 2, -1, -1
    ):  # labels that tie share the mass and the place of the last of them
        tied = ordered[:, k] == ordered[:, k + 1]
        mass[tied, k], rank[tied, k] = mass[tied, k + 1], rank[tied, k + 1]
    mass[ordered < np.finfo(mass.dtype).eps] = np.inf
    back = np.argsort(order, axis=1)
    return np.take_along_axis(mass, back, axis=1), np.take_along_axis(rank, back, axis=1)


SCORES: dict[str, Callable[[ScoreArray], ScoreArray]] = {
    "probability": probability,
    "aps": aps,
    "raps": raps,
    "margin": margin,
}
_OF_PROBABILITIES = ("probability", "aps", "raps")


def conformity(score: Score, scores: ScoreArray, models: NDArray[Any], items: NDArray[Any]) -> ScoreArray:
    """Return the conformity of every label, shape (model, item, category), or refuse scores it cannot compare.

    Raises
    ------
    InputError
        An unknown name, scores that are not probabilities, a function that returns another shape or NaN.
    """
    if isinstance(score, str):
        if score not in SCORES:
            raise InputError(f"score={score!r} is not one of {', '.join(map(repr, SCORES))}; or pass a function")
        if score in _OF_PROBABILITIES:
            why = f"score={score!r} compares probabilities between items"
            require_probabilities(
                scores, models, items, why, "apply a softmax, or pass score='margin' or a function"
            )
    function = SCORES[score] if isinstance(score, str) else score
    found = [np.asarray(function(one)) for one in scores]
    for model, one, own in zip(models, scores, found):
        if own.shape != one.shape or own.dtype.kind not in "fiu" or np.isnan(own).any():
            raise InputError(
                f"model {as_python(model)!r}: the function score= returned shape {own.shape} of {own.dtype} (NaN: "
                f"{int(np.isnan(own).sum()) if own.dtype.kind == 'f' else 0}); it must return one number for each of "
                f"the {one.shape} scores (item, category)"
            )
    return np.stack(found)
