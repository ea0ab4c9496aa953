"""The exact engine of Phi against brute force, reference posteriors, its PyMC twin, and the paper's claims."""

import itertools
import json
import warnings

import arviz as az
import numpy as np
import pytest
from _paths import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import betainc, betaln
from scipy.stats import beta as beta_distribution

from bayesagree import simulate
from bayesagree._inference.nuts import sample_nuts
from bayesagree.agreement._exact.item_means import HierarchicalMeans, beta_shapes
from bayesagree.agreement._exact.likelihood import _log_end_bins
from bayesagree.agreement._exact.maximum_likelihood import phi_maximum_likelihood
from bayesagree.agreement._exact.posterior import phi_of, phi_posterior, precision_of
from bayesagree.agreement._exact.problem import prepare
from bayesagree.agreement.checks import item_fit, item_mean_check, phi_clusters
from bayesagree.agreement.model import AgreementPrior
from bayesagree.agreement.phi import common_agreement, common_agreement_model, phi_difference
from bayesagree.annotations import Ratings
from bayesagree.errors import ConvergenceError, InputError

MODELS = ROOT / "models"


def posterior_of(ratings, **options):
    return phi_posterior(prepare(ratings, **options).means)


def levels(matrix, n_levels):
    return Ratings.from_matrix(np.asarray(matrix, dtype=float), scale=(0, n_levels - 1), step=1)


@pytest.mark.parametrize(("precision", "phi"), [(2, 0), (4, 0.5), (6, 0.75)])
def test_phi_of_precision(precision, phi):
    assert phi_of(precision) == pytest.approx(phi, abs=1e-15)
    assert precision_of(phi) == pytest.approx(precision, abs=1e-12)


def brute_force(row, n_levels, precision):
    """Integrate one item's mean out under the flat prior: adaptive quadrature and scipy's incomplete beta function."""
    edges = np.arange(1, n_levels) / n_levels

    def integrand(mu):
        below = betainc(mu * precision, (1 - mu) * precision, edges)
        return np.prod(np.diff(below, prepend=0, append=1)[row])

    points = np.linspace(0.02, 0.98, 25)
    return quad(integrand, 1e-12, 1 - 1e-12, points=points, limit=400, epsabs=0, epsrel=1e-9)[0]


@pytest.mark.parametrize("precision", [0.1, 0.6, 2.0, 4.0, 12.0, 22.0])
def test_evidence_of_an_item_is_its_integral(precision):
    for row in ([0, 0, 1, 2, 4], [2, 2, 2], [4], [0, 4, 4, 0]):
        means = prepare(levels([row], 5), item_mean="flat").means
        assert means.log_evidence(precision, 0) == pytest.approx(np.log(brute_force(row, 5, precision)), abs=1e-7)


@pytest.mark.parametrize(("m", "s"), [(0.5, 0.05), (0.3, 0.4), (0.7, 0.8), (0.2, 0.005)])
def test_hierarchical_evidence_is_its_integral(m, s):
    shapes = tuple(float(v) for v in beta_shapes(np.array(m), np.array(s)))
    for row in ([0, 1, 1], [2, 4, 4, 3], [0]):
        means = prepare(levels([row], 5)).means
        assert isinstance(means, HierarchicalMeans)
        found = means.log_density(3.0, np.array([m]), np.array([s]), 0)[0, 0]

        def integrand(mu, row=row):
            cells = np.diff(beta_distribution.cdf(np.arange(6) / 5, 3 * mu, 3 * (1 - mu)))
            return np.prod(cells[row]) * beta_distribution.pdf(mu, *shapes)

        ends = beta_distribution.ppf([1e-13, 0.5, 1 - 1e-13], *shapes)
        parts = [quad(integrand, a, b, limit=300, epsabs=0, epsrel=1e-10)[0] for a, b in itertools.pairwise(ends)]
        assert found == pytest.approx(np.log(sum(parts)), abs=1e-7)


def test_posterior_of_a_small_problem_is_its_integral():
    """Three items on five levels, flat means: the mean of Phi from scipy alone."""
    rows = [[0, 1, 1], [2, 4, 4], [3, 3, 2]]
    precision = np.exp(np.linspace(np.log(1e-5), np.log(200), 80))
    phi, mass = 1 - 2 ** (1 - precision / 2), precision * 2 ** (-precision / 2)
    mass = mass * [np.prod([brute_force(row, 5, p) for row in rows]) for p in precision]
    found = posterior_of(levels(rows, 5), item_mean="flat").summary()
    assert found.mean == pytest.approx(mass @ phi / mass.sum(), abs=1e-6)


