"""Posterior of Phi: brute force, accuracy over the whole range, symmetry."""

import numpy as np
import pytest
from _phi import brute_force, levels, posterior_of
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree import simulate
from bayesagree.agreement._phi.likelihood import outright_shares
from bayesagree.agreement._phi.posterior import PhiPosterior, joint_posterior, pattern_evidence, phi_of, precision_of
from bayesagree.agreement._phi.problem import prepare
from bayesagree.errors import ConvergenceError


@pytest.mark.parametrize(("precision", "phi"), [(2, 0), (4, 0.5), (6, 0.75)])
def test_phi_of_precision(precision, phi):
    assert phi_of(precision) == pytest.approx(phi, abs=1e-15)
    assert precision_of(phi) == pytest.approx(precision, abs=1e-12)


def test_posterior_of_a_small_problem_is_its_integral():
    """Three items on five levels, flat means: the mean of Phi from scipy alone."""
    rows = [[0, 1, 1], [2, 4, 4], [3, 3, 2]]
    precision = np.exp(np.linspace(np.log(1e-3), np.log(100), 24))
    phi, mass = 1 - 2 ** (1 - precision / 2), precision * 2 ** (-precision / 2)
    mass = mass * [np.prod([brute_force(row, 5, p) for row in rows]) for p in precision]
    found = posterior_of(levels(rows, 5), item_mean="flat").summary()
    assert found.mean == pytest.approx(mass @ phi / mass.sum(), abs=0.01 * found.sd)


