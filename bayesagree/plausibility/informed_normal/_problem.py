"""Ratings by people who are alike: exact draws of the few parameters of the informed posterior of ratings."""

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy as sp

from bayesagree._types import Floats
from bayesagree.annotations import Ratings
from bayesagree.inference.posterior import Request
from bayesagree.inference.streams import stream_apart
from bayesagree.plausibility.normal_inverse_gamma.levels import LEAST_SD, SDS, LevelDraws, Levels

# Cells on each axis of the grid, how often it is drawn, closer each time, and the mass of cells that stay outside.
CELLS, ROUNDS, NEGLIGIBLE = 64, 6, 1e-9


class Alike(Levels):
    """Ratings in units of the range, and what is known of items: no annotator has a level, all have one scatter."""

    @classmethod
    def of(cls, ratings: Ratings, columns: Floats, prior: Floats, names: list[str]) -> Self:
        """Read ratings."""
        return cls(ratings, columns, prior, names, np.zeros(ratings.n_annotations, int), np.empty(0, int))

    def of_ratings(self, found: LevelDraws) -> Floats:
        """Return the variance of ratings of an item, shape (sample,)."""
        return found.sd[:, 0] ** 2

    def sampled(self, request: Request) -> LevelDraws:
        """Draw the parameters: sds from a fine grid of their joint posterior, coefficients exact given them."""
        rng = np.random.default_rng(stream_apart(request.random_seed, "parameters"))
        n, widest = request.samples, np.array(SDS[:2])
        lower = np.array([np.log(LEAST_SD), 0.0])
        upper = np.array([np.log(4 * widest[0]), 4 * widest[1]])
        drawn = step = upper
        for _ in range(ROUNDS):
            step = (upper - lower) / CELLS
            cells = lower + (np.indices((CELLS, CELLS)).reshape(2, -1).T + 0.5) * step
            log_p, _, _ = self._marginal(cells)
            away = np.column_stack([np.exp(cells[:, 0]) - LEAST_SD, cells[:, 1]]) / widest
            mass = sp.special.softmax(log_p + cells[:, 0] - np.square(away).sum(axis=1) / 2)
            drawn = cells[rng.choice(mass.size, n, p=mass)] + (rng.random((n, 2)) - 0.5) * step
            kept = cells[mass > NEGLIGIBLE]
            lower = np.maximum(lower, kept.min(axis=0) - 1.5 * step)
            upper = np.minimum(upper, kept.max(axis=0) + 1.5 * step)
        _, root, centre = self._marginal(drawn)
        noise = np.linalg.solve(np.swapaxes(root, 1, 2), rng.standard_normal((n, root.shape[1], 1)))
        sd = np.column_stack([np.exp(drawn[:, 0]), drawn[:, 1]])
        return LevelDraws(sd, centre + noise[:, :, 0], np.zeros((n, 1)), sd[:, :1] ** 2)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Any, float]:
        """Numbers of ratings, how many items and which sums of products of columns and means have each; scatter."""
        number, total = (one.sum(axis=1) for one in self.table)
        mean, rated = total / np.maximum(number, 1), number > 0
        size, at = np.unique(number[rated], return_inverse=True)
        both = np.column_stack([self.columns, mean])[rated]
        of_size = sp.sparse.csr_array((np.ones(at.size), (at, np.arange(at.size))), (size.size, at.size))
        sums = of_size @ (both[:, :, None] * both[:, None]).reshape(len(both), -1)
        within = float(np.square(self.ratings.unit() - mean[self.ratings.item_index]).sum())
        return size, np.bincount(at).astype(float), sums.reshape(size.size, *2 * both.shape[1:]), within

    def _marginal(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the log likelihood of both sds without the coefficients, and root and centre of their posterior."""
        (log_sd, sd_item), (size, items, products, within), (mean, sd) = point.T, self._sums, self.prior
        weight = 1 / (sd_item[:, None] ** 2 + np.exp(2 * log_sd)[:, None] / size)
        products = np.tensordot(weight, products, 1)
        precision = np.diag(sd**-2) + products[:, :-1, :-1]
        score = mean / sd**2 + products[:, :-1, -1]
        centre = np.linalg.solve(precision, score[:, :, None])[:, :, 0]
        root = np.linalg.cholesky(precision)
        log_det = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        log_p = (np.log(weight) @ items - products[:, -1, -1] + (score * centre).sum(axis=1)) / 2 - log_det
        return log_p - (size - 1) @ items * log_sd - within / 2 * np.exp(-2 * log_sd), root, centre
