"""The informed posterior of ratings as a PyMC model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesagree.annotations import Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.inference.open_model import annotation_data, part
from bayesagree.plausibility.informed.covariates import Excluded
from bayesagree.plausibility.informed_normal._problem import SDS, NormalProblem
from bayesagree.plausibility.normal_inverse_gamma.levels import LEAST_SD, levels_model

if TYPE_CHECKING:
    import pymc as pm


def informed_normal_model(
    ratings: Ratings,
    predictions: Predictions,
    *,
    exclude: Excluded = None,
    annotator_effects: Literal["auto", "shift"] | None = "auto",
    mean: Callable[[Any], Any] | None = None,
) -> "pm.Model":
    """PyMC model of `informed_normal`; observed data are long, one entry of ``rating`` per annotation.

    Parameters
    ----------
    ratings, predictions, exclude, annotator_effects
        As `informed_normal`.
    mean
        A prior of one's own of the items' means: a function of what the predictions say of them (item), called inside
        the model, that returns the means (item) in units of the scale.

    Returns
    -------
    pymc.Model
        ``sd_rating``, ``sd_item`` and ``coefficient`` (column) in units of the range; ``mean`` and ``variance`` (item);
        with levels also ``annotator_shift`` and ``annotator_sd`` (annotator).

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[4, 5, 4], [1, 2, 2]], scale=(1, 5), step=1)
    >>> model = informed_normal_model(ratings, Predictions.from_numbers({"A": [4.2, 1.5]}))
    >>> [v.name for v in model.free_RVs]
    ['excess', 'sd_item', 'coefficient', 'offset']
    """
    import pymc as pm

    problem = NormalProblem.of(ratings, predictions, exclude)
    if levels := problem.levels(annotator_effects):
        return levels_model(levels, mean)
    ratings, (low, high) = problem.ratings, ratings.scale
    coords = {"item": ratings.items, "annotator": ratings.annotators}
    coords |= {"annotation": np.arange(ratings.n_annotations), "column": problem.names}
    with pm.Model(coords=coords) as model:
        item, _ = annotation_data(ratings.item_index, ratings.annotator_index)
        rating = pm.Data("observed_rating", ratings.rating, dims="annotation")
        excess: Any = pm.HalfNormal("excess", SDS[0])
        sd_rating: Any = pm.Deterministic("sd_rating", LEAST_SD + excess)
        sd_item: Any = pm.HalfNormal("sd_item", SDS[1])
        coefficient: Any = pm.Normal("coefficient", *problem.prior, dims="column")
        predicted = low + (high - low) * (problem.columns @ coefficient)

        def our_mean() -> Any:
            offset: Any = pm.Normal("offset", 0.0, 1.0, dims="item")
            return pm.Deterministic("mean", predicted + (high - low) * sd_item * offset, dims="item")

        centre = part("mean", mean, our_mean, predicted, dims="item")
        spread: Any = pm.Deterministic("variance", ((high - low) * sd_rating) ** 2 + 0.0 * centre, dims="item")
        pm.Normal("rating", centre[item], spread[item] ** 0.5, observed=rating, dims="annotation")
    return model
