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
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Ratings
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
    who: NDArray[np.int64]
    named: NDArray[np.int64]
    drawn: "list[LevelDraws]" = field(default_factory=list)

    @classmethod
    def of(cls, ratings: Ratings, columns: Floats, prior: Floats, names: list[str]) -> "Levels":
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
    def known_in(ratings: Ratings) -> NDArray[np.int64]:
        """Return the annotators of five ratings or more, the most prolific if they are many."""
        if not ratings.annotators_known:
            return np.empty(0, np.int64)
        size = np.bincount(ratings.annotator_index)
        return np.sort(np.argsort(-size, kind="stable")[: min(MOST, int((size >= FEWEST).sum()))])

    @property
    def annotators(self) -> NDArray[Any]:
        """Names of the annotators with levels."""
        return self.ratings.annotators[self.named]

    @cached_property
    def by_item(self) -> Any:
        """Which ratings an item has, (item, row)."""
        item = self.ratings.item_index
        place = item, np.arange(item.size)
        return sp.sparse.csr_array((np.ones(item.size), place), (len(self.columns), item.size))

    @cached_property
    def rows(self) -> Any:
        """What the coefficients and the levels add to each rating, (row, column and annotator)."""
        given = sp.sparse.csr_array(self.columns[self.ratings.item_index])
        row = np.flatnonzero(self.who < self.named.size)
        own = sp.sparse.csr_array((np.ones(row.size), (row, self.who[row])), (self.who.size, self.named.size))
        return sp.sparse.hstack([given, own]).tocsr()

    def system(self, precision: Floats, item_variance: float, shift_variance: float) -> tuple[Floats, Floats]:
        """Return precision and linear term of the coefficients and levels given `precision` of each row's rating."""
        x, weighted = self.ratings.unit(), sp.sparse.diags_array(precision) @ self.rows
        of_items, free = self.by_item @ weighted, 1 / (1 / item_variance + self.by_item @ precision)
        before = np.append(self.prior[1] ** -2.0, np.full(self.named.size, 1 / shift_variance))
        matrix = (self.rows.T @ weighted - of_items.T @ (sp.sparse.diags_array(free) @ of_items)).toarray()
        score = weighted.T @ x - of_items.T @ (free * (self.by_item @ (precision * x)))
        score[: self.prior.shape[1]] += self.prior[0] / self.prior[1] ** 2
        return matrix + np.diag(before), score

    def item_terms(self, precision: Floats, rest: Floats, item_variance: float) -> tuple[Floats, Floats]:
        """Return mean and variance of each item's e given what ratings leave of the line and levels."""
        variance = 1 / (1 / item_variance + self.by_item @ precision)
        return variance * (self.by_item @ (precision * rest)), variance

    def chain(self, kept: int, rng: np.random.Generator) -> LevelDraws:
        """Run one chain of the Gibbs sampler."""
        item, x = self.ratings.item_index, self.ratings.unit()
        p, size = self.columns.shape[1], self.named.size + 1
        rated, scale = np.bincount(item, minlength=len(self.columns)) > 0, np.square(SDS)
        shape, found = (FREEDOM + np.bincount(self.who, minlength=size)) / 2, []
        variance, (typical, of_items, of_levels) = np.full(size, 0.02), (0.02, 0.03, 0.01)
        for _ in range(TUNE + kept):
            precision = 1 / variance[self.who]
            matrix, score = self.system(precision, of_items, of_levels)
            root = np.linalg.cholesky(matrix)
            half = sp.linalg.solve_triangular(root, score, lower=True) + rng.standard_normal(score.size)
            drawn = sp.linalg.solve_triangular(root, half, lower=True, trans="T")
            rest = x - self.rows @ drawn
            centre, spread = self.item_terms(precision, rest, of_items)
            own = centre + np.sqrt(spread) * rng.standard_normal(centre.size)
            rate = (FREEDOM * typical + np.bincount(self.who, (rest - own[item]) ** 2, size)) / 2
            variance = np.maximum(rate / rng.standard_gamma(shape), LEAST_SD**2)
            # A half-normal prior of the sd makes this a gamma variable, as the variances are inverse gammas of it.
            total = FREEDOM / 2 * (1 / variance).sum() + 1 / (2 * scale[0])
            typical = max(rng.standard_gamma((FREEDOM * size + 1) / 2) / total, LEAST_SD**2)
            of_items = _sd_step(own[rated], of_items, scale[1], rng)
            of_levels = _sd_step(drawn[p:], of_levels, scale[2], rng)
            sds = np.sqrt([typical, of_items, of_levels])
            found.append((sds, drawn[:p], np.append(drawn[p:], 0.0), variance))
        return LevelDraws(*map(np.stack, zip(*found[TUNE:])))

    def draw(self, request: Request) -> LevelDraws:
        """Draw the parameters, once: at most `KEPT` of each chain."""
        if not self.drawn:
            streams = block_generators(stream_apart(request.random_seed, "parameters"), request.chains)
            chains = [self.chain(min(request.draws, KEPT), rng) for rng in streams]
            found = LevelDraws(*map(np.concatenate, zip(*chains)))
            average = found.shift[:, :-1].mean(axis=1, keepdims=True)
            found.coefficient[:, :1] += average
            found.shift[:] -= average
            self.drawn.append(found)
        return self.drawn[0]

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws the means of a block of items given draws of the parameters."""
        found = self.draw(request)
        self.warn(found)
        (low, high), item, x = self.ratings.scale, self.ratings.item_index, self.ratings.unit()
        pick = _picks(found, request)
        of_rating = found.sd[:, 0] ** 2 * FREEDOM / (FREEDOM - 2) + found.sd[:, 2] ** 2
        variance = (high - low) ** 2 * of_rating[pick]

        def draw(items: slice, rng: np.random.Generator) -> DrawBlock:
            rows = slice(*np.searchsorted(item, [items.start, items.stop]))
            who, one = self.who[rows], self.by_item[items][:, rows]
            precision = 1 / found.variance[:, who].T
            weight = 1 / found.sd[:, 1] ** 2
            total = one @ precision + weight
            centre = (self.columns[items] @ found.coefficient.T) * weight
            centre = (centre + one @ (precision * (x[rows, None] - found.shift[:, who].T))) / total
            drawn = centre[:, pick] + rng.standard_normal((total.shape[0], pick.size)) / np.sqrt(total[:, pick])
            spread = np.broadcast_to(variance, drawn.shape)
            return DrawBlock(items, mean=low + (high - low) * drawn, variance=spread)

        return draw

    def known(self, request: Request) -> Groups:
        """Return levels and scatters of annotators in units of the scale, and the parameters with R-hat and ESS."""
        found = self.draw(request)
        width, pick, n = self.ratings.scale[1] - self.ratings.scale[0], _picks(found, request), self.named.size
        every = np.column_stack([found.sd, found.coefficient])
        of = {"annotator_shift": found.shift[:, :n], "annotator_sd": np.sqrt(found.variance[:, :n])}
        dims = ("chain", "draw", "annotator")
        return {
            "posterior": {name: (dims, by_chain(width * v[pick].T, request.chains)) for name, v in of.items()},
            **of_parameters(every.reshape(request.chains, -1, every.shape[1])),
        }

    def coords(self) -> dict[str, Any]:
        """Return the names of annotators and parameters."""
        return {"annotator": self.annotators, "parameter": ["sd_rating", "sd_item", "sd_shift", *self.names]}

    def warn(self, found: LevelDraws) -> None:
        """Name annotators who hardly count, and groups of annotators who never meet."""
        weight = np.median(found.sd[:, :1] ** 2 / found.variance[:, : self.named.size], axis=0)
        if (weight < CARELESS).any():
            warn(
                f"the ratings of {shorten(self.annotators[weight < CARELESS])} say little about the items: each weighs "
                f"less than {CARELESS} of a typical annotator's, down to {weight.min():.2f}"
            )
        met = self.by_item @ self.rows[:, self.columns.shape[1] :]
        groups = sp.sparse.csgraph.connected_components(met.T @ met, directed=False)[1]
        if groups.any():
            apart = [shorten(self.annotators[groups == g]) for g in range(min(groups.max() + 1, 3))]
            warn(
                f"annotators {' and '.join(apart)} never rate the same items, not even through others: whether they or "
                "their items are higher is told by the prior and by predictions alone; have some items rated by both"
            )


def means_model(problem: Any) -> "pm.Model":
    """Build the same posterior in PyMC, or, of a problem that is no `Levels`, that of ratings by people who are alike.

    ``sd_rating``, ``sd_item`` and ``coefficient`` (column) are in units of the range; ``mean`` and ``variance`` (item),
    and with levels ``annotator_shift`` and ``annotator_sd`` (annotator), in those of the scale. Observed data are long,
    one entry of ``rating`` per annotation.
    """
    import pymc as pm
    import pytensor.tensor as pt

    ratings, (low, high) = problem.ratings, problem.ratings.scale
    levels, width = problem if isinstance(problem, Levels) else None, high - low
    coords: dict[str, Any] = {"item": ratings.items, "column": problem.names}
    coords |= {"annotator": problem.annotators, "annotation": np.arange(ratings.n_annotations)}
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


def _picks(found: LevelDraws, request: Request) -> NDArray[np.int64]:
    """Return the draw of the parameters that each draw of the items takes, shape (sample,)."""
    kept = len(found.sd) // request.chains
    return (
        np.arange(request.chains)[:, None] * kept + np.arange(request.draws) * kept // request.draws
    ).ravel()


def _sd_step(values: Floats, now: float, scale: float, rng: np.random.Generator) -> float:
    """Draw the variance of normal values, whose sd is half-normal: by that of a flat prior, accepted or not."""
    new = max(float(values @ values) / 2 / rng.standard_gamma((values.size - 1) / 2), 1e-12)
    return new if -rng.standard_exponential() < (now - new) / (2 * scale) else now
