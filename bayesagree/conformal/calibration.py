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

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.draws import categories as sampled
from bayesagree.annotations.gold import ItemGroup
from bayesagree.annotations.predictions import Predictions
from bayesagree.conformal._truth import Truth, expected_plausibility, scores_of, winners
from bayesagree.conformal._weighted import WeightedScores
from bayesagree.conformal.scores import Score, ScoreArray, conformity
from bayesagree.conformal.sets import ConformalSets, calibrated, check_coverage
from bayesagree.errors import InputError, positive_int, shorten, warn

type Method = Literal["exact", "monte_carlo", "majority"]


def conformalize(
    truth: Truth,
    predictions: Predictions,
    *,
    coverage: float = 0.9,
    method: Method = "exact",
    score: Score = "probability",
    by: ItemGroup | None = None,
    repeats: int = 10,
    correction: Literal["none", "ecdf"] = "none",
    seed: Seed = None,
) -> ConformalSets:
    """Conformal sets that cover the stated share of the labels that annotators give to new items.

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
        ``"exact"``: every label of an item weighs as much as it is plausible. ``"monte_carlo"``: labels are sampled
        from the plausibilities, as published. ``"majority"``: the most plausible label of each item, the first in label
        order among equal ones; covers vote winners only.
    score
        Conformity: ``"probability"``, ``"aps"``, ``"raps"``, ``"margin"``, or a function of the scores (item, category)
        of one model with values of the same shape, the higher the better.
    by
        Group of each item (Mondrian): every group gets a threshold and the guarantee of its own.
    repeats
        For ``"monte_carlo"``: sampled labels of each item.
    correction
        For ``"monte_carlo"``: ``"ecdf"`` calibrates on one random half of the items and corrects its p-values by one
        sampled label for each item of the other half.
    seed
        For ``"monte_carlo"``; the other methods draw nothing.

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
    conformalize_mass, plausibility_regions, set_coverage

    References
    ----------
    .. [1] D. Stutz et al., "Conformal prediction under ambiguous ground truth", TMLR 2023, arXiv:2307.09302, sections
       3.2 (Monte Carlo) and 3.3 (correction).
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
    alpha_of = check_coverage(coverage)
    if correction == "ecdf" and (method != "monte_carlo" or by is not None):
        raise InputError("correction='ecdf' corrects method='monte_carlo' without by=; the exact form needs none")
    items, categories, plausibility = expected_plausibility(truth)
    scores = conformity(score, scores_of(predictions, items, categories), predictions.models, items)
    _warn_unseen(categories, plausibility)
    names = {"model": predictions.models, "item": items, "category": categories}
    weight = plausibility
    if method == "majority":
        weight = winners(plausibility)
    elif method == "monte_carlo":
        rng = np.random.default_rng(seed_sequence(seed))
        if correction == "ecdf":
            scores, weight, held_out = _corrected(rng, scores, plausibility, positive_int(repeats, "repeats"))
            names["item"] = items[held_out]
        else:
            weight = _sampled_shares(rng, plausibility, positive_int(repeats, "repeats"))
    drawn: dict[str, Any] = {"seed": seed, "repeats": repeats, "correction": correction}
    options = drawn if method == "monte_carlo" else {}
    return calibrated(scores, weight, names, coverage=alpha_of, score=score, by=by, method=method, **options)


def _sampled_shares(rng: np.random.Generator, plausibility: NDArray[np.float64], repeats: int) -> NDArray[np.float64]:
    """Return the shares of sampled labels: the published threshold is that of the exact form on them."""
    exact = plausibility / plausibility.sum(axis=1, keepdims=True)
    return rng.multinomial(repeats, exact) / repeats


def _corrected(
    rng: np.random.Generator, scores: ScoreArray, plausibility: NDArray[np.float64], repeats: int
) -> tuple[ScoreArray, NDArray[np.float64], NDArray[np.intp]]:
    """Correct averaged p-values by their empirical distribution on the other half of the items.

    The p-value of a label is then (1 + number of held-out items whose own is not larger) / (n + 1). An averaged p-value
    is a step function of the conformity, so that this is split conformal prediction on the held-out items, with each
    conformity moved down to the step it stands on.

    Returns
    -------
    tuple
        Conformities and weights of the held-out items, and the positions of these items.
    """
    order = rng.permutation(plausibility.shape[0])
    first, held_out = order[: order.size // 2], np.sort(order[order.size // 2 :])
    if not first.size:
        raise InputError("correction='ecdf' splits the calibration items, and there is only one")
    weight = _sampled_shares(rng, plausibility[first], repeats)
    chosen = np.zeros((held_out.size, plausibility.shape[1]))
    chosen[np.arange(held_out.size), sampled(rng, plausibility[held_out])] = 1.0
    moved = [
        _on_steps(WeightedScores.of(own[first], weight, first.size).score, own[held_out]).reshape(chosen.shape)
        for own in scores
    ]
    return np.stack(moved), chosen, held_out


def _on_steps(steps: ScoreArray, score: ScoreArray) -> ScoreArray:
    """Return the largest of the ascending steps that is not above each score, -inf below all."""
    return np.append(-np.inf, steps)[np.searchsorted(steps, score, side="right")]


def _warn_unseen(categories: NDArray[Any], plausibility: NDArray[np.float64]) -> None:
    unseen = categories[plausibility.max(axis=0) <= 0]
    if unseen.size:
        warn(
            f"calibration never saw the labels {shorten(unseen)}: coverage holds on average over items, and says "
            "nothing about items whose truth they are"
        )
