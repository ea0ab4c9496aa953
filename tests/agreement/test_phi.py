"""common_agreement in public: draws, intervals, warnings, refusals, and reference posteriors."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from _paths import ROOT
from _phi import levels, posterior_of

from bayesagree import simulate
from bayesagree.agreement import limits_of_agreement
from bayesagree.agreement._phi.problem import prepare
from bayesagree.agreement.annotator_effects import annotator_levels
from bayesagree.agreement.checks import item_fit
from bayesagree.agreement.coefficients import agreement_table
from bayesagree.agreement.differences import agreement_difference
from bayesagree.agreement.phi import common_agreement
from bayesagree.agreement.summary import phi_summary
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from benchmarks.other_packages import agreement_phi, profile_likelihood
from studies.clusters import phi_clusters

MODELS = ROOT / "models"


def test_draws_follow_the_exact_posterior():
    problem = simulate.ratings(n_items=30, ratings_per_item=4, phi=0.4, random_seed=6)
    tree = common_agreement(problem.ratings, draws=2000, chains=2, random_seed=3)
    draws, exact = tree["posterior"]["phi"].values.ravel(), tree["agreement"]
    assert abs(draws.mean() - float(exact["mean"])) < 4.5 * float(exact["sd"]) / np.sqrt(draws.size)
    again = common_agreement(problem.ratings, draws=2000, chains=2, random_seed=3, progress=(done := []).append)
    assert len(done) > 10 and 4000 <= sum(done) <= 40_000
    np.testing.assert_array_equal(draws, again["posterior"]["phi"].values.ravel())
    assert tree.attrs["inference"] == "adaptive importance sampling"


@pytest.mark.parametrize("random_seed", range(2))
def test_phi_is_that_of_the_modified_profile_likelihood(random_seed):
    for pair in agreement_phi(np.random.default_rng(random_seed)):
        assert pair.holds, pair


def test_profile_likelihoods_are_those_of_agreementphi():
    """Its introduction: 200 items of 8 ratings at Phi = .4 have 2.446563 and, modified, 2.129956, error .0718."""
    rng = np.random.default_rng(1)
    mean = 1 / (1 + np.exp(-rng.uniform(-1, 1, (200, 1))))
    profile, modified, error = profile_likelihood(rng.beta(2.126 * mean, 2.126 * (1 - mean), (200, 8)))
    assert profile / modified == pytest.approx(2.446563 / 2.129956, rel=0.005)
    assert error / modified == pytest.approx(0.0718 / 2.129956, rel=0.05)


def test_known_truth_tells_agreement_around_it_from_agreement_elsewhere():
    x = [[3, 3, 4, 3], [0, 1, 0, 0], [2, 2, 2, 3]]
    near = common_agreement(levels(x, 5), item_mean={0: 3, 1: 0, 2: 2}, truth_sd=0.2, random_seed=1)["agreement"]
    far = common_agreement(levels(x, 5), item_mean={0: 0, 1: 4, 2: 4}, truth_sd=0.2, random_seed=1)["agreement"]
    assert float(near["mean"]) > 0.5 > float(far["mean"])


def test_difference_of_two_groups():
    a = simulate.ratings(n_items=80, ratings_per_item=5, phi=0.7, random_seed=1).ratings
    b = simulate.ratings(n_items=80, ratings_per_item=5, phi=0.3, random_seed=2).ratings
    one, two = (common_agreement(x, likelihood="binned", random_seed=1) for x in (a, b))
    found = phi_summary(one, two)
    assert abs(float(found["mean"]) - 0.4) < 4 * float(found["sd"])
    assert float(found["prob_positive"]) > 0.99


def test_tables_of_ratings_show_the_progress_of_phi():
    """It was silent for seven seconds of 8,000 ratings; a difference has two."""
    ratings, done, both = levels([[1, 2], [3, 3], [2, 2]], 5), [], []
    agreement_table(ratings, random_seed=1, progress=done.append)
    agreement_difference(ratings, ratings, random_seed=1, progress=both.append)
    assert min(done) > 0
    assert sum(both) > 1.5 * sum(done) > 4000


def test_posteriors_of_other_shapes_have_no_difference():
    one, two = (
        xr.DataTree.from_dict({"posterior": xr.Dataset({"phi": (("chain", "draw"), np.zeros((2, n)))})}) for n in (5, 6)
    )
    with pytest.raises(InputError, match=r"posteriors of \(2, 5\) and \(2, 6\) \(chain, draw\); use the same draws="):
        phi_summary(one, two)


def test_known_truths_at_the_ends_need_no_reading_of_them():
    """Answers that are all ends agree or disagree with the truths; beside other answers both readings are open."""
    ends = levels([[0, 0, 4], [4, 4, 4]], 5)
    assert prepare(ends, item_mean={0: 0.0}).kind == "binned"
    assert prepare(ends).kind == "averaged"
    assert prepare(levels([[0, 0, 3], [4, 4, 4]], 5), item_mean={0: 0.0}).kind == "averaged"
    assert prepare(levels([[1, 2, 3], [2, 2, 3]], 5)).kind == "binned"


def test_input_is_refused_by_name():
    ratings = levels([[1, 2], [3, 3]], 5)
    for options, words in (
        ({"item_mean": {9: 1.0}}, "9"),
        ({"item_mean": {0: 7.0}}, "outside the scale"),
        ({"item_mean": "wide"}, "wide"),
        ({"truth_sd": 1.0}, "truth_sd"),
        ({"item_mean": {0: 1.0}, "truth_sd": 0.003}, "below a thousandth of the scale"),
        ({"likelihood": "beta"}, "beta"),
        ({"engine": "vi"}, "vi"),
    ):
        with pytest.raises(InputError, match=words), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            common_agreement(ratings, **options)
    twice = pd.DataFrame({"item": [1, 1, 1], "annotator": ["a", "a", "b"], "rating": [1, 2, 3]})
    with pytest.raises(InputError, match="an annotator rated an item more than once; common_agreement takes one"):
        common_agreement(Ratings.from_long(twice, scale=(0, 4), duplicates="keep"))
    with pytest.raises(InputError, match="more than once: read the ratings with duplicates='first'"):
        limits_of_agreement(Ratings.from_long(twice, scale=(0, 4), duplicates="keep"))


@pytest.mark.parametrize("scale", ["continuous", "binned"])
@pytest.mark.parametrize("item_mean", ["flat", "hierarchical"])
def test_reference_posterior(item_mean, scale):
    """Exact engine against NUTS of the plain model, within the reference's Monte-Carlo error."""
    record = json.loads((MODELS / f"common_agreement_{item_mean}_{scale}.json").read_text())
    assert all(record["checks_made"].values())
    ratings = np.array(record["data"]["ratings"])
    given = levels(ratings, 5) if scale == "binned" else Ratings.from_matrix(ratings, scale=(0, 1))
    found = posterior_of(given, item_mean=item_mean).summary()
    reference = record["posterior"]["phi"]
    assert abs(found.mean - reference["mean"]) < 4.5 * reference["mcse_mean"]
    assert abs(found.sd - reference["sd"]) < 4.5 * reference["mcse_sd"]


