"""Plausibilities from single labels: the Dirichlet posterior.

Each item i has a distribution lambda_i over the K labels, its *plausibilities*. An annotator of reliability gamma who
chooses label k adds gamma to its shape:

    lambda_i ~ Dirichlet(gamma * n_i + prior),      n_ik = number of annotators of i who chose k.

The posterior is known in closed form, so draws are exact and independent; nothing has to be tuned or checked for
convergence. gamma = 1 weighs an annotation as one observation of lambda_i, larger values weigh it more; with
gamma = 0 the annotations say nothing.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.1 and appendix A (single labels).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.nuts import Sampler
from bayesagree._inference.open_model import annotation_data, part
from bayesagree._inference.results import MAX_BYTES
from bayesagree._inference.storage import Destination
from bayesagree._inference.streams import Seed
from bayesagree.annotations import Labels
from bayesagree.draws.blocks import LOCAL, Schedule
from bayesagree.draws.run import Request, draw_posterior
from bayesagree.errors import positive, positive_int
from bayesagree.plausibility.dirichlet._draws import Concentration, DirichletItems, Prior, prior_shape

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True, eq=False)
class DirichletPosterior(DirichletItems):
    """The posterior of `dirichlet`, with its data and prior."""

    annotations: Labels
    reliability: float = 1.0
    prior: Prior = None
    name = "dirichlet"

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that define the model."""
        return {"reliability": self.reliability, "prior": self.prior}

    @cached_property
    def concentration(self) -> Concentration:
        """The shapes of all items: gamma times the counts plus the prior."""
        labels = self.annotations
        return Concentration.of(
            labels.item_index,
            labels.label_index,
            positive(self.reliability, "reliability", zero=True) * labels.count.astype(np.float64),
            n_items=labels.items.size,
            prior=prior_shape(self.prior, labels.categories.size),
        )

    def model(self) -> "pm.Model":
        """Build the same posterior in PyMC."""
        return dirichlet_model(self.annotations, **self.settings)


@checked
def dirichlet(
    labels: Labels,
    *,
    reliability: float = 1.0,
    prior: Prior = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    engine: Literal["exact", "nuts"] = "exact",
    sampler: Sampler = None,
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
        Weight of an annotation, in units of observations: gamma >= 0.
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
        Group ``posterior``: ``plausibility`` (chain, draw, item, category), which sums to one over category, or
        ``top_label`` (chain, draw, item, rank), positions of categories. Group ``posterior_parameters``:
        ``concentration`` (item, category), from which certainties follow exactly.

    Raises
    ------
    InputError
        A negative reliability, a prior that is not positive or has the wrong length; a store of another run.
    SizeError
        A result above `max_bytes`, with its size and the way out.

    References
    ----------
    Stutz et al., section 2.1, and appendix A for the formula.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 1, 0]], labels=["cat", "dog", "fox"])
    >>> tree = dirichlet(votes, prior=1.0, seed=1)
    >>> tree["posterior_parameters"]["concentration"].values.tolist()
    [[4.0, 2.0, 1.0]]
    >>> dict(tree["posterior"]["plausibility"].sizes)
    {'chain': 4, 'draw': 1000, 'item': 1, 'category': 3}
    """
    posterior = DirichletPosterior(labels, reliability, prior)
    return draw_posterior(posterior, Request(draws, chains, seed, engine, sampler, top_labels, max_bytes, client, to))


def dirichlet_blocks(
    labels: Labels,
    *,
    depth: int,
    reliability: float = 1.0,
    prior: Prior = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    plausibility: bool = False,
    schedule: Schedule = LOCAL,
) -> Iterator[Any]:
    """Yield the `depth` best labels of each draw, block of items by block: `dirichlet` for any number of items."""
    n_samples = positive_int(draws, "draws") * positive_int(chains, "chains")
    return DirichletPosterior(labels, reliability, prior).label_blocks(
        depth, n_samples, seed, schedule, plausibility=plausibility
    )


def prior_share(labels: Labels, *, reliability: float = 1.0, prior: Prior = None) -> float:
    """Mean weight of the prior in the posterior of an item: prior / (prior + reliability x votes), over the items.

    Examples
    --------
    >>> prior_share(Labels.from_counts([[2, 1], [0, 1]]))  # the mean of 1/4 and 1/2
    0.375
    """
    votes = np.bincount(labels.item_index, labels.count, labels.items.size)
    total = prior_shape(prior, labels.categories.size).sum()
    return float(np.mean(total / (total + reliability * votes)))


@checked
def dirichlet_model(
    labels: Labels,
    *,
    plausibility: Callable[[], Any] | None = None,
    reliability: float = 1.0,
    prior: Prior = None,
) -> "pm.Model":
    """Build the same posterior as a PyMC model: prior Dirichlet, each annotation a categorical draw.

    The categorical likelihood is raised to the power of the reliability, so that one annotation weighs as `reliability`
    observations. Observed data are long: one entry of ``label_index`` per annotation.

    Parameters
    ----------
    labels, reliability, prior
        As `dirichlet`.
    plausibility
        A prior of one's own in place of the Dirichlet distribution: a function without arguments, called inside the
        model, that returns plausibilities (item, category), with covariates of the items, say.

    Returns
    -------
    pymc.Model
        Free variable ``plausibility`` (item, category); observed ``label_index`` (annotation), positions of
        categories, if the reliability is 1. ``item_of_annotation``, ``observed_label`` and, where they are known,
        ``annotator_of_annotation`` are data. Traces feed certainties, metrics and `evaluate`.

    Examples
    --------
    >>> labels = Labels.from_counts([[3, 1], [0, 2]])
    >>> [v.name for v in dirichlet_model(labels).free_RVs]
    ['plausibility']
    """
    import pymc as pm

    from bayesagree._inference.random_draws import dirichlet_variable

    shape = prior_shape(prior, labels.categories.size)
    power = positive(reliability, "reliability", zero=True)
    repeat = np.repeat(np.arange(labels.item_index.size), labels.count)
    coords = {"item": labels.items, "category": labels.categories, "annotation": np.arange(repeat.size)}
    who = labels.annotator_index[repeat] if labels.annotators_known else None
    if who is not None:
        coords["annotator"] = labels.annotators
    dims = ("item", "category")
    with pm.Model(coords=coords) as model:
        item, _ = annotation_data(labels.item_index[repeat], who)
        chosen = pm.Data("observed_label", labels.label_index[repeat].astype(np.int64), dims="annotation")
        truth = part(
            "plausibility",
            plausibility,
            lambda: dirichlet_variable("plausibility", np.tile(shape, (labels.items.size, 1)), dims=dims),
            dims=dims,
        )
        if power == 1:
            pm.Categorical("label_index", p=truth[item], observed=chosen, dims="annotation")
        else:
            log_likelihood: Any = pm.logp(pm.Categorical.dist(p=truth[item]), chosen)
            pm.Potential("tempered_log_likelihood", (log_likelihood * power).sum())
    return model
