"""The functions by which predictive checks know common agreement: units, prior densities, refusals."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from bayesagree import Ratings
from bayesagree.agreement.predictive import PREDICTIVE
from bayesagree.errors import InputError

LEVELS = Ratings.from_matrix([[4, 4, 5], [1, 2, 1]], items=["owl", "elk"], scale=(1, 5), step=1)
HALVES = Ratings.from_matrix([[4, 4.5], [1, 2.5]], scale=(1, 5), step=0.5)
SLIDER = Ratings.from_matrix([[4, 4.5], [1.2, 2.5]], scale=(1, 5))


def posterior(**draws):
    return xr.Dataset({name: (("chain", "draw", *"abc"[: np.ndim(v) - 2]), v) for name, v in draws.items()})


@pytest.mark.parametrize(
    ("ratings", "kind"),
    [(LEVELS, "i"), (HALVES, "f"), (SLIDER, "f"), (Ratings.from_matrix([[0.5]], scale=(0.5, 2.5), step=1), "f")],
)
def test_ratings_are_whole_numbers_where_all_levels_are(ratings, kind):
    observed = PREDICTIVE.observed(ratings)
    assert (observed.name, observed.dim, observed.values.dtype.kind) == ("rating", "annotation", kind)
    np.testing.assert_array_equal(observed.values, ratings.rating)
    if ratings.step is not None:
        assert PREDICTIVE.to_scale(ratings, {"rating": ratings.rating})["rating"].dtype.kind == kind


def test_continuous_replicates_come_back_in_units_of_the_scale():
    drawn = PREDICTIVE.to_scale(SLIDER, {"rating": np.array([0.0, 0.25, 1.0]), "phi": np.array([0.5])})
    assert drawn["rating"].tolist() == [1.0, 2.0, 5.0] and drawn["phi"].tolist() == [0.5]


def test_variables_of_the_model_are_in_its_units():
    given = {
        "phi": [[0.1, 0.2]],
        "item_mean": [[[1.0, 5.0], [2.0, 4.0]]],
        "annotator_shift": [[[0.5, -0.5], [0.0, 0.0]]],
    }
    given |= {"low_end_share": [[0.1, 0.2]], "high_end_share": [[0.3, 0.4]]}
    found = PREDICTIVE.variables(LEVELS, posterior(**given), {"likelihood": "inflated"})
    assert {name: values.tolist() for name, values in found.items()} == {
        "phi": [0.1, 0.2], "unit_item_mean": [[0, 1], [0.25, 0.75]], "annotator_shift": [[0.5, -0.5], [0, 0]],
        "low_end_share": [0.1, 0.2], "high_end_share": [0.3, 0.4],
    }  # fmt: skip
    del given["annotator_shift"]
    judged = PREDICTIVE.variables(LEVELS, posterior(**given), {"likelihood": "binned"})
    assert set(judged) == {"phi", "unit_item_mean"}
    with pytest.raises(InputError, match="no draws of 'item_mean'; pass keep_item_means=True to common_agreement"):
        PREDICTIVE.variables(LEVELS, posterior(phi=[[0.1]]), {"likelihood": "binned"})


@pytest.mark.parametrize("likelihood", ["binned", "inflated", "averaged"])
def test_prior_densities_are_those_of_the_scales_of_the_parameters(likelihood):
    """The density of what is uniform times the slope of its scale, by differences."""
    phi, uniform = np.array([[-0.6, 0.1, 0.9]]), np.array([[0.2, 0.5, 0.8]])
    names = ["mean_location", "mean_spread", "annotator_shift_sd", "low_end_share", "high_end_share"]
    found = PREDICTIVE.log_prior(
        LEVELS, posterior(phi=phi, **dict.fromkeys(names, uniform)), {"likelihood": likelihood}
    )

    def density(value, scale, log_prior):
        h = 1e-6
        return log_prior(value) - np.log(np.abs(scale(value + h) - scale(value - h)) / (2 * h))

    def logit(w):
        return np.log(w / (1 - w))

    def flat(_):
        return 0

    expected = {
        "phi": density(phi[0], lambda x: 2 * (1 - np.log2(1 - x)), lambda _: np.log(1 / 2)),
        "mean_location": density(uniform[0], logit, flat),
        "mean_spread": density(uniform[0], lambda s: s**-2 - 1, flat),
        "annotator_shift_sd": density(uniform[0], np.log, stats.halfnorm.logpdf),
    }
    if likelihood == "inflated":  # the root of a share is uniform
        of_share = density(np.sqrt(uniform[0]), lambda root: logit(root**2), flat)
        expected |= {"low_end_share": of_share, "high_end_share": of_share}
    assert set(found) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-7, atol=1e-8)


def test_levels_of_annotators_have_no_quadrature():
    drawn = posterior(phi=[[0.1]], mean_location=[[0.5]], mean_spread=[[0.5]], annotator_shift=[[[0.0]]])
    with pytest.raises(InputError, match="integrated_log_likelihood"):
        PREDICTIVE.item_log_likelihood(LEVELS, drawn, {"likelihood": "binned"})


def test_models_of_predictive_checks_have_the_parameters_of_the_result():
    """A known truth of a result is by the text of its item's name, and a slider's replicates are judgments."""

    def free(ratings, **settings):
        return {variable.name for variable in PREDICTIVE.model(ratings, settings).free_RVs}

    shares, hyper = {"root_low_end_share", "root_high_end_share"}, {"mean_location", "mean_spread"}
    common, shift = {"phi", "unit_item_mean"}, {"annotator_shift", "annotator_shift_sd"}
    assert free(LEVELS, likelihood="binned") == free(LEVELS) == common | hyper
    assert free(LEVELS, likelihood="averaged", item_mean={"elk": 2.0}) == common | shares
    assert free(LEVELS, likelihood="binned", annotator_effects="shift") == common | hyper | shift
    numbered = Ratings.from_matrix([[4, 4], [1, 2]], items=[7, 9], scale=(1, 5), step=1)
    assert free(numbered, item_mean={"9": 2.0}) == common
    ends = Ratings.from_matrix([[5, 4.5], [1.2, 2.5]], scale=(1, 5))
    assert free(SLIDER, likelihood="averaged") == free(ends, likelihood="binned") == common | hyper
    assert free(ends, likelihood="averaged") == common | hyper | shares
    with pytest.raises(InputError, match="item_mean names items without ratings: 'cat'"):
        free(LEVELS, item_mean={"cat": 2.0})


def test_an_observed_end_is_no_part_of_the_judgments_of_a_slider():
    ends = Ratings.from_matrix([[5, 4.5], [1, 2.5]], scale=(1, 5))
    observed = PREDICTIVE.model(ends, {"likelihood": "binned"})["observed_rating"].get_value()
    assert 0 < observed.min() < 1e-12 and 1 - 1e-12 < observed.max() < 1
    np.testing.assert_allclose(observed, ends.unit(), atol=1e-12)