def test_interval_has_the_probability_asked_for():
    ratings = simulate.ratings(n_items=30, ratings_per_item=4, phi=0.4, random_seed=6).ratings
    tree = common_agreement(ratings, likelihood="binned", ci_prob=0.5, random_seed=1)
    phi, found = tree["posterior"]["phi"].values, tree["agreement"]
    inside = (phi > float(found["lower"])) & (phi < float(found["upper"]))
    assert abs(inside.mean() - 0.5) < 4.5 * 0.5 / np.sqrt(phi.size)
    assert found.attrs["ci_prob"] == 0.5
    half, most = (
        phi_summary(tree, common_agreement(ratings, likelihood="binned", random_seed=2), ci_prob=p) for p in (0.5, 0.95)
    )
    assert float(most["lower"]) < float(half["lower"]) < float(half["upper"]) < float(most["upper"])
    with pytest.raises(InputError, match="ci_prob"):
        common_agreement(ratings, ci_prob=95)


@pytest.mark.long
def test_items_with_their_own_phi_are_found():
    calm = simulate.ratings(n_items=160, ratings_per_item=8, phi=0.9, random_seed=1).ratings.rating.reshape(160, 8)
    torn = simulate.ratings(n_items=40, ratings_per_item=8, phi=-0.6, random_seed=2).ratings.rating.reshape(40, 8)
    both = Ratings.from_matrix(np.concatenate([calm, torn]), scale=(1, 5), step=1)
    found = phi_clusters(both, n_clusters=(1, 2), random_seed=1)
    gain = float(found["score"].sel(n_clusters=2) - found["score"].sel(n_clusters=1))
    assert gain > 4 * float(found["score_se"].sel(n_clusters=2))
    low, high = np.sort(found["phi"].sel(n_clusters=2).values)
    assert low < -0.3
    assert high > 0.8
    worst = item_fit(both, draws=300, random_seed=1)
    torn_items = worst.loc[worst["fit"] == "more disagreement", "item"]
    assert len(torn_items) >= 5
    assert (torn_items >= 160).all()
    assert (worst.loc[worst["fit"] == "more agreement", "item"] < 160).all()


