"""Plausibilities of ordered labels as they would look if many had voted: neighbours are likely together.

Item i has a position u_i on the scale, about which the positions x_i that models predict (`places_on_scale`) tell, and
the plausibilities scatter around the mean of that position, whose neighbouring labels differ by a common step:

    u_i ~ N(x_i w, 1),   log(m_k+1(u) / m_k(u)) = level_k+1 - level_k + step u,   lambda_i ~ Dirichlet(S m(u_i)),

with w_j ~ N(0, 1), level_k ~ N(0, 1.5^2), log step ~ N(0, 1) and log S ~ N(3.5, 1): a model has one parameter, and
pairs of labels have none. u lies on a grid, so that given the parameters the likelihood of the votes and the
posterior of an item are sums over its places, of Dirichlet-multinomial and of Dirichlet distributions.

Source: Agresti, Analysis of Ordinal Categorical Data (2010), section 4.1 (adjacent-category logits), with a random
effect and overdispersion of each item.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.inference.posterior import Drawer, Drawn, Request
from bayesagree.inference.streams import Seed, one_blas_thread, stream_apart
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.family import pick, rising, shares, softmax
from bayesagree.plausibility.informed.fit import ENOUGH, ENOUGH_TO_BEGIN, Fit, by_cells, chains_of, climb

if TYPE_CHECKING:
    import pymc as pm

# Places of u: with steps of .5 sums over a normal distribution are right to 1e-8.
GRID = np.linspace(-6.0, 6.0, 25)
# Means and standard deviations; with all votes of five public sets log S is 2.3 to 4.4.
LEVEL, STEP, CONCENTRATION = (0.0, 1.5), (0.0, 1.0), (3.5, 1.0)


class Voted(NamedTuple):
    """Annotated items: positions (item, model), votes (item, label), and how many items are like each."""

    x: Floats
    counts: NDArray[np.int64]
    number: Floats


class OrderedLayout(NamedTuple):
    """Names, prior means and standard deviations of the parameters."""

    names: NDArray[np.str_]
    mean: Floats
    sd: Floats


@dataclass(frozen=True, eq=False)
class OrderedProblem(InformedProblem):
    """Labels and predictions on the same items."""

    @cached_property
    def x(self) -> Floats:
        """Positions of the models that are not excluded, shape (item, model)."""
        return places_on_scale(self.covariates, self.labels.categories.size)

    @cached_property
    def layout(self) -> Any:
        """Parameters: slopes, levels, log step, log concentration."""
        labels, models = self.labels.categories, self.covariates.names
        names = [name.replace("top_label", "position", 1) for name in models if name.startswith("top_label:")]
        names += [*(f"level:{c}" for c in labels), "log_step", "log_concentration"]
        priors = np.array([(0.0, 1.0)] * self.x.shape[1] + [LEVEL] * labels.size + [STEP, CONCENTRATION])
        return OrderedLayout(np.array(names), *np.ascontiguousarray(priors.T))

    @property
    def counts(self) -> NDArray[np.int64]:
        """Votes that are about their items, shape (item, label)."""
        return self.items.counts

    @cached_property
    def learnt(self) -> "Voted":
        """The annotated items."""
        return self.voted(self.counts)

    def voted(self, counts: NDArray[np.int64]) -> "Voted":
        """Return positions and votes of the annotated items, of equal ones one, and how many they are."""
        both: Any = np.concatenate([self.x, counts], axis=1)[counts.any(axis=1)]
        rows, number = np.unique(both, axis=0, return_counts=True)
        first = self.x.shape[1]
        return Voted(rows[:, :first], rows[:, first:].astype(np.int64), number.astype(float))

    def climbed(self, voted: "Voted", enough: float) -> Fit:
        """Climb to the mode of the parameters, and take the information of the items about them there."""

        def values(theta: Floats) -> Floats:
            return by_cells(lambda some: log_votes(some, *voted[:2]), theta, len(voted.x) * GRID.size)

        return climb(values, self.layout.mean, self.layout.sd, voted.number, enough)

    def learn(self, counts: NDArray[np.int64]) -> Floats:
        """Return the parameters under which votes (item, label) are most probable, roughly."""
        return self.climbed(self.voted(counts), ENOUGH_TO_BEGIN).mode

    def log_votes(self, mode: Floats, item: NDArray[Any], counts: NDArray[np.int64]) -> Floats:
        """Return the log probability of votes (row, label) of items (row,) in one order."""
        return log_votes(mode[None], self.x[item], counts)[:, 0]

    @cached_property
    def fit(self) -> Fit:
        """The mode of the parameters, and the information of the items about them there."""
        return self.climbed(self.learnt, ENOUGH)

    def density(self, theta: Floats) -> tuple[Floats, Floats]:
        """Log posterior density (vector,) of parameters (vector, parameter), and its gradient (vector, parameter)."""
        x, counts, number = self.learnt
        away = (theta - self.layout.mean) / self.layout.sd

        def found(some: Floats) -> Floats:
            log_weight, shape = place_weights(some, x, counts)
            height = np.logaddexp.reduce(log_weight, axis=1)
            weight = np.exp(log_weight - height[:, None]) * number[:, None, None]
            prior = np.exp(log_places(some, x)) * number[:, None, None]
            by_slope = x.T @ np.tensordot(GRID, weight - prior, (0, 1))
            by_shape = by_shapes(shape, counts, weight)
            size = shape.sum(axis=1, keepdims=True)
            mean = shape / size
            by_mean = mean * (by_shape - (mean * by_shape).sum(axis=1, keepdims=True)) * size
            by_step = np.exp(some[:, -2]) * (np.einsum("g,glv,l->v", GRID, by_mean, scale_of(counts.shape[1])))
            by_size = (by_shape * shape).sum(axis=(0, 1))
            return np.concatenate([[number @ height], by_slope, by_mean.sum(axis=0), [by_step, by_size]])

        out = by_cells(found, theta, len(x) * GRID.size)
        return out[0] - 0.5 * np.square(away).sum(axis=1), out[1:].T - away / self.layout.sd

    def parameters(self, draws: int, chains: int, random_seed: Seed) -> Floats:
        """Draw the parameters, shape (chain, draw, parameter)."""
        rng = np.random.default_rng(stream_apart(random_seed, "parameters"))
        with one_blas_thread():
            return chains_of(self.density, [self.fit], draws, chains, rng)

    def prior_means(self, theta: Floats | None = None) -> Floats:
        """Return the mean of every item before its own votes, (item, category), by default at the parameters' mode."""
        theta = self.fit.mode if theta is None else theta
        log_weight, shape = place_weights(theta[None], self.x, np.zeros_like(self.counts))
        return np.exp(log_weight[..., 0]) @ (shape / shape.sum(axis=1, keepdims=True))[..., 0]

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws a block of items given draws of the parameters."""
        theta = self.drawn(request).reshape(-1, self.layout.mean.size)
        each = request.samples // len(theta)

        def draw(items: slice, rng: np.random.Generator) -> Drawn:
            return Drawn(
                items, {"plausibility": draw_ordered(rng, theta, self.x[items], self.counts[items], each)}
            )

        return draw


def log_votes(theta: Floats, x: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return the log probability of the votes of each item in one order, shape (item, vector)."""
    return np.logaddexp.reduce(place_weights(theta, x, counts)[0], axis=1)


