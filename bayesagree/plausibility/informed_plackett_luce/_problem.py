"""Rankings and predictions of the informed posterior of rankings: what models say of items, and its few parameters."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Integers
from bayesagree.annotations import Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.convergence import pareto_k, warn_of_weights
from bayesagree.inference.posterior import Request
from bayesagree.inference.streams import block_generators, item_blocks, map_blocks, stream_apart
from bayesagree.plausibility.informed.covariates import Excluded, kept_models
from bayesagree.plausibility.plackett_luce._sampler import Problem, Run

# Labels of an item of which predictions say anything; draws of the parameters; draws of all items that teach them.
DEPTH, DRAWS, ROUNDS, TAUGHT_BY = 5, 600, 7, 200_000
# Log of the readers that a prediction counts as at most: the quadrature's step takes no narrower shares.
MOST_LOG_READERS = 3.0
# Degrees of freedom of the proposal of parameters; least log share that is told apart.
FREEDOM, LEAST_LOG = 6.0, -70.0
NAMES = [f"log_readers_{d + 1}" for d in range(DEPTH)] + [f"best_{d + 1}" for d in range(DEPTH)]
NAMES += ["log_readers_agreement", "best_agreement", "log_readers_confidence", "best_confidence"]

NUMPY = SimpleNamespace(gammaln=sp.special.gammaln, gammainc=sp.special.gammainc, **vars(np))


class Said(NamedTuple):
    """What the models say of items: the likely labels, how many models put each first, and how sure they are.

    `label` (item, DEPTH), the number of labels where there is none; `first` (item, DEPTH): three times the share of
    models that put it first, less that of a likely label of its place; `sure` (item,): -1, 0 or 1.
    """

    label: Integers
    first: NDArray[Any]
    sure: NDArray[Any]

    @classmethod
    def of(cls, rankings: Rankings, predictions: Predictions, exclude: Excluded) -> Self:
        """Order the labels of each item by a regression of readers' first choices on all models' predictions."""
        kept = kept_models(predictions.models, exclude)
        n_items, n_labels = rankings.items.size, rankings.categories.size
        hit, columns = predictions.hard_labels()[kept], []
        for model, top in zip(kept, hit):
            columns.append((top[:, None] == np.arange(n_labels)).astype(np.float32))
            if predictions.scores is not None:
                log = np.asarray(predictions.scores[model], np.float32)
                log = np.log(np.maximum(log, 1e-6)) if (log >= 0).all() else log
                centred = log - log.mean(axis=1, keepdims=True)
                place = (-log).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
                columns += [np.where(place < DEPTH, 1 / (place + 1), 0), centred / (centred.std() or 1.0)]
        x = np.stack(columns, axis=2) if columns else np.zeros((n_items, n_labels, 0), np.float32)
        score = x @ _logit(x, first_choices(rankings))
        named = (x != 0).any(axis=2) & (score > score.min(axis=1, keepdims=True)) if columns else score > 0
        order = (-score).argsort(axis=1, kind="stable")[:, :DEPTH]
        label = np.where(np.take_along_axis(named, order, 1), order, n_labels)
        label = np.pad(label, ((0, 0), (0, DEPTH - label.shape[1])), constant_values=n_labels)
        share = (hit[:, :, None] == label).mean(axis=0) if kept.size else np.zeros(label.shape)
        gap = -np.diff(-np.sort(-score, axis=1)[:, :2], axis=1)[:, 0]
        sure = np.searchsorted(np.quantile(gap, [1 / 3, 2 / 3]), gap) - 1.0
        if predictions.scores is None:
            sure[:] = 0.0
        return cls(label, 3 * (share - np.eye(DEPTH)[0]), sure)

    def kinds(self, n_labels: int) -> "tuple[Said, Integers]":
        """Return the kinds of items that have one prior but for names, and the number of each."""
        every = np.column_stack([self.first, self.sure, self.label < n_labels])
        kinds, number = np.unique(every, axis=0, return_counts=True)
        return Said(np.where(kinds[:, -DEPTH:] > 0, 0, n_labels), kinds[:, :DEPTH], kinds[:, DEPTH]), number


def first_choices(rankings: Rankings) -> Floats:
    """Count which label readers put first, shape (item, category); rankings whose first place is shared say nothing."""
    ranking, first = rankings.ranking_index(), rankings.block == 0
    first &= np.bincount(ranking, first)[ranking] == 1
    item = rankings.item_index[ranking[first]]
    table = np.zeros((rankings.items.size, rankings.categories.size))
    np.add.at(table, (item, rankings.label_index[first]), 1)
    return table


def _logit(x: NDArray[np.float32], count: Floats) -> Floats:
    """Return the slopes of a conditional logit of counts (item, category) on columns (item, category, column)."""
    total, of_data = count.sum(axis=1), np.tensordot(count, x, 2)

    def cost(slope: Floats) -> tuple[float, Floats]:
        eta = x @ slope.astype(np.float32)
        log_sum = sp.special.logsumexp(eta, axis=1)
        expected = np.tensordot(total[:, None] * np.exp(eta - log_sum[:, None]), x, 2)
        value = float(of_data @ slope - total @ log_sum - slope @ slope / 2)
        return -value, (expected - of_data + slope).astype(np.float64)

    return (
        sp.optimize.minimize(cost, np.zeros(x.shape[2]), jac=True, method="L-BFGS-B").x
        if x.shape[2]
        else np.zeros(0)
    )


def common_shape(rankings: Rankings) -> float:
    """Return the shape of a symmetric Dirichlet under which readers' first choices are most probable, near 1 / K."""
    count, n_labels = first_choices(rankings), rankings.categories.size
    grid = np.exp(np.linspace(np.log(0.02), np.log(50), 120)) / n_labels
    ln, total = sp.special.gammaln, count.sum(axis=1)
    size, times = np.unique(count, return_counts=True)
    log_p = [
        (ln(a * n_labels) - ln(a * n_labels + total)).sum() + times @ (ln(a + size) - ln(a))
        - (np.log(a * n_labels) / 1.5) ** 2 / 2
        for a in grid
    ]  # fmt: skip
    return float(grid[np.argmax(log_p)])


