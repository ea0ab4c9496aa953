"""Comparisons of models: the pair that the next one should be of, and how many separate two models."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.annotations.comparisons import Comparisons
from bayesagree.comparisons._cells import outcome_probabilities, slopes_by_distance
from bayesagree.inference.cells import cell_sums
from bayesagree.planning._outlook import Lead, Outlook

# Numbers of comparisons that are tried: neighbours differ by 7 %; and those that are shown.
NUMBERS = np.unique(np.round(np.geomspace(1, 1e6, 200)).astype(int))
SHOWN = np.array([0, *(step * 10**power for power in range(6) for step in (1, 2, 5)), 10**6])


def of_pairs(comparisons: Comparisons, result: xr.DataTree) -> Outlook:
    """Find it of comparisons by the average annotator in a neutral order, from a result of `davidson`."""
    posterior, size = result["posterior"].to_dataset(), comparisons.models.size
    strength = posterior["strength"].values.reshape(-1, size)
    odds = np.exp(posterior["average_tie"].values.ravel()) if "average_tie" in posterior else np.zeros(1)
    scores = {"decision": np.eye(size)[strength.argmax(axis=1)], "metric": strength}
    # With deviations from their means, the variance between outcomes is the mean square of the means.
    apart, parts = [(score - score.mean(axis=0)).T for score in scores.values()], []
    for model in range(size - 1):
        distance = strength[:, model, None] - strength[:, model + 1 :]
        chances = [
            (p, np.maximum(p.sum(axis=0), 1e-300)) for p in outcome_probabilities(distance, odds[:, None])
        ]
        moved = [[((s @ p) ** 2).sum(axis=0) / total for p, total in chances] for s in apart]
        parts.append([*np.sum(moved, axis=1), (distance > 0).sum(axis=0)])
    *gains, ahead = np.hstack(parts) / len(strength)
    games = cell_sums((size, size), comparisons.first, comparisons.second)
    pair = np.triu_indices(size, 1)
    back = pair[::-1]
    turned = games[pair] > games[back]
    first, second = comparisons.models[np.where(turned, back, pair)]
    units = pd.DataFrame({"first": first, "second": second, "gain": 0.0}).assign(
        prob_first_better=np.where(turned, 1 - ahead, ahead), comparisons=games[pair] + games[back]
    )
    told = {goal: {"gain": gain} for goal, gain in zip(scores, gains)}
    return Outlook(units, told, np.maximum(ahead, 1 - ahead), _lead(comparisons, strength, odds))


def _lead(comparisons: Comparisons, strength: Any, odds: Any) -> Lead:
    """Return it for comparisons of the two best: each tells as much as the first of the difference of strengths."""
    best = np.argsort(-strength.mean(axis=0), kind="stable")[:2]
    distance = strength[:, best[0]] - strength[:, best[1]]
    chances = np.stack(outcome_probabilities(distance, odds))
    information = float((chances * slopes_by_distance(chances) ** 2).sum(axis=0).mean())
    votes, variance = np.union1d(SHOWN, NUMBERS), distance.var()
    left = variance / (1 + votes * information * variance)
    shown = np.flatnonzero(np.isin(votes, SHOWN))
    return Lead(comparisons.models[best], distance.mean(), variance, votes, left, shown=shown)
