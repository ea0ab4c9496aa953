"""Combined p-values: scipy's, the reference's tests as values, and the number of effective tests."""

import numpy as np
import pytest
import scipy as sp
import xarray as xr

from bayesagree import InputError
from bayesagree.conformal import combine_p_values, ecdf_p_values, effective_tests

METHODS = ("fisher", "stouffer", "inverse_chi_squared", "tippett", "bonferroni", "mean")
INDEPENDENT = METHODS[:4]


def uniform(n, size, seed=0):
    return xr.DataArray(np.random.default_rng(seed).random((n, size)), dims=("item", "annotator"))


@pytest.mark.parametrize("method", ["fisher", "stouffer", "tippett"])
def test_scipy(method):
    p = uniform(20, 5)
    expected = [sp.stats.combine_pvalues(row, method=method).pvalue for row in p.values]
    np.testing.assert_allclose(combine_p_values(p, dim="annotator", method=method), expected, rtol=1e-9)


@pytest.mark.parametrize("size", [1, 10])
@pytest.mark.parametrize("method", METHODS)
def test_the_reference(method, size):
    """Uniform p-values combine to uniform ones (within .05, as there), and keep levels .05 and .1 (within .005)."""
    found = combine_p_values(uniform(10_000, size), dim="annotator", method=method).values
    levels = np.arange(1, 10) / 10
    if method in INDEPENDENT:
        assert (np.abs((found[:, None] < levels).mean(axis=0) - levels) < 0.05).all()
    for alpha in (0.05, 0.1):
        assert (found <= alpha).mean() < alpha + 4.5 * np.sqrt(alpha / 10_000)


@pytest.mark.parametrize("method", ["nyholt", "li_ji", "gao", "galwey"])
def test_effective_tests_of_the_reference(method):
    free = uniform(10_000, 10)
    assert round(effective_tests(free, dim="annotator", method=method)) == 10
    doubled = xr.concat([free, free], "annotator")
    assert 10 <= round(effective_tests(doubled, dim="annotator", method=method)) <= 20


def test_effective_tests_of_equal_and_of_independent_ones():
    one = uniform(50, 1)
    same = xr.concat([one] * 4, "annotator")
    for method in ("nyholt", "gao", "galwey"):
        assert effective_tests(same, dim="annotator", method=method) == pytest.approx(1, abs=1e-6)
        assert effective_tests(one, dim="annotator", method=method) == pytest.approx(1)
    # poolr's definition by the variance of a sample: n equal tests are one test.
    assert effective_tests(same, dim="annotator", method="li_ji") == pytest.approx(1, abs=1e-6)


def test_dependent_p_values_count_as_fewer():
    p = xr.DataArray([[0.01] * 4, [0.5] * 4], dims=("item", "annotator"))
    as_four = combine_p_values(p, dim="annotator")
    as_one = combine_p_values(p, dim="annotator", n_effective=1)
    assert float(as_four[0]) < float(as_one[0])
    np.testing.assert_allclose(combine_p_values(p, dim="annotator", method="tippett", n_effective=1), [0.01, 0.5])


def test_the_empirical_correction_of_the_reference():
    """Means of p-values, of which half repeat the others, are uniform again."""
    p = uniform(100_000, 10)
    mean = xr.concat([p, p], "annotator").mean("annotator")
    found = ecdf_p_values(mean[25_000:], mean[:25_000]).values
    levels = np.arange(1, 10) / 10
    assert (np.abs((found[:, None] < levels).mean(axis=0) - levels) < 0.05).all()
    for alpha in (0.05, 0.1):
        assert abs((found > alpha).mean() - (1 - alpha)) < 0.005


def test_dims_and_names_stay():
    p = xr.DataArray(np.full((2, 3, 4), 0.5), {"item": ["a", "b"]}, ("item", "annotator", "category"))
    found = combine_p_values(p, dim="annotator")
    assert found.dims == ("item", "category")
    assert found["item"].values.tolist() == ["a", "b"]


def test_bad_input():
    p = uniform(5, 2)
    with pytest.raises(InputError, match="no dimension 'split'"):
        combine_p_values(p, dim="split")
    with pytest.raises(InputError, match="lie between 0 and 1"):
        combine_p_values(p * 3, dim="annotator")
    with pytest.raises(InputError, match="method='simes'"):
        combine_p_values(p, dim="annotator", method="simes")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="method='poolr'"):
        effective_tests(p, dim="annotator", method="poolr")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no dimension"):
        effective_tests(p, dim="split")
    with pytest.raises(InputError, match="values all equal"):
        effective_tests(p * 0, dim="annotator")
    with pytest.raises(InputError, match="one list of p-values"):
        ecdf_p_values(p, p)
