"""`ConformalSets`: calibrated once, they predict sets and p-values for any items."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Array, Floats, Integers
from bayesagree.annotations.gold import ItemGroup, group_of_each
from bayesagree.annotations.predictions import Predictions
from bayesagree.conformal._truth import scores_of
from bayesagree.conformal.scores import Score, ScoreArray, conformity
from bayesagree.errors import InputError, as_python, shorten, warn
from bayesagree.inference.results import settings_of

# p-values within this of alpha equal it: sums of up to 1e7 weights carry rounding errors of some 1e-11.
TIE = 1e-10


class WeightedScores(NamedTuple):
    """Calibration scores in ascending order, the weight up to each, shape (score + 1,), and the number of items.

    Calibration item i spreads a weight of one over its labels. With W(e) the weight of all calibration scores up to e,

        p(e) = (1 + W(e)) / (n + 1),        a label is kept if p > alpha.

    The weight below the threshold is the loss of conformal risk control summed over items, so that the expected mass
    left out of the sets of new items is at most alpha, for every n.

    Source: A. Angelopoulos et al., "Conformal risk control", ICLR 2024, arXiv:2208.02814, theorem 1.
    """

    score: ScoreArray
    up_to: Floats
    n: int

    @classmethod
    def of(cls, score: ScoreArray, weight: Floats, n: int) -> Self:
        """Sort the scores of one model (item, category) that have a weight; the weights sum to n."""
        used = weight.ravel() > 0
        score, weight = score.ravel()[used], weight.ravel()[used]
        order = np.argsort(score)
        return cls(score[order], np.append(0.0, np.cumsum(weight[order])), n)

    def threshold(self, alpha: float) -> float:
        """Return the smallest score with p > alpha; -inf where n + 1 < 1 / alpha, too few for any set."""
        most = (alpha + TIE) * (self.n + 1) - 1
        if most < 0 or self.score.size == 0:
            return -np.inf
        first = np.searchsorted(self.up_to[1:], most, side="right")
        return float(self.score[min(first, self.score.size - 1)])

    def p_values(self, score: ScoreArray) -> Floats:
        """Return the p-value of each score, of any shape."""
        return (1 + self.up_to[np.searchsorted(self.score, score, side="right")]) / (self.n + 1)


@dataclass(frozen=True, eq=False)
class ConformalSets:
    """Prediction sets, calibrated on items with an ambiguous truth.

    Attributes
    ----------
    calibration
        Group ``constant_data``: ``conformity`` (model, item, category) of the calibration items; ``weight`` of each
        label, (item, category); ``group_index`` (item). Group ``derived``: ``threshold`` (model, group) and ``n_items``
        (group). `write_result` keeps it in a file: ``ConformalSets(read_result(path), score)`` predicts again.
    score
        Name of the conformity score, or the function.

    Examples
    --------
    >>> from bayesagree import Labels, conformalize
    >>> votes = Labels.from_counts([[4, 1], [0, 5], [5, 0], [2, 3]] * 5, labels=["no", "yes"])
    >>> scores = [[0.8, 0.2], [0.1, 0.9], [0.9, 0.1], [0.4, 0.6]] * 5
    >>> models = Predictions.from_scores({"A": scores}, labels=["no", "yes"])
    >>> sets = conformalize(votes, models)
    >>> isinstance(sets, ConformalSets), round(sets.threshold.item(), 3)
    (True, 0.4)
    >>> sets.predict_set(models).sel(model="A").values[:4].tolist()
    [[True, False], [False, True], [True, False], [True, True]]
    >>> sets.p_values(models).sel(model="A", category="no").values[:4].round(3).tolist()
    [0.524, 0.048, 1.0, 0.19]
    """

    calibration: xr.DataTree
    score: Score = "probability"

    @property
    def coverage(self) -> float:
        """The requested coverage."""
        return float(settings_of(self.calibration)["coverage"])

    @property
    def grouped(self) -> bool:
        """Whether each group of items has a threshold of its own."""
        return bool(settings_of(self.calibration)["grouped"])

    @property
    def threshold(self) -> xr.DataArray:
        """Smallest conformity of a label in a set, (model) or (model, group); -inf where sets are full."""
        found = self._derived["threshold"]
        return found if self.grouped else found.isel(group=0, drop=True)

    @property
    def categories(self) -> Array:
        """Names of the labels."""
        return np.asarray(self.calibration["constant_data/category"])

    def predict_set(self, predictions: Predictions, *, by: ItemGroup | None = None) -> xr.DataArray:
        """Return the set of each item.

        Parameters
        ----------
        predictions
            Predictions of the calibrated models, or some of them, on any items and the same labels.
        by
            Group of each item, where the sets were calibrated by group.

        Returns
        -------
        DataArray
            Whether a label is in the set, bool (model, item, category).

        Raises
        ------
        InputError
            Models or labels that calibration never saw, scores that cannot be compared, groups missing or not
            requested.

        Warns
        -----
        UserWarning
            Groups that calibration never saw: their sets are full.
        """
        scores = self._conformity(predictions)
        thresholds = self._derived["threshold"].values
        models = self._model_index(predictions)
        groups = self._group_index(predictions, by)
        # Group -1 was never calibrated: its threshold is the -inf appended at the end.
        least = np.append(thresholds, np.full((len(thresholds), 1), -np.inf), axis=1)[models][:, groups]
        return self._array(scores >= least[:, :, None], predictions, "prediction_set")

    def p_values(self, predictions: Predictions, *, by: ItemGroup | None = None) -> xr.DataArray:
        """Return the p-value of each label: sets are the labels with p > 1 - coverage.

        Parameters
        ----------
        predictions, by
            As in `predict_set`.

        Returns
        -------
        DataArray
            p-values (model, item, category): (1 + calibration weight of conformities up to its own) / (n + 1).
        """
        scores = self._conformity(predictions)
        models = self._model_index(predictions)
        groups = self._group_index(predictions, by)
        values = np.ones(scores.shape)
        for m, own in enumerate(models):
            for g in np.unique(groups[groups >= 0]):
                values[m, groups == g] = self._sorted[own][g].p_values(scores[m, groups == g])
        return self._array(values, predictions, "p_value")

    @property
    def _derived(self) -> xr.Dataset:
        return self.calibration["derived"].to_dataset()

    @cached_property
    def _sorted(self) -> list[list[WeightedScores]]:
        """The weighted scores of each model and group."""
        data = self.calibration["constant_data"].to_dataset()
        score = data["conformity"].values
        group = data["group_index"].values
        weight = data["weight"].values
        sizes = self._derived["n_items"].values.tolist()
        return [
            [WeightedScores.of(e[group == g], weight[group == g], n) for g, n in enumerate(sizes)]
            for e in score
        ]

    def _conformity(self, predictions: Predictions) -> ScoreArray:
        scores = scores_of(predictions, predictions.items, self.categories)
        return conformity(self.score, scores, predictions.models, predictions.items)

    def _model_index(self, predictions: Predictions) -> list[int]:
        known = pd.Index(self._derived["model"].values)
        place = known.get_indexer(predictions.models)
        if (place < 0).any():
            unknown = as_python(predictions.models[place < 0][0])
            raise InputError(f"model {unknown!r} was not calibrated; calibrated are {shorten(known)}")
        return place.tolist()

    def _group_index(self, predictions: Predictions, by: ItemGroup | None) -> Integers:
        known = self._derived["group"].values
        if self.grouped and by is None:
            raise InputError(f"these sets were calibrated by group ({shorten(known)}): pass by=")
        if by is None:
            return np.zeros(predictions.items.size, int)
        if not self.grouped:
            raise InputError(
                "these sets were not calibrated by group; leave out by=, or pass it to conformalize"
            )
        groups = groups_of(by, predictions.items)
        index = pd.Index(known).get_indexer(groups)
        if (index < 0).any():
            warn(
                f"calibration never saw the groups {shorten(np.unique(groups[index < 0]))}: sets of their "
                f"{(index < 0).sum()} items hold all labels"
            )
        return index

    def _array(self, values: Array, predictions: Predictions, name: str) -> xr.DataArray:
        coords = {"model": predictions.models, "item": predictions.items, "category": self.categories}
        return xr.DataArray(values, coords, ("model", "item", "category"), name, {"coverage": self.coverage})


def groups_of(by: ItemGroup, items: Array) -> Array:
    """Return the group of each item, shape (item,).

    Raises
    ------
    InputError
        Items without a group, or groups that are fractional numbers.
    """
    found = group_of_each(by, items, "by").infer_objects().to_numpy()
    if found.dtype.kind == "f" and not (found == np.floor(found)).all():
        raise InputError("by= holds fractional numbers; cut them into groups first (pandas.cut)")
    return found if found.dtype.kind in "iufb" else found.astype(str)
