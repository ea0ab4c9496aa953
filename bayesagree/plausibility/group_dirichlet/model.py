"""`group_dirichlet` as a PyMC model: the same priors and likelihood, sampled jointly."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from bayesagree.annotations import Labels
from bayesagree.errors import InputError
from bayesagree.plausibility.group_dirichlet._problem import GroupProblem, MembersOfGroups
from bayesagree.plausibility.group_dirichlet.prior import GroupDirichletPrior

if TYPE_CHECKING:
    import pymc as pm


def group_dirichlet_model(
    labels: Labels,
    *,
    groups: MembersOfGroups,
    form: Literal["graded", "divided"] = "graded",
    prior: GroupDirichletPrior | None = None,
) -> "pm.Model":
    """PyMC model of `group_dirichlet`, without careless annotators and without predictions.

    Parameters
    ----------
    labels, groups, form, prior
        As `group_dirichlet`.

    Returns
    -------
    pymc.Model
        Free variables ``shape`` (category), ``common`` (item, category), and ``similarity``, ``leaning`` (group), which
        has no effect in the group of most votes, ``leaning_to`` (group, category) with ``plausibility`` (group, item,
        category) of the graded form, or ``share_apart`` (group) of the divided one, whose own distributions and choices
        are summed out. Observed ``votes`` (group, item, category).

    References
    ----------
    As `group_dirichlet`; its module has the equations.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b", "b"], ["b", "b", "b", "b"]], annotators=list("wxyz"))
    >>> model = group_dirichlet_model(votes, groups={"w": "one", "x": "one", "y": "two", "z": "two"})
    >>> [v.name for v in model.free_RVs]
    ['shape', 'common', 'similarity', 'leaning', 'leaning_to', 'plausibility']
    """
    import pymc as pm
    import pytensor.tensor

    from bayesagree._inference.random_draws import dirichlet_variable

    pt: Any = pytensor.tensor  # whose own types are too wide for arithmetic
    how = prior or GroupDirichletPrior()
    if isinstance(groups, pd.DataFrame):
        raise InputError("the PyMC model takes groups of one feature; join the columns of groups= into one")
    problem = GroupProblem.of(labels, groups, divided=form == "divided")
    coords = {"group": problem.names, "item": labels.items, "category": labels.categories}
    n = problem.votes.astype(np.int64)
    with pm.Model(coords=coords) as model:
        n_labels = labels.categories.size
        shape: Any = pm.LogNormal("shape", -np.log(n_labels), how.shape_sd, dims="category")
        rows = pt.tile(shape[None], (labels.items.size, 1))
        common: Any = dirichlet_variable("common", rows, dims=("item", "category"))
        if form == "graded":
            similarity: Any = pm.LogNormal("similarity", np.log(how.similarity), how.similarity_sd, dims="group")
            leans: Any = pm.Beta("leaning", 1, how.leaning, dims="group")
            leaning: Any = leans * problem.leans
            to: Any = pm.Dirichlet("leaning_to", np.ones(n_labels), dims=("group", "category"))
            seen = (1 - leaning)[:, None, None] * common[None] + (leaning[:, None] * to)[:, None]
            around = similarity[:, None, None] * seen
            own: Any = dirichlet_variable("plausibility", around, dims=("group", "item", "category"))
            pm.Multinomial("votes", n=n.sum(axis=2), p=own, observed=n, dims=("group", "item", "category"))
        else:
            free = np.flatnonzero(problem.free)
            some: Any = pm.Beta("share", 1, how.divided, shape=free.size)
            share: Any = pm.Deterministic("share_apart", pt.zeros(len(n))[free].set(some), dims="group")
            counts: Any = pm.Data("observed_votes", n, dims=("group", "item", "category"))
            together = (counts * pt.log(common)[None]).sum(axis=2)
            apart = (pt.gammaln(shape + counts) - pt.gammaln(shape)).sum(axis=2)
            apart -= pt.gammaln(shape.sum() + counts.sum(axis=2)) - pt.gammaln(shape.sum())
            # Of a typical label t of the common view, the typical label of an own one is another.
            own = shape + counts
            other = pt.log1p(-own / own.sum(axis=2, keepdims=True)) - pt.log1p(-shape / shape.sum())
            weight = pt.switch(share > 0, pt.log(pt.maximum(share, 1e-300)), -np.inf)[:, None]
            each = pt.logaddexp((weight + apart)[..., None] + other, (pt.log1p(-share)[:, None] + together)[..., None])
            pm.Potential("votes", pt.logsumexp(pt.log(common) + each.sum(axis=0), axis=1).sum())
    return model