EXTREMES = [
    (phi, raters, n_levels)
    for phi in (-0.95, -0.5, 0.0, 0.9, 0.999)
    for raters, n_levels in ((2, 5), (7, 101), (3, None))
] + [(0.4, 1, 5), (0.2, 5, 2)]
MANY_RATERS = [
    pytest.param(0.6, 1000, 5, "flat", marks=pytest.mark.long),
    pytest.param(0.6, 1000, 5, "hierarchical", marks=pytest.mark.long),
    pytest.param(0.9, 300, 101, "flat", marks=pytest.mark.long),
    pytest.param(0.9, 300, 101, "hierarchical", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(
    ("phi", "raters", "n_levels", "item_mean"),
    [(*case, kind) for case in EXTREMES for kind in ("flat", "hierarchical")] + MANY_RATERS,
)
def test_reaches_its_accuracy_over_the_whole_range(phi, raters, n_levels, item_mean):
    items = 12 if raters > 100 else 40
    problem = simulate.ratings(n_items=items, ratings_per_item=raters, phi=phi, n_levels=n_levels, random_seed=4)
    posterior = posterior_of(problem.ratings, item_mean=item_mean)
    assert posterior.log_evidence_error < 0.03
    assert posterior.k_hat < 0.7
    summary = posterior.summary()
    assert summary.lower <= summary.mean <= summary.upper
    if raters > 1 and n_levels != 2 and item_mean == "hierarchical":
        assert abs(summary.mean - phi) < 5 * summary.sd + 1e-3


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_reversing_items_changes_nothing(random_seed):
    """Any items where the means are flat; all of them under one prior and its mirror image."""
    rng = np.random.default_rng(random_seed)
    x = rng.integers(0, 5, (8, 4)).astype(float)
    flipped = np.where((rng.random(8) < 0.5)[:, None], 4 - x, x)
    y = np.log([0.2, 2.0, 12.0])

    def evidence(x, hyper=None, **options):
        problem = prepare(levels(x, 5), **options)
        return problem.like.weight @ pattern_evidence(problem, y, hyper)

    a, b = (evidence(v, item_mean="flat") for v in (x, flipped))
    assert a == pytest.approx(b, abs=1e-9)
    m, s = np.array([0.2, 0.5, 0.9]), np.array([0.01, 0.3, 0.9])
    a, b = (evidence(v, np.stack([share, s], axis=1)) for v, share in ((x, m), (4 - x, 1 - m)))
    assert a == pytest.approx(b, abs=1e-6)


def test_draws_take_each_place_as_often_as_its_weight_says():
    """Systematic draws: a place of weight w is drawn the whole number of times below or above n w."""
    rng = np.random.default_rng(3)
    weight, y = rng.dirichlet(np.ones(50)), np.sort(rng.normal(size=50))
    shares = rng.random((50, 2))
    posterior = PhiPosterior(y, weight, np.column_stack([y, -y]), shares, 0.0, 0.0, 50.0, 0.1)
    drawn = posterior.draw(1000, np.random.default_rng(1))
    number = (drawn.y[:, None] == y).sum(axis=0)
    assert number.sum() == 1000 and (np.abs(number - 1000 * weight) < 1).all()
    assert abs(np.corrcoef(np.arange(1000), drawn.y)[0, 1]) < 4.5 / np.sqrt(1000)  # in random order
    at = np.searchsorted(y, drawn.y)
    np.testing.assert_array_equal(drawn.hyper, np.column_stack([drawn.y, -drawn.y]))
    np.testing.assert_array_equal(drawn.shares, shares[at])
    summary = posterior.summary()
    assert summary.mean == pytest.approx(weight @ phi_of(np.exp(y)), abs=1e-3)


ENDS = [[0, 0, 1], [4, 3, 4], [0, 0, 0], [2, 3, 3], [1, 0, 2]]


@pytest.fixture(scope="module")
def joint():
    return joint_posterior(prepare(levels(ENDS, 5), item_mean="flat"))


def test_both_readings_of_the_ends_are_averaged_by_their_evidence(joint):
    one, two, share = joint.binned, joint.inflated, joint.prob_inflated
    assert share == pytest.approx(1 / (1 + np.exp(one.log_evidence - two.log_evidence)))
    assert joint.phi.log_evidence == pytest.approx(np.logaddexp(one.log_evidence, two.log_evidence) - np.log(2))
    assert joint.phi.weight.sum() == pytest.approx(1) and (np.diff(joint.phi.y) >= 0).all()
    means = [of.weight @ phi_of(np.exp(of.y)) for of in (one, two, joint.phi)]
    assert means[2] == pytest.approx((1 - share) * means[0] + share * means[1])
    inflated = joint.phi.shares.any(axis=1)
    assert joint.phi.weight[inflated].sum() == pytest.approx(share)
    assert joint.phi.effective == min(one.effective, two.effective) and joint.phi.k_hat == max(one.k_hat, two.k_hat)
    assert joint.phi.log_evidence_error == pytest.approx(
        (1 - share) * one.log_evidence_error + share * two.log_evidence_error
    )


def test_too_few_effective_draws_are_no_posterior(joint, monkeypatch):
    """A reading that could not be computed leaves the other with a warning; where none is left, another engine."""
    effective = joint.binned.effective, joint.inflated.effective
    assert effective[1] < effective[0]
    monkeypatch.setattr("bayesagree.agreement._phi.posterior.FEWEST", np.mean(effective))
    with pytest.warns(UserWarning, match="the posterior with outright ends could not be computed: answers at the ends"):
        left = joint_posterior(prepare(levels(ENDS, 5), item_mean="flat"))
    assert (left.inflated, left.prob_inflated) == (None, 0.0)
    np.testing.assert_array_equal(left.phi.y, joint.binned.y)
    monkeypatch.setattr("bayesagree.agreement._phi.posterior.FEWEST", effective[0] + 1)
    with pytest.raises(ConvergenceError, match=r"only \d+ draws of the importance sampling are effective; use engine="):
        joint_posterior(prepare(levels(ENDS, 5), item_mean="flat"))


@pytest.mark.parametrize(
    ("low", "high", "expected"), [(1.0, 0.0, [1, 0, 0]), (0.0, 1.0, [0, 1, 0]), (0.0, 0.0, [0, 0, 1])]
)
def test_all_answers_may_be_outright_ends_or_none(low, high, expected):
    """Beside a mean in the middle, and one that rounds to an end."""
    for at in (0.0, 3.0):
        found = np.exp([part.item() for part in outright_shares(np.array([low]), np.array([high]), np.array([at]))])
        np.testing.assert_allclose(found, expected, atol=1e-12)
    both = np.exp([part.item() for part in outright_shares(np.array([1.0]), np.array([1.0]), np.array([np.inf]))])
    np.testing.assert_allclose(both[:2].sum(), 1, atol=1e-12)
