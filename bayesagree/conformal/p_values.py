"""Combination of p-values of several annotators, models or calibration splits into one.

Source: O. Cinar, W. Viechtbauer, "The poolr package for combining independent and dependent p values", JSS 101(1),
2022, doi:10.18637/jss.v101.i01.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._numerics.types import Floats
from bayesagree.errors import InputError, positive

type Combination = Literal["fisher", "stouffer", "inverse_chi_squared", "tippett", "bonferroni", "mean"]
type EffectiveTests = Literal["nyholt", "li_ji", "gao", "galwey"]

_EXPLAINED = 0.995
"""Share of the variance that the effective tests of Gao explain; their choice."""


@checked
def combine_p_values(
    p_values: xr.DataArray, *, dim: str, method: Combination = "fisher", n_effective: float | None = None
) -> xr.DataArray:
    """Combined p-values over one dimension.

    Parameters
    ----------
    p_values
        p-values of any dims, such as (annotator, item, category).
    dim
        Dimension to combine over, of size n.
    method
        ``"fisher"``, ``"stouffer"``, ``"inverse_chi_squared"``: for independent p-values; ``"tippett"``: from the
        smallest, if independent; ``"bonferroni"``: n times the smallest, under any dependence; ``"mean"``: twice the
        mean, under any dependence.
    n_effective
        Number of independent tests that dependent p-values are worth, such as `effective_tests` gives it: n by default.

    Returns
    -------
    DataArray
        p-values without the dimension.

    Raises
    ------
    InputError
        Values outside [0, 1], a dimension that is not there, an unknown method.

    See Also
    --------
    effective_tests, ecdf_p_values

    References
    ----------
    .. [1] O. Cinar, W. Viechtbauer, JSS 101(1), 2022, doi:10.18637/jss.v101.i01, sections 2 and 3.
    .. [2] V. Vovk, R. Wang, "Combining p-values via averaging", Biometrika 2020, doi:10.1093/biomet/asaa027 (mean).

    Examples
    --------
    >>> p = xr.DataArray([0.02, 0.1], dims="annotator")
    >>> round(float(combine_p_values(p, dim="annotator")), 5)
    0.01443
    >>> round(float(combine_p_values(p, dim="annotator", method="bonferroni")), 3)
    0.04
    """
    if method not in _METHODS:
        raise InputError(f"method={method!r} is not one of {', '.join(map(repr, _METHODS))}")
    values = _checked(p_values, dim)
    n = values.sizes[dim]
    tests = n if n_effective is None else positive(n_effective, "n_effective")
    found = _METHODS[method](values.transpose(..., dim).values.astype(np.float64), n, tests)
    return values.isel({dim: 0}, drop=True).transpose(*(d for d in values.dims if d != dim)).copy(data=found)


def _fisher(p: Floats, n: int, tests: float) -> Floats:
    with np.errstate(divide="ignore"):
        return sp.special.chdtrc(2 * n, -2 * np.log(p).sum(axis=-1) * tests / n)


def _stouffer(p: Floats, n: int, tests: float) -> Floats:
    return sp.special.ndtr(sp.special.ndtri(p).sum(axis=-1) * np.sqrt(tests) / n)


def _inverse_chi_squared(p: Floats, n: int, tests: float) -> Floats:
    return sp.special.chdtrc(n, sp.special.chdtri(1, p).sum(axis=-1) * tests / n)


def _tippett(p: Floats, n: int, tests: float) -> Floats:
    return 1 - (1 - p.min(axis=-1)) ** tests


def _bonferroni(p: Floats, n: int, tests: float) -> Floats:
    return np.minimum(p.min(axis=-1) * tests, 1)


def _twice_mean(p: Floats, n: int, tests: float) -> Floats:
    return np.minimum(2 * p.mean(axis=-1), 1)


_METHODS: dict[str, Callable[[Floats, int, float], Floats]] = {
    "fisher": _fisher,
    "stouffer": _stouffer,
    "inverse_chi_squared": _inverse_chi_squared,
    "tippett": _tippett,
    "bonferroni": _bonferroni,
    "mean": _twice_mean,
}


@checked
def effective_tests(values: xr.DataArray, *, dim: str, method: EffectiveTests = "galwey") -> float:
    """Number of independent tests that dependent ones are worth, from the eigenvalues of their correlations.

    Parameters
    ----------
    values
        p-values or their ranks; all dims but one are observations.
    dim
        Dimension of the tests.
    method
        ``"nyholt"``, ``"li_ji"``, ``"gao"`` or ``"galwey"``, the names of their authors.

    Returns
    -------
    float
        Between one and the number of tests; not rounded.

    Raises
    ------
    InputError
        Fewer than two observations, a test whose values never change, an unknown method.

    See Also
    --------
    combine_p_values

    References
    ----------
    .. [1] O. Cinar, W. Viechtbauer, JSS 101(1), 2022, doi:10.18637/jss.v101.i01, equations (5) to (8).

    Examples
    --------
    >>> same = xr.DataArray([[0.1, 0.1], [0.7, 0.7], [0.4, 0.4]], dims=("item", "annotator"))
    >>> round(effective_tests(same, dim="annotator"), 6)
    1.0
    """
    if method not in _EFFECTIVE:
        raise InputError(f"method={method!r} is not one of {', '.join(map(repr, _EFFECTIVE))}")
    if dim not in values.dims:
        raise InputError(f"there is no dimension {dim!r}; there is {', '.join(map(str, values.dims))}")
    table = values.transpose(dim, ...).values.reshape(values.sizes[dim], -1).astype(np.float64)
    if table.shape[1] < 2 or (np.ptp(table, axis=1) == 0).any():
        raise InputError(f"correlations over {dim!r} do not exist: fewer than two observations, or values all equal")
    eigenvalues = np.maximum(np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(table)))[::-1], 0)
    return float(_EFFECTIVE[method](eigenvalues))


def _nyholt(eigenvalues: Floats) -> float:
    """Cheverud (2001) and Nyholt (2004), with the variance of a sample, as in poolr."""
    n = eigenvalues.size
    return 1.0 if n == 1 else 1 + (n - 1) * (1 - eigenvalues.var(ddof=1) / n)


def _li_ji(eigenvalues: Floats) -> float:
    rounded = eigenvalues + 1e-12  # an eigenvalue of one that rounding left below
    return float(((rounded >= 1) + rounded - np.floor(rounded)).sum())


def _gao(eigenvalues: Floats) -> float:
    return float((np.cumsum(eigenvalues) / eigenvalues.sum() > _EXPLAINED).argmax() + 1)


def _galwey(eigenvalues: Floats) -> float:
    return float(np.sqrt(eigenvalues).sum() ** 2 / eigenvalues.sum())


_EFFECTIVE: dict[str, Callable[[Floats], float]] = {
    "nyholt": _nyholt,
    "li_ji": _li_ji,
    "gao": _gao,
    "galwey": _galwey,
}


@checked
def ecdf_p_values(p_values: xr.DataArray, held_out: xr.DataArray) -> xr.DataArray:
    """Corrected p-values: the share of held-out ones that are not larger, under any dependence of what was combined.

    The share is the published form. A level is kept exactly by (1 + number) / (n + 1), which `conformalize` with
    ``correction="ecdf"`` uses: with n held-out values, the share exceeds a level too rarely by up to 1 / (n + 1).

    Parameters
    ----------
    p_values
        Averaged or otherwise combined p-values, of any dims.
    held_out
        The same combination for the true labels of items that neither calibrated nor are tested, one dim.

    Returns
    -------
    DataArray
        Corrected p-values, dims of `p_values`.

    References
    ----------
    .. [1] D. Stutz et al., "Conformal prediction under ambiguous ground truth", TMLR 2023, arXiv:2307.09302, section
       3.3.

    Examples
    --------
    >>> held_out = xr.DataArray([0.1, 0.4, 0.5, 0.9], dims="item")
    >>> ecdf_p_values(xr.DataArray([0.05, 0.45], dims="category"), held_out).values.tolist()
    [0.0, 0.5]
    """
    if held_out.ndim != 1 or held_out.size == 0:
        raise InputError(f"held_out has dims {held_out.dims} of sizes {held_out.shape}; it is one list of p-values")
    ordered = np.sort(_checked(held_out, str(held_out.dims[0])).values)
    below = np.searchsorted(ordered, p_values.values, side="right")
    return p_values.copy(data=below / ordered.size)


def _checked(p_values: xr.DataArray, dim: str) -> xr.DataArray:
    if dim not in p_values.dims:
        raise InputError(f"there is no dimension {dim!r}; there is {', '.join(map(str, p_values.dims))}")
    if not ((p_values >= 0) & (p_values <= 1)).all():
        raise InputError("p-values lie between 0 and 1; some here do not, or are NaN")
    return p_values