EXTREMES = [
    (phi, raters, n_levels)
    for phi in (-0.95, -0.5, 0.0, 0.9, 0.999)
    for raters, n_levels in ((2, 5), (7, 101), (3, None))
] + [(0.4, 1, 5), (0.6, 1000, 5), (0.9, 300, 101), (0.2, 5, 2)]


@pytest.mark.parametrize(("phi", "raters", "n_levels"), EXTREMES)
@pytest.mark.parametrize("item_mean", ["flat", "hierarchical"])
def test_reaches_its_accuracy_over_the_whole_range(phi, raters, n_levels, item_mean):
    items = 12 if raters > 100 else 40
    problem = simulate.ratings(n_items=items, ratings_per_item=raters, phi=phi, n_levels=n_levels, seed=4)
    posterior = posterior_of(problem.ratings, item_mean=item_mean)
    assert posterior.log_evidence_error < 1e-6
    assert posterior.interval_error < 1e-4
    summary = posterior.summary()
    assert summary.lower <= summary.mean <= summary.upper
    if raters > 1 and n_levels != 2 and item_mean == "hierarchical":
        assert abs(summary.mean - phi) < 5 * summary.sd + 1e-3


def test_unequal_raters_and_lonely_items():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 5, (60, 40)).astype(float)
    x[np.arange(40)[None] >= rng.integers(1, 41, 60)[:, None]] = np.nan
    x[0, 1:] = np.nan
    assert posterior_of(Ratings.from_matrix(x, scale=(0, 4), step=1)).interval_error < 1e-4


def test_continuous_ratings_on_the_ends_are_intervals():
    x = np.array([[0.0, 0.1, 0.2], [1.0, 0.9, 1.0], [0.5, 0.6, 0.4]])
    tree = common_agreement(Ratings.from_matrix(x, scale=(0, 1)), seed=1)
    assert float(tree["agreement"]["bin_width"]) == pytest.approx(0.1)
    with pytest.raises(InputError, match="end of"):
        common_agreement(Ratings.from_matrix(x, scale=(0, 1)), likelihood="density")


@pytest.mark.parametrize(
    "shapes", [(1e-200, 1.2), (1e-9, 3.0), (1e-4, 0.2), (0.3, 0.7), (2.0, 1.5), (0.5, 30.0), (40.0, 1e-3)]
)
@pytest.mark.parametrize("bounds", [(0.0, 5e-7), (5e-7, 1.5e-6), (2.85e-5, 2.95e-5), (0.0, 0.1), (0.01, 0.015)])
def test_bins_next_to_an_end_have_their_integral(shapes, bounds):
    """Pr(low <= x < high) by adaptive quadrature in log x; below 1e-9 of the upper edge the density is a power."""
    (a, b), (low, high) = shapes, bounds
    start = low or 1e-9 * high

    def density(log_x):
        return np.exp(a * log_x + (b - 1) * np.log1p(-np.exp(log_x)) - betaln(a, b))

    mass = quad(density, np.log(start), np.log(high), epsabs=0, epsrel=1e-12, limit=500)[0]
    mass += 0 if low else np.exp(a * np.log(start) - betaln(a, b)) / a
    shape = np.array([a]), np.array([b])
    log_beta = betaln(*shape)
    expected = pytest.approx(np.log(mass), rel=1e-9, abs=1e-9)
    assert _log_end_bins(np.array([low]), np.array([high]), *shape, log_beta)[0, 0] == expected
    mirrored = _log_end_bins(np.array([1 - high]), np.array([1 - low]), *shape[::-1], log_beta)[0, 0]
    # 1 - x keeps sixteen digits of 1, not of x.
    assert mirrored == pytest.approx(np.log(mass), abs=1e-15 * (1 + a) / (high - low) + 1e-9)


def evidence_of_few_and_of_all(means, precision):
    """The log evidence on condensed patterns and on all of them, from grids of (m, s) that start at the same place."""
    few = means.log_evidence(precision, 0)
    means.condensed[0] = means.like
    everything = means.log_evidence(precision, 0)
    del means.condensed[0]
    return few, everything


@pytest.mark.parametrize("item_mean", ["flat", "hierarchical"])
@pytest.mark.parametrize("phi", [-0.3, 0.4, 0.8])
def test_few_weighted_patterns_stand_for_many_continuous_items(item_mean, phi):
    """Items with ratings inside the scale, near its ends and on them: the log evidence of every item, added up."""
    given = simulate.ratings(n_items=1500, ratings_per_item=4, phi=phi, n_levels=None, seed=4).ratings
    on_ends = np.where(given.unit() < 0.01, 0.0, given.unit()).reshape(1500, 4)
    on_ends[500:] = given.unit().reshape(1500, 4)[500:]
    means = prepare(Ratings.from_matrix(on_ends, scale=(0, 1)), item_mean=item_mean).means
    assert means.condensed[0].weight.size < 0.6 * means.like.weight.size
    for precision in (0.5, 3.0, 20.0):
        few, everything = evidence_of_few_and_of_all(means, precision)
        assert few == pytest.approx(everything, abs=1e-6)


