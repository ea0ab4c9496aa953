"""Ratings as they would look if many had rated: item means regressed on predicted numbers, with shrinkage.

In units of the range of the scale, with z_i the standardised predictions of all models for item i and y_i its n_i
ratings,

    m_i ~ Normal(b_0 + b' z_i, t^2),    x_ir ~ Normal(m_i, s^2),
    b_0 ~ Normal(1/2, 1/4),   b_j ~ Normal(0, 1),   s, t ~ HalfNormal(1/2).

b is integrated out in closed form, so that s and t are drawn from a grid and everything else exactly. Second moments of
means and predictions (RMSE, bias, correlations) are estimated right on average also where neither is normal, since the
parameters are: the part of the scatter of item means that is noise of few ratings is known from their scatter within
items. Scores of other kinds (MAE, CRPS) take the shape of the normal distribution. Where annotators are
known, their levels and scatters are learnt too (`normal_inverse_gamma.levels`), and means are what these annotators
give together, each counting the same.

Source: the normal linear mixed model, Gelman et al., Bayesian Data Analysis (2013), chapter 15; in the place of gold,
Angelopoulos et al. (2023).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesagree._types import Advance
from bayesagree.annotations import Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import one_of, warn
from bayesagree.inference.posterior import Posterior, Request
from bayesagree.inference.rating_posterior import RatingPosterior
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.plausibility.independence import Guarded
from bayesagree.plausibility.informed.covariates import Excluded, aligned, kept_models
from bayesagree.plausibility.informed_normal._problem import Alike
from bayesagree.plausibility.normal_inverse_gamma.levels import KEPT, TUNE, Levels, means_model
from bayesagree.plausibility.normal_inverse_gamma.posterior import NormalInverseGamma

if TYPE_CHECKING:
    import pymc as pm

# Prior means and sds of the intercept and of the slope of a standardised prediction, in units of the range.
INTERCEPT, SLOPE = (0.5, 0.5), (0.0, 1.0)
# Of more items whose ratings all lie at one end of the scale the user is warned.
MOST_AT_ONE_END = 0.25


@dataclass(frozen=True)
class InformedNormal(Guarded, RatingPosterior):
    """Specification of the posterior of `informed_normal`, whose arguments it holds.

    `evaluate` gives it the predictions that it scores.
    """

    predictions: Predictions | None = None
    exclude: Excluded = None
    annotator_effects: Literal["auto", "shift"] | None = "auto"
    name = "informed_normal"

    def kind(self, annotations: Ratings) -> type[Levels]:
        """Return whether levels of annotators are learnt: by default where they are known."""
        effects = one_of(self.annotator_effects, "annotator_effects", ("auto", "shift", None))
        return Levels if effects == "shift" or (effects and Levels.known_in(annotations).size > 1) else Alike

    def problem(self, annotations: Ratings) -> Levels:
        """Return ratings and standardised predictions on the items of the predictions."""
        ratings, predictions = aligned(annotations, self.given)
        _warn_of_one_end(ratings)
        kept = kept_models(predictions.models, self.exclude)
        points = predictions.points()[kept].T
        spread = points.std(axis=0)
        # A model that predicts one number for all items has no spread: its column is 0, its slope keeps the prior.
        columns = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        names = ["intercept", *(f"slope:{model}" for model in predictions.models[kept])]
        prior = np.array([INTERCEPT] + [SLOPE] * kept.size).T
        return self.kind(ratings).of(ratings, np.column_stack([np.ones(len(points)), columns]), prior, names)

    def settings(self, annotations: Ratings) -> dict[str, Any]:
        """Return the arguments of the model."""
        effects = "shift" if self.kind(annotations) is Levels else None
        return super().settings(annotations) | {"annotator_effects": effects}

    def sweeps(self, annotations: Ratings, request: Request) -> int:
        """Return how many sweeps of the annotators' levels count as progress."""
        return request.chains * (TUNE + min(request.draws, KEPT)) if self.kind(annotations) is Levels else 0

    def model(self, annotations: Ratings) -> "pm.Model":
        """Build the same posterior in PyMC."""
        return means_model(self.problem(annotations))

    def of_annotations(self) -> Posterior:
        """Return the posterior of ratings alone."""
        return NormalInverseGamma(threshold=self.threshold)