def prior_of(n_labels: int, n_models: int) -> tuple[Floats, Floats]:
    """Return means and sds of the parameters, in the order of `NAMES`; many models that agree are rarely wrong."""
    best = np.log(n_labels) + np.append(2.0 + 0.6 * min(n_models - 1, 4), -0.5 - np.arange(1, DEPTH) / 2)
    mean = np.concatenate([-1 - np.arange(DEPTH) / 2, best, [0.3, 1.5, 0.3, 0.5]])
    return mean, np.array([1.5] * DEPTH + [2.0] * DEPTH + [0.7, 1.5, 0.7, 1.0])


class Tilt(NamedTuple):
    """What parameters make of the prior of items: readers that each likely label counts as, log weight of being best.

    Both of shape (item, DEPTH), zero where there is no label.
    """

    readers: Any
    best: Any

    @classmethod
    def of(cls, theta: Any, said: Said, n_labels: int, ops: Any = NUMPY) -> Self:
        """Return both by the functions of NumPy, or of PyTensor."""
        here, sure = said.label < n_labels, np.outer(said.sure, np.eye(DEPTH)[0])
        log_readers = theta[:DEPTH] + theta[2 * DEPTH] * said.first + theta[2 * DEPTH + 2] * sure
        best = theta[DEPTH : 2 * DEPTH] + theta[2 * DEPTH + 1] * said.first + theta[2 * DEPTH + 3] * sure
        readers = ops.exp(ops.minimum(log_readers, MOST_LOG_READERS))
        return cls(ops.where(here, readers, 0.0), ops.where(here, best, 0.0))

    @property
    def weights(self) -> Floats:
        """Weights of the features of draws in their log weight, shape (item, feature)."""
        return np.hstack([self.readers, self.best])

    def log_constant(self, shape: float, n_labels: int, ops: Any = NUMPY) -> Any:
        """Return log E[prod theta_k^readers_k exp(best_top)] under a symmetric Dirichlet prior, shape (item,)."""
        depth = min(DEPTH, n_labels)
        others = n_labels - depth
        alpha, total = shape + self.readers[:, :depth], shape * n_labels + self.readers.sum(axis=1)
        log_mean = (ops.gammaln(alpha) - sp.special.gammaln(shape)).sum(axis=1) - ops.gammaln(total)
        log_mean = log_mean + sp.special.gammaln(shape * n_labels)
        # The largest of independent gamma variables, over logs of its value; below the grid all are as small.
        y = np.arange(-30.0, 5.0, 0.25)
        x, one = np.exp(y), np.maximum(sp.special.gammainc(shape, np.exp(y)), 1e-300)
        below = ops.maximum(ops.gammainc(alpha[:, :, None], x), 1e-300)
        every = below.prod(axis=1)
        density = ops.exp(alpha[:, :, None] * y - x - ops.gammaln(alpha)[:, :, None])
        chance = 0.25 * (density * (one**others * every)[:, None] / below).sum(axis=2)
        of_others = np.exp(shape * y - x - sp.special.gammaln(shape)) * others * one ** (others - 1)
        left = ops.maximum(1 - chance.sum(axis=1) - 0.25 * (of_others * every).sum(axis=1), 0.0)
        chance = chance + left[:, None] * alpha / total[:, None]
        chance = chance / ops.maximum(chance.sum(axis=1), 1.0)[:, None]
        return log_mean + ops.log(1 - chance.sum(axis=1) + (chance * ops.exp(self.best[:, :depth])).sum(axis=1))


