"""The parts of the engine of Phi, each against adaptive quadrature or all items one by one."""

import itertools

import numpy as np
import pytest
from _errors_of_draws import assert_mean
from _phi import brute_force, levels, posterior_of
from scipy.integrate import quad
from scipy.special import betainc, betaincc, betaln, expit
from scipy.stats import beta as beta_distribution

from bayesagree import simulate
from bayesagree.agreement._phi.item_means import beta_shapes
from bayesagree.agreement._phi.likelihood import bin_probability, compressed
from bayesagree.agreement._phi.posterior import Draws, draw_item_means, pattern_evidence
from bayesagree.agreement._phi.problem import prepare
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Ratings
from bayesagree.errors import ConvergenceError


def test_continuous_ratings_on_the_ends_are_intervals():
    x = np.array([[0.0, 0.1, 0.2], [1.0, 0.9, 1.0], [0.5, 0.6, 0.4]])
    tree = common_agreement(Ratings.from_matrix(x, scale=(0, 1)), random_seed=1)
    assert float(tree["agreement"]["bin_width"]) == pytest.approx(0.1)


@pytest.mark.parametrize(
    "shapes", [(1e-200, 1.2), (1e-9, 3.0), (1e-4, 0.2), (0.3, 0.7), (2.0, 1.5), (0.5, 30.0), (40.0, 1e-3)]
)
@pytest.mark.parametrize(
    "bounds", [(0.0, 5e-7), (5e-7, 1.5e-6), (2.85e-5, 2.95e-5), (0.0, 0.1), (0.01, 0.015), (0.4, 0.6)]
)
def test_bins_have_their_integral(shapes, bounds):
    """Pr(low <= x < high) by adaptive quadrature in log x; below 1e-9 of the upper edge the density is a power."""
    (a, b), (low, high) = shapes, bounds
    start = low or 1e-9 * high

    def density(log_x):
        return np.exp(a * log_x + (b - 1) * np.log1p(-np.exp(log_x)) - betaln(a, b))

    mass = quad(density, np.log(start), np.log(high), epsabs=0, epsrel=1e-12, limit=500)[0]
    mass += 0 if low else np.exp(a * np.log(start) - betaln(a, b)) / a
    found = [
        bin_probability(np.array([ends[0]]), np.array([ends[1]]), sum(shape), *(np.array([v]) for v in shape))[0, 0]
        for ends, shape in (((low, high), (a, b)), ((1 - high, 1 - low), (b, a)))
    ]
    assert np.log(found[0]) == pytest.approx(np.log(mass), rel=1e-8, abs=1e-8)
    # 1 - x keeps sixteen digits of 1, not of x.
    assert np.log(found[1]) == pytest.approx(np.log(mass), abs=1e-15 * (1 + a) / (high - low) + 1e-8)


def fine_ratings():
    """Ratings on a grid of 1/6000, some near an end, one on it."""
    rng = np.random.default_rng(0)
    mean = rng.uniform(0.02, 0.2, (40, 1))
    x = np.clip(np.round(rng.beta(300 * mean, 300 * (1 - mean), (40, 5)) * 6000), 40, None) / 6000
    x[0, :2] = 0.0, 1 / 6000
    return Ratings.from_matrix(x, scale=(0, 1))


def test_narrow_intervals_have_their_probability():
    """Bins near the ends, density times width elsewhere, against a difference of scipy's incomplete beta function."""
    ratings = fine_ratings()
    like = prepare(ratings, item_mean="flat").like
    assert like.bin_width == pytest.approx(1 / 6000)
    at, precision = np.array([-3.0, -2.3, -1.7]), 80.0
    a, b = precision * expit(at), precision * expit(-at)
    low, high = (np.clip(ratings.unit() + side / 12000, 0, 1)[:, None] for side in (-1, 1))
    right = betainc(a, b, low) > 0.5  # from the smaller tail, which keeps its digits
    mass = np.where(right, betaincc(a, b, low) - betaincc(a, b, high), betainc(a, b, high) - betainc(a, b, low))
    found = like.weight @ like.statistics @ like.terms(precision, at) + like.log_width
    np.testing.assert_allclose(found, np.log(mass).sum(axis=0), atol=1e-2)


