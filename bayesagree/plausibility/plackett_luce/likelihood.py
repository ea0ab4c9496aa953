"""How probable rankings are under Plackett-Luce, given plausibilities."""

from itertools import pairwise

import numpy as np
import xarray as xr

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, as_python
from bayesagree.plausibility.plackett_luce._ranking_kernels import races_log_probability


def plackett_luce_log_likelihood(
    rankings: Rankings,
    plausibility: xr.DataArray,
) -> xr.DataArray:
    """Compute the log probability of each ranking given plausibilities.

    Parameters
    ----------
    rankings
        Partial rankings with ties; tied and unranked labels may have come in any order, which is summed over.
    plausibility
        Dims item and label, and any others such as chain and draw; only ratios within an item matter.

    Returns
    -------
    DataArray
        Log probabilities (..., ranking), with coordinate ``item`` along ranking.

    Raises
    ------
    InputError
        Plausibilities that miss an item or a label, or are negative.

    References
    ----------
    Stutz et al., appendix B.4.3, whose recursion over the subsets of a block is here one integral per block.

    Examples
    --------
    >>> theta = xr.DataArray([[0.3, 0.15, 0.4, 0.1, 0.05]], dims=("item", "category"))
    >>> tied = Rankings.from_blocks([[[[0, 1, 2]]]], labels=5)
    >>> plackett_luce_log_likelihood(tied, theta).values.round(6).tolist()
    [-0.955303]
    """
    values, dims = _plausibility_values(rankings, plausibility)
    choice, item = rankings.offered, rankings.item_index
    everything = np.arange(rankings.categories.size)
    flat = values.reshape(-1, *values.shape[-2:])
    named = flat[:, item[rankings.ranking_index()], rankings.label_index]
    rest = np.empty((len(flat), rankings.n_annotations))
    # Summed, not subtracted from the whole: a rest of 1e-20 beside named labels of 1 would lose all digits.
    for r, (start, stop) in enumerate(pairwise(rankings.start)):
        others = np.setdiff1d(everything if choice is None else choice[r], rankings.label_index[start:stop])
        rest[:, r] = flat[:, item[r], others].sum(axis=1)
    out = np.empty_like(rest)
    races_log_probability(named, rest, rankings.start, rankings.block, out)
    coords = {d: plausibility.coords[d] for d in dims if d in plausibility.coords}
    return xr.DataArray(
        out.reshape(*values.shape[:-2], -1),
        dims=(*dims, "ranking"),
        coords=coords | {"item": ("ranking", rankings.items[item])},
        name="log_likelihood",
    )


def _plausibility_values(rankings: Rankings, plausibility: xr.DataArray) -> tuple[Floats, list[str]]:
    """Return plausibilities as (..., item, category) in the order of the rankings, and the names of the other dims."""
    if not {"item", "category"} <= set(plausibility.dims):
        raise InputError(f"plausibilities have dims (..., item, category), not {plausibility.dims}")
    for dim, names in (("item", rankings.items), ("category", rankings.categories)):
        if dim in plausibility.coords:
            missing = [as_python(n) for n in names if n not in set(plausibility[dim].values.tolist())]
            if missing:
                raise InputError(f"plausibilities miss the {dim} {missing[0]!r}; give every {dim} of the rankings")
            plausibility = plausibility.sel({dim: names})
        elif plausibility.sizes[dim] != names.size:
            noun = {"category": "label"}.get(dim, dim)
            raise InputError(
                f"{plausibility.sizes[dim]} {noun}s of plausibilities for {names.size} {noun}s of rankings"
            )
    dims = [str(d) for d in plausibility.dims if d not in ("item", "category")]
    values = plausibility.transpose(*dims, "item", "category").values.astype(np.float64)
    if not (values >= 0).all():
        raise InputError("plausibilities must not be negative or NaN")
    return values, dims
