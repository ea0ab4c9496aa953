"""The ordered variant of the Dawid-Skene family as a PyMC model."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree._inference.open_model import annotation_data
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold
from bayesagree.plausibility.dawid_skene._engines import DawidSkenePosterior
from bayesagree.plausibility.dawid_skene._ordered_kernels import MU, SPREAD, STRETCH, THRESHOLD_SD
from bayesagree.plausibility.dawid_skene._results import coordinates

if TYPE_CHECKING:
    import pymc as pm


def ordered_model(labels: Labels, *, gold: Gold | None = None) -> "pm.Model":
    """Build the PyMC model of ``dawid_skene(labels, variant="ordered")``.

    Parameters
    ----------
    labels
        Single labels with an order, by known annotators.
    gold
        Items whose true label is known: item to label.

    Returns
    -------
    pymc.Model
        ``latent_truth`` (item), ``threshold`` (boundary), ``discrimination``, ``severity`` and ``stretch`` (annotator),
        ``plausibility`` (item, category); observed ``label`` (annotation) and ``gold_label``.

    References
    ----------
    V. E. Johnson, "On Bayesian analysis of multirater ordinal data: an application to automated essay grading", JASA
    91 (1996) 42-51, doi:10.1080/01621459.1996.10476662.

    Examples
    --------
    >>> votes = Labels.from_matrix([[1, 2], [3, 3], [1, 1]], ordered=True)
    >>> "latent_truth" in [v.name for v in ordered_model(votes).free_RVs]
    True
    """
    import pymc as pm
    import pytensor.tensor

    pt: Any = pytensor.tensor
    truth = DawidSkenePosterior(labels, "ordered", gold=gold).gold_index  # refuses what the variant does not take
    known = np.flatnonzero(truth >= 0)
    names = {name: values for name, values in coordinates(labels).items() if name != "rank"}
    with pm.Model(coords=names | {"annotation": np.arange(labels.n_annotations)}) as model:
        item, annotator = annotation_data(labels.item_index, labels.annotator_index)
        given = pm.Data("observed_label", labels.label_index, dims="annotation")
        mean: Any = pm.TruncatedNormal("mean_slope", MU, 1.0, lower=0.0)
        sds: list[Any] = [pm.InverseGamma(f"variance_{of}", *SPREAD) ** 0.5 for of in ("intercept", "slope")]
        alpha: Any = sds[0] * pm.Normal("intercept_offset", dims="annotator")
        beta: Any = mean + sds[1] * pm.Normal("slope_offset", dims="annotator")
        precision: Any = pm.Gamma("precision", STRETCH, STRETCH, dims="annotator")
        stretch: Any = pm.Deterministic("stretch", precision**0.5, dims="annotator")
        pm.Deterministic("discrimination", beta * stretch, dims="annotator")
        pm.Deterministic("severity", -alpha * stretch, dims="annotator")
        first = np.linspace(-1, 1, labels.categories.size - 1)
        transform: Any = pm.distributions.transforms.ordered
        inner: Any = pm.Normal("threshold", 0.0, THRESHOLD_SD, dims="boundary", initval=first, transform=transform)
        latent: Any = pm.Normal("latent_truth", dims="item")

        def chances(at: Any, scale: Any) -> Any:
            below = pm.math.invprobit((inner[None, :] - at[:, None]) * scale)
            edge = pt.zeros_like(below[:, :1])
            return pt.diff(pt.concatenate([edge, below, edge + 1], axis=1), axis=1)

        def observe(name: str, p: Any, label: Any, dims: str | None = None) -> None:
            p = pt.clip(p, 1e-12, 1.0)
            pm.Categorical(name, p / p.sum(axis=1, keepdims=True), observed=label, dims=dims)

        shares: Any = pm.Deterministic("plausibility", chances(mean * latent, 1.0), dims=("item", "category"))
        response = alpha[annotator] + beta[annotator] * latent[item]
        observe("label", chances(response, stretch[annotator][:, None]), given, "annotation")
        if known.size:
            observe("gold_label", shares[known], truth[known])
    return model