def _warn_of_one_end(ratings: Ratings) -> None:
    number = np.bincount(ratings.item_index)
    mean = np.bincount(ratings.item_index, ratings.unit()) / np.maximum(number, 1)
    several = mean[number > 1]
    if (share := max((several == end).mean() for end in (0.0, 1.0)) if several.size else 0.0) > MOST_AT_ONE_END:
        warn(
            f"all ratings of {share:.2f} of the items lie at one end of the scale: normal draws of their means order "
            "them too freely, and intervals of rank correlations held the truth in .7 to .8 of such cases"
        )


def informed_normal(
    ratings: Ratings,
    predictions: Predictions,
    *,
    exclude: Excluded = None,
    annotator_effects: Literal["auto", "shift"] | None = "auto",
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    client: Any = None,
    progress: Advance | None = None,
) -> xr.DataTree:
    """Estimate each item's mean over many annotators from ratings and predicted numbers.

    All items have one variance of ratings. On `snow-affect`, where all ratings of a third of the items lie at one end
    of the scale, intervals of a model's rank correlation hold that with all ratings in .8 of the cases.

    Parameters
    ----------
    ratings
        Ratings of some or all items of the predictions.
    predictions
        Numbers that models predict (`Predictions.from_numbers`). A model that was trained on these very ratings makes
        the posterior overconfident about it.
    exclude
        Names of models that are not independent of these ratings, one or several: the truth does not learn from them.
    annotator_effects
        ``"shift"``: annotators rate high or low, and with care or without; their levels and scatters are learnt, and
        the means are what these annotators give together, each counting the same. By default where two annotators or
        more are known by five ratings or more each; None takes all ratings of an item as alike.
    draws, chains, random_seed, client
        As in `dirichlet`.
    progress
        Called with the number of new sweeps of the annotators' levels, at most 500 a chain, then of items drawn.

    Returns
    -------
    DataTree
        Group ``posterior``: ``mean`` and ``variance`` (chain, draw, item), in units of the scale and their square; the
        variance of ratings is one of all items. Group ``posterior_parameters``: ``estimate`` and ``sd`` (parameter) of
        the standard deviations and of the coefficients, in units of the range. Group ``constant_data``: ``n_ratings``.
        With levels group ``posterior`` has also ``annotator_shift``, how much higher an annotator rates, and
        ``annotator_sd`` (chain, draw, annotator), in units of the scale, and group ``diagnostics`` R-hat and effective
        sample size of the parameters.

    Raises
    ------
    InputError
        Items with ratings and without predictions, predictions that are labels.

    Warns
    -----
    UserWarning
        Models that are not independent of the ratings. More than a quarter of the items with all their ratings, two or
        more, at one end of the scale. Annotators whose ratings say little, and annotators who never meet.

    See Also
    --------
    normal_inverse_gamma : the same from ratings alone; it shows what these ratings prove.
    evaluate : scores models under it.

    References
    ----------
    A. Gelman et al., Bayesian Data Analysis (2013), chapter 15.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> mean = rng.uniform(2, 4, 200)
    >>> ratings = Ratings.from_matrix(np.clip(rng.normal(mean[:, None], 0.6, (200, 3)), 1, 5), scale=(1, 5))
    >>> models = Predictions.from_numbers({"A": rng.normal(mean, 0.5)})
    >>> found = informed_normal(ratings, models, random_seed=1)["posterior"]["mean"].mean(("chain", "draw")).values
    >>> off = [np.abs(guess - mean).mean() for guess in (found, models.points()[0])]
    >>> off[0] < off[1]
    np.True_
    """
    ratings = as_annotations(ratings, (Ratings,), "ratings")
    predictions = as_predictions(predictions, ratings)
    specification = InformedNormal(None, predictions, exclude, annotator_effects)
    request = Request(draws, chains, random_seed, client=client, progress=progress)
    return specification.draw(ratings, request)
