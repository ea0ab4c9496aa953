"""Where Phi says little: answers piled up at an end of the scale, forgotten levels, few levels, one rating an item."""

import warnings

import numpy as np
import pytest
import xarray as xr

from bayesagree import simulate
from bayesagree.agreement.limits import phi_of_rounding, supported_with_levels
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Ratings


def levels(rows, scale=(1, 5)):
    return Ratings.from_matrix(rows, scale=scale, step=1)


def quiet(ratings, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return common_agreement(ratings, draws=50, chains=1, seed=1, **options)["agreement"]


UNANIMOUS = {
    "one end": [[1] * 5] * 100,
    "limitation 2": [[5] * 5] * 100,
    "limitations 3 and 4a": [[5, 5]] * 99 + [[5, 1]],  # the order of the ratings of an item is not read
    "nearly": [[5] * 5] * 99 + [[5, 5, 5, 5, 4]],
}


@pytest.mark.parametrize(
    ("name", "item_mean"),
    [
        *((name, "flat") for name in UNANIMOUS),
        pytest.param("one end", "hierarchical", marks=pytest.mark.slow),  # the next one, turned around
        *(pytest.param(name, "hierarchical", marks=pytest.mark.long) for name in list(UNANIMOUS)[1:]),
    ],
)
def test_unanimous_answers_at_an_end_are_never_disagreement(name, item_mean):
    """Under flat means all of them gave -.99, under the default limitations 3 and 4a gave disagreement."""
    found = quiet(levels(UNANIMOUS[name]), item_mean=item_mean)
    assert found.attrs["decision"] != "disagreement"
    assert float(found["share_at_ends"]) >= 0.99


@pytest.mark.parametrize("item_mean", [pytest.param("hierarchical", marks=pytest.mark.long), "flat"])
def test_two_camps_stay_disagreement(item_mean):
    camps = quiet(levels([[1, 5, 1, 5, 5]] * 40), item_mean=item_mean)
    assert camps.attrs["decision"] == "disagreement"
    assert float(camps["share_at_ends"]) == 0
    polarised = simulate.ratings(n_items=80, ratings_per_item=6, phi=-0.7, seed=2).ratings
    assert quiet(polarised, item_mean=item_mean).attrs["decision"] == "disagreement"


def test_unanimity_inside_the_scale_is_agreement():
    assert quiet(levels([[2] * 5] * 100)).attrs["decision"] == "agreement"


def test_items_at_the_ends_leave_what_the_others_say():
    """Half of the items unanimous at an end, half of the kind that agreeing annotators give."""
    inside = simulate.ratings(n_items=100, ratings_per_item=5, phi=0.8, seed=1).ratings
    matrix = np.full((100, 5), np.nan)
    matrix[inside.item_index, inside.annotator_index] = inside.rating
    ends = quiet(levels(np.vstack([matrix, np.full((100, 5), 1.0)])))
    assert ends.attrs["decision"] == "agreement"


def test_ends_are_named_in_a_warning():
    of_readings = pytest.warns(UserWarning, match="if you know how the scale was used")
    with of_readings, pytest.warns(UserWarning, match="on 100% of the items all ratings are one end"):
        common_agreement(levels([[1] * 5] * 10), item_mean="flat", draws=50, chains=1, seed=1)


@pytest.mark.long
def test_conflicting_readings_of_the_ends_are_undecided(public_data):
    from bayesagree import datasets

    anger = datasets.load("snow-affect/anger").annotations
    with pytest.warns(UserWarning) as said:
        found = common_agreement(anger, likelihood="binned", draws=50, chains=1, seed=1)["agreement"]
    assert found.attrs["decision"] == "undecided"
    squeezed = quiet(anger, likelihood="squeezed")
    assert squeezed.attrs["decision"] == "agreement"
    assert any(f"agreement ({float(squeezed['mean']):.2f})" in str(warning.message) for warning in said)
    assert float(found["mean"]) == pytest.approx(-0.65, abs=0.005)


@pytest.mark.parametrize(("n_levels", "step"), [(5, "1"), (7, "1"), (11, "1"), (2, "1")])
def test_a_forgotten_step_is_named(n_levels, step):
    x = np.random.default_rng(1).integers(1, n_levels + 1, (100, 5))
    with pytest.warns(UserWarning) as said:
        common_agreement(Ratings.from_matrix(x, scale=(1, n_levels)), draws=50, chains=1, seed=1)
    messages = [str(warning.message) for warning in said]
    assert any(f"grid of {n_levels} levels" in m and f"pass step={step}" in m for m in messages)
    assert any("two levels" in m for m in messages) == (n_levels == 2)


def test_continuous_ratings_are_no_grid():
    common_agreement(Ratings.from_matrix([[0.3, 0.35, 0.5], [0.8, 0.9, 0.95]], scale=(0, 1)), draws=50, seed=1)
    x = np.random.default_rng(1).random((30, 5)).round(2)
    common_agreement(Ratings.from_matrix(x, scale=(0, 1)), draws=50, chains=1, seed=1)


def test_one_rating_an_item_and_few_levels_warn():
    with pytest.warns(UserWarning, match="one rating per item"):
        common_agreement(levels([[1], [3], [4]]), draws=50, chains=1, seed=1)
    with pytest.warns(UserWarning, match="4 levels: below 5"):
        common_agreement(levels([[1, 2, 2], [3, 4, 2]], (1, 4)), draws=50, chains=1, seed=1)


def test_joint_maximum_with_known_truths_is_the_papers_estimate():
    """argmax of the joint posterior of Phi and the item means, by the review's own grid: .34; the marginal mode .32."""
    ratings = Ratings.from_matrix([[0.3, 0.35, 0.5], [0.8, 0.9, 0.95]], scale=(0, 1))
    found = quiet(ratings, item_mean={0: 0.6, 1: 0.6}, truth_sd=0.05)
    assert float(found["joint_map"]) == pytest.approx(0.34, abs=0.005)
    assert float(found["map"]) == pytest.approx(0.32, abs=0.005)


def test_maximum_likelihood_of_two_camps_is_their_end():
    assert float(quiet(levels([[1, 5] * 5] * 100), likelihood="binned")["ml"]) == -1.0


def test_squeezed_ratings_of_ragged_data_are_squeezed_as_the_longest_row():
    """The published code takes n from the width of its table, whatever is missing in it."""
    ragged = [[2, 3, None, None, None], [1, 2, 2, 3, 1], [4, 5, None, None, None], [3, 3, 4, 2, 3]]
    unit = (np.array(ragged, float) - 1) / 4
    inside = Ratings.from_matrix((unit * 4 + 0.5) / 5, scale=(0, 1))
    squeezed = quiet(levels(ragged), likelihood="squeezed")
    density = quiet(inside, likelihood="density")
    assert float(squeezed["mean"]) == pytest.approx(float(density["mean"]), abs=1e-6)


def test_a_claim_that_rests_on_what_levels_stand_for_is_named():
    """Random answers rounded to the nearest level: agreement for a reading by intervals of equal width."""
    rng = np.random.default_rng(1)
    rounded = Ratings.from_matrix(np.round(rng.random((100, 6)) * 4), scale=(0, 4), step=1)
    with pytest.warns(UserWarning, match="random answers already have Phi = 0.37"):
        tree = common_agreement(rounded, draws=20, seed=1)
    assert tree["agreement"].attrs["decision"] == "agreement"
    assert [round(phi_of_rounding(k), 2) for k in (3, 101)] == [0.55, 0.04]


def test_saturation_is_named():
    same = Ratings.from_matrix(np.repeat([[1], [2], [3], [2]] * 6, 4, axis=1), scale=(0, 4), step=1)
    with pytest.warns(UserWarning, match="Phi is saturated"):
        common_agreement(same, draws=20, seed=1)


def fitted(mean, lower, upper):
    """Return a result that says no more than this."""
    return xr.DataTree.from_dict({"agreement": xr.Dataset({"mean": mean, "lower": lower, "upper": upper})})


def test_disagreement_of_a_fit_with_levels_rests_on_fits_with_levels():
    """It must hold without the items unanimous at an end, known truths aside, and where ends are points."""
    given = Ratings.from_matrix([[0, 4], [1, 3], [0, 0], [4, 4]], scale=(0, 4), step=1)
    asked = []

    def refit(ratings, truth, kind):
        asked.append((ratings.items.tolist(), truth, kind))
        return fitted(*((0.2, 0.1, 0.3) if (kind == "squeezed") == squeezed_agrees else (-0.3, -0.4, -0.1)))

    squeezed_agrees = True
    with pytest.warns(UserWarning, match="how an answer at an end"):
        assert supported_with_levels(given, "binned", "disagreement", {2: 0.0}, refit) == "undecided"
    assert asked == [([0, 1, 2], {2: 0.0}, "binned"), ([0, 1, 2, 3], {2: 0.0}, "squeezed")]
    squeezed_agrees = False
    with pytest.warns(UserWarning, match="all ratings are one end"):
        assert supported_with_levels(given, "binned", "disagreement", "flat", refit) == "undecided"
    assert supported_with_levels(given, "binned", "agreement", "flat", refit) == "agreement"
    ends = given.select(given.item_index > 1)
    assert supported_with_levels(ends, "binned", "disagreement", "flat", refit) == "undecided"


def answers(ratings, **options):
    """Return the warnings of a fit."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        common_agreement(ratings, draws=50, chains=4, seed=1, **options)
    return " ".join(str(warning.message) for warning in seen)


def test_a_pile_in_the_middle_is_named():
    """Random raters of whom three in ten answer the middle: called agreement."""
    rng = np.random.default_rng(1)
    x = np.where(rng.random((150, 5)) < 0.3, 3, rng.integers(1, 6, (150, 5)))
    assert "depends on the answers in the middle" in answers(levels(x))
    agreed = simulate.ratings(n_items=100, ratings_per_item=5, phi=0.8, n_levels=5, seed=1).ratings
    assert "middle" not in answers(agreed)


@pytest.mark.long
def test_ends_whatever_the_item_are_named():
    """Continuous judgments of which a quarter is put on 0: the model expects more of them on low items."""
    rng = np.random.default_rng(1)
    mu = rng.beta(2, 2, (200, 1))
    x = rng.beta(10 * mu, 10 * (1 - mu), (200, 5)).round(3).clip(0.001, 0.999)
    u = rng.random(x.shape)
    message = "answers at the low end do not depend on the item"
    assert message in answers(Ratings.from_matrix(np.where(u < 0.25, 0.0, x), scale=(0, 1)))
    odds = (1 - mu) / mu / 3
    assert message not in answers(Ratings.from_matrix(np.where(u < odds / (1 + odds), 0.0, x), scale=(0, 1)))


def test_an_annotator_at_one_end_is_named():
    made = simulate.ratings(n_items=100, ratings_per_item=5, phi=0.7, n_levels=5, seed=1).ratings
    x = made.rating.reshape(100, 5).copy()
    x[:, 2] = 1
    assert "end of the scale, 2 in 100%" in answers(levels(x))


def test_some_items_of_one_rating_do_not_hide_the_agreement_of_the_others():
    matrix = [[1, 2, np.nan], [4, np.nan, np.nan], [5, 4, 5], [2, 1, np.nan]]
    common_agreement(Ratings.from_matrix(matrix, scale=(1, 5), step=1), draws=10, seed=1)  # a warning is an error
