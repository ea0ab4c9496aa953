"""Ratings and predicted numbers of the informed posterior of ratings, and exact draws of its few parameters."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from bayesagree._types import Floats
from bayesagree.annotations import Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, one_of
from bayesagree.plausibility.informed.covariates import Excluded, kept_models, on_items_of
from bayesagree.plausibility.informed_normal.prior import InformedNormalPrior
from bayesagree.plausibility.normal_inverse_gamma.levels import FEWEST, LEAST_SD, Levels

# Cells on each axis of the grid, how often it is drawn closer, and the mass of a row of cells that stays outside.
CELLS, ROUNDS, NEGLIGIBLE = 64, 5, 1e-7


class Parameters(NamedTuple):
    """Draws of the parameters in units of the range: sds (sample,) and coefficients (sample, column)."""

    sd_rating: Floats
    sd_item: Floats
    coefficient: Floats


@dataclass(frozen=True, eq=False)
class NormalProblem:
    """Ratings and predictions on the same items.

    `columns` (item, column): one, then the standardised predictions of each model of `names`, all but the excluded;
    `number` and `mean` (item,): of the ratings in units of the range; `within`: their sum of squares around the means.
    """

    ratings: Ratings
    predictions: Predictions
    columns: Floats
    number: Floats
    mean: Floats
    within: float
    prior: InformedNormalPrior
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        ratings: Ratings,
        predictions: Predictions,
        prior: InformedNormalPrior | None = None,
        exclude: Excluded = None,
    ) -> Self:
        """Align both and sum the ratings of each item."""
        ratings = on_items_of(ratings, predictions)
        predictions = predictions.aligned(ratings.items, ratings.categories)
        kept = kept_models(predictions.models, exclude)
        points, names = predictions.points()[kept].T, tuple(map(str, predictions.models[kept]))
        spread = points.std(axis=0)
        # A model that predicts one number for all items has no spread: its column is 0, its slope keeps the prior.
        columns = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        item, x, n_items = ratings.item_index, ratings.unit(), ratings.items.size
        number = np.bincount(item, minlength=n_items).astype(np.float64)
        mean = np.bincount(item, weights=x, minlength=n_items) / np.maximum(number, 1)
        within = float(np.square(x - mean[item]).sum())
        columns = np.column_stack([np.ones(n_items), columns])
        return cls(ratings, predictions, columns, number, mean, within, prior or InformedNormalPrior(), names)

    @property
    def prior_mean(self) -> Floats:
        """Prior means of the coefficients."""
        return np.append(self.prior.intercept, np.zeros(self.columns.shape[1] - 1))

    @property
    def prior_sd(self) -> Floats:
        """Prior standard deviations of the coefficients."""
        return np.append(self.prior.intercept_sd, np.full(self.columns.shape[1] - 1, self.prior.slope_sd))

    def levels(self, effects: Literal["auto", "shift"] | None) -> Levels | None:
        """Return the ratings with levels of annotators, where these are learnt and known."""
        one_of(effects, "annotator_effects", ("auto", "shift", None))
        prior = np.stack([self.prior_mean, self.prior_sd])
        found = effects and Levels.of(
            self.ratings, self.columns, prior, (self.prior.sd_rating, self.prior.sd_item), self.column_names
        )
        if effects == "shift" and not found:
            raise InputError(
                f"annotator_effects='shift' learns levels of annotators by name; fewer than two have {FEWEST} ratings"
            )
        return found or None

    @property
    def column_names(self) -> list[str]:
        """Names of the coefficients."""
        return ["intercept", *(f"slope:{model}" for model in self.names)]

    def draw(self, n: int, rng: np.random.Generator) -> Parameters:
        """Draw all parameters: both sds from a fine grid of their joint posterior, the coefficients given them."""
        widest = np.array([self.prior.sd_rating, self.prior.sd_item])
        lower, upper = np.array([np.log(LEAST_SD), 0.0]), np.array([np.log(4 * widest[0]), 4 * widest[1]])
        sums = self._sums()  # once: every point of the grid needs nothing else of the ratings
        step, mass = upper - lower, np.empty(0)
        for last in [False] * ROUNDS + [True]:
            step = (upper - lower) / CELLS
            axes = lower + (np.arange(CELLS)[:, None] + 0.5) * step
            log_sd, sd_item = (axis.ravel() for axis in np.meshgrid(*axes.T, indexing="ij"))
            log_p, _, _ = self._marginal(np.exp(log_sd), sd_item, sums)
            away = (np.exp(log_sd) - LEAST_SD) / widest[0], sd_item / widest[1]
            log_p += log_sd - (away[0] ** 2 + away[1] ** 2) / 2
            mass = np.exp(log_p - log_p.max()).reshape(CELLS, CELLS)
            mass /= mass.sum()
            if not last:
                kept = [np.flatnonzero(mass.sum(axis=1 - a) > NEGLIGIBLE) for a in (0, 1)]
                floor, ceiling = lower, upper
                lower = np.maximum(floor, [floor[a] + (kept[a][0] - 1) * step[a] for a in (0, 1)])
                upper = np.minimum(ceiling, [floor[a] + (kept[a][-1] + 2) * step[a] for a in (0, 1)])
        cell = np.stack(np.unravel_index(rng.choice(mass.size, n, p=mass.ravel()), mass.shape), axis=1)
        drawn = lower + (cell + rng.random((n, 2))) * step
        sd_rating, sd_item = np.exp(drawn[:, 0]), drawn[:, 1]
        _, root, centre = self._marginal(sd_rating, sd_item, sums)
        noise = np.linalg.solve(np.swapaxes(root, 1, 2), rng.standard_normal((n, root.shape[1], 1)))
        return Parameters(sd_rating, sd_item, centre + noise[:, :, 0])

    def _sums(self) -> tuple[Floats, ...]:
        """Return each number of ratings, its items, and their sums of z z', z y and y^2: all that the ratings say."""
        rated = self.number > 0
        size, at = np.unique(self.number[rated], return_inverse=True)
        z, y = self.columns[rated], self.mean[rated]
        one = np.eye(size.size)[at] if size.size < 64 else None
        sums = [np.bincount(at).astype(np.float64)]
        for terms in (z[:, :, None] * z[:, None, :], z * y[:, None], y**2):
            flat = terms.reshape(len(y), -1)
            summed = one.T @ flat if one is not None else np.stack([np.bincount(at, c) for c in flat.T], axis=1)
            sums.append(summed.reshape(size.size, *terms.shape[1:]))
        return size, *sums

    def _marginal(
        self, sd_rating: Floats, sd_item: Floats, sums: tuple[Floats, ...]
    ) -> tuple[Floats, Floats, Floats]:
        """Return the log likelihood of both sds without the coefficients, and root and centre of their posterior."""
        size, items, zz, zy, yy = sums
        weight = 1 / (sd_item[:, None] ** 2 + sd_rating[:, None] ** 2 / size)
        precision = np.diag(self.prior_sd**-2) + np.tensordot(weight, zz, 1)
        score = self.prior_mean / self.prior_sd**2 + weight @ zy
        centre = np.linalg.solve(precision, score[:, :, None])[:, :, 0]
        root = np.linalg.cholesky(precision)
        log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        log_p = (np.log(weight) @ items - weight @ yy + (score * centre).sum(axis=1)) / 2 - log_det
        spare = self.number.sum() - items.sum()
        return log_p - spare * np.log(sd_rating) - self.within / (2 * sd_rating**2), root, centre
