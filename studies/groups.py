"""Whether the spread of a model's performance over groups is more than chance gives (Balayn and Bozzon 2019).

Groups of few annotators differ even under a model that serves all alike. The null distribution of the standard
deviation over groups comes from dealing the annotators at random to groups of the same sizes. It needs no model of the
annotators and holds for every metric.
"""

import numpy as np
import xarray as xr

from bayesagree.errors import positive_int
from bayesagree.inference.intervals import eti
from bayesagree.inference.streams import Seed, seed_sequence


def dispersion_null(
    result: xr.Dataset,
    *,
    permutations: int = 2000,
    significance: float = 0.05,
    ci_prob: float = 0.95,
    random_seed: Seed = None,
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
    random_seed
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
    >>> bool(dispersion_null(result, random_seed=1)["biased"][0])
    True

    References
    ----------
    Balayn and Bozzon (2019) report the spread without its null distribution.
    """
    times = positive_int(permutations, "permutations")
    rng = np.random.default_rng(seed_sequence(random_seed))
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
