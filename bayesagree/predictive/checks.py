"""Checks of a posterior as ArviZ knows them: prior and posterior predictive draws, log likelihood, log prior.

    tree = with_log_likelihood(common_agreement(ratings, keep_item_means=True), ratings)
    az.loo(tree)                                              left out item by item
    tree = with_posterior_predictive(tree, ratings, seed=1)
    az.plot_ppc_dist(tree)

The log likelihood is that of all annotations of an item with the item's own parameters integrated out
(`_item_likelihood` says how): leaving out single annotations where an item has three to five of them is unreliable.
The package's PyMC models serve the same purposes with PyMC's own functions, annotation by annotation.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import MAX_BYTES, check_size, result_tree, settings_of
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.errors import InputError, positive_int
from bayesagree.plausibility.normal_inverse_gamma.posterior import NormalInverseGammaPrior
from bayesagree.predictive import _item_likelihood as likelihood
from bayesagree.predictive import _replicates as replicates
from bayesagree.predictive._log_prior import common_agreement_prior, dawid_skene_prior
from bayesagree.subjective.group_model import GroupCounts
from bayesagree.subjective.normal_model import annotator_values

type Parameters = dict[str, NDArray[Any]]
type OfGroups = GroupCounts | xr.Dataset
type Observed = Annotations | OfGroups

KINDS: Mapping[str, type] = {
    "dirichlet": Labels,
    "dawid_skene": Labels,
    "plackett_luce": Rankings,
    "normal_inverse_gamma": Ratings,
    "common_agreement": Ratings,
    "group_performance": GroupCounts,
    "group_performance_normal": xr.Dataset,
}
"""Every model of how annotators annotate, and the annotations it takes. (PrIRN has none.)"""


def with_log_likelihood(
    tree: xr.DataTree,
    annotations: Observed,
    *,
    model: str | None = None,
    draws: int = 250,
    seed: Seed = None,
    max_bytes: int = MAX_BYTES,
) -> xr.DataTree:
    """Add the log likelihood of each item, for `arviz.loo`, `arviz.compare` and `arviz.psense`.

    Parameters
    ----------
    tree
        Result of `dirichlet`, `normal_inverse_gamma`, `plackett_luce`, `dawid_skene`, `common_agreement`,
        `group_posterior` or `normal_group_posterior`.
    annotations
        What the result was made from; for `group_posterior` its `group_counts`.
    model
        Which model's performance, for results of groups with several.
    draws
        Draws per chain (of 4) for Plackett-Luce, whose item likelihood is itself an average over draws.
    seed
        Its seed.
    max_bytes
        Largest table (chain, draw, item) to keep in memory.

    Returns
    -------
    DataTree
        The result with group ``log_likelihood``: ``annotations`` (chain, draw, item), all annotations of the item, the
        item's own parameters integrated out (for groups: ``agree`` or ``value``, annotator by annotator given the mean
        of the group, which a group of one or two rests on: mind the Pareto k). Where items share no
        parameter (dirichlet, normal_inverse_gamma, plackett_luce) it is the same for every draw: its sum is the log
        marginal likelihood, and leaving an item out tells of the prior alone. For common_agreement and dawid_skene
        also group ``log_prior``, on scales on which no prior is flat: precision p (exponential), logit m (logistic), t
        (Lomax); Dirichlet and Beta densities; log-normals of the logarithm.

    Raises
    ------
    InputError
        A result without a sampling model (PrIRN), with a reliability other than 1 (a likelihood to a power predicts
        nothing: see `reliability_curve`), or without the draws that are needed.
    SizeError
        A table above `max_bytes`.

    Examples
    --------
    >>> from bayesagree import common_agreement
    >>> ratings = Ratings.from_matrix([[4, 4, 5], [1, 2, 1], [3, 3, 4]], scale=(1, 5), step=1)
    >>> tree = with_log_likelihood(common_agreement(ratings, draws=100, seed=1), ratings)
    >>> dict(tree["log_likelihood"].sizes), sorted(tree["log_prior"].data_vars)
    ({'chain': 4, 'draw': 100, 'item': 3}, ['mean_location', 'mean_spread', 'phi'])
    """
    kind, settings = _kind(tree, annotations), settings_of(tree)
    posterior = tree["posterior"].to_dataset()
    sizes = {"chain": posterior.sizes["chain"], "draw": posterior.sizes["draw"]}
    if isinstance(annotations, GroupCounts | xr.Dataset):
        one = _one_model(annotations, posterior, model)
        if one.total is None:
            values = likelihood.group_values(one.observed, one.group, one.parameters)
        else:
            values = likelihood.group_annotators(one.observed, one.total, one.group, one.parameters)
        table = xr.Dataset({one.name: (("chain", "draw", "annotator"), values.reshape(*sizes.values(), -1))})
        return _with(tree, log_likelihood=table)
    check_size(sizes | {"item": annotations.items.size}, 8, max_bytes, "use fewer draws")
    found, log_prior = _pointwise(kind, annotations, posterior, settings, positive_int(draws, "draws"), seed)
    shape = (*sizes.values(), found.items.size)
    values = found.log_likelihood
    values = values.reshape(shape) if len(values) > 1 else np.broadcast_to(values, shape)
    table = xr.Dataset({"annotations": (("chain", "draw", "item"), values)}, {"item": found.items})
    groups = {"log_likelihood": table}
    if log_prior:
        of_draw = {n: (("chain", "draw"), v.reshape(*sizes.values())) for n, v in log_prior.items()}
        groups["log_prior"] = xr.Dataset(of_draw)
    return _with(tree, **groups)


def _pointwise(
    kind: str, annotations: Annotations, posterior: xr.Dataset, settings: Mapping[str, Any], draws: int, seed: Seed
) -> tuple[likelihood.Pointwise, Parameters]:
    """Return the log likelihood of each item, and the log prior of shared parameters."""
    given: Any = annotations
    if kind == "common_agreement":
        parameters = _parameters(posterior, ["phi", *(n for n in ("mean_location", "mean_spread") if n in posterior)])
        return likelihood.common_agreement_items(given, parameters, settings), common_agreement_prior(parameters)
    if kind == "dawid_skene":
        variant, prior = replicates.crowd_of(settings)
        parameters = _parameters(posterior, _crowd_names(variant))
        found = likelihood.dawid_skene_items(given, parameters, variant, prior)
        return found, dawid_skene_prior(parameters, variant, prior)
    if settings["reliability"] != 1:
        raise InputError(
            f"reliability={settings['reliability']!r} raises the likelihood to a power, which is no probability of "
            "annotations; use reliability=1 here and reliability_curve to compare reliabilities"
        )
    if kind == "dirichlet":
        return likelihood.dirichlet_items(given, settings["prior"]), {}
    if kind == "normal_inverse_gamma":
        return likelihood.normal_items(given, NormalInverseGammaPrior(**settings["prior"])), {}
    replicates.refuse_lumped(settings)
    return likelihood.plackett_luce_items(given, settings["shape"], draws, seed), {}


def item_loo(tree: xr.DataTree) -> Any:
    """Leave out one item at a time, for `arviz.compare`.

    Parameters
    ----------
    tree
        Result of `with_log_likelihood`.

    Returns
    -------
    arviz_stats.ELPDDataLOO
        That of `arviz.loo` where items share parameters. Where they share none, an item's density given the others is
        its marginal likelihood, exactly; there is nothing to re-weight (and `arviz.loo` refuses).

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 1], [0, 4], [4, 0]], labels=["no", "yes"])
    >>> float(item_loo(with_log_likelihood(dirichlet(votes, prior=1.0, seed=1), votes)).elpd.round(3))
    -6.215
    """
    import arviz as az
    from arviz_stats.utils import ELPDDataLOO

    (values,) = tree["log_likelihood"].to_dataset().data_vars.values()
    first = values.isel(chain=0, draw=0, drop=True)
    if not bool((values == first).all()):
        return az.loo(tree, pointwise=True)
    n = first.size
    return ELPDDataLOO(
        elpd=first.values.sum(), se=float(np.sqrt(n) * first.values.std()), p=0.0, n_data_points=n,
        n_samples=values.sizes["chain"] * values.sizes["draw"], scale="log", warning=False, good_k=0.7,
        elpd_i=first, pareto_k=xr.zeros_like(first),
    )  # fmt: skip


def with_posterior_predictive(
    tree: xr.DataTree, annotations: Observed, *, model: str | None = None, seed: Seed = None
) -> xr.DataTree:
    """Add replicated annotations: the same annotators annotate the same items again, once for every draw.

    Parameters
    ----------
    tree, annotations, model
        As `with_log_likelihood`; the reliability may be any, for annotators are drawn from the plausibilities.
    seed
        Same seed, same replicates.

    Returns
    -------
    DataTree
        The result with groups ``posterior_predictive`` and ``observed_data``, one-dimensional: ``label_index``
        (annotation) for labels; for rankings ``label_index`` (entry), block by block and sorted inside a block, blocks
        of the observed sizes; ``rating`` (annotation); ``agree`` or ``value`` (annotator).

    Raises
    ------
    InputError
        A result without a sampling model, or without the draws that are needed (full plausibilities, confusion
        matrices, item means).

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 1], [0, 4]], labels=["no", "yes"])
    >>> tree = with_posterior_predictive(dirichlet(votes, prior=1.0, seed=1), votes, seed=1)
    >>> dict(tree["posterior_predictive"].sizes)
    {'chain': 4, 'draw': 1000, 'annotation': 8}
    """
    kind, settings = _kind(tree, annotations), settings_of(tree)
    posterior = tree["posterior"].to_dataset()
    rng = np.random.default_rng(seed_sequence(seed))
    if isinstance(annotations, GroupCounts | xr.Dataset):
        one = _one_model(annotations, posterior, model)
        if one.total is None:
            drawn = replicates.draw_values(one.group, one.parameters, rng)
        else:
            drawn = replicates.draw_agreements(one.total, one.group, one.parameters, rng)
        name, dim, observed = one.name, "annotator", one.observed
    else:
        drawn = replicates.replicate(
            kind, annotations, _parameters(posterior, replicates.needed(kind, settings)), settings, rng
        )
        name, dim, observed = replicates.observed_in(annotations)
    sizes = posterior.sizes["chain"], posterior.sizes["draw"]
    return _with(
        tree,
        posterior_predictive=xr.Dataset({name: (("chain", "draw", dim), drawn.reshape(*sizes, -1))}),
        observed_data=xr.Dataset({name: (dim, observed)}),
    )


def prior_predictive(
    annotations: Annotations, *, plausibility: str, draws: int = 250, seed: Seed = None, **options: Any
) -> xr.DataTree:
    """Draw parameters from the prior, and annotations by the same annotators of the same items from them.

    Parameters
    ----------
    annotations
        The (item, annotator) pairs; the annotations themselves are only kept as observed data.
    plausibility
        ``"dirichlet"``, ``"normal_inverse_gamma"``, ``"plackett_luce"``, ``"dawid_skene"`` or
        ``"common_agreement"``.
    draws
        Number of draws, in one chain.
    seed
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
    >>> tree = prior_predictive(votes, plausibility="dirichlet", prior=1.0, seed=1)
    >>> dict(tree["prior_predictive"].sizes)
    {'chain': 1, 'draw': 250, 'annotation': 8}
    """
    known = [kind for kind, given in KINDS.items() if given in (Labels, Rankings, Ratings)]
    if plausibility not in known:
        raise InputError(f"plausibility={plausibility!r} has no prior predictive; it is one of {', '.join(known)}")
    _require(plausibility, annotations)
    n = positive_int(draws, "draws")
    rng = np.random.default_rng(seed_sequence(seed))
    drawn = replicates.prior_draws(plausibility, annotations, n, rng, options)
    settings = {"plausibility": plausibility} | options
    values = replicates.replicate(plausibility, annotations, drawn, settings, rng)
    name, dim, observed = replicates.observed_in(annotations)
    dims = replicates.PRIOR_DIMS | ({"mean": ("item",)} if plausibility == "normal_inverse_gamma" else {})
    groups = {
        "prior": {key: (("chain", "draw", *dims.get(key, ())), value[None]) for key, value in drawn.items()},
        "prior_predictive": {name: (("chain", "draw", dim), values[None])},
        "observed_data": {name: ((dim,), observed)},
    }
    coords = {"item": annotations.items, "annotator": annotations.annotators}
    if not isinstance(annotations, Ratings):
        coords |= {"category": annotations.categories, "observed_category": annotations.categories}
    elif plausibility == "common_agreement":
        coords["item"] = annotations.items[np.unique(annotations.item_index)]
    return result_tree(groups, coords, model=plausibility, engine="prior", seed=seed, settings=settings)


def _kind(tree: xr.DataTree, annotations: Observed) -> str:
    """Return which model a result is of, if it is one and these are its annotations."""
    kind, settings = str(tree.attrs.get("model", "")), settings_of(tree)
    if kind == "prirn":
        raise InputError("PrIRN is a distribution put on the truth and has no sampling model of rankings; use "
                         "plackett_luce, or reliability_curve for its predictions")  # fmt: skip
    if kind not in KINDS:
        raise InputError(f"this is no result of {', '.join(KINDS)}")
    _require(kind, annotations)
    if settings.get("n_gold"):
        raise InputError("predictive checks are for results without gold; fit without it")
    return kind


def _require(kind: str, annotations: Observed) -> None:
    if not isinstance(annotations, KINDS[kind]):
        raise InputError(f"{kind} is about {KINDS[kind].__name__}, these are {type(annotations).__name__}")


def _parameters(posterior: xr.Dataset, names: list[str]) -> Parameters:
    missing = [name for name in names if name not in posterior]
    if missing:
        raise InputError(f"the result has no draws of {missing[0]!r}; {_WAY_OUT.get(missing[0], 'draw them again')}")
    return {name: posterior[name].values.reshape(-1, *posterior[name].shape[2:]) for name in names}


_WAY_OUT = {
    "plausibility": "keep full plausibilities (no top_labels)",
    "confusion": "pass confusion=True to dawid_skene",
    "item_mean": "pass keep_item_means=True to common_agreement",
}


def _crowd_names(variant: str) -> list[str]:
    more = {
        "hierarchical": ["concentration", "crowd_confusion"],
        "mixed_membership": ["concentration", "crowd_confusion", "ambiguity"],
    }
    return ["prevalence", "confusion", *more.get(variant, [])]


class _OneModel(NamedTuple):
    """One model's agreements or values, annotations if they are agreements, groups of the annotators, and draws."""

    name: str
    observed: NDArray[Any]
    total: NDArray[Any] | None
    group: NDArray[Any]
    parameters: Parameters


