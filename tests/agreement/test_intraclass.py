"""Intraclass correlations by components of variance: published values, a dense oracle, PyMC, coverage."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import gamma
from scipy.stats import multivariate_normal

from bayesagree import InputError, Ratings
from bayesagree.agreement.coefficients import agreement_table
from bayesagree.agreement.intraclass import KINDS, VarianceComponents, correlation, icc, icc_rows

SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7.0]])
PUBLISHED = {"1,1": 0.17, "2,1": 0.29, "3,1": 0.71, "1,k": 0.44, "2,k": 0.62, "3,k": 0.91}
COMPLETE = Ratings.from_matrix(SHROUT_FLEISS, scale=(1, 10))


def world(rng, items=30, people=4, a=1.0, b=0.3, missing=0.3):
    x = np.sqrt(a) * rng.standard_normal((items, 1)) + np.sqrt(b) * rng.standard_normal((1, people))
    x = x + rng.standard_normal((items, people))
    x[rng.random(x.shape) < missing] = np.nan
    return Ratings.from_matrix(x, scale=(-9, 9))


def test_published_values_of_shrout_and_fleiss():
    """Table 4 of the paper, which R's psych::ICC reproduces."""
    found = icc(COMPLETE, random_seed=1).set_index("kind")
    assert found["estimate"].round(2).to_dict() == PUBLISHED
    assert ((found["lower"] < found["estimate"]) & (found["estimate"] < found["upper"])).all()
    # Mean squares 11.24 (items, 5 degrees), 32.49 (annotators, 3) and 1.02, also theirs.
    components = {"item": (11.2417 - 1.0194) / 4, "annotator": (32.4861 - 1.0194) / 6, "error": 1.0194}
    assert icc(COMPLETE, random_seed=1).attrs["variances"] == pytest.approx(components, abs=1e-3)
    shown = {name: row["note"] for name, row in icc_rows(COMPLETE, 0.95, 1).items()}
    assert shown["icc_agreement"] == "components of variance: item 2.56, annotator 5.24, error 1.02"
    assert shown["icc_one_way_mean"] == "mean of 4 ratings; components of variance"


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_ratings_changes_no_correlation(unit):
    """Shares of variance have no unit; a floor under the variance of errors once changed those of millionths."""
    for x in (SHROUT_FLEISS, np.tile([1.0, 3.0, 5.0], (8, 1)) + 0.1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, other = (icc(Ratings.from_matrix(c * x, scale=(0, 10 * c)), random_seed=1) for c in (1.0, unit))
        ends = ["estimate", "lower", "upper"]
        np.testing.assert_allclose(other[ends], one[ends], atol=1e-5)


def test_kinds_that_do_not_exist_are_told():
    """Items with one mean have no variance that a mean of ratings could tell apart."""
    with pytest.warns(UserWarning, match="'3,1', '1,k', '3,k' do not exist: the mean ratings of items do not differ"):
        found = icc(Ratings.from_matrix(np.tile([1.0, 3.0, 5.0], (8, 1)), scale=(1, 5)), random_seed=1)
    assert found["kind"][found["estimate"].isna()].tolist() == ["3,1", "1,k", "3,k"]


@pytest.mark.parametrize("two_way", [True, False])
def test_restricted_likelihood_is_that_of_contrasts_of_all_ratings(two_way):
    """Harville: the likelihood of n - 1 orthonormal contrasts, its error integrated out with a flat log."""
    ratings, grid = world(np.random.default_rng(1), items=8), np.array([0.1, 0.5, 0.8])
    x = ratings.rating
    items, people = (np.equal.outer(c, c).astype(float) for c in (ratings.item_index, ratings.annotator_index))
    contrasts = np.linalg.svd(np.eye(x.size) - 1 / x.size)[0][:, :-1].T
    y = contrasts @ (x / x.std())
    logs = VarianceComponents(ratings, two_way=two_way)
    expected, found = [], []
    for share in (0.2, 0.6):
        found.append(logs.log_likelihood(share, grid if two_way else np.zeros(3)))
        for own in grid if two_way else np.zeros(3):
            v = np.eye(x.size) + share / (1 - share) * items + own / (1 - own) * people
            v = contrasts @ v @ contrasts.T
            normal = multivariate_normal(np.zeros(y.size), v)
            square = float(y @ np.linalg.solve(v, y))
            expected.append(normal.logpdf(np.zeros(y.size)) - 0.5 * y.size * np.log(square))
    difference = np.concatenate(found) - np.array(expected)
    np.testing.assert_allclose(difference, difference[0], atol=1e-8)


@pytest.mark.nuts
def test_pymc_is_the_same_posterior():
    import pymc as pm

    ratings = world(np.random.default_rng(3))
    with pm.Model(coords={"item": ratings.items, "annotator": ratings.annotators}):
        centre, error = pm.Flat("mean"), pm.math.exp(pm.Flat("log_error"))
        for dim, index in (("item", ratings.item_index), ("annotator", ratings.annotator_index)):
            share, offset = pm.Uniform(f"share_{dim}"), pm.Normal(f"{dim}_offset", dims=dim)
            centre = centre + error * pm.math.sqrt(share / (1 - share)) * offset[index]
        pm.Normal("rating", centre, error, observed=ratings.rating)
        nuts = pm.sample(1000, tune=1000, chains=2, random_seed=1, progressbar=False, target_accept=0.95)["posterior"]
    _, drawn = VarianceComponents(ratings, two_way=True).draws(np.random.default_rng(1))
    shares = np.stack([nuts[f"share_{dim}"].values.ravel() for dim in ("item", "annotator")], axis=1)
    for kind in ("2,1", "3,1", "2,k"):
        one, other = (correlation(kind, s, 4) for s in (drawn, shares))
        assert abs(one.mean() - other.mean()) < 4.5 * np.sqrt(one.var() / 4000 + other.var() / 300), kind


@pytest.mark.long
def test_intervals_hold_the_truth():
    rng, a, b = np.random.default_rng(4), 1.0, 0.3
    held = {"2,1": [], "3,1": []}
    for _ in range(40):
        fit = VarianceComponents(world(rng, people=6, a=a, b=b), two_way=True).draws(rng)[1]
        for kind in held:
            lower, upper = np.quantile(correlation(kind, fit, 1), [0.025, 0.975])
            true = a / (a + 1 + (b if kind == "2,1" else 0))
            held[kind].append(lower < true < upper)
    # .95 of 40 is 38, with an error of 1.4.
    assert all(sum(of) >= 33 for of in held.values()), held


@pytest.mark.long
def test_table_shows_all_six():
    table = agreement_table(COMPLETE, random_seed=1).set_index("coefficient")["estimate"]
    names = [f"icc_{n}{m}" for m in ("", "_mean") for n in ("one_way", "agreement", "consistency")]
    assert dict(zip(KINDS, table[names].astype(float).round(2))) == PUBLISHED
    missing = agreement_table(world(np.random.default_rng(5)), random_seed=1).set_index("coefficient")
    assert np.isfinite(missing.loc[names, ["estimate", "lower", "upper"]].astype(float)).all(axis=None)
    assert missing.loc["icc_agreement", "note"].startswith("components of variance: item ")


@pytest.mark.parametrize("given", [np.ones((4, 3)), np.array([[1.0, np.nan], [np.nan, 2.0]]), np.array([[1.0, 2.0]])])
def test_refused(given):
    with pytest.raises(InputError, match="needs two items"):
        icc(Ratings.from_matrix(given, scale=(0, 5)))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([[1.0, 2.0]], "fewer than two items: an intraclass"),
        ([[1.0, np.nan], [np.nan, 2.0]], "no item has two ratings: an intraclass"),
        ([[3.0, 3.0], [3.0, 3.0]], "all ratings are equal: an intraclass"),
    ],
)
def test_what_an_intraclass_correlation_lacks(given, why):
    with pytest.raises(InputError, match=why):
        icc(Ratings.from_matrix(given, scale=(0, 5)))
    twice = pd.DataFrame({"item": [1, 1, 2], "annotator": "a", "rating": [1.0, 2.0, 4.0]})
    with pytest.raises(InputError, match="fewer than two annotators: an intraclass"):
        icc(Ratings.from_long(twice, scale=(0, 5), duplicates="keep"))