@pytest.mark.parametrize("precision", [0.1, 2.0, 22.0])
def test_evidence_of_an_item_is_its_integral(precision):
    for row in ([0, 0, 1, 2, 4], [2, 2, 2], [4], [0, 4, 4, 0]):
        found = pattern_evidence(prepare(levels([row], 5), item_mean="flat"), np.log([precision]))
        assert found[0, 0] == pytest.approx(np.log(brute_force(row, 5, precision)), abs=1e-7)


@pytest.mark.parametrize("precision", [2.5, 9.0, 25.0])
def test_levels_of_a_slider_are_as_probable_as_their_intervals(monkeypatch, precision):
    """From 0 to 100: far from the ends a level counts as its density f times its width w.

    That errs by w^2 f'' / 24 f of itself, about w^2 (p + 1) / (24 mu (1 - mu)), of either sign.
    """
    rng = np.random.default_rng(3)
    mean = rng.beta(2, 2, (60, 1))
    x = np.floor(101 * rng.beta(precision * mean, precision * (1 - mean), (60, 5))).clip(0, 100)
    ratings = Ratings.from_matrix(x, scale=(0, 100), step=1)
    at = np.log([precision]), np.array([[0.5, 0.45]])
    problem = prepare(ratings, likelihood="binned")
    assert problem.like.densities
    width = problem.like.log_width + problem.like.weight @ pattern_evidence(problem, *at)[:, 0]
    monkeypatch.setattr("bayesagree.agreement._phi.likelihood.FINE", 0.0)
    exact = prepare(ratings, likelihood="binned")
    assert not exact.like.densities
    error = 300 * (precision + 1) / (24 * 0.25 * 101**2)
    assert width == pytest.approx(exact.like.weight @ pattern_evidence(exact, *at)[:, 0], abs=error)


def test_too_narrow_a_likelihood_raises():
    x = 0.5 + np.array([[0.0, 1e-9, -1e-9]] * 3)
    with pytest.raises(ConvergenceError):
        posterior_of(Ratings.from_matrix(np.repeat(x, 4000, axis=1), scale=(0, 1)), item_mean="flat")


@pytest.mark.parametrize(("m", "s"), [(0.5, 0.05), (0.3, 0.4), (0.7, 0.8), (0.2, 0.005), (0.6, 0.99)])
def test_hierarchical_evidence_is_its_integral(m, s):
    """Priors wider and narrower than the nodes are apart, and one with most of its mass at the ends."""
    a, b = (float(v) for v in beta_shapes(m, s))
    for row in ([0, 1, 1], [2, 4, 4, 3], [0]):
        found = pattern_evidence(prepare(levels([row], 5)), np.log([3.0]), np.array([[m, s]]))[0, 0]

        def integrand(u, row=row):
            mu, rest = expit(u), expit(-u)
            cells = np.diff(beta_distribution.cdf(np.arange(6) / 5, 3 * mu, 3 * rest))
            return np.prod(cells[row]) * np.exp(a * np.log(mu) + b * np.log(rest) - betaln(a, b))

        centre, width = np.log(m / (1 - m)), s / np.sqrt(m * (1 - m))
        ends = np.unique(np.clip(centre + width * np.linspace(-8, 8, 9), -35, 35))
        parts = [quad(integrand, *side, limit=300, epsabs=0, epsrel=1e-10)[0] for side in itertools.pairwise(ends)]
        if s > 0.5:  # the tails: all ratings are those of a mean at the end
            parts += [quad(integrand, -35, ends[0])[0], quad(integrand, ends[-1], 35)[0]]
            parts.append(np.exp(-35 * a - betaln(a, b)) / a * all(r == 0 for r in row))
        assert found == pytest.approx(np.log(sum(parts)), abs=1e-4)


def test_few_items_with_many_ratings():
    """Their item-mean prior has a funnel for posterior, far narrower in m at small s than at large."""
    given = simulate.ratings(
        n_items=14, ratings_per_item=100, phi=0.77, n_levels=11, item_mean=(30, 20), random_seed=1
    ).ratings
    found = posterior_of(given)
    assert found.k_hat < 0.7
    assert found.effective > 1000