def test_an_item_that_divides_people_is_misfit_first():
    """Ten items of agreement and one of two camps; where all replicates equal an item, its p-value is a half."""
    table = np.array([[3, 3, 3, 4, 3]] * 10 + [[1, 5, 1, 5, 5]] + [[2] + 4 * [np.nan]])
    found = item_fit(Ratings.from_matrix(table, scale=(1, 5), step=1), draws=200, random_seed=1)
    assert sorted(found["item"]) == list(range(11))  # one rating has no deviation
    worst = found.iloc[0]
    assert (worst["item"], worst["fit"], worst["n_annotations"]) == (10, "more disagreement", 5)
    assert worst["p_value"] < 0.01
    np.testing.assert_allclose([worst["mean"], worst["sd"]], [3.4, table[10].std(ddof=1)])
    assert (found["p_value"].iloc[1:] > 0.05).all()
    distance = np.minimum(found["p_value"], 1 - found["p_value"])
    assert distance.is_monotonic_increasing
    alike = Ratings.from_matrix(np.full((30, 4), 5), scale=(1, 5), step=1)
    assert item_fit(alike, draws=100, random_seed=1)["p_value"].mean() > 0.45


@pytest.mark.parametrize(
    ("ratings", "likelihood", "message"),
    [
        ([[1], [2], [3]], "binned", "needs two annotators or more"),
        ([[1, 2]] * 3, "inflated", "has no annotator effects"),
    ],
)
def test_levels_are_refused_where_there_are_none(ratings, likelihood, message):
    given = Ratings.from_matrix(ratings, scale=(1, 5), step=1)
    with pytest.raises(InputError, match=message):
        common_agreement(given, annotator_effects="shift", likelihood=likelihood)


def test_levels_of_annotators_are_those_of_the_draws():
    shift = np.linspace(-1, 1, 401)[:, None] * [0.4, 0.1, 0.2] + [1.0, 0.0, -0.5]
    drawn = xr.DataArray(shift[None], {"annotator": list("abc")}, ("chain", "draw", "annotator"))
    table = annotator_levels(xr.DataTree.from_dict({"posterior": drawn.to_dataset(name="annotator_shift")}))
    assert table["annotator"].tolist() == ["c", "b", "a"]
    np.testing.assert_allclose(table["shift"], [-0.5, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(table["upper"] - table["lower"], 0.95 * 2 * np.array([0.2, 0.1, 0.4]), rtol=0.01)
    np.testing.assert_allclose(table["prob_above"], [0, 200 / 401, 1], atol=1e-9)
    with pytest.raises(InputError, match="no annotator_shift"):
        annotator_levels(xr.DataTree.from_dict({"posterior": drawn.to_dataset(name="other")}))
