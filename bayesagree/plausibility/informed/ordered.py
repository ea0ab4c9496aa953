"""Plausibilities of ordered labels as they would look if many had voted: neighbours are likely together.

Item i has a position u_i on the scale, about which the positions x_i that models predict (`places_on_scale`) tell, and
the plausibilities scatter around the mean of that position, whose neighbouring labels differ by a common step:

    u_i ~ N(x_i w, 1),   log(m_k+1(u) / m_k(u)) = level_k+1 - level_k + step u,   lambda_i ~ Dirichlet(S m(u_i)),

with w_j ~ N(0, 1), level_k ~ N(0, 1.5^2), log step ~ N(0, 1) and log S ~ N(3.5, 1): a model has one parameter, and
pairs of labels have none. u lies on a grid, so that given the parameters the likelihood of the votes and the
posterior of an item are sums over its places, of Dirichlet-multinomial and of Dirichlet distributions.

Source: Agresti, Analysis of Ordinal Categorical Data (2010), section 4.1 (adjacent-category logits), with a random
effect and overdispersion of each item; the mode by scores of items (Berndt et al., 1974), draws by independent
proposals around it (Tierney, 1994).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.annotations.predictions import Predictions
from bayesagree.inference.posterior import Drawer, Drawn, Request
from bayesagree.inference.streams import Seed, block_generators, map_blocks, stream_apart
from bayesagree.plausibility.informed import guards
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.covariates import Covariates, excluded_names
from bayesagree.plausibility.informed.fit import Fit
from bayesagree.plausibility.informed.sampler import draws_per_parameters

if TYPE_CHECKING:
    import pymc as pm

# Places of u: with steps of .3 sums over a normal distribution are right to 1e-12.
GRID = np.linspace(-6.0, 6.0, 41)
# Means and standard deviations; with all votes of five public sets log S is 2.3 to 4.4.
LEVEL, STEP, CONCENTRATION = (0.0, 1.5), (0.0, 1.0), (3.5, 1.0)
# Most steps of the climb to the mode, its last gain of log density, and the step of derivatives in prior sds.
STEPS, ENOUGH, EPSILON = 60, 1e-4, 1e-4
# Proposals per draw and before the first; half of them are independent, of a t distribution of so many degrees.
THIN, WARM_UP, TAILS = 4, 60, 5.0


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
        return np.ascontiguousarray(places_on_scale(self.predictions)[:, self.used])

    @property
    def used(self) -> NDArray[np.bool_]:
        """Whether a model is not excluded, shape (model,)."""
        return ~np.isin(self.predictions.models.astype(str), excluded_names(self.exclude))

    @cached_property
    def layout(self) -> Any:
        """Parameters: slopes, levels, log step, log concentration."""
        models, labels = self.predictions.models[self.used], self.labels.categories
        names = [*(f"position:{m}" for m in models), *(f"level:{c}" for c in labels), "log_step", "log_concentration"]
        priors = np.array([(0.0, 1.0)] * models.size + [LEVEL] * labels.size + [STEP, CONCENTRATION])
        return OrderedLayout(np.array(names), *np.ascontiguousarray(priors.T))

    @property
    def data(self) -> tuple[Any, Any, Any, Any, int]:
        """Positions and votes of the annotated items, as the kernels take them, and the numbers of votes that occur."""
        votes = self.votes
        known = np.diff(votes.start) > 0
        start = np.append(votes.start[:-1][known], votes.start[-1])
        return self.x[known], start, votes.label, votes.number, int(votes.number.max(initial=0))

    @cached_property
    def fit(self) -> Fit:
        """The mode of the parameters, and the information of the items about them there."""
        mean, sd, data = self.layout.mean, self.layout.sd, self.data

        def values(theta: Floats) -> Floats:
            out = np.empty(len(data[0]))
            add_log_likelihoods(theta, *data, out)
            return out

        def density(theta: Floats) -> float:
            return float(values(theta).sum() - 0.5 * np.square((theta - mean) / sd).sum())

        theta, here = mean, density(mean)
        root = np.diag(sd)
        for _ in range(STEPS):
            moves = EPSILON * np.diag(sd)
            scores = np.stack([(values(theta + d) - values(theta - d)) / (2 * d.max()) for d in moves])
            information = scores @ scores.T + np.diag(sd**-2)
            root = np.linalg.inv(np.linalg.cholesky(information)).T
            step = root @ (root.T @ (scores.sum(axis=1) - (theta - mean) / sd**2))
            while (new := density(theta + step)) < here and np.abs(step / sd).max() > 1e-6:
                step = step / 2
            if new > here:
                theta, here, before = theta + step, new, here
                if new - before < ENOUGH:
                    break
            else:
                break
        return Fit(theta, root, float(values(theta).sum()))

    def drawn(self, request: Request) -> Floats:
        """Draw the parameters of a request, once, shape (chain, draw, parameter)."""
        key = request.draws, request.chains, request.random_seed
        if key not in self._drawn:
            draws = request.draws // draws_per_parameters(self.votes, request.draws, "hmc")
            fit, data, prior = self.fit, self.data, (self.layout.mean, self.layout.sd)

            def chain(rng: Rng) -> Floats:
                return run_chain(rng, draws, fit.mode, fit.root, *prior, *data)

            random_seed = stream_apart(request.random_seed, "parameters")
            self._drawn[key] = np.stack(list(map_blocks(chain, block_generators(random_seed, request.chains))))
            guards.warn_of_chains(self.layout.names, self._drawn[key])
        return self._drawn[key]

    def prior_means(self, theta: Floats | None = None) -> Floats:
        """Return the mean of every item before its own votes, (item, category), by default at the parameters' mode."""
        theta = self.fit.mode if theta is None else theta
        shapes = np.empty((GRID.size, self.labels.categories.size))
        shapes_of(theta, self.x.shape[1], shapes)
        at = sp.special.softmax(-0.5 * (GRID - (self.x @ theta[: self.x.shape[1]])[:, None]) ** 2, axis=1)
        return at @ (shapes / shapes.sum(axis=1, keepdims=True))

    def held_out(self, random_seed: Seed) -> guards.HeldOut:
        """Return NaN: nothing is held out."""
        return guards.HeldOut(np.nan, np.nan)

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws a block of items given draws of the parameters."""
        thetas, x, n = self.drawn(request).reshape(-1, self.layout.mean.size), self.x, self.labels.categories.size
        votes, most, samples = self.votes, int(self.votes.number.max(initial=0)), request.samples

        def draw(items: slice, rng: np.random.Generator) -> Drawn:
            out = np.empty((items.stop - items.start, samples, n))
            start = votes.start[items.start : items.stop + 1]
            draw_items(rng, thetas, x[items], start, votes.label, votes.number, most, out)
            return Drawn(items, {"plausibility": out})

        return draw


def places_on_scale(predictions: Predictions) -> Floats:
    """Return where on the scale each model puts each item, standardised, shape (item, model).

    That is the mean label under its probabilities, else its label; an item without a prediction is in the middle.
    """
    covariates = Covariates.of(predictions)
    codes = np.arange(predictions.categories.size)
    place = np.where(covariates.hit < 0, np.nan, covariates.hit)
    if covariates.dense.shape[1]:
        place = covariates.dense[:, 1::2].astype(float) @ codes
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
        place = np.arange(n) - (n - 1) / 2
        share = pt.special.softmax(theta[first:-2] + pt.exp(theta[-2]) * GRID[:, None] * place, axis=1)
        shape = pt.exp(theta[-1]) * share
        at = pt.special.log_softmax(-0.5 * (GRID - (problem.x @ theta[:first])[:, None]) ** 2, axis=1)
        flat = np.ones((labels.items.size, n))
        drawn: Any = pm.Dirichlet("plausibility", flat, dims=("item", "category"))
        log_density = pt.log(drawn) @ (shape - 1).T - pt.gammaln(shape).sum(axis=1) + pt.gammaln(shape.sum(axis=1))
        pm.Potential("prior", pt.logsumexp(at + log_density, axis=1).sum())
        counts: Any = pm.Data("observed_votes", labels.counts(), dims=("item", "category"))
        pm.Multinomial("votes", n=counts.sum(axis=1), p=drawn, observed=counts, dims=("item", "category"))
    return model


@numba.njit(cache=True, nogil=True)
def shapes_of(theta, n_models, shapes):
    """Write the shapes S m(u) of every place of the grid, shape (place, category)."""
    n = shapes.shape[1]
    for g in range(GRID.size):
        for k in range(n):
            shapes[g, k] = theta[n_models + k] + math.exp(theta[-2]) * GRID[g] * (k - 0.5 * (n - 1))
        top, total = shapes[g].max(), 0.0
        for k in range(n):
            shapes[g, k] = math.exp(shapes[g, k] - top)
            total += shapes[g, k]
        for k in range(n):
            shapes[g, k] = math.exp(theta[-1]) * (shapes[g, k] / total + 1e-12)


@numba.njit(cache=True, nogil=True)
def vote_table(shapes, most):
    """Return log Gamma(s + n) / Gamma(s) of every shape and number of votes, and those of the sums of the shapes."""
    places, n = shapes.shape
    table, total = np.zeros((places, n, most + 1)), np.zeros((places, n * most + 1))
    for g in range(places):
        for k in range(n):
            for m in range(most):
                table[g, k, m + 1] = table[g, k, m] + math.log(shapes[g, k] + m)
        for m in range(n * most):
            total[g, m + 1] = total[g, m] + math.log(shapes[g].sum() + m)
    return table, total


@numba.njit(cache=True, nogil=True)
def place_weights(theta, x, label, number, table, total, weight):
    """Write the probability of each place given the votes, up to a factor; return the log of that of the votes."""
    centre, votes = 0.0, 0
    for j in range(x.size):
        centre += theta[j] * x[j]
    top, prior = -np.inf, 0.0
    for t in range(number.size):
        votes += number[t]
    nearest = min(max(centre, GRID[0]), GRID[-1])
    for g in range(GRID.size):
        own = 0.5 * (nearest - centre) ** 2 - 0.5 * (GRID[g] - centre) ** 2
        prior += math.exp(own)
        for t in range(number.size):
            own += table[g, label[t], number[t]]
        weight[g] = own - total[g, votes]
        top = max(top, weight[g])
    posterior = 0.0
    for g in range(GRID.size):
        weight[g] = math.exp(weight[g] - top)
        posterior += weight[g]
    return top + math.log(posterior / prior)


@numba.njit(cache=True, nogil=True)
def add_log_likelihoods(theta, x, start, label, number, most, out):
    """Write the log probability of each item's votes in their order; return their sum."""
    shapes, weight = np.empty((GRID.size, theta.size - x.shape[1] - 2)), np.empty(GRID.size)
    shapes_of(theta, x.shape[1], shapes)
    table, total = vote_table(shapes, most)
    value = 0.0
    for i in range(x.shape[0]):
        own = slice(start[i], start[i + 1])
        out[i] = place_weights(theta, x[i], label[own], number[own], table, total, weight)
        value += out[i]
    return value


