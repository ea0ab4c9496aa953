"""Rankings and predictions of the informed posterior of rankings: what models say of items, and its few parameters."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Array, Floats, Integers, Places, Rng
from bayesagree.annotations import Rankings
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.posterior import Drawer, Groups, Request
from bayesagree.inference.slices import ENOUGH_TO_BEGIN, Likelihoods, Prior, climb
from bayesagree.plausibility.independence import CodedVotes
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.family import rising_alike
from bayesagree.plausibility.informed.frame import MOST_CELLS, Frame, Parameters, by_cells
from bayesagree.plausibility.plackett_luce._sampler import Problem, Run

# Labels of an item of which predictions say anything; draws of all items that teach the parameters, and sweeps between.
DEPTH, TAUGHT_BY, THIN = 5, 200_000, 10
# Sets of parameters that the draws of items share.
SETS = 100
NAMES = [f"log_readers_{d + 1}" for d in range(DEPTH)] + [f"best_{d + 1}" for d in range(DEPTH)]
NAMES += ["log_readers_agreement", "best_agreement", "log_readers_confidence", "best_confidence"]

NUMPY = SimpleNamespace(gammaln=sp.special.gammaln, gammainc=sp.special.gammainc, **vars(np))


class Said(NamedTuple):
    """What the models say of items: the likely labels, how many models put each first, and how sure they are.

    `label` (item, DEPTH), the number of labels where there is none; `first` (item, DEPTH): three times the share of
    models that put it first, less that of a likely label of its place; `sure` (item,): -1, 0 or 1.
    """

    label: Integers
    first: Array
    sure: Array

    @classmethod
    def of(cls, covariates: Covariates, count: Integers) -> Self:
        """Order the labels of each item by a regression of readers' first choices (item, label) on all models."""
        n_labels, log = count.shape[1], np.moveaxis(covariates.dense[:, ::2], 1, 2)
        place = (-log).argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
        hits = covariates.hit[:, None] == np.arange(n_labels)[:, None]
        x = np.concatenate([hits, np.where(place < DEPTH, 1 / (place + 1), 0), log], axis=2, dtype=np.float64)
        score = x @ _logit(x, count)
        named = (x != 0).any(axis=2) & (score > score.min(axis=1, keepdims=True))
        order = (-score).argsort(axis=1, kind="stable")[:, :DEPTH]
        label = np.where(np.take_along_axis(named, order, 1), order, n_labels)
        label = np.pad(label, ((0, 0), (0, DEPTH - label.shape[1])), constant_values=n_labels)
        share = (covariates.hit[:, None] == label[:, :, None]).sum(axis=2) / max(hits.shape[2], 1)
        gap = -np.diff(-np.sort(-score, axis=1)[:, :2], axis=1)[:, 0]
        sure = np.searchsorted(np.quantile(gap, [1 / 3, 2 / 3]), gap) - 1.0
        return cls(label, 3 * (share - np.eye(DEPTH)[0]), sure if log.shape[2] else 0 * sure)

    def kinds(self, n_labels: int) -> "tuple[Said, Integers, Places]":
        """Return the kinds of items that have one prior but for names, the number of each, and that of every item."""
        every = np.column_stack([self.first, self.sure, self.label < n_labels])
        kinds, of_item, number = np.unique(every, axis=0, return_inverse=True, return_counts=True)
        alike = Said(np.where(kinds[:, -DEPTH:] > 0, 0, n_labels), kinds[:, :DEPTH], kinds[:, DEPTH])
        return alike, number, of_item.ravel()


def first_choices(rankings: Rankings) -> Integers:
    """Count which label readers put first, shape (item, category); rankings whose first place is shared say nothing."""
    votes = CodedVotes.of(rankings)
    return cell_sums((rankings.items.size, rankings.categories.size), votes.item, votes.code)


