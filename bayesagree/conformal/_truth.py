"""Expected plausibilities and draws of any truth: a posterior, a point estimate, or the labels themselves."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Array, Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.cells import row_shares
from bayesagree.inference.results import concentration_of
from bayesagree.inference.top_labels import TruthDraws, truth_draws
from bayesagree.plausibility.votes import vote_shares

# A posterior of plausibilities, vote shares or another point estimate (item, category), or labels.
Truth = xr.DataTree | xr.DataArray | Labels


class Plausibilities(NamedTuple):
    """Plausibilities by name: items, categories, values (item, category)."""

    items: Array
    categories: Array
    values: Floats


def expected_plausibility(truth: Truth) -> Plausibilities:
    """Return the expected plausibilities: in closed form where the posterior has one, else the mean of its draws.

    Raises
    ------
    InputError
        A posterior without plausibilities, or a point estimate with rows that do not sum to one.
    """
    if isinstance(truth, xr.DataTree) and (shape := concentration_of(truth)) is not None:
        return Plausibilities(shape["item"].values, shape["category"].values, row_shares(shape.values))
    draws = plausibility_draws(truth)
    means = [np.asarray(block.plausibility).mean(axis=1) for block in draws.blocks]
    return Plausibilities(draws.items, draws.labels, np.concatenate(means))


def plausibility_draws(truth: Truth) -> TruthDraws:
    """Return the draws of a truth with their plausibilities; a point estimate is a single draw."""
    if isinstance(truth, Labels):
        truth = vote_shares(truth).dropna("item")
    elif not isinstance(truth, xr.DataTree | xr.DataArray):
        raise InputError(
            f"truth is {type(truth).__name__}; pass a posterior, a DataArray (item, category) or Labels"
        )
    return truth_draws(truth, 1, plausibility=True)


def winners(plausibilities: Floats) -> Floats:
    """Return weight one on the most plausible label of each item, the first in label order among equal ones."""
    return np.eye(plausibilities.shape[1])[plausibilities.argmax(axis=1)]


def scores_of(predictions: Predictions, items: Array, categories: Array) -> NDArray[np.floating]:
    """Return the scores (model, item, category) of these items in the order of these categories.

    Raises
    ------
    InputError
        Hard labels, items without predictions, other categories.
    """
    found = predictions.on_items(items).aligned(items, categories).scores
    if found is None:
        raise InputError("these predictions are hard labels; prediction sets need a score for each label")
    return found
