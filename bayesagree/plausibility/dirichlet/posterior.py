"""Plausibilities from single labels: the Dirichlet posterior.

Each item i has a distribution lambda_i over the K labels, its *plausibilities*. An annotator of reliability gamma who
chooses label k adds gamma to its shape:

    lambda_i ~ Dirichlet(gamma * n_i + prior),      n_ik = number of annotators of i who chose k.

The posterior is known in closed form, so draws are exact and independent; nothing has to be tuned or checked for
convergence. gamma = 1 weighs an annotation as one observation of lambda_i, larger values weigh it more; with
gamma = 0 the annotations say nothing.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.1 and appendix A (single labels).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.errors import positive, shorten, warn
from bayesagree.inference.posterior import Request
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.dirichlet._draws import DirichletItems, Prior, prior_shape, shapes_of
from bayesagree.plausibility.dirichlet.model import dirichlet_model

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class Dirichlet(DirichletItems):
    """Specification of the posterior of `dirichlet`, whose arguments it holds.

    Examples
    --------
    >>> from bayesagree.inference.posterior import Request
    >>> tree = Dirichlet(reliability=2.0).draw(Labels.from_counts([[3, 1]]), Request(draws=10, random_seed=1))
    >>> tree["posterior_parameters"]["concentration"].values.tolist()
    [[6.5, 2.5]]
    """

    reliability: float = 1.0
    prior: Prior = None
    name = "dirichlet"

    def problem(self, annotations: Labels) -> Floats:
        """Return the shapes of all items: gamma times the counts plus the prior."""
        weight = positive(self.reliability, "reliability", zero=True) * annotations.count.astype(float)
        prior = prior_shape(self.prior, annotations.categories.size)
        if prior.size < 2:
            only = shorten(annotations.categories)
            warn(
                f"{only} is the only label, of which every item is certain; name all possible labels with labels=[...]"
            )
        return shapes_of(annotations.item_index, annotations.label_index, weight, annotations.items.size, prior)

    def model(self, annotations: Labels) -> "pm.Model":
        """Build the same posterior in PyMC."""
        return dirichlet_model(annotations, reliability=self.reliability, prior=self.prior)

    def prior_share(self, annotations: Labels) -> float:
        """Mean weight of the prior in the posterior of an item: prior / (prior + reliability x votes), over the items.

        Examples
        --------
        >>> Dirichlet().prior_share(Labels.from_counts([[2, 1], [0, 1]]))  # the mean of 1/4 and 1/2
        0.375
        """
        votes = np.bincount(annotations.item_index, annotations.count, annotations.items.size)
        total = prior_shape(self.prior, annotations.categories.size).sum()
        return float(np.mean(total / (total + self.reliability * votes)))


def dirichlet(
    labels: Labels,
    *,
    reliability: float = 1.0,
    prior: Prior = None,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    top_labels: int | None = None,
    client: Any = None,
) -> xr.DataTree:
    """Draw the plausibilities of each item from their Dirichlet posterior.

    Scores are conditional on these votes alone. A model that is better than the votes can show scores too low, and the
    interval does not cover its score against many annotators; use `informed_dirichlet` for that.

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
    random_seed
        Same seed, same draws, on any number of threads.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    client
        A `distributed.Client` to draw on instead of threads of this process: the same draws.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category), which sums to one over category, or
        ``top_label`` (chain, draw, item, rank), positions of categories. Group ``posterior_parameters``:
        ``concentration`` (item, category), from which certainties follow exactly.

    Raises
    ------
    InputError
        A negative reliability, a prior that is not positive or has the wrong length.
    SizeError
        A result too large for memory, with its size and the way out.

    Warns
    -----
    UserWarning
        One label alone, of which every item is certain whatever its votes.

    References
    ----------
    Stutz et al., section 2.1, and appendix A for the formula.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 1, 0]], labels=["cat", "dog", "fox"])
    >>> tree = dirichlet(votes, prior=1.0, random_seed=1)
    >>> tree["posterior_parameters"]["concentration"].values.tolist()
    [[4.0, 2.0, 1.0]]
    >>> dict(tree["posterior"]["plausibility"].sizes)
    {'chain': 4, 'draw': 1000, 'item': 1, 'category': 3}
    """
    labels = as_annotations(labels, (Labels,), "labels")
    return Dirichlet(reliability, prior).draw(labels, Request(draws, chains, random_seed, top_labels, client))