def _one_model(given: OfGroups, posterior: xr.Dataset, model: str | None) -> _OneModel:
    names = posterior["model"].values.astype(str).tolist()
    if model is None and len(names) > 1:
        raise InputError(f"name one of the models with model=: {', '.join(names)}")
    if model is not None and model not in names:
        raise InputError(f"model={model!r} is not one of {', '.join(names)}")
    who = 0 if model is None else names.index(model)
    drawn = posterior.isel(model=who)
    if isinstance(given, xr.Dataset):
        found = annotator_values(given)
        return _OneModel(
            "value", found.values[who], None, found.group, _parameters(drawn, ["performance", "within_sd"])
        )
    kept = given.total[who] > 0
    parameters = _parameters(drawn, ["performance", "within_spread"])
    return _OneModel("agree", given.agree[who, kept], given.total[who, kept], given.group[kept], parameters)


def _with(tree: xr.DataTree, **groups: xr.Dataset) -> xr.DataTree:
    """Return a copy of the tree with more groups, their chains and draws named as those of the posterior."""
    new = tree.copy()
    names = dict(tree["posterior"].to_dataset().coords)
    for name, data in groups.items():
        coords = {dim: names[dim] for dim in ("chain", "draw") if dim in data.dims}
        new[name] = xr.DataTree(data.assign_coords(coords).assign_attrs(tree.attrs))
    return new
