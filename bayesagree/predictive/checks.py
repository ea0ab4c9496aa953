"""Checks of a posterior in the groups of ArviZ: prior and posterior predictive draws, log likelihood, log prior.

    tree = with_log_likelihood(common_agreement(ratings, keep_item_means=True), ratings)
    az.loo(tree)                                              left out item by item
    tree = with_posterior_predictive(tree, ratings, random_seed=1)
    az.plot_ppc_dist(tree)

Predictive draws come from the package's PyMC models by PyMC's own functions. Replicates and observed data share names
and units: ``label_index``, the position of a category, or ``rating`` in units of the scale, by ``annotation``.

The log likelihood is that of all annotations of an item with the item's own parameters integrated out: leaving out
single annotations where an item has three to five of them is unreliable. Shared parameters stay: Phi and the prior of
the item means, prevalence and confusion.
"""

from typing import Any

import numpy as np
import xarray as xr

from bayesagree._types import SAMPLE
from bayesagree.agreement.predictive import PREDICTIVE as COMMON_AGREEMENT
from bayesagree.annotations import Annotations, Ratings
from bayesagree.errors import InputError, positive_int
from bayesagree.inference.predictive import PredictiveRecord, Settings, prior_draws, replicate
from bayesagree.inference.results import check_size, result_tree, settings_of
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.registry import POSTERIORS

# What each takes, and the functions of its model.
_MODELS: dict[str, tuple[type, PredictiveRecord]] = {
    **{name: (r.annotations, r.predictive) for name, r in POSTERIORS.items() if r.predictive},
    "common_agreement": (Ratings, COMMON_AGREEMENT),
}


def with_log_likelihood(result: xr.DataTree, annotations: Annotations) -> xr.DataTree:
    """Add the log likelihood of each item, for `arviz.loo`, `arviz.compare` and `arviz.psense`.

    Parameters
    ----------
    result
        Result of `dirichlet`, `dawid_skene` or `common_agreement`.
    annotations
        What the result was made from.

    Returns
    -------
    DataTree
        The result with group ``log_likelihood``: ``annotations`` (chain, draw, item), all annotations of the item, the
        item's own parameters integrated out. Where items share no parameter (dirichlet) it is the same
        for every draw: its sum is the log marginal likelihood, leaving an item out tells of the prior alone, and
        `arviz.loo` refuses it. For common_agreement and dawid_skene also group ``log_prior``,
        on scales on which no prior is flat: precision p (exponential), logit m (logistic), t (Lomax); Dirichlet and
        Beta densities; log-normals of the logarithm.

    Raises
    ------
    InputError
        A result without a sampling model (of rankings, of `normal_inverse_gamma`), with a reliability other than 1 (a
        likelihood to a power predicts nothing: see `reliability_curve`), or without the draws that are needed.
    SizeError
        A table too large for memory.

    Examples
    --------
    >>> from bayesagree import common_agreement
    >>> ratings = Ratings.from_matrix([[4, 4, 5], [1, 2, 1], [3, 3, 4]], scale=(1, 5), step=1)
    >>> tree = with_log_likelihood(common_agreement(ratings, draws=100, random_seed=1), ratings)
    >>> dict(tree["log_likelihood"].sizes), sorted(tree["log_prior"].data_vars)
    ({'chain': 4, 'draw': 100, 'item': 3}, ['mean_location', 'mean_spread', 'phi'])
    """
    annotations = as_annotations(annotations)
    posterior = result["posterior"].to_dataset()
    sizes = {"chain": posterior.sizes["chain"], "draw": posterior.sizes["draw"]}
    record, settings = _record(result, annotations)
    if settings.get("reliability", 1) != 1:
        raise InputError(
            f"reliability={settings['reliability']!r} raises the likelihood to a power, which is no probability of "
            "annotations; use reliability=1 here and reliability_curve to compare reliabilities"
        )
    check_size(sizes | {"item": annotations.items.size}, 8, "use fewer draws")
    found = record.item_log_likelihood(annotations, posterior, settings)
    values = np.broadcast_to(found.log_likelihood, (sizes["chain"] * sizes["draw"], found.items.size))
    likelihood = _by_draw("annotations", "item", values, posterior).assign_coords(item=found.items)
    groups = {"log_likelihood": likelihood}
    if log_prior := record.log_prior(annotations, posterior, settings):
        of_draw = {n: (SAMPLE, v.reshape(*sizes.values())) for n, v in log_prior.items()}
        groups["log_prior"] = xr.Dataset(of_draw)
    return _with(result, **groups)


