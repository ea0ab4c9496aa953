"""The normal-inverse-gamma posterior as a PyMC model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree.annotations import Ratings
from bayesagree.errors import positive
from bayesagree.inference.open_model import annotation_data, part
from bayesagree.plausibility.normal_inverse_gamma.prior import NormalInverseGammaPrior

if TYPE_CHECKING:
    import pymc as pm


def normal_inverse_gamma_model(
    ratings: Ratings,
    *,
    reliability: float = 1.0,
    prior: NormalInverseGammaPrior | None = None,
    mean: Callable[[Any], Any] | None = None,
    variance: Callable[[], Any] | None = None,
) -> "pm.Model":
    """Build the same posterior as a PyMC model; observed data are long, one entry of ``rating`` per annotation.

    Parameters
    ----------
    ratings, reliability, prior
        As `normal_inverse_gamma`.
    mean
        A prior of one's own of the items' means: a function of their variances (item), called inside the model, that
        returns the means (item) in units of the scale.
    variance
        The same of the variances: a function without arguments.

    Returns
    -------
    pymc.Model
        ``mean`` and ``variance`` (item); observed ``rating`` (annotation) when the reliability is 1, else a potential.
        ``item_of_annotation``, ``annotator_of_annotation`` and ``observed_rating`` are data.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[4, 5, 4], [1, 2, 2]], scale=(1, 5), step=1)
    >>> [v.name for v in normal_inverse_gamma_model(ratings).free_RVs]
    ['variance', 'offset']
    """
    import pymc as pm

    chosen = prior or NormalInverseGammaPrior.for_scale(ratings.scale)
    power = positive(reliability, "reliability", zero=True)
    every = np.arange(ratings.n_annotations)
    coords = {"item": ratings.items, "annotator": ratings.annotators, "annotation": every}
    with pm.Model(coords=coords) as model:
        item, _ = annotation_data(ratings.item_index, ratings.annotator_index)
        rating = pm.Data("observed_rating", ratings.rating, dims="annotation")

        def our_variance() -> Any:
            return pm.InverseGamma("variance", alpha=chosen.shape, beta=chosen.scale, dims="item")

        spread = part("variance", variance, our_variance, dims="item")

        def our_mean() -> Any:
            offset = pm.Normal("offset", 0.0, 1.0, dims="item")
            return pm.Deterministic(
                "mean", chosen.mean + offset * (spread / chosen.strength) ** 0.5, dims="item"
            )

        centre = part("mean", mean, our_mean, spread, dims="item")
        if power == 1:
            pm.Normal("rating", centre[item], spread[item] ** 0.5, observed=rating, dims="annotation")
        else:
            log_likelihood: Any = pm.logp(pm.Normal.dist(centre[item], spread[item] ** 0.5), rating)
            pm.Potential("tempered_log_likelihood", (log_likelihood * power).sum())
    return model