def _logit(x: Floats, count: Integers) -> Floats:
    """Return the slopes of a conditional logit of counts (item, label) on columns (item, label, column)."""

    def values(slope: Floats) -> Floats:
        return (count[:, :, None] * sp.special.log_softmax(x @ slope.T, axis=1)).sum(axis=1)

    prior = Prior(np.zeros(x.shape[2]), np.ones(x.shape[2]))
    if not prior.mean.size:
        return prior.mean
    return climb(by_cells(values, count.size), prior, np.ones(len(x))).mode


def common_shape(count: Integers, likely: Integers) -> float:
    """Return the shape of labels that are not likely, under which readers' first choices are most probable, near 1 / K.

    Choices (item, label) are Dirichlet-multinomial around the mean share of each of the likely labels, `Said.label`,
    and that of the others.
    """
    n_labels, named = count.shape[1], np.take_along_axis(np.pad(count, ((0, 0), (0, 1))), likely, 1)
    here = (likely < n_labels).mean(axis=0)
    share = (named.sum(axis=0) + 0.5 * here + 1e-9) / (count.sum() + 0.5 * here.sum() + 0.5)
    rest = (1 - share.sum()) / max(n_labels - here.sum(), 1)
    grid = np.exp(np.linspace(np.log(0.02), np.log(50), 120))
    size, times = np.unique(count, return_counts=True)
    log_p = times @ rising_alike(grid * rest, size) - rising_alike(grid, count.sum(axis=1)).sum(axis=0)
    for one, of_place in zip(share, named.T):
        log_p += (rising_alike(grid * one, of_place) - rising_alike(grid * rest, of_place)).sum(axis=0)
    return float(grid[np.argmax(log_p - np.square(np.log(grid) / 1.5) / 2)] * rest)


class Tilt(NamedTuple):
    """What parameters make of the prior of items: readers that each likely label counts as, log weight of being best.

    Both of shape (item, DEPTH, vector), zero where there is no label.
    """

    readers: Any
    best: Any

    @classmethod
    def of(cls, theta: Any, said: Said, n_labels: int, ops: Any = NUMPY) -> Self:
        """Return both at parameters (parameter, vector), by the functions of NumPy, or of PyTensor."""
        first = said.first[:, :, None]
        sure = (said.sure[:, None] * np.eye(DEPTH)[0])[:, :, None]
        log_readers = theta[:DEPTH] + theta[2 * DEPTH] * first + theta[2 * DEPTH + 2] * sure
        best = theta[DEPTH : 2 * DEPTH] + theta[2 * DEPTH + 1] * first + theta[2 * DEPTH + 3] * sure
        readers = ops.exp(ops.minimum(log_readers, 3.0))  # the quadrature's step takes no narrower shares
        here = (said.label < n_labels)[:, :, None]
        return cls(ops.where(here, readers, 0.0), ops.where(here, best, 0.0))

    def weights(self, base: Floats) -> Floats:
        """Weights of the features of draws under `base` readers (item, DEPTH), shape (item, feature, vector)."""
        return np.hstack([self.readers - base[:, :, None], self.best])

    def log_constant(self, shape: float, n_labels: int, ops: Any = NUMPY) -> Any:
        """Return log E[prod theta_k^readers_k exp(best_top)] under a symmetric Dirichlet prior: (item, vector)."""
        depth = min(DEPTH, n_labels)
        others = n_labels - depth
        alpha = shape + self.readers[:, :depth]
        total = shape * n_labels + self.readers.sum(axis=1)
        log_mean = (ops.gammaln(alpha) - sp.special.gammaln(shape)).sum(axis=1) - ops.gammaln(total)
        log_mean = log_mean + sp.special.gammaln(shape * n_labels)
        # The largest of independent gamma variables, over logs of its value; below the grid all are as small.
        y = np.arange(-30.0, 5.0, 0.25)
        x = np.exp(y)
        one = np.maximum(sp.special.gammainc(shape, x), 1e-300)
        below = ops.maximum(ops.gammainc(alpha[..., None], x), 1e-300)
        every = below.prod(axis=1)
        density = ops.exp(alpha[..., None] * y - x - ops.gammaln(alpha)[..., None])
        chance = 0.25 * (density * (one**others * every)[:, None] / below).sum(axis=3)
        of_others = np.exp(shape * y - x - sp.special.gammaln(shape)) * others * one ** (others - 1)
        left = ops.maximum(1 - chance.sum(axis=1) - 0.25 * (of_others * every).sum(axis=2), 0.0)
        chance = chance + left[:, None] * alpha / total[:, None]
        chance = chance / ops.maximum(chance.sum(axis=1), 1.0)[:, None]
        return log_mean + ops.log(1 - chance.sum(axis=1) + (chance * ops.exp(self.best[:, :depth])).sum(axis=1))


