"""Ratings and predicted numbers of the informed posterior of ratings, and exact draws of its few parameters."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import one_of
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.convergence import of_parameters
from bayesagree.inference.posterior import Drawer, Groups, Request
from bayesagree.inference.streams import stream_apart
from bayesagree.plausibility.informed.covariates import Excluded, aligned, kept_models
from bayesagree.plausibility.normal_inverse_gamma.levels import LEAST_SD, SDS, Levels

# Cells on each axis of the grid, how often it is drawn, closer each time, and the mass of cells that stay outside.
CELLS, ROUNDS, NEGLIGIBLE = 64, 6, 1e-9
# Prior means and sds of the intercept and of the slope of a standardised prediction, in units of the range.
INTERCEPT, SLOPE = (0.5, 0.5), (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class NormalProblem:
    """Ratings and predictions on the same items.

    `columns` (item, column): one, then the standardised predictions of each model of `names`, all but the excluded;
    `number` and `mean` (item,): of the ratings in units of the range; `within`: their sum of squares around the means.
    """

    ratings: Ratings
    columns: Floats
    number: Floats
    mean: Floats
    within: float
    names: list[str]

    @classmethod
    def of(cls, ratings: Ratings, predictions: Predictions, exclude: Excluded = None) -> Self:
        """Align both and sum the ratings of each item."""
        ratings, predictions = aligned(ratings, predictions)
        kept = kept_models(predictions.models, exclude)
        points = predictions.points()[kept].T
        spread = points.std(axis=0)
        # A model that predicts one number for all items has no spread: its column is 0, its slope keeps the prior.
        columns = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        item, x, n_items = ratings.item_index, ratings.unit(), ratings.items.size
        number = np.bincount(item, minlength=n_items).astype(np.float64)
        mean = np.bincount(item, weights=x, minlength=n_items) / np.maximum(number, 1)
        within = float(np.square(x - mean[item]).sum())
        names = ["intercept", *(f"slope:{model}" for model in predictions.models[kept])]
        return cls(ratings, np.column_stack([np.ones(n_items), columns]), number, mean, within, names)

    @property
    def prior(self) -> Floats:
        """Prior means and standard deviations of the coefficients, shape (2, column)."""
        return np.array([INTERCEPT] + [SLOPE] * (len(self.names) - 1)).T

    def levels(self, effects: Literal["auto", "shift"] | None) -> Levels | None:
        """Return the ratings with levels of annotators, where these are learnt and known."""
        one_of(effects, "annotator_effects", ("auto", "shift", None))
        if effects is None or (effects == "auto" and Levels.known_in(self.ratings).size < 2):
            return None
        return Levels.of(self.ratings, self.columns, self.prior, self.names)

    @property
    def annotators(self) -> NDArray[Any]:
        """Names of all annotators; none has a level."""
        return self.ratings.annotators

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws the means of a block of items given draws of the parameters."""
        found, (low, high) = self.draw(request), self.ratings.scale
        noise, scatter, coefficient = found[:, 0] ** 2, found[:, 1] ** 2, found[:, 2:].T

        def draw(items: slice, rng: np.random.Generator) -> DrawBlock:
            number, mean = self.number[items, None], self.mean[items, None]
            precise = number / noise + 1 / scatter
            centre = (self.columns[items] @ coefficient / scatter + number * mean / noise) / precise
            drawn = centre + rng.standard_normal(centre.shape) / np.sqrt(precise)
            spread = np.broadcast_to((high - low) ** 2 * noise, drawn.shape)
            return DrawBlock(items, mean=low + (high - low) * drawn, variance=spread)

        return draw

    def known(self, request: Request) -> Groups:
        """Return mean and standard deviation of the parameters, whose draws are independent."""
        return {"posterior_parameters": of_parameters(self.draw(request)[None])["posterior_parameters"]}

    def coords(self) -> dict[str, Any]:
        """Return the names of the parameters."""
        return {"parameter": ["sd_rating", "sd_item", *self.names]}

    def draw(self, request: Request) -> Floats:
        """Draw sds of ratings and items, and coefficients, in units of the range, shape (sample, parameter).

        The sds come from a fine grid of their joint posterior, the coefficients are exact given them.
        """
        rng, n = np.random.default_rng(stream_apart(request.random_seed, "parameters")), request.samples
        widest, sums = (
            np.array(SDS[:2]),
            self._sums(),
        )  # every point of the grid needs nothing else of the ratings
        lower, upper = np.array([np.log(LEAST_SD), 0.0]), np.array([np.log(4 * widest[0]), 4 * widest[1]])
        drawn = step = upper
        for _ in range(ROUNDS):
            step = (upper - lower) / CELLS
            cells = lower + (np.indices((CELLS, CELLS)).reshape(2, -1).T + 0.5) * step
            log_p, _, _ = self._marginal(cells, sums)
            away = (np.exp(cells[:, 0]) - LEAST_SD) / widest[0], cells[:, 1] / widest[1]
            mass = sp.special.softmax(log_p + cells[:, 0] - (away[0] ** 2 + away[1] ** 2) / 2)
            drawn = cells[rng.choice(mass.size, n, p=mass)] + (rng.random((n, 2)) - 0.5) * step
            kept = cells[mass > NEGLIGIBLE]
            lower = np.maximum(lower, kept.min(axis=0) - 1.5 * step)
            upper = np.minimum(upper, kept.max(axis=0) + 1.5 * step)
        _, root, centre = self._marginal(drawn, sums)
        noise = np.linalg.solve(np.swapaxes(root, 1, 2), rng.standard_normal((n, root.shape[1], 1)))
        return np.column_stack([np.exp(drawn[:, 0]), drawn[:, 1], centre + noise[:, :, 0]])

    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """Return numbers of ratings, and how many items and which sums of products of columns and means have each."""
        rated = self.number > 0
        size, at = np.unique(self.number[rated], return_inverse=True)
        both = np.column_stack([self.columns, self.mean])[rated]
        of_size = sp.sparse.csr_array((np.ones(at.size), (at, np.arange(at.size))), (size.size, at.size))
        sums = of_size @ (both[:, :, None] * both[:, None]).reshape(len(both), -1)
        return size, np.bincount(at).astype(float), sums.reshape(size.size, *2 * both.shape[1:])

    def _marginal(self, point: Floats, sums: tuple[Floats, Floats, Floats]) -> tuple[Floats, Floats, Floats]:
        """Return the log likelihood of both sds without the coefficients, and root and centre of their posterior."""
        (log_sd, sd_item), (size, items, products), (mean, sd) = point.T, sums, self.prior
        weight = 1 / (sd_item[:, None] ** 2 + np.exp(2 * log_sd)[:, None] / size)
        products = np.tensordot(weight, products, 1)
        precision, score = np.diag(sd**-2) + products[:, :-1, :-1], mean / sd**2 + products[:, :-1, -1]
        centre = np.linalg.solve(precision, score[:, :, None])[:, :, 0]
        root = np.linalg.cholesky(precision)
        log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        log_p = (np.log(weight) @ items - products[:, -1, -1] + (score * centre).sum(axis=1)) / 2 - log_det
        spare = self.number.sum() - items.sum()
        return log_p - spare * log_sd - self.within / 2 * np.exp(-2 * log_sd), root, centre
