"""Comparisons of models: the pair that the next one should be of, and how many separate two models."""

from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from bayesagree._types import Floats
from bayesagree.annotations.comparisons import Comparisons
from bayesagree.comparisons._cells import outcome_probabilities, slopes_by_distance
from bayesagree.comparisons.posterior import davidson
from bayesagree.comparisons.prior import DavidsonPrior
from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed
from bayesagree.planning._decision import best_first, prob_right

# Numbers of comparisons that are tried: neighbours differ by 7 %.
NUMBERS = np.unique(np.round(np.geomspace(1, 1e6, 200)).astype(np.int64))
SHOWN = np.array([0, *(step * 10**power for power in range(6) for step in (1, 2, 5)), 10**6])
# Probability with which the interval of the difference shall not hold 0.
SEPARATED = 0.8
# The normal quantile .975: to import scipy.special for it would take a tenth of the import of every name.
BORDER = 1.959963984540054


class Pairs(NamedTuple):
    """Draws of what a comparison of the average annotator in a neutral order depends on."""

    comparisons: Comparisons
    strength: Floats
    """Shape (sample, model)."""
    odds: Floats
    """Of a tie, shape (sample, 1)."""

    @classmethod
    def of(cls, comparisons: Comparisons, prior: Any, random_seed: Seed) -> Self:
        """Draw the posterior."""
        if prior is not None and not isinstance(prior, DavidsonPrior):
            raise InputError(f"prior={prior!r} is none of comparisons; pass a DavidsonPrior")
        return cls.of_result(comparisons, davidson(comparisons, prior=prior, random_seed=random_seed))

    @classmethod
    def of_result(cls, comparisons: Comparisons, tree: xr.DataTree) -> Self:
        """Read the draws of a result of `davidson`."""
        posterior = tree["posterior"].to_dataset()
        strength = posterior["strength"].values.reshape(-1, comparisons.models.size)
        tie: Any = (
            posterior["average_tie"].values.ravel() if "average_tie" in posterior else np.array([-np.inf])
        )
        return cls(comparisons, strength, np.exp(tie)[:, None])

    def next_pairs(self, n: int, goal: str, random_seed: Seed) -> pd.DataFrame:
        """Return the result of `annotate_next`."""
        size = self.strength.shape[1]
        score = self.strength if goal == "metric" else np.eye(size)[self.strength.argmax(axis=1)]
        score = score - score.mean(axis=0)
        parts = []
        for model in range(size - 1):
            distance = self.strength[:, model, None] - self.strength[:, model + 1 :]
            chances = outcome_probabilities(distance, self.odds)
            # With deviations from their means, the variance between outcomes is the mean square of the means.
            moved = [((score.T @ p) ** 2).sum(axis=0) / np.maximum(p.sum(axis=0), 1e-300) for p in chances]
            parts.append([np.sum(moved, axis=0) / len(score), (distance > 0).mean(axis=0)])
        gain, ahead = np.hstack(parts)
        table = best_first(np.arange(gain.size), gain, np.maximum(ahead, 1 - ahead), n, random_seed)
        notes = [note.replace("items", "pairs") for note in table.attrs["notes"]]
        pair = table["item"].to_numpy()
        (first, second), ahead = np.transpose(np.triu_indices(size, 1))[pair].T, ahead[pair]
        games = np.zeros((size, size), np.int64)
        np.add.at(games, (self.comparisons.first, self.comparisons.second), 1)
        turned = games[first, second] > games[second, first]
        names = self.comparisons.models
        ends = (np.where(turned, second, first), np.where(turned, first, second))
        found = pd.DataFrame({"first": names[ends[0]], "second": names[ends[1]], "gain": table["gain"]})
        found["prob_first_better"] = np.where(turned, 1 - ahead, ahead)
        found["comparisons"] = games[ends] + games[ends[::-1]]
        found.attrs["notes"] = notes
        return found

    def value_of_comparisons(self) -> pd.DataFrame:
        """Return the result of `value_of_votes`."""
        order = np.argsort(-self.strength.mean(axis=0), kind="stable")
        distance = self.strength[:, order[0]] - self.strength[:, order[1]]
        chances = np.stack(outcome_probabilities(distance, self.odds[:, 0]))
        information = float((chances * slopes_by_distance(chances) ** 2).sum(axis=0).mean())
        votes, mean, variance = np.union1d(SHOWN, NUMBERS), distance.mean(), distance.var()
        left = variance / (1 + votes * information * variance)
        right = prob_right(mean, variance, left)
        with np.errstate(divide="ignore"):
            step = np.sqrt(variance - left)
            ends = [sp.special.ndtr((sign * mean - BORDER * np.sqrt(left)) / step) for sign in (1, -1)]
        table = pd.DataFrame(
            {"votes": votes, "sd": np.sqrt(left), "prob_right": right, "prob_separated": sum(ends)}
        )
        enough = np.flatnonzero(table["prob_separated"] >= SEPARATED)
        needed = int(votes[enough[0]]) if enough.size else None
        table = pd.DataFrame(table[np.isin(votes, SHOWN)]).reset_index(drop=True)
        table.attrs = {"models": self.comparisons.models[order[:2]].tolist(), "separating": needed}
        return table
