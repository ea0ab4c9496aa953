"""`group_dirichlet` as a PyMC model: the same priors and likelihood, sampled jointly."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree.annotations import Labels
from bayesagree.plausibility.group_dirichlet._sampler import GroupVotes, MembersOfGroups
from bayesagree.plausibility.group_dirichlet.prior import GroupDirichletPrior

if TYPE_CHECKING:
    import pymc as pm


def group_dirichlet_model(
    labels: Labels, *, groups: MembersOfGroups, prior: GroupDirichletPrior | None = None
) -> "pm.Model":
    """Build the PyMC model of `group_dirichlet`.

    Parameters
    ----------
    labels, groups, prior
        As `group_dirichlet`.

    Returns
    -------
    pymc.Model
        Free variables ``shape`` (category), ``common`` (item, category) and ``share``; ``share_apart`` (group), 0 for a
        group that is never apart. Own distributions and choices are summed out; votes are data ``observed_votes``
        (group, item, category).

    References
    ----------
    As `group_dirichlet`; its module has the equations.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b", "b"], ["b", "b", "b", "b"]], annotators=list("wxyz"))
    >>> model = group_dirichlet_model(votes, groups={"w": "one", "x": "one", "y": "two", "z": "two"})
    >>> [v.name for v in model.free_RVs]
    ['shape', 'common', 'share']
    """
    import pymc as pm
    import pytensor.tensor

    from bayesagree.inference.random_draws import dirichlet_variable

    pt: Any = pytensor.tensor  # whose own types are too wide for arithmetic
    how, problem = prior or GroupDirichletPrior(), GroupVotes.of(labels, groups)
    n_labels = labels.categories.size
    coords = {"group": problem.names, "item": labels.items, "category": labels.categories}
    with pm.Model(coords=coords) as model:
        shape: Any = pm.LogNormal("shape", -np.log(n_labels), how.shape_sd, dims="category")
        common: Any = dirichlet_variable(
            "common", pt.tile(shape[None], (labels.items.size, 1)), dims=("item", "category")
        )
        some: Any = pm.Beta("share", 1, how.divided, shape=problem.free.size)
        share: Any = pm.Deterministic(
            "share_apart", pt.zeros(problem.names.size)[problem.free].set(some), dims="group"
        )
        counts: Any = pm.Data("observed_votes", problem.votes, dims=("group", "item", "category"))
        together = (counts * pt.log(common)[None]).sum(axis=2)
        apart = (pt.gammaln(shape + counts) - pt.gammaln(shape)).sum(axis=2)
        apart -= pt.gammaln(shape.sum() + counts.sum(axis=2)) - pt.gammaln(shape.sum())
        # Of a typical label t of the common view, the typical label of an own one is another.
        own = shape + counts
        other = pt.log1p(-own / own.sum(axis=2, keepdims=True)) - pt.log1p(-shape / shape.sum())
        weight = pt.switch(share > 0, pt.log(pt.maximum(share, 1e-300)), -np.inf)[:, None]
        each = pt.logaddexp(
            (weight + apart)[..., None] + other, (pt.log1p(-share)[:, None] + together)[..., None]
        )
        pm.Potential("votes", pt.logsumexp(pt.log(common) + each.sum(axis=0), axis=1).sum())
    return model
