"""How often random answers are called agreement, by the number of raters (Checco et al. 2017, figure 3)."""

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.agreement._exact.likelihood import Kind
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Ratings
from bayesagree.errors import positive_int

ITEM_MEANS = ("flat", "hierarchical")


@checked
def random_answers(
    *,
    n_annotators: Sequence[int] = (3, 5, 10, 20, 30, 50),
    n_levels: Sequence[int] = (5, 11),
    item_mean: Sequence[Any] = ITEM_MEANS,
    likelihood: Kind = "averaged",
    n_items: int = 100,
    repeats: int = 40,
    ci_prob: float = 0.95,
    seed: Seed = None,
    progress: Callable[[int], None] = lambda done: None,
) -> xr.Dataset:
    """Return Phi of answers drawn uniformly from the levels of a scale, and how often it is called agreement.

    The paper's item means are ``"flat"``: the mean of an item bends to its few answers, and what is left looks like
    agreement.

    Parameters
    ----------
    n_annotators, n_levels, item_mean
        Settings, all combined; every rater answers every item.
    likelihood
        As in `common_agreement`.
    n_items, repeats
        Items of a data set, and data sets of a setting.
    ci_prob
        Probability of the intervals.
    seed
        Same seed, same answers.
    progress
        Called with the number of data sets done since the last call.

    Returns
    -------
    Dataset
        ``phi``, ``lower``, ``upper`` (item_mean, n_levels, n_annotators, repeat); ``false_agreement`` and
        ``false_disagreement`` (item_mean, n_levels, n_annotators), the shares of intervals above and below 0.

    See Also
    --------
    bayesagree.plots.plot_random_answers : the figure.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 5.2, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> found = random_answers(n_annotators=[3], n_levels=[5], n_items=20, repeats=2, seed=1)
    >>> found["false_agreement"].sizes["item_mean"], found["phi"].sizes["repeat"]
    (2, 2)
    """
    rng = np.random.default_rng(seed_sequence(seed))
    shape = (len(item_mean), len(n_levels), len(n_annotators), positive_int(repeats, "repeats"))
    summary = np.empty((*shape, 3))
    for (k, levels), (j, raters), r in product(enumerate(n_levels), enumerate(n_annotators), range(repeats)):
        answers = rng.integers(1, levels + 1, (n_items, raters)).astype(float)
        ratings = Ratings.from_matrix(answers, scale=(1, levels), step=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that a few raters do not identify Phi is what is measured
            for m, means in enumerate(item_mean):
                tree = common_agreement(
                    ratings, item_mean=means, likelihood=likelihood, ci_prob=ci_prob, draws=1, chains=1, seed=rng
                )
                found = tree["agreement"].to_dataset()
                summary[m, k, j, r] = [float(found[name]) for name in ("mean", "lower", "upper")]
        progress(1)
    dims = ("item_mean", "n_levels", "n_annotators")
    data = {name: ((*dims, "repeat"), summary[..., i]) for i, name in enumerate(("phi", "lower", "upper"))}
    data["false_agreement"] = (dims, (summary[..., 1] > 0).mean(axis=-1))  # type: ignore[assignment]
    data["false_disagreement"] = (dims, (summary[..., 2] < 0).mean(axis=-1))  # type: ignore[assignment]
    coords = {"item_mean": list(item_mean), "n_levels": list(n_levels), "n_annotators": list(n_annotators)}
    return xr.Dataset(data, coords, {"ci_kind": "hdi", "ci_prob": ci_prob, "n_items": n_items})
