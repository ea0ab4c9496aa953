"""Groups of items, by name."""

from itertools import pairwise
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree.annotations.item_groups import ItemGroup, group_of_each
from bayesagree.errors import InputError


def groups_of(by: ItemGroup, items: NDArray[Any]) -> NDArray[Any]:
    """Return the group of each item, shape (item,).

    Raises
    ------
    InputError
        Items without a group, or groups that are fractional numbers.
    """
    found = group_of_each(by, items, "by").infer_objects().to_numpy()
    if found.dtype.kind == "f" and not (found == np.floor(found)).all():
        raise InputError("by= holds fractional numbers; cut them into groups first, as certainty_groups does")
    return found if found.dtype.kind in "iufb" else found.astype(str)


@checked
def certainty_groups(certainty: xr.DataArray, *, edges: tuple[float, ...] = (0.5, 0.8, 0.95)) -> xr.DataArray:
    """Group of each item by a number such as its annotation certainty or the confidence of a model.

    Parameters
    ----------
    certainty
        One number for each item (item).
    edges
        Limits between the groups, ascending; a group holds its lower limit.

    Returns
    -------
    DataArray
        Name of the group (item), such as ``"[0.5, 0.8)"``.

    See Also
    --------
    bayesagree.annotation_certainty, set_coverage

    Examples
    --------
    >>> certainty_groups(xr.DataArray([0.4, 0.8], {"item": ["a", "b"]}, ("item",))).values.tolist()
    ['below 0.5', '[0.8, 0.95)']
    """
    if not edges or list(edges) != sorted(set(edges)):
        raise InputError(f"edges={edges!r} must be one or more ascending numbers")
    if certainty.dims != ("item",) or np.isnan(certainty.values).any():
        raise InputError("certainty must be one number for each item, dims ('item',), without NaN")
    inner = [f"[{low:g}, {high:g})" for low, high in pairwise(edges)]
    names = np.array([f"below {edges[0]:g}", *inner, f"from {edges[-1]:g}"])
    return certainty.copy(data=names[np.searchsorted(edges, certainty.values, side="right")]).rename("group")
