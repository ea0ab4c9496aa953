"""What may be true, as a pilot leaves it open, and studies of as many items drawn from it."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.posterior import precision_of
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.metrics.posterior_scores import score
from bayesagree.plausibility.informed.posterior import informed_dirichlet

# As many consecutive draws of a posterior share one draw of its parameters, or are correlated.
APART = 10


class LabelWorld(NamedTuple):
    """Plausibilities of the items, (item, category), and the models' outputs on them."""

    plausibility: Floats
    categories: NDArray[Any]
    predictions: Predictions | None

    def study(
        self, items: int, annotators: int, rng: np.random.Generator
    ) -> tuple[Labels | Ratings, Predictions | None]:
        """Draw items with replacement, under new names, and their votes."""
        rows = rng.integers(len(self.plausibility), size=items)
        votes = rng.multinomial(annotators, self.plausibility[rows])
        labels = Labels.from_counts(votes, labels=self.categories.tolist())
        return labels, self.predictions and self.predictions.take(rows, labels.items)

    def true_scores(self, metric: str) -> Floats:
        """Return the score of each model against the plausibilities, shape (model,)."""
        if self.predictions is None:
            return np.empty(0)
        coords = {"item": self.predictions.items, "category": self.categories}
        truth = xr.DataArray(self.plausibility, coords, ("item", "category"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of estimates from few votes; here it is the truth itself
            return score(truth, self.predictions, metric).values.ravel()


class RatingWorld(NamedTuple):
    """Agreement, means of the items on (0, 1), and shares of outright ends."""

    phi: float
    item_mean: Floats
    ends: tuple[float, float]
    scale: tuple[float, float]
    levels: int | None

    def true_scores(self, metric: str) -> Floats:
        """Return no scores: there are no models."""
        return np.empty(0)

    def study(
        self, items: int, annotators: int, rng: np.random.Generator
    ) -> tuple[Labels | Ratings, Predictions | None]:
        """Draw items with replacement, and ratings as `common_agreement` reads them."""
        precision, size = precision_of(self.phi), (items, annotators)
        rows = rng.integers(self.item_mean.size, size=items)
        mean = np.clip(self.item_mean[rows], 1e-9, 1 - 1e-9)[:, None]
        unit = rng.beta(mean * precision, (1 - mean) * precision, size)
        # Odds of an outright low end, of a high end, and of a judgment.
        low, high = (w / (1 - w) for w in self.ends)
        odds = np.stack([low * (1 - mean) / mean, high * mean / (1 - mean), np.ones_like(mean)], axis=-1)
        limit = np.cumsum(odds / odds.sum(axis=-1, keepdims=True), axis=-1)
        chance = rng.random(size)
        unit = np.where(chance < limit[..., 0], 0.0, np.where(chance < limit[..., 1], 1.0, unit))
        start, end = self.scale
        if self.levels is None:
            return Ratings.from_matrix(start + (end - start) * unit, scale=self.scale), None
        step = (end - start) / (self.levels - 1)
        level = np.minimum(np.floor(unit * self.levels), self.levels - 1)
        return Ratings.from_matrix(start + step * level, scale=self.scale, step=step), None


type World = LabelWorld | RatingWorld


def worlds(pilot: Labels | Ratings, predictions: Predictions | None, number: int, seed: int) -> Iterator[World]:
    """Yield worlds from the posterior of the pilot, each with its own parameters and items, drawn with replacement."""
    rng = np.random.default_rng(seed)
    n_items = pilot.items.size
    rows = rng.integers(n_items, size=(number, n_items))
    if isinstance(pilot, Ratings):
        yield from _rating_worlds(pilot, rows, seed)
        return
    # Without models' outputs the labels alone teach what items look like.
    scores, labels = {"none": np.ones((n_items, pilot.categories.size))}, pilot.categories.tolist()
    nothing = Predictions.from_scores(scores, items=pilot.items.tolist(), labels=labels)
    run: Any = {"draws": APART * number, "chains": 1, "seed": seed, "exclude": None if predictions else "none"}
    tree = informed_dirichlet(pilot, predictions or nothing, **run)
    posterior = tree["posterior"].to_dataset()
    drawn = posterior["plausibility"].values[0, ::APART]
    outputs = predictions and predictions.aligned(np.asarray(posterior["item"]), pilot.categories)
    for one, of_study in zip(drawn, rows):
        known = outputs and outputs.take(of_study, np.arange(of_study.size))
        yield LabelWorld(one[of_study] / one[of_study].sum(axis=1, keepdims=True), pilot.categories, known)


def _rating_worlds(pilot: Ratings, rows: NDArray[np.int64], seed: int) -> Iterator[RatingWorld]:
    tree = common_agreement(pilot, draws=len(rows), chains=1, seed=seed, keep_item_means=True)
    posterior = tree["posterior"].to_dataset().isel(chain=0)
    (low, high), none = pilot.scale, np.zeros(len(rows))
    ends = [posterior[name].values if name in posterior else none for name in ("low_end_share", "high_end_share")]
    for d, of_study in enumerate(rows):
        mean = (posterior["item_mean"].values[d, of_study] - low) / (high - low)
        shares = float(ends[0][d]), float(ends[1][d])
        yield RatingWorld(float(posterior["phi"].values[d]), mean, shares, pilot.scale, pilot.n_levels)
