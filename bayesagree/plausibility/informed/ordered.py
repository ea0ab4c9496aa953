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

from functools import cached_property

import numpy as np
from scipy.special import softmax

from bayesagree._types import Array, Floats, Integers, Places, Rng
from bayesagree.inference.kernel_draws import categories, log_dirichlets
from bayesagree.inference.slices import Likelihoods
from bayesagree.plausibility.informed._problem import VoteFrame
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.family import Votes, rising, rising_alike
from bayesagree.plausibility.informed.frame import Parameters, by_cells

# Places of u: with steps of .5 sums over a normal distribution are right to 1e-8.
GRID = np.linspace(-6.0, 6.0, 25)
# Means and standard deviations; with all votes of five public sets log S is 2.3 to 4.4.
LEVEL, STEP, CONCENTRATION = (0.0, 1.5), (0.0, 1.0), (3.5, 1.0)


class OrderedProblem(VoteFrame):
    """Labels in an order and predictions on the same items."""

    @cached_property
    def x(self) -> Floats:
        """Positions of the models that are not excluded, shape (item, model)."""
        return places_on_scale(self.covariates, self.annotations.categories.size)

    @cached_property
    def layout(self) -> Parameters:
        """Slopes of positions, levels, log step, log concentration."""
        models = [name.split(":", 1) for name in self.covariates.names]
        every = {f"position:{model}": (0.0, 1.0) for what, model in models if what == "top_label"}
        every |= {f"level:{label}": LEVEL for label in self.annotations.categories}
        return Parameters.of(every | {"log_step": STEP, "log_concentration": CONCENTRATION})

    @property
    def said(self) -> Floats:
        """Positions of all items."""
        return self.x

    def of_votes(self, item: Places, counts: Integers) -> Likelihoods:
        """Return the log probability of votes (row, label) of items (row,) in one order, shape (row, vector)."""
        x = self.x[item]

        def values(theta: Floats) -> Floats:
            weight, log_votes, _ = place_weights(theta, x, counts)
            return log_votes + np.log(weight.sum(axis=1))

        return by_cells(values, len(x) * GRID.size)

    def draw_items(self, rng: Rng, theta: Floats, block: Places, each: int, *, best: bool) -> Array:
        """Draw plausibilities (item, sample, label), `each` times at every parameter vector, side by side."""
        counts = self.counts[block]
        weight, _, shape = place_weights(theta, self.x[block], counts)
        place = categories(rng, weight.swapaxes(1, 2), each)
        vector = np.repeat(np.arange(len(theta)), each)
        return np.exp(log_dirichlets(rng, shape[place, :, vector] + counts[:, None]))


def place_weights(theta: Floats, x: Floats, counts: Integers) -> tuple[Floats, Floats, Floats]:
    """Return weights of places given the votes, and what their sums lack as logs of the votes' probability; S m(u).

    Parameters (vector, parameter), positions (item, model), votes (item, label) in one order; shapes (item, place,
    vector), (item, vector) and (place, label, vector).
    """
    first, n_labels = x.shape[1], counts.shape[1]
    step = np.multiply.outer(GRID, np.outer(scale_of(n_labels), np.exp(theta[:, -2])))
    shape = np.exp(theta[:, -1]) * (softmax(theta[:, first:-2].T + step, axis=1) + 1e-12)
    rows, row = np.unique(counts, axis=0, return_inverse=True)
    votes, flat = Votes.of(rows), shape.swapaxes(0, 1).reshape(n_labels, -1)
    log_votes = votes.by_item(rising(flat[votes.place // len(rows)], votes.number))
    log_votes -= rising_alike(shape.sum(axis=1).ravel(), votes.total)
    log_votes = log_votes.reshape(len(rows), GRID.size, -1)
    top = log_votes.max(axis=1)
    weight = np.exp(-0.5 * np.square(GRID[:, None] - (x @ theta[:, :first].T)[:, None]))
    weight /= weight.sum(axis=1, keepdims=True)
    weight *= np.exp(log_votes - top[:, None])[row.ravel()]
    return weight, top[row.ravel()], shape


def scale_of(n_labels: int) -> Floats:
    """Return the places of labels, one apart, around zero."""
    return np.arange(float(n_labels)) - (n_labels - 1) / 2


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
