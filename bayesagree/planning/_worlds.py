"""What may be true, as a pilot leaves it open, and studies of as many items drawn from it."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.metrics.posterior_scores import score
from bayesagree.plausibility.independence import independence
from bayesagree.plausibility.informed.covariates import on_items_of
from bayesagree.plausibility.informed.posterior import informed_dirichlet

# As many consecutive draws of a posterior share one draw of its parameters, or are correlated.
APART = 10


class LabelWorld(NamedTuple):
    """Plausibilities of the items, (item, category), and the models' outputs on them."""

    plausibility: Floats
    categories: NDArray[Any]
    predictions: Predictions | None

    def study(self, items: int, annotators: int, rng: np.random.Generator) -> tuple[Labels, Predictions | None]:
        """Draw items with replacement, under new names, and their votes."""
        rows = rng.integers(len(self.plausibility), size=items)
        votes = rng.multinomial(annotators, self.plausibility[rows])
        labels = Labels.from_counts(votes, labels=self.categories.tolist())
        return labels, self.predictions and self.predictions.take(rows, labels.items)

    def true_scores(self, metric: str, predictions: Predictions | None = None) -> Floats:
        """Return the score of each model against the plausibilities, shape (model,)."""
        predictions = predictions or self.predictions
        if predictions is None:
            return np.empty(0)
        coords = {"item": predictions.items, "category": self.categories}
        truth = xr.DataArray(self.plausibility, coords, ("item", "category"))
        with warnings.catch_warnings():  # of estimates from few votes; here it is the truth itself
            warnings.simplefilter("ignore", UserWarning)
            return score(truth, predictions, metric).values.ravel()

    def run_variance(self, metric: str, rng: np.random.Generator) -> Floats:
        """Variance between runs of the score of one item, of each model: from runs dealt anew for each item."""
        p = self.predictions
        if p is None or p.runs is None:
            return np.zeros(0 if p is None else p.models.size)
        found = np.zeros(p.model_names.size)
        rows_of = [np.flatnonzero(p.runs.code == m) for m in range(p.runs.models.size)]
        order = np.tile(np.arange(p.models.size)[:, None], p.items.size)
        for _ in range(DEALS):
            for rows in rows_of:
                order[rows] = rng.permuted(order[rows], axis=0)
            dealt: dict[str, Any] = {"runs": None, "models": np.arange(p.models.size)}
            if p.scores is not None:
                dealt["scores"] = np.take_along_axis(p.scores, order[..., None], axis=0)
            if p.label_index is not None:
                dealt["label_index"] = np.take_along_axis(p.label_index, order, axis=0)
            scores = self.true_scores(metric, replace(p, **dealt))
            found[: len(rows_of)] += [scores[rows].var(ddof=1) if rows.size > 1 else 0.0 for rows in rows_of]
        return p.items.size * found / DEALS


def worlds(
    pilot: Labels, predictions: Predictions | None, number: int, random_seed: int
) -> Iterator[LabelWorld]:
    """Yield worlds from the posterior of the pilot, each with its own parameters and items, drawn with replacement."""
    rng = np.random.default_rng(random_seed)
    n_items = pilot.items.size
    rows = rng.integers(n_items, size=(number, n_items))
    # Without models' outputs the labels alone teach what items look like.
    scores, labels = {"none": np.ones((n_items, pilot.categories.size))}, pilot.categories.tolist()
    nothing = Predictions.from_scores(scores, items=pilot.items.tolist(), labels=labels)
    run: Any = {"draws": APART * number, "chains": 1, "random_seed": random_seed, "exclude": "none"}
    if predictions is not None:
        pooled = predictions.pooled()
        known = on_items_of(pilot, pooled)
        found = independence(known, pooled.aligned(known.items, known.categories))
        run["exclude"] = found.left_out(None)
    tree = informed_dirichlet(pilot, predictions or nothing, **run)
    posterior = tree["posterior"].to_dataset()
    drawn = posterior["plausibility"].values[0, ::APART]
    outputs = predictions and predictions.aligned(np.asarray(posterior["item"]), pilot.categories)
    for one, of_study in zip(drawn, rows):
        known = outputs and outputs.take(of_study, np.arange(of_study.size))
        yield LabelWorld(one[of_study] / one[of_study].sum(axis=1, keepdims=True), pilot.categories, known)


