"""What may be true, as a pilot leaves it open, and studies of as many items drawn from it and evaluated."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._types import Advance, Floats, Integers, Pair, Rng, Root
from bayesagree.agreement.coefficients import interval_of_counts
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.evaluation.scoring import evaluate
from bayesagree.inference.cells import row_shares
from bayesagree.inference.intervals import column_hdi
from bayesagree.metrics.posterior_scores import score
from bayesagree.metrics.registry import Metric
from bayesagree.plausibility.independence import independence
from bayesagree.plausibility.informed.covariates import aligned
from bayesagree.plausibility.informed.posterior import informed_dirichlet

CI_PROB = 0.95
# As many consecutive draws of a posterior share one draw of its parameters, or are correlated.
APART = 10
# Times that runs are dealt anew to find how much they differ, in each world; share of a variance that no run takes.
DEALS, LEAST = 32, 0.01


class LabelWorld(NamedTuple):
    """Plausibilities of the items, (item, category), and the models' outputs on them."""

    truth: xr.DataArray
    predictions: Predictions | None

    def study(self, items: int, annotators: int, rng: Rng) -> tuple[Labels, Predictions | None]:
        """Draw items with replacement, under new names, and their votes."""
        rows = rng.integers(self.truth.sizes["item"], size=items)
        votes = rng.multinomial(annotators, self.truth.values[rows])
        labels = Labels.from_counts(votes, labels=self.truth["category"].values.tolist())
        return labels, self.predictions and self.predictions.take(rows, labels.items)

    def run_variance(self, metric: str, rng: Rng) -> Floats:
        """Variance between runs of the score of one item, of each model: from runs dealt anew for each item."""
        p: Any = self.predictions
        if p.runs is None:
            return np.zeros(p.models.size)
        model, found = p.runs.models_of(p.models.size), []
        ordered = p.runs._replace(code=np.sort(p.runs.code))
        outputs = {name: v for name in ("scores", "label_index") if (v := getattr(p, name)) is not None}
        for _ in range(DEALS):
            order = np.argsort(model[:, None] + rng.random((model.size, p.items.size)), axis=0)
            dealt = {name: v[order, np.arange(p.items.size)] for name, v in outputs.items()}
            known = replace(p, runs=None, models=np.arange(model.size), **dealt)
            found.append(ordered.variance(score(self.truth, known, metric).values.reshape(-1, 1)))
        return p.items.size * np.bincount(model) * np.mean(found, axis=0)


