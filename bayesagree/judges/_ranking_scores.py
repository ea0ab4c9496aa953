"""How far a ranking agrees with the rankings of other people: the share of their pairs of labels in the same order."""

import numpy as np

from bayesagree._numerics.types import Floats
from bayesagree.annotations import Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError


def ranking_scores(rankings: Rankings, judges: Predictions) -> list[tuple[Floats, Floats]]:
    """Return for each judge the score of the judge's ranking and that of the person's, of each annotation.

    NaN where a judge gave no label, or the other people all rank nothing above anything.
    """
    if rankings.offered is not None:
        raise InputError("rankings of labels of which not all were on offer cannot be compared; leave offered= out")
    given = -_preferences(judges.aligned(rankings.items, rankings.categories))
    bounds = np.searchsorted(rankings.item_index, np.arange(rankings.items.size + 1))
    of_judge, of_person = np.full((2, judges.models.size, rankings.item_index.size), np.nan)
    for i in range(rankings.items.size):
        rows = np.arange(bounds[i], bounds[i + 1])
        place = np.full((rows.size, rankings.categories.size), np.inf)
        for k, r in enumerate(rows):
            entries = slice(rankings.start[r], rankings.start[r + 1])
            place[k, rankings.label_index[entries]] = rankings.block[entries]
        # (ranking, other person): the people first, then the judges.
        agreement = np.stack([shared_order(other, np.vstack([place, given[:, i]])) for other in place], axis=1)
        for k, r in enumerate(rows):
            others = np.delete(agreement, k, axis=1)
            others = others[:, np.isfinite(others[k])]
            if others.size:
                of_person[:, r] = others[k].mean()
                of_judge[:, r] = others[rows.size :].mean(axis=1)
    return list(zip(of_judge, of_person))


def shared_order(reference: Floats, rankings: Floats) -> Floats:
    """Share of the pairs that the reference orders in which each ranking has the same order, a tie counting half.

    Places of the labels, small is best, infinite for a label that is not named: (label,) and (ranking, label); NaN
    without a pair, and for a ranking without a place.

    Examples
    --------
    >>> shared_order(np.array([0, 1, np.inf]), np.array([[0, 1, 2], [1, 0, 2], [0, np.inf, np.inf]])).round(3).tolist()
    [1.0, 0.667, 0.833]
    """
    first = np.flatnonzero(np.isfinite(reference))
    ordered = reference[first][:, None] < reference
    ahead = rankings[:, first][:, :, None]
    same = (ahead < rankings[:, None]) + 0.5 * (ahead == rankings[:, None])
    pairs = ordered.sum()
    share = (same * ordered).sum(axis=(1, 2)) / pairs if pairs else np.full(len(rankings), np.nan)
    return np.where(np.isnan(rankings).any(axis=1), np.nan, share)


def _preferences(judges: Predictions) -> Floats:
    """Return scores, or 1 for the label of a judge and 0 for others, NaN without a label: (model, item, category)."""
    if judges.scores is not None:
        return np.asarray(judges.scores, np.float64)
    said = judges.hard_labels()
    return np.where(said[:, :, None] < 0, np.nan, said[:, :, None] == np.arange(judges.categories.size))
