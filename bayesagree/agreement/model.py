"""The common-agreement model in PyMC, with parts that a user may replace, and its NUTS draws in the form of ours."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._types import SAMPLE
from bayesagree.agreement._phi.item_means import MeanPrior
from bayesagree.agreement._phi.likelihood import Kind, intervals
from bayesagree.agreement.annotator_effects import HYPER, AnnotatorEffects
from bayesagree.agreement.summary import phi_summary
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from bayesagree.inference.nuts import Sampler, sample_nuts
from bayesagree.inference.open_model import annotation_data, part
from bayesagree.inference.results import result_tree

if TYPE_CHECKING:
    import pymc as pm

# Names of the shares of outright answers at the ends, in the posterior and in the model.
END_SHARES = ("low_end_share", "high_end_share")
# Likelihoods whose results have these shares.
OUTRIGHT = ("averaged", "inflated")


def build_model(
    ratings: Ratings,
    means: MeanPrior,
    kind: Kind,
    effects: AnnotatorEffects,
    own: Mapping[str, Callable[..., Any] | None],
    *,
    binned: bool = True,
) -> "pm.Model":
    """Build the model: one row of `rating` per observed rating, one `item_mean` per rated item.

    `own` are a user's parts by the arguments of `common_agreement_model`. Continuous ratings beside outright ends are
    their intervals, or, for replicates, not `binned`.
    """
    import pymc as pm

    low, high = ratings.scale
    rated, item_index = np.unique(ratings.item_index, return_inverse=True)
    names = {"item": ratings.items[rated], "annotator": ratings.annotators}
    with pm.Model(coords=names | {"annotation": np.arange(item_index.size)}) as model:
        item, annotator = annotation_data(item_index, ratings.annotator_index)
        phi = part("phi", own.get("phi"), lambda: pm.Uniform("phi", -1, 1), dims=None)
        precision: Any = pm.Deterministic("precision", 2 * (1 - pm.math.log(1 - phi) / np.log(2)))
        own_means = own.get("item_mean")
        unit_mean = _item_means(means, rated) if own_means is None else own_means()
        pm.Deterministic("item_mean", low + (high - low) * unit_mean, dims="item")
        mean: Any = unit_mean[item]
        if effects != "none":
            sd = pm.HalfNormal("annotator_shift_sd", 1.0)
            shift = pm.ZeroSumNormal("annotator_shift", sigma=sd, dims="annotator")
            mean = pm.math.invlogit(pm.math.logit(mean) + shift[annotator])
        mean, precision = (
            change(value, item, annotator) if (change := own.get(name)) else value
            for name, value in (("mean", mean), ("precision", precision))
        )
        # The roots of the shares of outright ends are uniform.
        roots = [(name, pm.Uniform("root_" + name, 0, 1)) for name in END_SHARES if kind == "inflated"]
        shares = [pm.Deterministic(name, root**2) for name, root in roots]
        _observe(ratings, mean * precision, (1 - mean) * precision, kind, shares, binned)
    return model


def _item_means(means: MeanPrior, rated: Any) -> Any:
    import pymc as pm

    from bayesagree.agreement._pymc_likelihoods import truncated_normal_variable
    from bayesagree.inference.random_draws import beta_variable

    if means.hierarchical:
        m, s = (pm.Uniform(name, 0, 1) for name in HYPER)
        t = s**-2 - 1
        return beta_variable("unit_item_mean", m * t, (1 - m) * t, dims="item")
    if means.of_item is None:
        return pm.Uniform("unit_item_mean", 0, 1, dims="item")
    number = means.of_item[rated]
    # Without a truth: a normal density that is flat on (0, 1) to 1e-9.
    centre = np.append(0.5, means.truth)[number]
    return truncated_normal_variable("unit_item_mean", centre, np.where(number > 0, means.sd, 1e4), dims="item")


def _observe(ratings: Ratings, alpha: Any, beta: Any, kind: Kind, shares: Any, binned: bool) -> None:
    import pymc as pm

    from bayesagree.agreement._pymc_likelihoods import rating_variable
    from bayesagree.inference.random_draws import beta_variable

    unit, edges, levels = ratings.unit(), None, {}
    values = unit
    if ratings.step is not None:
        edges = np.linspace(0, 1, (ratings.n_levels or 1) + 1)
        values = ratings.rating.astype(float)
        levels = {"low": ratings.scale[0], "step": ratings.step}
    elif binned and (kind != "binned" or unit.min() <= 0 or unit.max() >= 1):
        distinct, code = np.unique(unit, return_inverse=True)
        centres, which, gap = intervals(distinct)
        ends = np.stack([np.maximum(centres - gap / 2, 0), np.minimum(centres + gap / 2, 1)])
        edges = np.unique(np.append(ends, [0.0, 1.0]))
        # Neighbours touch at an edge that rounding may have split: the bin starts at the nearest edge to its left end.
        values = np.searchsorted(edges, ends[0][which[code]], side="left")
    given = {"observed": pm.Data("observed_rating", values, dims="annotation"), "dims": "annotation"}
    if edges is None and not shares:
        beta_variable("rating", alpha, beta, **given)
    else:
        rating_variable("rating", alpha, beta, edges, shares, **levels, **given)


def sample_tree(
    model: "pm.Model",
    shape: tuple[int, int],
    ci_prob: float,
    sampler: Sampler,
    options: Mapping[str, Any],
    *,
    keep_item_means: bool,
) -> xr.DataTree:
    """Return NUTS draws of the model, `shape` (chain, draw), in the form of the exact engine's, with their summary."""
    if ours := {"draws", "chains", "random_seed", "model", "return_inferencedata"} & {*(sampler or {})}:
        raise InputError(f"sampler={sampler!r}: {min(ours)} is an argument of its own; leave it out there")
    sampled = sample_nuts(
        model, chains=shape[0], draws=shape[1], random_seed=options["random_seed"], sampler=sampler
    )
    posterior = sampled["posterior"].to_dataset()
    summary = phi_summary(sampled, ci_prob=ci_prob)
    levels = ["annotator_shift", "annotator_shift_sd"] + ["item_mean"] * keep_item_means
    names = ["phi", *END_SHARES, "mean_location", "mean_spread", *levels]
    groups = {
        "posterior": {
            name: (posterior[name].dims, posterior[name].values) for name in names if name in posterior
        },
        "agreement": {str(name): ((), value.item()) for name, value in summary.items()},
        "sample_stats": {
            str(name): (of.dims, of.values)
            for name, of in sampled["sample_stats"].data_vars.items()
            if of.dims == SAMPLE and of.dtype.kind in "biuf"
        },
    }
    coords = {name: posterior[name].values for name in ("item", "annotator") if name in posterior}
    return result_tree(groups, coords, sampler=sampled.attrs["sampler"], **options)