def worlds(
    pilot: Labels, predictions: Predictions | None, number: int, random_seed: int
) -> Iterator[LabelWorld]:
    """Yield worlds from the posterior of the pilot, each with its own parameters and items, drawn with replacement."""
    n_items, excluded, given = pilot.items.size, "none", predictions
    if given is None:  # the labels alone teach what items look like
        scores, labels = {"none": np.ones((n_items, pilot.categories.size))}, pilot.categories.tolist()
        given = Predictions.from_scores(scores, items=pilot.items.tolist(), labels=labels)
    else:
        excluded = independence(*aligned(pilot, given.pooled())).left_out(None)
    posterior = informed_dirichlet(
        pilot, given, draws=APART * number, chains=1, random_seed=random_seed, exclude=excluded
    )["posterior"].to_dataset()
    outputs = predictions and predictions.aligned(posterior["item"].values, pilot.categories)
    rows = np.random.default_rng(random_seed).integers(n_items, size=(number, n_items))
    names = {"item": np.arange(n_items), "category": pilot.categories}
    for one, of_study in zip(posterior["plausibility"].values[0, ::APART], rows):
        truth = xr.DataArray(row_shares(one[of_study]), names, tuple(names))
        yield LabelWorld(truth, outputs and outputs.take(of_study, names["item"]))


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

    items: Integers
    annotators: Integers
    width: Floats
    covariance: Floats
    truth: Floats
    run_variance: Floats
    n_runs: Floats

    @classmethod
    def of(
        cls,
        pilot: Labels,
        predictions: Predictions | None,
        designs: list[tuple[int, int]],
        replicates: int,
        root: Root,
        metric: str,
        progress: Advance,
        **how: Any,
    ) -> Self:
        """Draw one study of each design in each world of the pilot, and evaluate each, `how` as a real one would be."""
        n_models = 0 if predictions is None else predictions.model_names.size
        width, truth = np.empty((len(designs), replicates)), np.empty((replicates, n_models))
        covariance, run_variance = np.zeros((len(designs), n_models, n_models)), np.zeros(n_models)
        of_worlds, *words = root.generate_state(1 + replicates).tolist()
        possible = list(worlds(pilot, predictions, replicates, of_worlds))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the pilot has given them
            for r, (world, word) in enumerate(zip(possible, words)):
                rng = np.random.default_rng(word)
                if world.predictions is not None:
                    truth[r] = score(world.truth, world.predictions, metric).values.ravel()
                    run_variance += world.run_variance(metric, rng) / replicates
                for d, design in enumerate(designs):
                    study, models = world.study(*design, rng)
                    word = int(rng.integers(2**31))
                    if models is None:
                        ends = interval_of_counts(study, metric, ci_prob=CI_PROB, random_seed=word)
                    else:
                        tree = evaluate(study, models, metrics=[metric], random_seed=word, **how)
                        drawn = tree["posterior"][Metric.of(metric).name].transpose("chain", "draw", "model")
                        scores = drawn.values.reshape(-1, n_models)
                        covariance[d] += np.atleast_2d(np.cov(scores.T)) / replicates
                        # Of skewed scores, near 0 or 1, the shortest interval is narrower than four deviations.
                        ends = column_hdi(scores, CI_PROB)
                    width[d, r] = np.mean(ends[1] - ends[0])
                    progress(1)
        n_runs: Any = np.ones(n_models)
        if predictions is not None:
            truth *= 1 if Metric.of(metric).record.higher_is_better else -1
            if predictions.runs is not None:
                n_runs = np.bincount(predictions.runs.models_of(predictions.models.size))
        items, annotators = np.array(designs).T
        return cls(items, annotators, width, covariance, truth, run_variance, n_runs)

    def of_runs(self, number: int) -> Self:
        """Return the same studies with so many runs: the variance over N items has a part v / (N runs)."""
        more = self.run_variance * (1 / number - 1 / self.n_runs) / self.items[:, None]
        before = np.diagonal(self.covariance, axis1=1, axis2=2)
        after = np.maximum(before + more, LEAST * before)
        wider = np.sqrt(after).mean(axis=1) / np.maximum(np.sqrt(before).mean(axis=1), 1e-300)
        covariance = self.covariance + (after - before)[:, None] * np.eye(after.shape[1])
        return self._replace(width=self.width * wider[:, None], covariance=covariance)

    def widths(self, sizes: Integers, votes: Integers) -> Pair:
        """Expected widths, (items, annotators), and how far the logarithm of one study's may be, (items, 1)."""
        log_width = np.log(np.maximum(self.width, 1e-12))
        mean, one = log_width.mean(axis=1), self.annotators == 1
        width = np.empty((sizes.size, votes.size))
        if one.any():  # a power of the number of items
            at = np.log(self.items[one])
            power = 0.0 if at.size == 1 else np.diff(mean[one]) / np.diff(at)
            width[:, votes == 1] = np.exp(mean[one][0] + power * (np.log(sizes) - at[0]))[:, None]
        if not one.all():  # a + b / n + c / n^2 over the number of items, relative errors alike, none below 0
            of = self.annotators[~one], votes[votes > 1]
            terms, wanted = ((1 / number[:, None]) ** np.arange(3) for number in of)
            squared = self.items[~one] * np.exp(2 * mean[~one])
            coefficient, _ = sp.optimize.nnls(terms / squared[:, None], np.ones(squared.size))
            width[:, votes > 1] = np.sqrt(wanted @ coefficient / sizes[:, None])
        # Part of the spread is the world's and stays whatever the size; part is a single study's and falls with it.
        (n_designs, replicates), rest = log_width.shape, log_width - mean[:, None]
        of_world, apart = rest.mean(axis=0).var(ddof=1), rest - rest.mean(axis=0)
        own = (apart**2).sum() / (max(n_designs - 1, 1) * (replicates - 1))
        variance = max(of_world - own / n_designs, 0.0) + own * self.items[-1] / sizes + of_world / replicates
        return width, sp.special.stdtrit(replicates - 1, (1 + CI_PROB) / 2) * np.sqrt(variance)[:, None]
