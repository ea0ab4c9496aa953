"""The informed Dirichlet posterior as a PyMC model: the same priors and likelihood, sampled jointly."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.covariates import Excluded
from bayesagree.plausibility.informed.family import ENTROPY_CENTRE, ENTROPY_SCALE, FLOOR
from bayesagree.plausibility.informed.gold import GoldProblem
from bayesagree.plausibility.informed.ordered import GRID, OrderedProblem, scale_of
from bayesagree.plausibility.informed.prior import SHAPE_NAMES, InformedPrior

if TYPE_CHECKING:
    import pymc as pm


def kind_of(labels: Labels, prior: InformedPrior | None) -> type[InformedProblem | OrderedProblem]:
    """Return the form: of three labels or more that are stated to have an order, the ordered one has its own prior."""
    ordered = labels.ordered and labels.categories.size > 2 and prior is None
    return OrderedProblem if ordered else InformedProblem


def informed_dirichlet_model(
    labels: Labels,
    predictions: Predictions,
    *,
    exclude: Excluded = None,
    prior: InformedPrior | None = None,
    log_mean: Callable[[Any], Any] | None = None,
) -> "pm.Model":
    """PyMC model of `informed_dirichlet`.

    Change a prior or join a model here. The mixture over open and clear items is summed out.

    Parameters
    ----------
    labels
        Single labels of some or all items of the predictions.
    predictions
        Models whose output tells what items look like.
    exclude
        Names of models that are left out of the covariates.
    prior
        By default `InformedPrior()`.
    log_mean
        Function, called inside the model, of what the predictions say of an item's mean plausibilities, logarithms up
        to a constant (item, category), that returns them changed: by covariates of the items, say. Labels with an
        order count as without.

    Returns
    -------
    pymc.Model
        Free variables ``parameters`` (parameter) and ``plausibility`` (item, category); observed ``votes`` (item,
        category). ``observed_votes`` and ``covariates``, the predictions by item, column and category, are data.

    References
    ----------
    As `informed_dirichlet`; the module of that function has the equations.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 1], [0, 2]], labels=["no", "yes"])
    >>> models = Predictions.from_labels({"A": ["no", "yes"]})
    >>> [v.name for v in informed_dirichlet_model(votes, models).free_RVs]
    ['parameters', 'plausibility']
    """
    kind = kind_of(labels, prior) if log_mean is None else InformedProblem
    return model_of(kind.of(labels, predictions, exclude, prior), log_mean)


def model_of(problem: Any, log_mean: Callable[[Any], Any] | None = None) -> "pm.Model":
    """Build the model of a problem: of labels of either form, or of gold."""
    import pymc as pm

    layout, dims = problem.layout, ("item", "category")
    labels = problem.annotations
    coords = {"item": labels.items, "category": labels.categories, "parameter": layout.names}
    with pm.Model(coords=coords) as model:
        parameters: Any = pm.Normal("parameters", layout.mean, layout.sd, dims="parameter")
        if isinstance(problem, GoldProblem):
            rows, truth = problem.known_items
            odds: Any = pm.math.dot(rows, parameters)
            pm.Categorical("gold", logit_p=odds, observed=truth)
            return model
        # Uniform in density, so that the potential alone is the prior of the plausibilities.
        plausibility = pm.Dirichlet("plausibility", np.ones(problem.counts.shape), dims=dims)
        of_form: Any = _log_ordered if isinstance(problem, OrderedProblem) else partial(_log_nominal, log_mean)
        pm.Potential("prior", of_form(problem, parameters, plausibility).sum())
        counts: Any = pm.Data("observed_votes", problem.counts, dims=dims)
        pm.Multinomial("votes", n=counts.sum(axis=1), p=plausibility, observed=counts, dims=dims)
    return model


def _log_nominal(
    log_mean: Callable[[Any], Any] | None, problem: InformedProblem, theta: Any, plausibility: Any
) -> Any:
    """Return the log density of each item's plausibilities; the mixture of open and clear items is summed out."""
    import pymc as pm
    import pytensor.tensor

    pt: Any = pytensor.tensor  # whose own types are too wide for arithmetic
    slopes, shape = theta[: -len(SHAPE_NAMES)], theta[-len(SHAPE_NAMES) :]
    n_items, n_labels = problem.counts.shape
    model: Any = pm.modelcontext(None)
    model.add_coord("column", np.arange(problem.columns.shape[2]))
    dims = ("item", "category", "column")
    covariate: Any = pm.Data("covariates", problem.columns.swapaxes(0, 1), dims=dims)
    said = covariate @ slopes
    said = said if log_mean is None else log_mean(said)
    mean = (1 - FLOOR) * pt.special.softmax(said, axis=1) + FLOOR / n_labels
    h = ENTROPY_SCALE * (-(mean * pt.log(mean)).sum(axis=1) / max(np.log(n_labels), 1e-9) - ENTROPY_CENTRE)
    best = (1 - FLOOR) * pt.special.softmax(pt.exp(shape[7]) * said, axis=1) + FLOOR / n_labels
    of_open = pt.zeros((n_items, 2)) + pt.stack([0.0, shape[8]]) - pt.log1pexp(shape[8])
    log_weight = pt.concatenate([of_open, (shape[2] + shape[3] * h)[:, None] + pt.log(mean)], axis=1)
    blur, clear = pt.sigmoid(shape[5]), pt.exp(shape[4])
    open_shape = pt.exp(shape[0] + shape[1] * h)[:, None, None] * mean[:, None, :]
    best_shape = pt.zeros_like(open_shape) + pt.exp(shape[6]) / n_labels
    clear_shape = clear * ((1 - blur) * np.eye(n_labels)[None] + blur * mean[:, None, :])
    log_density = _log_dirichlet(plausibility, pt.concatenate([open_shape, best_shape, clear_shape], axis=1))
    known = pt.log(n_labels * best[pt.arange(n_items), pt.argmax(plausibility, axis=1)])
    log_density = pt.inc_subtensor(log_density[:, 1], known)
    return pt.logsumexp(log_weight + log_density, axis=1) - pt.logsumexp(log_weight, axis=1)


def _log_ordered(problem: OrderedProblem, theta: Any, plausibility: Any) -> Any:
    """Return the log density of each item's plausibilities; u is summed out over its grid."""
    import pytensor.tensor

    pt, first = pytensor.tensor, problem.x.shape[1]
    step = pt.exp(theta[-2]) * GRID[:, None] * scale_of(problem.counts.shape[1])
    shape = pt.exp(theta[-1]) * pt.special.softmax(theta[first:-2] + step, axis=1)
    at = pt.special.log_softmax(-0.5 * (GRID - (problem.x @ theta[:first])[:, None]) ** 2, axis=1)
    return pt.logsumexp(at + _log_dirichlet(plausibility, shape), axis=1)


def _log_dirichlet(p: Any, shape: Any) -> Any:
    """Return the log density of plausibilities (item, label) under each shape ([item,] part, label)."""
    import pytensor.tensor

    pt: Any = pytensor.tensor
    powers = ((shape - 1) * pt.log(p)[:, None, :]).sum(axis=-1)
    return powers - pt.gammaln(shape).sum(axis=-1) + pt.gammaln(shape.sum(axis=-1))
