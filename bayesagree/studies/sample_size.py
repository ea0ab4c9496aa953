"""Agreement on random shares of the items of a data set (Checco et al. 2017, section 5.4 and figures 4 and 5)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.agreement._exact.likelihood import Kind
from bayesagree.agreement.coefficients import Level, krippendorff_alpha
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, positive_int
from bayesagree.studies.paradoxes import percent_agreement


@checked
def agreement_by_size(
    ratings: Ratings,
    *,
    shares: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    repeats: int = 20,
    level: Level = "interval",
    item_mean: Literal["hierarchical", "flat"] = "hierarchical",
    likelihood: Kind = "averaged",
    ci_prob: float = 0.95,
    seed: Seed = None,
    progress: Callable[[int], None] = lambda done: None,
) -> xr.Dataset:
    """Return Phi, Krippendorff's alpha and percent agreement on random subsamples of the items.

    Parameters
    ----------
    ratings
        All ratings.
    shares
        Shares of the items to draw, each in (0, 1].
    repeats
        Subsamples per share.
    level
        Level of measurement of alpha.
    item_mean, likelihood
        As in `common_agreement`; the paper's are ``"flat"`` and ``"squeezed"``.
    ci_prob
        Probability of the intervals.
    seed
        Same seed, same subsamples.
    progress
        Called with the number of subsamples done since the last call.

    Returns
    -------
    Dataset
        ``phi`` (posterior mean), ``lower`` and ``upper`` (HDI), ``alpha``, ``percent`` (the share of
        agreeing pairs of ratings), dims (share, repeat).

    Raises
    ------
    InputError
        A share outside (0, 1].

    See Also
    --------
    bayesagree.common_agreement, bayesagree.krippendorff_alpha : both on all items.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 5.4, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> from bayesagree.simulate import ratings
    >>> found = agreement_by_size(ratings(n_items=40, seed=1).ratings, shares=(0.5, 1), repeats=2, seed=1)
    >>> dict(found.sizes)
    {'share': 2, 'repeat': 2}
    """
    wrong = [share for share in shares if not 0 < share <= 1]
    if wrong:
        raise InputError(f"share {wrong[0]!r} of the items is not in (0, 1]")
    rng = np.random.default_rng(seed_sequence(seed))
    options: dict[str, Any] = {"item_mean": item_mean, "likelihood": likelihood, "ci_prob": ci_prob}
    rows = np.empty((len(shares), positive_int(repeats, "repeats"), 5))
    for s, share in enumerate(shares):
        n = max(1, round(share * ratings.items.size))
        for r in range(repeats):
            part = _items(ratings, np.sort(rng.permutation(ratings.items.size)[:n]))
            tree = common_agreement(part, draws=1, chains=1, seed=rng, **options)
            found = tree["agreement"].to_dataset()
            values = [float(found[name]) for name in ("mean", "lower", "upper")]
            rows[s, r] = [*values, krippendorff_alpha(part, level=level), percent_agreement(part)]
            progress(1)
    names = ("phi", "lower", "upper", "alpha", "percent")
    data = {name: (("share", "repeat"), rows[..., k]) for k, name in enumerate(names)}
    return xr.Dataset(data, {"share": list(shares)}, {"ci_kind": "hdi", "ci_prob": ci_prob, "level": level})


def _items(ratings: Ratings, kept: NDArray[np.int64]) -> Ratings:
    """Return the ratings of some items."""
    place = np.full(ratings.items.size, -1, np.int32)
    place[kept] = np.arange(kept.size)
    rows = np.flatnonzero(place[ratings.item_index] >= 0)
    return replace(
        ratings, items=ratings.items[kept], item_index=place[ratings.item_index[rows]],
        annotator_index=ratings.annotator_index[rows], rating=ratings.rating[rows],
    )  # fmt: skip
