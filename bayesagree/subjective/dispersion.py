"""Whether the spread over groups is more than chance gives.

Groups of few annotators differ even under a model that serves all alike. The null distribution of the standard
deviation over groups comes from dealing the annotators at random to groups of the same sizes. It needs no model of the
annotators and holds for every metric.
"""

import numpy as np
import xarray as xr

from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.intervals import eti
from bayesagree.errors import positive_int


def dispersion_null(
    result: xr.Dataset,
    *,
    permutations: int = 2000,
    significance: float = 0.05,
    ci_prob: float = 0.95,
    seed: Seed = None,
) -> xr.Dataset:
    """Compare the spread over groups with its distribution when annotators are dealt at random to the groups.

    Parameters
    ----------
    result
        Result of `group_performance`.
    permutations
        How often to deal.
    significance
        A model is called biased when this share of the null distribution at most reaches its spread. Under a model
        that serves all alike this happens with at most this probability.
    ci_prob
        Probability of the interval of the null distribution.
    seed
        Same seed, same answer.

    Returns
    -------
    Dataset
        Per model: ``spread`` (standard deviation over groups, ddof = 0), ``null_mean``, ``null_lower`` and
        ``null_upper`` (ETI), ``p_value``, ``biased``; ``excess_spread`` = sqrt(max(spread^2 - mean null spread^2,
        0)), the spread without what chance alone gives.

    Examples
    --------
    >>> values = [[0.9] * 20 + [0.6] * 20]
    >>> result = xr.Dataset(
    ...     {"annotator_performance": (("model", "annotator"), values), "group_of": ("annotator", [0] * 20 + [1] * 20)},
    ...     {"model": ["A"], "group": ["f", "m"]},
    ... )
    >>> bool(dispersion_null(result, seed=1)["biased"][0])
    True

    References
    ----------
    Balayn and Bozzon (2019) report the spread without its null distribution.
    """
    times = positive_int(permutations, "permutations")
    rng = np.random.default_rng(seed_sequence(seed))
    group, size = result["group_of"].to_numpy(), result.sizes["group"]
    values = result["annotator_performance"].transpose("model", "annotator")
    rows = []
    for value in values.to_numpy():
        kept = (group >= 0) & ~np.isnan(value)
        scores, of_group = value[kept], group[kept]
        n = np.bincount(of_group, minlength=size)
        member = (of_group[:, None] == np.flatnonzero(n)[None, :]) / n[n > 0]
        spread = np.std(scores @ member)
        dealt = rng.permuted(np.broadcast_to(scores, (times, scores.size)), axis=1)
        null = np.std(dealt @ member, axis=1)
        # The observed deal is one of all possible ones: without it the test would exceed its level.
        p_value = (1 + (null >= spread * (1 - 1e-12)).sum()) / (1 + times)
        low, high = eti(null, ci_prob)
        excess = np.sqrt(max(spread**2 - np.mean(null**2), 0.0))
        rows.append((spread, null.mean(), low, high, p_value, excess))
    columns = ("spread", "null_mean", "null_lower", "null_upper", "p_value", "excess_spread")
    table = {name: ("model", np.array(column)) for name, column in zip(columns, zip(*rows))}
    answer = xr.Dataset(table, {"model": values["model"]})
    answer["biased"] = answer["p_value"] <= significance
    return answer.assign_attrs(permutations=times, significance=significance, ci_kind="eti", ci_prob=ci_prob)


def dispersion_draws(result: xr.Dataset, *, draws: int = 1000, seed: Seed = None) -> xr.Dataset:
    """Draw mean and dispersion of all models together under a Bayesian bootstrap over annotators.

    The same weights serve every model, so that differences between models of the same annotators are sharper than
    their separate intervals: Pr(A more biased than B) is the share of draws in which A has the lower dispersion. Holds
    for every metric; unlike `group_posterior` it does not take the sampling noise out of the spread.

    Parameters
    ----------
    result
        Result of `group_performance`.
    draws
        Number of draws.
    seed
        Same seed, same draws.

    Returns
    -------
    Dataset
        ``mean_performance`` and ``dispersion``, dims (draw, model), over the groups with an annotator.

    Examples
    --------
    >>> values = [[0.9] * 20 + [0.6] * 20, [0.9] * 40]
    >>> result = xr.Dataset(
    ...     {"annotator_performance": (("model", "annotator"), values), "group_of": ("annotator", [0] * 20 + [1] * 20)},
    ...     {"model": ["A", "B"], "group": ["f", "m"]},
    ... )
    >>> dispersion = dispersion_draws(result, draws=10, seed=1)["dispersion"]
    >>> bool((dispersion.sel(model="A") < dispersion.sel(model="B")).all())
    True
    """
    rng = np.random.default_rng(seed_sequence(seed))
    group, values = result["group_of"].to_numpy(), result["annotator_performance"].to_numpy()
    kept = (group >= 0) & ~np.isnan(values).any(axis=0)
    used = np.unique(group[kept])
    weight = rng.exponential(size=(positive_int(draws, "draws"), int(kept.sum())))
    member = (group[kept][:, None] == used[None, :]).astype(np.float64)
    total = weight @ member
    means = np.stack([(weight * value[kept]) @ member / total for value in values], axis=1)
    dims = ("draw", "model")
    table = {"mean_performance": (dims, means.mean(axis=-1)), "dispersion": (dims, 1 - means.std(axis=-1))}
    return xr.Dataset(table, {"model": result["model"]})