@numba.njit(cache=True, nogil=True)
def run_chain(rng, draws, mode, root, mean, sd, x, start, label, number, most):
    """Draw the parameters by Metropolis and Hastings: proposals around the mode alternate with steps of a walk."""
    d = mode.size
    out, values = np.empty((draws, d)), np.empty(x.shape[0])
    z, away = rng.standard_normal(d), np.empty(d)
    density = -np.inf
    for sweep in range(-WARM_UP, draws * THIN + 1):
        apart = sweep % 2 == 0
        scale = math.sqrt(TAILS / (2 * rng.standard_gamma(TAILS / 2))) if apart else 2.4 / math.sqrt(d)
        new = np.empty(d)
        for j in range(d):
            new[j] = scale * rng.standard_normal() + (0.0 if apart else z[j])
        theta = mode + root @ new
        value = add_log_likelihoods(theta, x, start, label, number, most, values)
        for j in range(d):
            away[j] = (theta[j] - mean[j]) / sd[j]
            value -= 0.5 * away[j] ** 2
        gain = value - density
        if apart:  # both densities of the t distribution
            old, size = (z**2).sum(), (new**2).sum()
            gain += 0.5 * (TAILS + d) * (math.log1p(size / TAILS) - math.log1p(old / TAILS))
        if -rng.standard_exponential() < gain:
            z, density = new, value
        if sweep > 0 and sweep % THIN == 0:
            out[sweep // THIN - 1] = mode + root @ z
    return out


@numba.njit(cache=True, nogil=True)
def draw_items(rng, thetas, x, start, label, number, most, out):
    """Draw the plausibilities of every item given each draw of the parameters, shape (item, sample, category)."""
    each, n = out.shape[1] // thetas.shape[0], out.shape[2]
    shapes, weight = np.empty((GRID.size, n)), np.empty(GRID.size)
    for s in range(thetas.shape[0]):
        shapes_of(thetas[s], x.shape[1], shapes)
        table, total = vote_table(shapes, most)
        for i in range(x.shape[0]):
            own = slice(start[i], start[i + 1])
            place_weights(thetas[s], x[i], label[own], number[own], table, total, weight)
            mass = weight.sum()
            for r in range(s * each, (s + 1) * each):
                left, g = rng.random() * mass - weight[0], 0
                while left > 0 and g < GRID.size - 1:
                    g += 1
                    left -= weight[g]
                drawn = out[i, r]
                drawn[:] = shapes[g]
                for t in range(start[i], start[i + 1]):
                    drawn[label[t]] += number[t]
                for k in range(n):
                    drawn[k] = rng.standard_gamma(drawn[k])
                drawn /= max(drawn.sum(), 1e-300)