def with_posterior_predictive(
    result: xr.DataTree, annotations: Annotations, *, random_seed: Seed = None
) -> xr.DataTree:
    """Add replicated annotations: the same annotators annotate the same items again, once for every draw.

    Parameters
    ----------
    result, annotations
        As `with_log_likelihood`; the reliability may be any, for annotators are drawn from the plausibilities.
    random_seed
        Same seed, same replicates.

    Returns
    -------
    DataTree
        The result with groups ``posterior_predictive`` and ``observed_data``, one-dimensional: ``label_index``
        (annotation) for labels; ``rating`` (annotation).

    Raises
    ------
    InputError
        A result without a sampling model, or without the draws that are needed (full plausibilities, confusion
        matrices, item means).
    SizeError
        Replicates too large for memory.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 1], [0, 4]], labels=["no", "yes"])
    >>> tree = with_posterior_predictive(dirichlet(votes, prior=1.0, random_seed=1), votes, random_seed=1)
    >>> dict(tree["posterior_predictive"].sizes)
    {'chain': 4, 'draw': 1000, 'annotation': 8}
    """
    annotations = as_annotations(annotations)
    posterior = result["posterior"].to_dataset()
    sizes = {dim: posterior.sizes[dim] for dim in SAMPLE}
    record, settings = _record(result, annotations)
    observed = record.observed(annotations)
    # PyMC keeps each replicate, stacks them, and its stack is reshaped and stored.
    check_size(sizes | {observed.dim: np.size(observed.values)}, 4 * 8, "use fewer draws")
    graph = record.model(annotations, settings)
    drawn = replicate(graph, record.variables(annotations, posterior, settings), observed.name, random_seed)
    drawn = record.to_scale(annotations, {observed.name: drawn})[observed.name]
    return _with(
        result,
        posterior_predictive=_by_draw(observed.name, observed.dim, drawn, posterior),
        observed_data=xr.Dataset({observed.name: (observed.dim, observed.values)}),
    )


def prior_predictive(
    annotations: Annotations, *, plausibility: str, draws: int = 250, random_seed: Seed = None, **options: Any
) -> xr.DataTree:
    """Draw parameters from the prior, and annotations by the same annotators of the same items from them.

    Parameters
    ----------
    annotations
        The (item, annotator) pairs; the annotations themselves are only kept as observed data.
    plausibility
        ``"dirichlet"``, ``"dawid_skene"`` or
        ``"common_agreement"``.
    draws
        Number of draws, in one chain.
    random_seed
        Same seed, same draws.
    options
        Of the prior: `prior`, `shape`, `variant`, `item_mean` as the posterior of that name takes them.

    Returns
    -------
    DataTree
        Groups ``prior``, ``prior_predictive`` and ``observed_data``, variables as in `with_posterior_predictive`.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 1], [0, 4]], labels=["no", "yes"])
    >>> tree = prior_predictive(votes, plausibility="dirichlet", prior=1.0, random_seed=1)
    >>> dict(tree["prior_predictive"].sizes)
    {'chain': 1, 'draw': 250, 'annotation': 8}
    """
    if plausibility not in _MODELS:
        raise InputError(
            f"plausibility={plausibility!r} has no prior predictive; it is one of {', '.join(_MODELS)}"
        )
    kind, record = _MODELS[plausibility]
    annotations = as_annotations(annotations, (kind,))
    graph, observed = record.model(annotations, options), record.observed(annotations)
    drawn = prior_draws(graph, observed.name, positive_int(draws, "draws"), random_seed)
    drawn = {name: values[None] for name, values in record.to_scale(annotations, drawn).items()}
    values = drawn.pop(observed.name)
    of_variable = {name: graph.named_vars_to_dims.get(name) or () for name in drawn}
    groups: Any = {
        "prior": {n: (("chain", "draw", *of_variable[n]), value) for n, value in drawn.items()},
        "prior_predictive": {observed.name: (("chain", "draw", observed.dim), values)},
        "observed_data": {observed.name: ((observed.dim,), observed.values)},
    }
    coords = {name: np.asarray(values) for name, values in graph.coords.items() if name != observed.dim}
    settings = {"plausibility": plausibility} | options
    return result_tree(
        groups, coords, model=plausibility, engine="prior", random_seed=random_seed, settings=settings
    )


def _record(result: xr.DataTree, annotations: Annotations) -> tuple[PredictiveRecord, Settings]:
    """Return the functions of the model of a result, and its settings."""
    name, settings = str(result.attrs.get("model", "")), settings_of(result)
    if name in POSTERIORS and name not in _MODELS:
        raise InputError(
            f"{POSTERIORS[name].title} has no sampling model of annotations here; use a posterior with one, or "
            "reliability_curve for its predictions"
        )
    if name not in _MODELS or "certainty" in result:  # of evaluate
        raise InputError(f"this is no result of {', '.join(_MODELS)}")
    kind, record = _MODELS[name]
    as_annotations(annotations, (kind,))
    if settings.get("n_gold"):
        raise InputError("predictive checks are for results without gold; fit without it")
    return record, settings


def _by_draw(name: str, dim: str, values: Any, posterior: xr.Dataset) -> xr.Dataset:
    shape = posterior.sizes["chain"], posterior.sizes["draw"], -1
    return xr.Dataset({name: (("chain", "draw", dim), values.reshape(shape))})


def _with(tree: xr.DataTree, **groups: xr.Dataset) -> xr.DataTree:
    """Return a copy of the tree with more groups, their chains and draws named as those of the posterior."""
    new = tree.copy()
    names = dict(tree["posterior"].to_dataset().coords)
    for name, data in groups.items():
        coords = {dim: names[dim] for dim in SAMPLE if dim in data.dims}
        new[name] = xr.DataTree(data.assign_coords(coords).assign_attrs(tree.attrs))
    return new