@dataclass(frozen=True, eq=False)
class InformedRankings(Frame):
    """Rankings and what models say of their items; draws under the readers that they count as are weighted.

    `own_shape` is the user's, for all labels; `tune` of the sampler.
    """

    own_shape: float | None = None
    tune: int = 200
    # One sweep, a pass over draws of all items, is a draw of parameters.
    a_draw: ClassVar[int] = 1

    @cached_property
    def first(self) -> Integers:
        """Readers' first choices, shape (item, category)."""
        return first_choices(self.annotations)

    @cached_property
    def said(self) -> Said:
        """What the models say of items."""
        return Said.of(self.covariates, self.first)

    @cached_property
    def shape(self) -> float:
        """Shape of the labels of which models say nothing."""
        return common_shape(self.first, self.said.label) if self.own_shape is None else self.own_shape

    @cached_property
    def alone(self) -> Problem:
        """The posterior of rankings alone, in which labels that models name are in play."""
        in_play = np.zeros((self.annotations.items.size, self.annotations.categories.size + 1), bool)
        np.put_along_axis(in_play, self.said.label, True, 1)
        return Problem.of(self.annotations, 1, self.shape, in_play=in_play[:, :-1])

    @cached_property
    def layout(self) -> Parameters:
        """Names and priors of the parameters, in the order of `NAMES`."""
        n_labels, n_models = self.alone.n_labels, self.covariates.hit.shape[1]
        # Of the likeliest label between models that are readers with some noise, and such as know the best label of
        # split items; many models that agree are rarely wrong.
        best = 0.35 * np.log(n_labels) + 0.3 * min(n_models - 1, 4)
        mean = np.array([*(-1 - np.arange(DEPTH) / 2), best, 0, 0, 0, 0, 0.3, 1.5, 0.3, 0.5])
        sd = np.array([1.5] * DEPTH + [2.5, 2, 2, 2, 2, 0.7, 1.5, 0.7, 1.0])
        return Parameters(np.array(NAMES), mean, sd)

    def features(self, items: slice, theta: Floats, best: NDArray[np.integer]) -> Floats:
        """Return logs of the shares of likely labels, and which of them is the best label, (item, sample, feature).

        From shares of slots (sample, slot) and best labels (item, sample).
        """
        start = self.alone.races.slot_start[items.start : items.stop + 1]
        label = self.said.label[items]
        log, here = np.zeros((*best.shape, DEPTH)), label < self.alone.n_labels
        for i, (first, last) in enumerate(pairwise(start)):
            slot = first - start[0] + np.searchsorted(self.alone.races.label[first : last - 1], label[i])
            log[i][:, here[i]] = np.maximum(np.log(theta[:, slot[here[i]]]), -70.0)
        return np.concatenate([log, best[:, :, None] == label[:, None]], axis=2)

    def tilted(self, theta: Floats) -> tuple[Problem, Floats]:
        """Return rankings and the readers that labels count as at parameters (parameter,), and these (item, DEPTH)."""
        readers = Tilt.of(theta[:, None], self.said, self.alone.n_labels).readers[:, :, 0]
        more = np.zeros((len(readers), self.alone.n_labels + 1))
        np.put_along_axis(more, self.said.label, readers, 1)
        races = self.alone.races
        return replace(self.alone, shape=self.alone.shape + more[races.item, races.label]), readers

    def likelihood(self, rng: Rng) -> tuple[Likelihoods, Floats]:
        """Return the log of the mean weight of draws of each item, over the prior's constant.

        Draws under few readers are far from where many put the shares: the second draws are under those at the mode.
        """
        prior, each = self.layout.prior, np.ones(self.annotations.items.size)
        run = Run(4, 100, int(np.clip(TAUGHT_BY // each.size, 100, 400)) // 4, THIN)
        mode = climb(self.taught(prior.mean, run, rng), prior, each, ENOUGH_TO_BEGIN).mode
        return self.taught(mode, run, rng), each

    def taught(self, centre: Floats, run: Run, rng: Rng) -> Likelihoods:
        """Return the log mean weight of draws that are made under the readers at parameters `centre`."""
        (problem, base), n_labels = self.tilted(centre), self.alone.n_labels

        def of_block(items: slice, rng: Rng) -> Any:
            theta = problem.draw(items, run, rng)
            best = problem.reduce(items, theta, 1, rng)[:, :, 0]
            return self.features(items, theta.reshape(-1, theta.shape[2]), best)

        drawn = np.concatenate([*Request(random_seed=int(rng.integers(2**31))).blocks(of_block, len(base))])
        alike, _, of_item = self.said.kinds(n_labels)

        def values(theta: Floats) -> Floats:
            constant = Tilt.of(theta.T, alike, n_labels).log_constant(self.shape, n_labels)
            value = drawn @ Tilt.of(theta.T, self.said, n_labels).weights(base)
            top = value.max(axis=1)
            return top + np.log(np.exp(value - top[:, None]).mean(axis=1)) - constant[of_item]

        # Sums over draws are slow where a few vectors lie side by side: many, or one.
        cells = drawn.shape[0] * drawn.shape[1]
        return by_cells(values, cells if 8 * cells < MOST_CELLS else MOST_CELLS)

    @classmethod
    def sets(cls, draws: int) -> int:
        """Return how many sets of parameters a chain of draws of items has: few, as each weighs all draws."""
        return min(draws, SETS // 4)

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws a block of items under the mean parameters, and of these by their weights."""
        run = Run(request.chains, self.tune, request.draws, 1)
        samples, depth = request.samples, request.top_labels
        thetas = self.drawn(request).reshape(-1, self.layout.mean.size)
        problem, base = self.tilted(thetas.mean(axis=0))
        weights = Tilt.of(thetas.T, self.said, problem.n_labels).weights(base)
        which = np.arange(samples) * len(thetas) // samples

        def draw(items: slice, rng: Rng) -> DrawBlock:
            theta = problem.draw(items, run, rng)
            worst = problem.diagnostics(items, theta)
            values = problem.reduce(items, theta, depth, rng)
            best = values[:, :, 0] if depth else values.argmax(axis=2)
            given = self.features(items, theta.reshape(samples, -1), best)
            for one, x, own in zip(values, given, weights[items]):
                mass = sp.special.softmax(x @ own, axis=0).T.cumsum(axis=1)
                mass = mass / mass[:, -1:] + np.arange(len(thetas))[:, None]
                place = mass.ravel().searchsorted(which + rng.random(samples)) - which * samples
                one[:] = one[np.minimum(place, samples - 1)]
            return DrawBlock(items, diagnostics=worst, **{request.variable: values})

        return draw

    def known(self, request: Request) -> Groups:
        """Return the parameters that all items share, and what is known of the rankings."""
        number = np.bincount(self.annotations.item_index, minlength=self.annotations.items.size)
        constant: dict[str, Any] = {"n_rankings": (("item",), number), "shape": ((), self.shape)}
        if request.top_labels:  # the posterior itself does not name all labels
            constant["named"] = (("item", "category"), self.alone.named[:, :-1])
        return {**super().known(request), "constant_data": constant}

    def diagnostics(self, request: Request) -> dict[str, Any]:
        """Return nothing: R-hat and effective sample size are those of items."""
        return {}