CI_PROB = 0.95
# Draws of estimates of all models, by which the probability of the right choice is found in each world.
RANKINGS = 2000
# Times that runs are dealt anew to find how much they differ, in each world; share of a variance that no run takes.
DEALS, LEAST = 32, 0.01


class Studies(NamedTuple):
    """Simulated studies.

    Attributes
    ----------
    items, annotators
        Size of each design that was simulated, shape (design,).
    width
        Full width of the interval, mean over models, shape (design, replicate).
    covariance
        Of the scores of the models in their posterior, mean over worlds: (design, model, model).
    truth
        Their true scores in each world, oriented so that more is better: (replicate, model).
    run_variance
        Between runs of the score of one item, and the number of runs that were simulated: (model,).
    n_runs
    """

    items: NDArray[np.int64]
    annotators: NDArray[np.int64]
    width: Floats
    covariance: Floats
    truth: Floats
    run_variance: Floats
    n_runs: Floats

    def of_runs(self, number: int) -> Self:
        """Return the same studies with so many runs: the variance over N items has a part v / (N runs)."""
        more = self.run_variance * (1 / number - 1 / self.n_runs) / self.items[:, None]
        before = np.diagonal(self.covariance, axis1=1, axis2=2)
        after = np.maximum(before + more, LEAST * before)
        wider = np.sqrt(after).mean(axis=1) / np.maximum(np.sqrt(before).mean(axis=1), 1e-300)
        covariance = self.covariance + (after - before)[:, None] * np.eye(after.shape[1])
        return self._replace(width=self.width * wider[:, None], covariance=covariance)


def widths_of(studies: Studies, sizes: NDArray[np.int64], votes: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Expected widths, (items, annotators), and how far the logarithm of one study's width may be from them."""
    log_width = np.log(np.maximum(studies.width, 1e-12))
    mean = log_width.mean(axis=1)
    one, width = studies.annotators == 1, np.empty((sizes.size, votes.size))
    if one.any():
        at, log_size = np.log(studies.items[one]), np.log(sizes)
        power = 0.0 if at.size == 1 else (mean[one][1] - mean[one][0]) / (at[1] - at[0])
        width[:, votes == 1] = np.exp(mean[one][0] + power * (log_size - at[0]))[:, None]
    if not one.all():
        squared = studies.items[~one].astype(float) * np.exp(2 * mean[~one])
        width[:, votes > 1] = np.sqrt(_two_stage(squared, votes[votes > 1]) / sizes[:, None])
    # Part of the spread belongs to the world, and stays whatever the size; part to a single study, and falls with it.
    n_designs, replicates = log_width.shape
    rest = log_width - mean[:, None]
    of_world = rest.mean(axis=0).var() * replicates / (replicates - 1)
    own = (rest - rest.mean(axis=0)).var() * n_designs / max(n_designs - 1, 1) * replicates / (replicates - 1)
    variance = max(of_world - own / n_designs, 0.0) + own * studies.items[-1] / sizes + of_world / replicates
    reach = sp.special.stdtrit(replicates - 1, (1 + CI_PROB) / 2) * np.sqrt(variance)
    return width, np.broadcast_to(reach[:, None], width.shape)


def _two_stage(squared: Floats, votes: NDArray[np.int64]) -> Floats:
    """Fit squared widths by a + b / n + c / n^2, relative errors alike, coefficients at least 0."""
    terms = (1 / votes.astype(float))[:, None] ** np.arange(3)
    coefficient, _ = sp.optimize.nnls(terms / squared[:, None], np.ones(squared.size))
    return terms @ coefficient


def right_choices(truth: Floats, covariance: Floats, rng: np.random.Generator) -> Floats:
    """Pr(the best model scores best) in each design and world; what a study finds is normal around the truth."""
    right = np.full((*covariance.shape[:2], len(truth)), np.nan)
    if truth.shape[1] < 2:
        return right
    noise, best = rng.standard_normal((RANKINGS, truth.shape[1])), truth.max(axis=1, keepdims=True)
    value, vector = np.linalg.eigh(covariance)
    root = vector * np.sqrt(np.maximum(value, 0))[..., None, :]
    for design in np.ndindex(covariance.shape[:2]):
        seen = truth[:, None, :] + noise @ root[design].T
        right[design] = (np.take_along_axis(truth, seen.argmax(axis=2), axis=1) == best).mean(axis=1)
    return right
