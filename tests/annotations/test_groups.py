"""Groups by disagreement rate have names and ranges of their own."""

import numpy as np
import pytest
import xarray as xr

from bayesagree import Labels
from bayesagree.annotations.groups import Groups
from bayesagree.subjective.disagreement import disagreement_rate


@pytest.mark.parametrize("rates", [[0.0, 0.0, 0.0], [0.3, 0.3, 0.3], [0.5, 0.5001, 0.5002]])
def test_groups_of_nearly_equal_rates_have_names_of_their_own(rates):
    rate = xr.DataArray(rates, {"annotator": list("xyz")}, ("annotator",))
    groups = Groups.by_disagreement(rate, bins=5)
    assert np.unique(groups.names).size == groups.names.size
    assert groups.sizes().sum() == 3
    assert groups.names.size == (5 if np.ptp(rates) else 1)


def test_names_of_groups_have_no_more_decimals_than_tell_them_apart():
    rate = xr.DataArray([1 / 3, 1 / 3 + 1e-4, 1 / 3 + 2e-4], {"annotator": list("xyz")}, ("annotator",))
    assert Groups.by_disagreement(rate, bins=2).names.tolist() == ["0.3333-0.3334", "0.3334-0.3335"]


def test_bins_of_disagreement_have_a_stated_range():
    labels = Labels.from_matrix(
        [["a", "a", "a", "b"], ["a", "a", "b", "b"], ["a", "a", "b", "b"], ["a", "a", "a", "b"]]
    )
    rate = disagreement_rate(labels, own_vote=True)
    assert rate.values.tolist() == [0, 0, 0, 0.5]
    groups = Groups.by_disagreement(rate, bins=2)
    assert groups.sizes().tolist() == [3, 1]
    table = groups.composition(labels)
    assert (table.index.name, table.index.tolist()) == ("group", groups.names.tolist())
    assert table.to_dict("list") == {"annotators": [3, 1], "annotations": [12, 4], "items": [4, 4]}
    narrow = Groups.by_disagreement(rate, bins=2, value_range=(0, 0.2))
    assert narrow.index.tolist() == [0, 0, 0, -1]
