"""The Dirichlet posterior as a PyMC model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree.annotations import Labels
from bayesagree.errors import positive
from bayesagree.inference.open_model import annotation_data, part
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape

if TYPE_CHECKING:
    import pymc as pm


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

    from bayesagree.inference.random_draws import dirichlet_variable

    shape = prior_shape(prior, labels.categories.size)
    power = positive(reliability, "reliability", zero=True)
    repeat = labels.row_of_each()
    coords = {"item": labels.items, "category": labels.categories, "annotation": np.arange(repeat.size)}
    who = labels.annotator_index[repeat] if labels.annotators_known else None
    if who is not None:
        coords["annotator"] = labels.annotators
    dims = ("item", "category")
    with pm.Model(coords=coords) as model:
        item, _ = annotation_data(labels.item_index[repeat], who)
        chosen = pm.Data("observed_label", labels.label_index[repeat].astype(int), dims="annotation")
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
