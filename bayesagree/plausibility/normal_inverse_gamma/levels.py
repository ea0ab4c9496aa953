"""Ratings by people who rate high or low, with care or without: levels and scatters, learnt with the items.

In units of the range of the scale, with z_i what is known of item i and a the annotator of a rating,

    x_ia ~ Normal(b' z_i + e_i + c_a, s_a^2),   e_i ~ Normal(0, t^2),   c_a ~ Normal(0, d^2),
    s_a^2 ~ InverseGamma(2, 2 s^2),   s, t ~ HalfNormal(1/2),   d ~ HalfNormal(1/4).

The mean of an item is b' z_i + e_i + the average of c over these annotators, and a shift what c_a is above that.
Every step of the Gibbs sampler is in closed form: b and all levels c together with the items integrated out, then the
items, then the variances. Ratings of annotators of fewer than `FEWEST` ratings have no level and one scatter.

Source: the crossed linear mixed model, Gelman et al., Bayesian Data Analysis (2013), chapter 15.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import scipy as sp

from bayesagree._types import Array, Floats, Integers, Named, Pair, Rng, silent
from bayesagree.annotations import Ratings
from bayesagree.annotations._container import parts_met
from bayesagree.errors import InputError, shorten, warn
from bayesagree.inference.blocks import DrawBlock, by_chain
from bayesagree.inference.convergence import of_parameters
from bayesagree.inference.open_model import annotation_data
from bayesagree.inference.posterior import Drawer, Groups, Request
from bayesagree.inference.streams import block_generators, stream_apart

if TYPE_CHECKING:
    import pymc as pm

Effects = Literal["shift"] | None

# Fewest ratings of an annotator with a level; annotators with levels at most; degrees of freedom of their scatters.
FEWEST, MOST, FREEDOM = 5, 400, 4.0
# Smallest sd of ratings, in units of the range: of equal ratings the likelihood has no largest value otherwise. Scales
# of the half-normal priors of the sds of ratings, items and levels; no sd of ratings is larger than 1/2.
LEAST_SD, SDS = 1e-3, (0.5, 0.5, 0.25)
# Draws of the parameters of each chain, and sweeps before the first.
KEPT, TUNE = 250, 250
# Cells of the table (item, annotator) from which it is sparse.
DENSE = 500_000
# Weight of a rating, beside a typical annotator's, below which its annotator is named.
CARELESS = 0.3


class LevelDraws(NamedTuple):
    """Draws of the parameters in units of the range, shape (sample, ...), `kept` of each chain.

    `sd` (sample, 3): of ratings, items and levels; `coefficient` (sample, column); `shift` and `variance` (sample,
    annotator), the last annotator standing for all without a level.
    """

    sd: Floats
    coefficient: Floats
    shift: Floats
    variance: Floats


@dataclass(frozen=True, eq=False)
class Levels:
    """Ratings in units of the range, and what is known of items.

    `columns` (item, column): what is known, first a column of ones; `names`: of the columns; `who` (row,): position
    among `named`, or their number; `prior` (2, column): means and sds of the coefficients.
    """

    ratings: Ratings
    columns: Floats
    prior: Floats
    names: list[str]
    who: Integers
    named: Integers
    drawn: "list[LevelDraws]" = field(default_factory=list)

    @classmethod
    def of(cls, ratings: Ratings, columns: Floats, prior: Floats, names: list[str]) -> Self:
        """Read ratings; an error where fewer than two annotators are known by five ratings or more."""
        named = cls.known_in(ratings)
        if named.size < 2:
            raise InputError(
                f"annotator_effects='shift' learns levels of annotators by name; fewer than two have {FEWEST} ratings"
            )
        place = np.full(ratings.annotators.size, named.size)
        place[named] = np.arange(named.size)
        return cls(ratings, columns, prior, names, place[ratings.annotator_index], named)

    @staticmethod
    def known_in(ratings: Ratings) -> Integers:
        """Return the annotators of five ratings or more, the most prolific if they are many."""
        if not ratings.annotators_known:
            return np.empty(0, int)
        size = np.bincount(ratings.annotator_index)
        return np.sort(np.argsort(-size, kind="stable")[: min(MOST, int((size >= FEWEST).sum()))])

    @property
    def annotators(self) -> Array:
        """Names of the annotators with levels."""
        return self.ratings.annotators[self.named]

    @cached_property
    def table(self) -> tuple[Any, Any]:
        """Numbers of ratings of an item by each annotator, and their sums, (item, annotator); without level last."""
        x, place = self.ratings.unit(), (self.ratings.item_index, self.who)
        shape = len(self.columns), self.named.size + 1
        number, total = (sp.sparse.csr_array((v, place), shape) for v in (np.ones(x.size), x))
        return (number.toarray(), total.toarray()) if np.prod(shape) < DENSE else (number, total)

    def system(self, precision: Floats, item_variance: float, shift_variance: float) -> Pair:
        """Return precision and linear term of the coefficients and levels, given `precision` of annotators' ratings."""
        (number, total), z, ours = self.table, self.columns, precision[:-1]
        weight = number @ precision
        of_sum = total @ precision
        levels = number[:, :-1]
        left = 1 / (1 + item_variance * weight)
        own = levels.T @ (levels * (item_variance * left)[:, None])
        own = np.diag(levels.sum(axis=0) * ours) - np.outer(ours, ours) * (
            own.toarray() if sp.sparse.issparse(own) else own
        )
        cross = ours[:, None] * (levels.T @ (z * left[:, None]))
        before = np.append(self.prior[1] ** -2.0, np.full(self.named.size, 1 / shift_variance))
        matrix = np.block([[z.T @ (z * (weight * left)[:, None]), cross.T], [cross, own]]) + np.diag(before)
        of_levels = total.sum(axis=0)[:-1] - levels.T @ (item_variance * left * of_sum)
        of_columns = z.T @ (left * of_sum) + self.prior[0] / self.prior[1] ** 2
        return matrix, np.append(of_columns, ours * of_levels)

    def item_terms(
        self, items: slice, precision: Floats, coefficient: Floats, shift: Floats, item_variance: Any
    ) -> Pair:
        """Return mean and variance of items' b' z + e, (item,) or, where parameters are many, (item, sample)."""
        number = self.table[0][items]
        line = self.columns[items] @ coefficient
        weight = number @ precision
        variance = 1 / (1 / item_variance + weight)
        rest = self.table[1][items] @ precision - number @ (precision * shift) - weight * line
        return line + variance * rest, variance

    def chain(self, request: Request, rng: Rng) -> LevelDraws:
        """Run one chain of the Gibbs sampler."""
        item, x = self.ratings.item_index, self.ratings.unit()
        p, size = self.columns.shape[1], self.named.size + 1
        rated = np.bincount(item, minlength=len(self.columns)) > 0
        scale = np.square(SDS)
        shape, found = (FREEDOM + np.bincount(self.who, minlength=size)) / 2, []
        variance, (typical, of_items, of_levels) = np.full(size, 0.02), (0.02, 0.03, 0.01)
        progress = request.progress or silent
        for _ in range(TUNE + min(request.draws, KEPT)):
            precision = 1 / variance
            matrix, score = self.system(precision, of_items, of_levels)
            root = np.linalg.cholesky(matrix)
            half = sp.linalg.solve_triangular(root, score, lower=True) + rng.standard_normal(score.size)
            drawn = sp.linalg.solve_triangular(root, half, lower=True, trans="T")
            b, shift = drawn[:p], np.append(drawn[p:], 0.0)
            centre, spread = self.item_terms(slice(None), precision, b, shift, of_items)
            own = centre + np.sqrt(spread) * rng.standard_normal(centre.size)
            rest = x - own[item] - shift[self.who]
            rate = (FREEDOM * typical + np.bincount(self.who, np.square(rest), size)) / 2
            variance = np.maximum(rate / rng.standard_gamma(shape), LEAST_SD**2)
            # A half-normal prior of the sd makes this a gamma variable, as the variances are inverse gammas of it.
            total = FREEDOM / 2 * (1 / variance).sum() + 1 / (2 * scale[0])
            typical = max(rng.standard_gamma((FREEDOM * size + 1) / 2) / total, LEAST_SD**2)
            of_items = _sd_step((own - self.columns @ b)[rated], of_items, scale[1], rng)
            of_levels = _sd_step(shift[:-1], of_levels, scale[2], rng)
            found.append((np.sqrt([typical, of_items, of_levels]), b, shift, variance))
            progress(1)
        return LevelDraws(*map(np.stack, zip(*found[TUNE:])))

    def draw(self, request: Request) -> LevelDraws:
        """Draw the parameters, once."""
        if not self.drawn:
            self.drawn.append(self.sampled(request))
        return self.drawn[0]

    def sampled(self, request: Request) -> LevelDraws:
        """Draw the parameters by chains: at most `KEPT` of each."""
        streams = block_generators(stream_apart(request.random_seed, "parameters"), request.chains)
        found = LevelDraws(*map(np.concatenate, zip(*(self.chain(request, rng) for rng in streams))))
        average = found.shift[:, :-1].mean(axis=1, keepdims=True)
        found.coefficient[:, :1] += average
        found.shift[:] -= average
        return found

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws the means of a block of items given draws of the parameters."""
        found, (low, high) = self.draw(request), self.ratings.scale
        if self.named.size:
            self.warn(found)
        pick = _picks(found, request)
        terms = (1 / found.variance.T, found.coefficient.T, found.shift.T)
        of_ratings = (high - low) ** 2 * self.of_ratings(found)[pick]

        def draw(items: slice, rng: Rng) -> DrawBlock:
            centre, spread = self.item_terms(items, *terms, found.sd[:, 1] ** 2)
            drawn = centre[:, pick] + rng.standard_normal((len(centre), pick.size)) * np.sqrt(spread[:, pick])
            variance = np.broadcast_to(of_ratings, drawn.shape)
            return DrawBlock(items, mean=low + (high - low) * drawn, variance=variance)

        return draw

    def of_ratings(self, found: LevelDraws) -> Floats:
        """Return the variance of ratings of an item by these annotators, shape (sample,)."""
        return found.sd[:, 0] ** 2 * FREEDOM / (FREEDOM - 2) + found.sd[:, 2] ** 2

    def known(self, request: Request) -> Groups:
        """Return levels and scatters of annotators in units of the scale, and the parameters with R-hat and ESS."""
        found = self.draw(request)
        width = self.ratings.scale[1] - self.ratings.scale[0]
        pick = _picks(found, request)
        n = self.named.size
        of = (
            {"annotator_shift": found.shift[:, :n], "annotator_sd": np.sqrt(found.variance[:, :n])} if n else {}
        )
        dims = ("chain", "draw", "annotator")
        return {
            "posterior": {name: (dims, by_chain(width * v[pick].T, request.chains)) for name, v in of.items()},
            "constant_data": {"n_ratings": (("item",), self.table[0].sum(axis=1).astype(int))},
            **self.parameters(request),
        }

    def diagnostics(self, request: Request) -> Named:
        """Return R-hat and effective sample size of the parameters."""
        return self.parameters(request)["diagnostics"]

    def parameters(self, request: Request) -> Groups:
        """Return the parameters that all items share, and their R-hat and effective sample size."""
        every = np.column_stack([(found := self.draw(request)).sd, found.coefficient])
        return of_parameters(every.reshape(request.chains, -1, every.shape[1]))

    def coords(self) -> Named:
        """Return the names of annotators and parameters."""
        sds = ["sd_rating", "sd_item", *["sd_shift"][: self.named.size]]
        return {"annotator": self.annotators, "parameter": [*sds, *self.names]}

    def warn(self, found: LevelDraws) -> None:
        """Name annotators who hardly count, and groups of annotators who never meet."""
        weight = np.median(found.sd[:, :1] ** 2 / found.variance[:, : self.named.size], axis=0)
        if (weight < CARELESS).any():
            warn(
                f"the ratings of {shorten(self.annotators[weight < CARELESS])} say little about the items: each weighs "
                f"less than {CARELESS} of a typical annotator's, down to {weight.min():.2f}"
            )
        own = self.who < self.named.size
        groups = parts_met(self.who[own], self.ratings.item_index[own])
        if groups.any():
            apart = [shorten(self.annotators[groups == g]) for g in range(min(groups.max() + 1, 3))]
            warn(
                f"annotators {' and '.join(apart)} never rate the same items, not even through others: whether they or "
                "their items are higher is told by the prior and by predictions alone; have some items rated by both"
            )


def means_model(problem: Levels) -> "pm.Model":
    """Build the same posterior in PyMC, without named annotators that of ratings by people who are alike.

    ``sd_rating``, ``sd_item`` and ``coefficient`` (column) are in units of the range; ``mean`` and ``variance`` (item),
    and with levels ``annotator_shift`` and ``annotator_sd`` (annotator), in those of the scale. Observed data are long,
    one entry of ``rating`` per annotation.
    """
    import pymc as pm
    import pytensor.tensor as pt

    ratings, (low, high) = problem.ratings, problem.ratings.scale
    levels, width = problem if problem.named.size else None, high - low
    coords = {"item": ratings.items, "column": problem.names}
    coords |= {"annotator": (levels or ratings).annotators, "annotation": np.arange(ratings.n_annotations)}
    with pm.Model(coords=coords) as model:
        item, _ = annotation_data(ratings.item_index, ratings.annotator_index)
        rating = pm.Data("observed_rating", ratings.rating, dims="annotation")
        sd_item: Any = pm.HalfNormal("sd_item", SDS[1])
        coefficient: Any = pm.Normal("coefficient", *problem.prior, dims="column")
        offset: Any = pm.Normal("offset", 0.0, 1.0, dims="item")
        average: Any = 0.0
        level: Any = 0.0
        if levels is None:
            excess: Any = pm.HalfNormal("excess", SDS[0])
            sd: Any = pm.Deterministic("sd_rating", LEAST_SD + excess)
            of_all = sd**2
        else:
            who = pm.Data("level_of_annotation", levels.who, dims="annotation")
            sd_rating: Any = pm.HalfNormal("sd_rating", SDS[0])
            sd_shift: Any = pm.HalfNormal("sd_shift", SDS[2])
            shift: Any = pm.Normal("shift", 0.0, sd_shift, dims="annotator")
            scale, n = FREEDOM / 2 * sd_rating**2, levels.named.size + 1
            of_annotator: Any = pm.InverseGamma("of_annotator", FREEDOM / 2, scale, shape=n)
            average = shift.mean()
            pm.Deterministic("annotator_shift", width * (shift - average), dims="annotator")
            pm.Deterministic("annotator_sd", width * of_annotator[:-1] ** 0.5, dims="annotator")
            every: Any = pt.concatenate([shift, np.zeros(1)]) - average
            level, sd = every[who], of_annotator[who] ** 0.5
            of_all = sd_rating**2 * FREEDOM / (FREEDOM - 2) + sd_shift**2
        mean = low + width * (problem.columns @ coefficient + average + sd_item * offset)
        centre: Any = pm.Deterministic("mean", mean, dims="item")
        pm.Deterministic("variance", width**2 * of_all + 0.0 * centre, dims="item")
        pm.Normal("rating", centre[item] + width * level, width * sd, observed=rating, dims="annotation")
    return model


def _picks(found: LevelDraws, request: Request) -> Integers:
    """Return the draw of the parameters that each draw of the items takes, shape (sample,)."""
    kept = len(found.sd) // request.chains
    return (
        np.arange(request.chains)[:, None] * kept + np.arange(request.draws) * kept // request.draws
    ).ravel()


def _sd_step(values: Floats, now: float, scale: float, rng: Rng) -> float:
    """Draw the variance of normal values, whose sd is half-normal: by that of a flat prior, accepted or not."""
    new = max(float(values @ values) / 2 / rng.standard_gamma((values.size - 1) / 2), 1e-12)
    return new if -rng.standard_exponential() < (now - new) / (2 * scale) else now