def test_fine_grids_of_sharp_ratings_are_condensed_without_loss():
    """Intervals of 1/5200 and a precision of hundreds: the second derivative of the density is no small correction."""
    rng = np.random.default_rng(0)
    mean = rng.uniform(0.02, 0.98, (2000, 1))
    x = np.round(rng.beta(300 * mean, 300 * (1 - mean), (2000, 10)) * 5200) / 5200
    x[0, 0] = 0.0
    x[::3, 7:] = np.nan
    means = prepare(Ratings.from_matrix(x, scale=(0, 1)), item_mean="flat").means
    for precision in (100.0, 300.0):
        few, everything = evidence_of_few_and_of_all(means, precision)
        assert few == pytest.approx(everything, abs=1e-6)


@pytest.mark.parametrize("truth_sd", [0.1, 0.02, 0.002])
def test_truths_that_contradict_continuous_ratings(truth_sd):
    """Evidence of exp(-thousands) an item, and a rating of 0 beside others: finite, and the sum over all items."""
    rng = np.random.default_rng(1)
    x = rng.beta(2, 2, (400, 4))
    x[:, 0] = 0.0
    truths = dict(enumerate(rng.choice([0.0, 0.3, 1.0], 400)))
    means = prepare(Ratings.from_matrix(x, scale=(0, 1)), item_mean=truths, truth_sd=truth_sd).means
    assert means.condensed[0].weight.size < 400
    for precision in (0.5, 4.0):
        few, everything = evidence_of_few_and_of_all(means, precision)
        assert few == pytest.approx(everything, rel=1e-9)