@dataclass(frozen=True, eq=False)
class InformedRankings:
    """Rankings, what models say of their items, and the posterior of rankings alone of which draws are weighted."""

    rankings: Rankings
    said: Said
    alone: Problem
    shape: float
    n_models: int
    drawn: "list[tuple[Floats, float, float]]" = field(default_factory=list)

    @classmethod
    def of(cls, rankings: Rankings, predictions: Predictions, exclude: Excluded, shape: float | None) -> Self:
        """Align both, and learn the shape that all labels share."""
        if rankings.offered is not None:
            raise InputError(
                "informed_plackett_luce takes all labels as on offer; these rankings have offered="
            )
        said = Said.of(rankings, predictions.aligned(rankings.items, rankings.categories), exclude)
        in_play = np.zeros((rankings.items.size, rankings.categories.size + 1), bool)
        np.put_along_axis(in_play, said.label, True, 1)
        common = common_shape(rankings) if shape is None else shape
        return cls(
            rankings,
            said,
            Problem.of(rankings, 1, common, in_play=in_play[:, :-1]),
            common,
            kept_models(predictions.models, exclude).size,
        )

    def features(self, items: slice, theta: Floats, best: NDArray[np.integer]) -> Floats:
        """Return logs of the shares of likely labels, and which of them is the best label, (item, sample, feature).

        From shares of slots (sample, slot) and best labels (item, sample).
        """
        start, label = self.alone.races.slot_start[items.start : items.stop + 1], self.said.label[items]
        log, here = np.zeros((*best.shape, DEPTH)), label < self.alone.n_labels
        for i, (first, last) in enumerate(pairwise(start)):
            slot = first - start[0] + np.searchsorted(self.alone.races.label[first : last - 1], label[i])
            log[i][:, here[i]] = np.maximum(np.log(theta[:, slot[here[i]]]), LEAST_LOG)
        return np.concatenate([log, best[:, :, None] == label[:, None]], axis=2)

    def parameters(self, request: Request) -> tuple[Floats, float, float]:
        """Draw the parameters, shape (draw, parameter), once; and the effective number of draws, and k-hat."""
        if not self.drawn:
            self.drawn.append(
                self._draw(np.random.default_rng(stream_apart(request.random_seed, "parameters")))
            )
        return self.drawn[0]

    def _draw(self, rng: np.random.Generator) -> tuple[Floats, float, float]:
        n_items, n_labels = self.rankings.items.size, self.alone.n_labels
        run = Run(4, 100, int(np.clip(TAUGHT_BY // n_items, 100, 400)) // 4, 3)
        blocks = item_blocks(n_items)

        def taught(job: tuple[slice, np.random.Generator]) -> Floats:
            theta = self.alone.draw(job[0], run, job[1])
            best = self.alone.reduce(job[0], theta, 1, job[1])[:, :, 0]
            return self.features(job[0], theta.reshape(-1, theta.shape[2]), best)

        jobs = list(zip(blocks, block_generators(int(rng.integers(2**31)), len(blocks))))
        drawn = np.concatenate(list(map_blocks(taught, jobs)))
        (alike, number), (mean, sd) = self.said.kinds(n_labels), prior_of(n_labels, self.n_models)

        def cost(z: Floats) -> float:
            if np.abs(z).max() > 8:
                return 1e9
            theta = mean + sd * z
            constant = Tilt.of(theta, alike, n_labels).log_constant(self.shape, n_labels)
            value = (drawn @ Tilt.of(theta, self.said, n_labels).weights[:, :, None])[:, :, 0]
            top = value.max(axis=1)
            found = np.log(np.exp(value - top[:, None]).mean(axis=1)) + top
            value = float(z @ z / 2 + number @ constant - found.sum())
            return value if np.isfinite(value) else 1e9

        return _importance(cost, mean, sd, rng)


def _importance(
    cost: Callable[[Floats], float], mean: Floats, sd: Floats, rng: np.random.Generator
) -> tuple[Floats, float, float]:
    """Draw parameters from a t distribution around their mode, fitted anew to its draws' weights, and weight these."""
    found = sp.optimize.minimize(
        cost, np.zeros(mean.size), method="BFGS", options={"gtol": 0.05, "maxiter": 60, "eps": 1e-5}
    )
    centre, cov, z = found.x, np.asarray(found.hess_inv) + 0.1 * np.eye(mean.size), np.empty(0)
    log_weight = weight = z
    for last in range(1 - ROUNDS, 1):
        root = np.linalg.cholesky(cov)
        n = DRAWS if last == 0 else DRAWS // 2
        step = rng.standard_normal((n, mean.size)) / np.sqrt(rng.chisquare(FREEDOM, (n, 1)) / FREEDOM)
        z = centre + step @ root.T
        log_proposal = -(FREEDOM + mean.size) / 2 * np.log1p((step**2).sum(axis=1) / FREEDOM)
        log_weight, power = np.array([-cost(one) for one in z]) - log_proposal, 1.0
        weight = sp.special.softmax(log_weight)
        while (
            shares := sp.special.softmax(power * log_weight)
        ) @ shares > 4 / n:  # few draws would fit too narrow
            power *= 0.8
        centre = shares @ z
        cov = (z - centre).T @ (shares[:, None] * (z - centre)) + 1e-4 * np.eye(mean.size)
    k_hat = pareto_k(log_weight)
    warn_of_weights(k_hat, "pass plausibility='plackett_luce', from rankings alone")
    return mean + sd * z[rng.choice(DRAWS, DRAWS, p=weight)], float(1 / (weight @ weight)), k_hat