def evidence_of_few_and_of_all(problem, y, hyper=None):
    """The log evidence of compressed patterns and of all of them."""
    few = compressed(problem.like)
    assert few.weight.size <= 0.6 * problem.like.weight.size
    of_few = np.hstack([problem.means.evidence(few, np.exp(v), hyper, None) for v in y])
    every = np.hstack([problem.means.evidence(problem.like, np.exp(v), hyper, None) for v in y])
    return few.weight @ of_few, problem.like.weight @ every


@pytest.mark.parametrize("item_mean", ["flat", "hierarchical"])
@pytest.mark.parametrize("phi", [-0.3, 0.8])
def test_few_weighted_patterns_stand_for_many_continuous_items(item_mean, phi):
    """Items with ratings inside the scale, near its ends and on them: the log evidence of every item, added up."""
    given = simulate.ratings(n_items=1500, ratings_per_item=4, phi=phi, n_levels=None, random_seed=4).ratings
    on_ends = np.where(given.unit() < 0.01, 0.0, given.unit()).reshape(1500, 4)
    on_ends[500:] = given.unit().reshape(1500, 4)[500:]
    problem = prepare(Ratings.from_matrix(on_ends, scale=(0, 1)), item_mean=item_mean)
    hyper = None if item_mean == "flat" else np.array([[0.4, 0.6]])
    few, everything = evidence_of_few_and_of_all(problem, np.log([0.5, 3.0, 20.0]), hyper)
    assert few == pytest.approx(everything, abs=0.01)


@pytest.mark.parametrize("truth_sd", [0.1, 0.02])
def test_truths_that_contradict_continuous_ratings(truth_sd):
    """Evidence of exp(-thousands) an item, and a rating of 0 beside others: finite, and the sum over all items."""
    rng = np.random.default_rng(1)
    x = rng.beta(2, 2, (400, 4))
    x[:, 0] = 0.0
    truths = dict(enumerate(rng.choice([0.0, 0.3, 1.0], 400)))
    problem = prepare(Ratings.from_matrix(x, scale=(0, 1)), item_mean=truths, truth_sd=truth_sd)
    few, everything = evidence_of_few_and_of_all(problem, np.log([0.5, 4.0]))
    assert few == pytest.approx(everything, rel=1e-6)


def test_one_rating_of_1e_124_does_not_blur_the_other_items():
    """The nodes on which continuous items are compressed stay where the items are."""
    rng = np.random.default_rng(3)
    mean = rng.beta(2, 2, (300, 1))
    ratings = rng.beta(2.5 * mean, 2.5 * (1 - mean), (300, 5)).clip(1e-9, 1 - 1e-9)
    ratings[0, 0] = 1e-124
    problem = prepare(Ratings.from_matrix(ratings, scale=(0, 1)))
    few, everything = evidence_of_few_and_of_all(problem, np.log([3.0]), np.array([[0.5, 0.5]]))
    assert few == pytest.approx(everything, abs=0.01)


@pytest.mark.parametrize("hyper", [None, (0.3, 0.6), (0.5, 0.95), (0.8, 0.1), (0.8, 0.01), (0.99, 0.01)], ids=str)
def test_item_means_are_drawn_from_their_posterior(hyper):
    """Mean and square of mu given the precision and (m, s) of 100 items with the same ratings, 400 draws of each."""
    row, precision = [0, 1, 1], 1.5
    a, b = (1.0, 1.0) if hyper is None else (float(v) for v in beta_shapes(*map(np.array, hyper)))

    def moment(power):
        def integrand(mu):
            below = betainc(mu * precision, (1 - mu) * precision, np.arange(1, 5) / 5)
            likelihood = np.prod(np.diff(below, prepend=0, append=1)[row])
            return mu**power * likelihood * beta_distribution.pdf(mu, a, b)

        ends = beta_distribution.ppf([1e-10, 0.01, 0.1, 0.5, 0.9, 0.99, 1 - 1e-10], a, b)
        return sum(quad(integrand, *side, limit=200)[0] for side in itertools.pairwise(ends))

    problem = prepare(levels([row] * 100, 5), item_mean="flat" if hyper is None else "hierarchical")
    given = None if hyper is None else np.tile(hyper, (400, 1))
    drawn = draw_item_means(
        problem, Draws(np.full(400, np.log(precision)), given, np.zeros((400, 2))), np.random.default_rng(1)
    )
    for power in (1, 2):
        assert_mean(drawn.ravel() ** power, moment(power) / moment(0))