def place_weights(theta: Floats, x: Floats, counts: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the log probability of each place and the votes in one order, and the shapes S m(u) of each place.

    Parameters (vector, parameter), positions (item, model), votes (item, label); shapes (item, place, vector) and
    (place, label, vector).
    """
    n_labels = counts.shape[1]
    mean = softmax(
        theta[:, x.shape[1] : -2].T + np.multiply.outer(GRID, np.outer(scale_of(n_labels), np.exp(theta[:, -2])))
    )
    shape = np.exp(theta[:, -1]) * (mean + 1e-12)
    rows, row = np.unique(counts, axis=0, return_inverse=True)
    which, label = np.nonzero(rows)
    flat = shape.swapaxes(0, 1).reshape(n_labels, -1)
    votes = np.zeros((len(rows), flat.shape[1]))
    np.add.at(votes, which, rising(flat[label], rows[which, label])[0])
    votes -= rising(np.tile(shape.sum(axis=1).ravel(), (len(rows), 1)), rows.sum(axis=1))[0]
    return log_places(theta, x) + votes.reshape(len(rows), GRID.size, -1)[row.ravel()], shape


def by_shapes(shape: Floats, counts: NDArray[np.int64], weight: Floats) -> Floats:
    """Return the derivative by the shapes (place, label, vector) of votes whose places have weights."""
    rows, row = np.unique(counts, axis=0, return_inverse=True)
    which, label = np.nonzero(rows)
    summed = ((row.ravel() == np.arange(len(rows))[:, None]) @ weight.reshape(len(row), -1)).reshape(
        len(rows), -1
    )
    flat = shape.swapaxes(0, 1).reshape(counts.shape[1], -1)
    out = np.zeros(flat.shape)
    np.add.at(out, label, rising(flat[label], rows[which, label])[1] * summed[which])
    out -= (rising(np.tile(shape.sum(axis=1).ravel(), (len(rows), 1)), rows.sum(axis=1))[1] * summed).sum(axis=0)
    return out.reshape(counts.shape[1], GRID.size, -1).swapaxes(0, 1)


def log_places(theta: Floats, x: Floats) -> Floats:
    """Return the log probability of each place before the votes, shape (item, place, vector)."""
    at: Any = -0.5 * np.square(GRID[:, None] - (x @ theta[:, : x.shape[1]].T)[:, None])
    return at - np.logaddexp.reduce(at, axis=1)[:, None]


def scale_of(n_labels: int) -> Floats:
    """Return the places of labels, one apart, around zero."""
    return np.arange(float(n_labels)) - (n_labels - 1) / 2


def draw_ordered(rng: Rng, theta: Floats, x: Floats, counts: NDArray[np.int64], each: int) -> Floats:
    """Draw plausibilities (item, sample, label) given votes, `each` times at every parameter vector, side by side."""
    log_weight, shape = place_weights(theta, x, counts)
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    place = pick(rng, weight[:, :-1], each)
    drawn = shares(rng, shape[place, :, np.arange(len(theta))[:, None]] + counts[:, None, None])
    return drawn.reshape(len(x), -1, counts.shape[1])


def places_on_scale(covariates: Covariates, n_labels: int) -> Floats:
    """Return where on the scale each model puts each item, standardised, shape (item, model).

    That is the mean label under its probabilities, else its label; an item without a prediction is in the middle.
    """
    place = np.where(covariates.hit < 0, np.nan, covariates.hit)
    if covariates.dense.shape[1]:
        place = covariates.dense[:, 1::2].astype(float) @ np.arange(n_labels)
    centred = np.nan_to_num(place - np.nanmean(place, axis=0))
    sd = centred.std(axis=0)
    return centred / np.where(sd > 0, sd, 1.0)


def ordered_model(problem: OrderedProblem) -> "pm.Model":
    """Build the same posterior in PyMC; u is summed out over its grid."""
    import pymc as pm
    import pytensor.tensor

    pt: Any = pytensor.tensor
    labels, (names, mean, sd), n = problem.labels, problem.layout, problem.labels.categories.size
    coords = {"item": labels.items, "category": labels.categories, "parameter": names}
    with pm.Model(coords=coords) as model:
        theta: Any = pm.Normal("parameters", mean, sd, dims="parameter")
        first = problem.x.shape[1]
        share = pt.special.softmax(theta[first:-2] + pt.exp(theta[-2]) * GRID[:, None] * scale_of(n), axis=1)
        shape = pt.exp(theta[-1]) * share
        at = pt.special.log_softmax(-0.5 * (GRID - (problem.x @ theta[:first])[:, None]) ** 2, axis=1)
        flat = np.ones((labels.items.size, n))
        drawn: Any = pm.Dirichlet("plausibility", flat, dims=("item", "category"))
        log_density = (
            pt.log(drawn) @ (shape - 1).T - pt.gammaln(shape).sum(axis=1) + pt.gammaln(shape.sum(axis=1))
        )
        pm.Potential("prior", pt.logsumexp(at + log_density, axis=1).sum())
        counts: Any = pm.Data("observed_votes", problem.counts, dims=("item", "category"))
        pm.Multinomial("votes", n=counts.sum(axis=1), p=drawn, observed=counts, dims=("item", "category"))
    return model
