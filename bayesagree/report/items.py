"""The items that the annotations leave most open: their annotations, and what may be true."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import concentration_of, settings_of
from bayesagree.annotations import Annotations, Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.top_labels import plausibility_block
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce
from bayesagree.report.settings import Case

# Labels shown of each item.
CANDIDATES = 4
_ITEMS_AT_ONCE = 20


class Candidate(NamedTuple):
    """A label that may be the right one.

    Attributes
    ----------
    label
        Its name.
    probability
        Probability that it is the most plausible label of the item.
    plausibility
        Posterior mean of its plausibility: the expected share among ever more annotators. NaN for ratings.
    """

    label: str
    probability: float
    plausibility: float


class OpenItem(NamedTuple):
    """One item.

    Attributes
    ----------
    item
        Its name.
    certainty
        Annotation certainty.
    n_annotations
        Number of annotations.
    given
        The annotations as lines of text: one for each ranking, else one for all.
    candidates
        The most probable labels, best first.
    predicted
        Pairs (label, the models that predict it).
    """

    item: str
    certainty: float
    n_annotations: int
    given: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    predicted: tuple[tuple[str, tuple[str, ...]], ...]


def open_items(case: Case, tree: xr.DataTree, certainty: xr.DataArray) -> tuple[OpenItem, ...]:
    """List the least certain items, least certain first.

    Parameters
    ----------
    case
        The annotations and models.
    tree
        The posterior of the annotations.
    certainty
        `label_certainty` of the tree, dims (item, category).
    """
    annotations, predictions = case.annotations, case.models
    probability = certainty.transpose("item", "category").values
    at = np.argsort(probability.max(axis=1), kind="stable")[: case.settings.least_certain]
    labels = np.asarray(certainty["category"])
    plausibility = _mean_plausibility(annotations, tree, at, labels.size)
    rows = []
    for row, i in enumerate(at):
        best = np.argsort(-probability[i], kind="stable")[:CANDIDATES]
        shown = [k for k in best if probability[i, k] > 0]
        candidates = [Candidate(str(labels[k]), float(probability[i, k]), float(plausibility[row, k])) for k in shown]
        given, n = case.kind.lines(annotations, int(i))
        predicted = () if predictions is None else _predicted(predictions, i)
        name, certain = str(annotations.items[i]), candidates[0].probability
        rows.append(OpenItem(name, certain, n, given, tuple(candidates), predicted))
    return tuple(rows)


def _predicted(predictions: Predictions, item: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if predictions.numbers is None:
        hard = predictions.hard_labels()[:, item]
        shown = ["no label" if k < 0 else str(predictions.categories[k]) for k in hard]
    else:
        shown = [f"{point:.3g}" for point in predictions.points()[:, item]]
    models_of: dict[str, list[str]] = {}
    for model, text in zip(predictions.models, shown):
        models_of.setdefault(text, []).append(str(model))
    return tuple((label, tuple(models)) for label, models in models_of.items())


def _mean_plausibility(
    annotations: Annotations, tree: xr.DataTree, at: NDArray[np.intp], n_labels: int
) -> NDArray[np.float64]:
    """Return the posterior mean of the plausibilities of some items, shape (item, category)."""
    if (concentration := concentration_of(tree)) is not None:
        shape = concentration.values[at]
        return shape / shape.sum(axis=1, keepdims=True)
    if "plausibility" in tree["posterior"]:
        means = [plausibility_block(tree, slice(i, i + 1)).mean(axis=(0, 1)) for i in at]
        return np.concatenate([np.empty((0, n_labels)), *means])
    if "derived" in tree:
        return tree["derived"]["label_probability"].transpose("item", "category").values[at]
    if isinstance(annotations, Rankings):
        return _plackett_luce_means(annotations, tree, at)
    return np.full((at.size, n_labels), np.nan)


def _plackett_luce_means(rankings: Rankings, tree: xr.DataTree, at: NDArray[np.intp]) -> NDArray[np.float64]:
    """Draw the plausibilities of these items again: the posterior of all items keeps the best labels only."""
    means = []
    for start in range(0, at.size, _ITEMS_AT_ONCE):
        cases = [rankings.of_item(int(i)) for i in at[start : start + _ITEMS_AT_ONCE]]
        few = Rankings.from_blocks(cases, labels=rankings.categories.tolist())
        drawn = plackett_luce(few, reliability=int(settings_of(tree)["reliability"]), draws=250, seed=start)
        means.append(drawn["posterior"]["plausibility"].mean(("chain", "draw")).transpose("item", "category").values)
    return np.concatenate(means)