def test_the_mean_of_more_ratings_distinguishes_items_by_the_formula_of_spearman_and_brown():
    found = icc(COMPLETE, k=10, random_seed=1).set_index("kind")
    for kind in "123":
        one, several = found.loc[f"{kind},1"], found.loc[f"{kind},k"]
        assert (one["k"], several["k"]) == (1, 10)
        assert several["estimate"] == pytest.approx(10 * one["estimate"] / (1 + 9 * one["estimate"]))


def test_ratings_with_gaps_have_the_mean_number_of_ratings_an_item():
    """Eight ratings of four items: two."""
    sparse = np.where(np.arange(12).reshape(4, 3) % 3 == 2, np.nan, np.arange(12).reshape(4, 3) % 5)
    found = icc(Ratings.from_matrix(sparse, scale=(0, 9)), random_seed=1)
    assert found["k"].tolist() == [1, 1, 1, 2, 2, 2]


def test_levels_of_annotators_are_drawn_given_the_components_of_variance():
    """By dense matrices: the best linear predictions over the error, whose square is a scaled chi-squared."""
    ratings = world(np.random.default_rng(2), items=10)
    n, share, own = ratings.rating.size, 0.5, 0.3
    items, people = (np.eye(k.max() + 1)[k] for k in (ratings.item_index, ratings.annotator_index))
    a, b = share / (1 - share), own / (1 - own)
    inverse = np.linalg.inv(np.eye(n) + a * items @ items.T + b * people @ people.T)
    one, x = np.ones(n), ratings.rating
    weight = one @ inverse @ one
    centre = one @ inverse @ x / weight
    away = inverse @ (x - centre)
    rest = (x - centre) @ away
    # Mean and covariance of the levels in errors: of normal levels given mean and error, and of the mean itself.
    over = np.sqrt(2 / rest) * gamma(n / 2) / gamma((n - 1) / 2)  # E(1 / error)
    mean = b * people.T @ away * over
    by_mean = b * people.T @ inverse @ one
    cov = b * np.eye(4) - b**2 * people.T @ inverse @ people + np.outer(by_mean, by_mean) / weight
    cov += np.outer(b * people.T @ away, b * people.T @ away) * ((n - 1) / rest - over**2)
    drawn = VarianceComponents(ratings, two_way=True).levels(share, np.full(20_000, own), np.random.default_rng(1))
    assert (np.abs(drawn.mean(axis=0) - mean) < 4.5 * np.sqrt(np.diag(cov) / 20_000)).all()
    np.testing.assert_allclose(np.cov(drawn.T), cov, atol=5 * np.diag(cov).max() / np.sqrt(10_000))


@pytest.mark.parametrize("two_way", [True, False])
def test_shares_are_drawn_by_the_restricted_likelihood(two_way):
    """Means over a fine grid of both shares; the peak is the place of the highest likelihood."""
    components = VarianceComponents(world(np.random.default_rng(6), items=12), two_way=two_way)
    top, drawn = components.draws(np.random.default_rng(1))
    grid = (np.arange(100) + 0.5) / 100
    log = np.stack([components.log_likelihood(share, grid) for share in grid])
    mass = np.exp(log - log.max())
    mass /= mass.sum()
    for k, axis in enumerate((1, 0)):
        of_share = mass.sum(axis=axis)
        sd = np.sqrt(of_share @ grid**2 - (of_share @ grid) ** 2)
        assert abs(drawn[:, k].mean() - of_share @ grid) < 4.5 * sd / np.sqrt(4000) + 2e-3
        assert drawn[:, k].std() == pytest.approx(sd, rel=0.06)
    assert components.log_likelihood(top[0], top[1:])[0] >= log.max() - 1e-9
