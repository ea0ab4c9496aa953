"""Plausibilities from single labels: the Dirichlet posterior.

Each item i has a distribution lambda_i over the K labels, its *plausibilities*. An annotator of reliability gamma who
chooses label k adds gamma to its shape:

    lambda_i ~ Dirichlet(gamma * n_i + prior),      n_ik = number of annotators of i who chose k.

The posterior is known in closed form, so draws are exact and independent; nothing has to be tuned or checked for
convergence. gamma = 1 trusts an annotator as one observation of lambda_i, larger values trust him more; with
gamma = 0 the annotations say nothing.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.1 (single labels).
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.nuts import sample_plausibility
from bayesagree._inference.results import MAX_BYTES
from bayesagree._inference.storage import Destination, Store, refuse_nuts
from bayesagree._inference.streams import Seed
from bayesagree.annotations import Labels
from bayesagree.errors import InputError, positive, positive_int
from bayesagree.plausibility._draws.blocks import HERE, Schedule
from bayesagree.plausibility.dirichlet._draws import Concentration, check_depth, concentration_tree

if TYPE_CHECKING:
    import pymc as pm

type Prior = float | Sequence[float] | None


def dirichlet(
    labels: Labels,
    *,
    reliability: float = 1.0,
    prior: Prior = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    engine: Literal["exact", "nuts"] = "exact",
    top_labels: int | None = None,
    max_bytes: int = MAX_BYTES,
    client: Any = None,
    to: Destination = None,
) -> xr.DataTree:
    """Draw the plausibilities of each item from their Dirichlet posterior.

    Parameters
    ----------
    labels
        Single labels. An annotator's repeated labels (``duplicates="keep"``) count once each.
    reliability
        Trust in one annotation, in units of observations: gamma >= 0.
    prior
        Shape that every label (a number) or each label (one per label) has before any annotation; by default 1/K, so
        that the prior weighs as much as one annotation in all.
    draws, chains
        Number of independent draws, chains x draws in all.
    seed
        Same seed, same draws, on any number of threads.
    engine
        ``"exact"`` draws independently; ``"nuts"`` samples `dirichlet_model` with PyMC.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    max_bytes
        Largest result to keep in memory.
    client
        A `distributed.Client` to draw on instead of threads of this process: the same draws.
    to
        Path of a .zarr store that takes the draws block by block, for results larger than memory. A run that was
        stopped goes on from there when called again; the result reads its draws from the store when they are used.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category), which sums to one over label, or
        ``top_label`` (chain, draw, item, rank), positions of labels. Group ``constant_data``: ``concentration``
        (item, category), from which certainties follow exactly.

    Raises
    ------
    InputError
        A negative reliability, a prior that is not positive or has the wrong length; a store of another run.
    SizeError
        A result above `max_bytes`, with its size and the way out.

    References
    ----------
    Stutz et al., section 2.1.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 1, 0]], labels=["cat", "dog", "fox"])
    >>> tree = dirichlet(votes, prior=1.0, seed=1)
    >>> tree["constant_data"]["concentration"].values.tolist()
    [[4.0, 2.0, 1.0]]
    >>> dict(tree["posterior"]["plausibility"].sizes)
    {'chain': 4, 'draw': 1000, 'item': 1, 'category': 3}
    """
    settings = {"reliability": reliability, "prior": prior}
    if engine == "nuts":
        refuse_nuts(client, to)
        model = dirichlet_model(labels, reliability=reliability, prior=prior)
        concentration = _concentration(labels, reliability, prior).dense()
        return sample_plausibility(
            model, concentration, name="dirichlet", draws=draws, chains=chains, seed=seed, settings=settings
        )
    if engine != "exact":
        raise InputError(f"engine={engine!r} is not one of 'exact', 'nuts'")
    return concentration_tree(
        _concentration(labels, reliability, prior),
        labels.items,
        labels.categories,
        draws=draws,
        chains=chains,
        seed=seed,
        top_labels=top_labels,
        max_bytes=max_bytes,
        model="dirichlet",
        settings=settings,
        client=client,
        store=Store.at(
            to,
            seed,
            model="dirichlet",
            **settings,
            annotations=labels,
            draws=draws,
            chains=chains,
            top_labels=top_labels,
        ),
    )


def dirichlet_blocks(
    labels: Labels,
    *,
    depth: int,
    reliability: float = 1.0,
    prior: Prior = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    schedule: Schedule = HERE,
) -> Iterator[Any]:
    """Stream the `depth` best labels of each draw, block of items by block: `dirichlet` for any number of items."""
    depth = check_depth(depth, labels.categories.size)
    n_samples = positive_int(draws, "draws") * positive_int(chains, "chains")
    return _concentration(labels, reliability, prior).top_label_blocks(depth, n_samples, seed, schedule)


def dirichlet_model(labels: Labels, *, reliability: float = 1.0, prior: Prior = None) -> "pm.Model":
    """Build the same posterior as a PyMC model: prior Dirichlet, each annotation a categorical draw.

    The categorical likelihood is raised to the power of the reliability, so that one annotation weighs as `reliability`
    observations. Observed data are long: one entry of ``label_index`` per annotation.

    Returns
    -------
    pymc.Model
        Free variable ``plausibility`` (item, category); observed ``label_index`` (annotation) if the reliability is 1.

    Examples
    --------
    >>> labels = Labels.from_counts([[3, 1], [0, 2]])
    >>> [v.name for v in dirichlet_model(labels).free_RVs]
    ['plausibility']
    """
    import pymc as pm

    shape = prior_shape(prior, labels.categories.size)
    power = positive(reliability, "reliability", zero=True)
    repeat = np.repeat(np.arange(labels.item_index.size), labels.count)
    item, chosen = labels.item_index[repeat], labels.label_index[repeat]
    coords = {"item": labels.items, "category": labels.categories, "annotation": np.arange(item.size)}
    with pm.Model(coords=coords) as model:
        plausibility = pm.Dirichlet("plausibility", np.tile(shape, (labels.items.size, 1)), dims=("item", "category"))
        pm.Data("item_index", item, dims="annotation")
        if power == 1:
            pm.Categorical("label_index", p=plausibility[item], observed=chosen, dims="annotation")
        else:
            log_likelihood: Any = pm.logp(pm.Categorical.dist(p=plausibility[item]), chosen)
            pm.Potential("tempered_log_likelihood", (log_likelihood * power).sum())
    return model


def prior_shape(prior: Prior, n_labels: int) -> NDArray[np.float64]:
    """Return the prior shape of each label, shape (label,)."""
    shape = np.full(n_labels, 1 / n_labels) if prior is None else np.asarray(prior, dtype=np.float64)
    if shape.ndim == 0:
        shape = np.full(n_labels, float(shape))
    if shape.shape != (n_labels,):
        raise InputError(f"prior has shape {shape.shape} for {n_labels} labels; give one number or one per label")
    if not (np.isfinite(shape) & (shape > 0)).all():
        raise InputError(f"prior {prior!r} must be positive: a label of prior 0 could never be true")
    return shape


def _concentration(labels: Labels, reliability: float, prior: Prior) -> Concentration:
    gamma = positive(reliability, "reliability", zero=True)
    return Concentration.of(
        labels.item_index,
        labels.label_index,
        gamma * labels.count.astype(np.float64),
        n_items=labels.items.size,
        prior=prior_shape(prior, labels.categories.size),
    )