def test_density_and_fine_bins_agree():
    """Ratings inside the scale: density, and the same with one rating on the end of 400 items, hardly differ."""
    x = simulate.ratings(n_items=400, ratings_per_item=5, phi=0.6, n_levels=None, item_mean=0.5, seed=3).ratings
    inside = posterior_of(x).summary()
    values = np.round(x.unit().reshape(400, 5), 6)
    values[0, 0] = 1.0
    binned = posterior_of(Ratings.from_matrix(values, scale=(0, 1))).summary()
    assert abs(binned.mean - inside.mean) < inside.sd


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_reversing_items_changes_nothing(seed):
    """Any items where the means are flat, to rounding; all of them under one prior, to the quadrature's error."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, (8, 4)).astype(float)
    flipped = np.where((rng.random(8) < 0.5)[:, None], 4 - x, x)
    for likelihood in ("binned", "squeezed"):
        a, b = (prepare(levels(v, 5), item_mean="flat", likelihood=likelihood).means for v in (x, flipped))
        for precision in (0.2, 2.0, 12.0):
            assert a.log_evidence(precision, 0) == pytest.approx(b.log_evidence(precision, 0), abs=1e-10)
    a, b = (prepare(levels(v, 5)).means for v in (x, 4 - x))
    assert a.log_evidence(2.0, 1) == pytest.approx(b.log_evidence(2.0, 1), abs=1e-6)


def test_reversing_every_item_and_its_truth_changes_nothing():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 5, (8, 4)).astype(float)
    truth = dict(enumerate(rng.integers(0, 5, 8).astype(float)))
    mirrored = {k: 4 - v for k, v in truth.items()}
    a = posterior_of(levels(x, 5), item_mean=truth, truth_sd=0.5)
    b = posterior_of(levels(4 - x, 5), item_mean=mirrored, truth_sd=0.5)
    assert a.log_evidence == pytest.approx(b.log_evidence, abs=1e-10)


def test_limits_of_the_paper_are_warned_of():
    with pytest.warns(UserWarning, match="one item"):
        common_agreement(levels([[1, 2, 3, 2, 1]], 5), seed=1)
    with pytest.warns(UserWarning, match="below 5"):
        common_agreement(levels([[1, 2, 3], [2, 2, 1]], 5), item_mean="flat", seed=1)
    means = np.random.default_rng(1).choice([0.15, 0.85], 1000)
    problem = simulate.ratings(n_items=1000, ratings_per_item=3, phi=0.3, item_mean=means, seed=1)
    with pytest.warns(UserWarning, match="two ends"):
        common_agreement(problem.ratings, seed=1)


def test_draws_follow_the_exact_posterior():
    problem = simulate.ratings(n_items=50, ratings_per_item=4, phi=0.4, seed=6)
    tree = common_agreement(problem.ratings, draws=2000, chains=2, seed=3)
    draws, exact = tree["posterior"]["phi"].values.ravel(), tree["agreement"]
    assert abs(draws.mean() - float(exact["mean"])) < 4.5 * float(exact["sd"]) / np.sqrt(draws.size)
    again = common_agreement(problem.ratings, draws=2000, chains=2, seed=3)
    np.testing.assert_array_equal(draws, again["posterior"]["phi"].values.ravel())


def test_item_means_have_their_exact_expectation():
    """Under flat means, one item: E[mu | ratings] from adaptive quadrature at a precision integrated over."""
    rows = [[0, 1, 1, 0], [3, 4, 3, 3], [2, 2, 1, 3]]
    tree = common_agreement(levels(rows, 5), item_mean="hierarchical", keep_item_means=True, draws=1000, seed=2)
    means = tree["posterior"]["item_mean"].mean(("chain", "draw")).values
    assert means[0] < means[2] < means[1]
    assert ((means >= 0) & (means <= 4)).all()


def test_known_truth_tells_agreement_around_it_from_agreement_elsewhere():
    x = [[3, 3, 4, 3], [0, 1, 0, 0], [2, 2, 2, 3]]
    near = common_agreement(levels(x, 5), item_mean={0: 3, 1: 0, 2: 2}, truth_sd=0.2, seed=1)["agreement"]
    far = common_agreement(levels(x, 5), item_mean={0: 0, 1: 4, 2: 4}, truth_sd=0.2, seed=1)["agreement"]
    assert float(near["mean"]) > 0.5 > float(far["mean"])


def test_difference_of_two_groups():
    a = simulate.ratings(n_items=200, ratings_per_item=5, phi=0.7, seed=1).ratings
    b = simulate.ratings(n_items=200, ratings_per_item=5, phi=0.3, seed=2).ratings
    one, two = common_agreement(a, seed=1), common_agreement(b, seed=2)
    found = phi_difference(one, two)
    assert float(found["lower"]) < 0.4 < float(found["upper"])
    assert float(found["prob_positive"]) > 0.99


def test_items_with_their_own_phi_are_found():
    calm = simulate.ratings(n_items=160, ratings_per_item=8, phi=0.9, seed=1).ratings.rating.reshape(160, 8)
    torn = simulate.ratings(n_items=40, ratings_per_item=8, phi=-0.6, seed=2).ratings.rating.reshape(40, 8)
    both = Ratings.from_matrix(np.concatenate([calm, torn]), scale=(1, 5), step=1)
    found = phi_clusters(both, n_clusters=(1, 2), seed=1)
    gain = float(found["score"].sel(n_clusters=2) - found["score"].sel(n_clusters=1))
    assert gain > 4 * float(found["score_se"].sel(n_clusters=2))
    low, high = np.sort(found["phi"].sel(n_clusters=2).values)
    assert low < -0.3
    assert high > 0.8
    worst = item_fit(both, draws=300, seed=1)
    torn_items = worst.loc[worst["fit"] == "more disagreement", "item"]
    assert len(torn_items) >= 5
    assert (torn_items >= 160).all()
    assert (worst.loc[worst["fit"] == "more agreement", "item"] < 160).all()


def test_item_means_of_the_model_pass_their_check():
    problem = simulate.ratings(n_items=500, ratings_per_item=5, phi=0.5, item_mean=(2.0, 2.0), seed=3)
    assert item_mean_check(problem.ratings, draws=200, seed=1)["p_value"] > 0.01


def test_input_is_refused_by_name():
    ratings = levels([[1, 2], [3, 3]], 5)
    for options, words in (
        ({"item_mean": {9: 1.0}}, "9"),
        ({"item_mean": {0: 7.0}}, "outside the scale"),
        ({"item_mean": "wide"}, "wide"),
        ({"truth_sd": 1.0}, "truth_sd"),
        ({"likelihood": "beta"}, "beta"),
        ({"likelihood": "density"}, "continuous"),
        ({"engine": "vi"}, "vi"),
    ):
        with pytest.raises(InputError, match=words), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            common_agreement(ratings, **options)


def test_too_narrow_a_likelihood_raises():
    x = 0.5 + np.array([[0.0, 1e-9, -1e-9]] * 3)
    with pytest.raises(ConvergenceError):
        posterior_of(Ratings.from_matrix(np.repeat(x, 4000, axis=1), scale=(0, 1)), item_mean="flat")


def test_maximum_likelihood_of_unanimous_items_is_one():
    like = prepare(levels([[1] * 5] * 10, 2), likelihood="squeezed").like
    assert phi_maximum_likelihood(like) == 1.0


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


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.nuts
def test_pymc_model_is_the_same_posterior(known):
    """Hierarchical means, and known truths of two items in three (the rest flat)."""
    problem = simulate.ratings(n_items=30, ratings_per_item=5, phi=0.4, seed=7)
    truth = {i: 1 + 4 * float(problem.item_mean[i]) for i in range(20)} if known else "hierarchical"
    exact = common_agreement(problem.ratings, item_mean=truth, seed=1)["agreement"]
    nuts = common_agreement(problem.ratings, item_mean=truth, engine="nuts", draws=400, chains=2, seed=1)
    phi = nuts["posterior"].to_dataset()[["phi"]]
    assert abs(float(phi["phi"].mean()) - float(exact["mean"])) < 4.5 * float(az.mcse(phi)["phi"])


def test_few_items_with_many_ratings():
    """Their item-mean prior has a funnel for posterior, far narrower in m at small s than at large."""
    given = simulate.ratings(
        n_items=14, ratings_per_item=100, phi=0.77, n_levels=11, item_mean=(30, 20), seed=1
    ).ratings
    means = prepare(given).means
    coarse, fine = (means.log_evidence(6.0, level) for level in (0, 3))
    assert abs(coarse - fine) < 1e-6


def test_one_rating_of_1e_124_does_not_blur_the_other_items():
    """The nodes on which continuous items are condensed stay where the items are."""
    rng = np.random.default_rng(3)
    mean = rng.beta(2, 2, (300, 1))
    ratings = rng.beta(2.5 * mean, 2.5 * (1 - mean), (300, 5)).clip(1e-9, 1 - 1e-9)
    ratings[0, 0] = 1e-124
    means = prepare(Ratings.from_matrix(ratings, scale=(0, 1))).means
    coarse, fine = (means.log_evidence(3.0, level) for level in (0, 3))
    assert abs(coarse - fine) < 1e-4


@pytest.mark.nuts
def test_other_priors_are_those_of_the_uniform_posterior_reweighted():
    """Phi and s with Beta priors under NUTS, against independent draws of the exact engine weighted by those priors."""
    ratings = Ratings.from_matrix([[4, 4, 5, 3], [1, 2, 1, 4], [3, 3, 2, 4]], scale=(1, 5), step=1)
    tree = common_agreement(ratings, draws=20_000, chains=1, seed=1)["posterior"].to_dataset()
    phi, spread = tree["phi"].values.ravel(), tree["mean_spread"].values.ravel()
    weight = beta_distribution.pdf((1 + phi) / 2, 4, 2) * beta_distribution.pdf(spread, 2, 3)
    share = weight / weight.sum()
    mean = share @ phi
    error = np.sqrt(share**2 @ (phi - mean) ** 2)
    prior = AgreementPrior(phi=(4, 2), mean_spread=(2, 3))
    model = common_agreement_model(ratings, prior=prior)
    assert "phi_share" in [v.name for v in model.free_RVs]
    drawn = sample_nuts(model, draws=1000, chains=2, seed=2)["posterior"].to_dataset()["phi"]
    assert abs(float(drawn.mean()) - mean) < 4.5 * np.hypot(error, float(az.mcse(drawn)))


@pytest.mark.parametrize("shapes", [(1.0,), (0.0, 1.0), (1.0, -2.0)])
def test_a_prior_that_is_no_beta_is_refused(shapes):
    with pytest.raises(InputError, match="prior phi"):
        AgreementPrior(phi=shapes)


def test_values_nearer_than_a_millionth_of_the_scale_are_the_same_value():
    """A slider's ends and floats beside them: few intervals, and the answer of the values that were meant."""
    rng = np.random.default_rng(8)
    meant = np.round(rng.beta(0.3, 0.3, (60, 5)), 6)
    meant[0, 0] = 0.0
    blurred = np.clip(meant + rng.uniform(-1e-9, 1e-9, meant.shape), 0, 1)
    blurred[0, 0] = 0.0
    exact, read = (prepare(Ratings.from_matrix(x, scale=(0, 1)), item_mean="flat").means for x in (meant, blurred))
    assert exact.like.low.size == read.like.low.size <= 62
    for precision in (0.5, 3.0, 20.0):
        assert read.log_evidence(precision, 2) == pytest.approx(exact.log_evidence(precision, 2), rel=1e-9)
