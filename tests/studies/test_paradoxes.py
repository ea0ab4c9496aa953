"""The toy cases of Checco et al., section 3: the paper's claims, and what two levels can tell."""

import json

import numpy as np
import pytest
from _paths import ROOT
from scipy.special import betainc, betaincinv
from scipy.stats import qmc

from bayesagree.agreement._phi.posterior import joint_posterior, precision_of
from bayesagree.agreement._phi.problem import prepare
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Ratings
from studies.maximum import maximum_likelihood, posterior_mode
from studies.paradoxes import PARADOXES, paradox_claims, paradox_table, percent_agreement, phi_of_column

GOLDEN = json.loads((ROOT / "tests" / "golden" / "agreement.json").read_text())
CASES = {paradox.case: paradox.ratings() for paradox in PARADOXES}


def posterior_of(ratings, likelihood="binned", **options):
    return joint_posterior(prepare(ratings, likelihood=likelihood, **options)).phi


@pytest.mark.parametrize("case", GOLDEN["squeezed_flat"]["cases"])
def test_paradoxes_squeezed_with_flat_means(case):
    mean, lower, upper = GOLDEN["squeezed_flat"]["cases"][case]
    found = phi_of_column(CASES[case], "squeezed flat")
    assert (found.mean, found.lower, found.upper) == pytest.approx((mean, lower, upper), abs=0.0101)


def test_claims_of_the_paper_hold_on_the_squeezed_likelihood():
    found = {c: phi_of_column(r, "squeezed flat") for c, r in CASES.items()}
    for case in ("2", "3", "4a", "4b", "5b", "5c", "5d"):
        assert found[case].lower > 0.99
    assert found["6a"].mean > found["6b"].mean
    for one, other in (("7a", "7b"), ("7c", "7d")):
        assert vars(found[one]) == pytest.approx(vars(found[other]), abs=1e-6)
    width = {c: found[c].upper - found[c].lower for c in ("8a", "8b", "8c")}
    assert width["8b"] < width["8a"] < width["8c"]
    assert [found[c].map for c in ("8a", "8b", "8c")] == pytest.approx([0.899] * 3, abs=1e-3)
    assert percent_agreement(CASES["7c"]) == pytest.approx(0.6)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:annotators' levels")
def test_two_levels_say_almost_nothing_and_say_so():
    with pytest.warns(UserWarning, match="2 levels"):
        tree = common_agreement(CASES["7c"], random_seed=1)
    found = tree["agreement"]
    assert float(found["upper"]) - float(found["lower"]) > 1
    assert found.attrs["decision"] == "undecided"


@pytest.fixture(scope="module")
def prior_draws():
    """Return Phi and the probabilities of both levels: 4096 draws (Phi, m, s) of the prior x 48 places of the mean.

    Pr(level 1) is the upper half of Beta(mu p, (1 - mu) p); mu sits at Gauss-Legendre nodes of its prior quantile,
    whose weights come last.
    """
    u = qmc.Sobol(3, rng=1).random_base2(12)
    node, weight = np.polynomial.legendre.leggauss(48)
    phi, m, s = 2 * u[:, 0] - 1, u[:, [1]], u[:, [2]]
    t = 1 / s**2 - 1
    mu = betaincinv(m * t, (1 - m) * t, (node + 1) / 2)
    p = precision_of(phi)[:, None]
    a, b = np.maximum(mu * p, 1e-300), np.maximum((1 - mu) * p, 1e-300)
    return phi, betainc(b, a, 0.5), betainc(a, b, 0.5), weight / 2


@pytest.mark.parametrize("case", [*(pytest.param(c, marks=pytest.mark.slow) for c in ("2", "5d", "8a")), "3", "6a"])
def test_two_levels_hierarchical_by_importance_sampling(prior_draws, case):
    """A third route beside quadrature and NUTS: draws of the prior, weighted by the likelihood of the ratings."""
    phi, upper, lower, weight = prior_draws
    ratings = CASES[case]
    ones = np.bincount(ratings.item_index, ratings.rating)
    rows, items = np.unique(np.stack([ones, np.bincount(ratings.item_index) - ones]), axis=1, return_counts=True)
    evidence = [(upper**yes * lower**no) @ weight for yes, no in rows.T]
    share = np.exp(items @ np.log(np.maximum(evidence, 1e-300)))
    share /= share.sum()
    mean = share @ phi
    error = np.sqrt(share**2 @ (phi - mean) ** 2)
    assert error < 0.08
    # Sobol points err less than independent draws, whose standard error this is.
    assert abs(posterior_of(ratings).summary().mean - mean) < 2 * error


@pytest.mark.parametrize("n_levels", [5, pytest.param(7, marks=pytest.mark.slow)])
def test_one_level_inside_a_longer_scale_the_paper_is_right(n_levels):
    claims = paradox_claims(["3", "4", "5", "6"], n_levels=n_levels, inside=True)
    assert claims.drop(columns="argument").all(axis=None)


@pytest.mark.long
def test_at_the_ends_of_a_longer_scale_the_paper_is_right_where_an_end_is_a_point():
    """Limitations 2 to 5 ask that unanimous ends be agreement, which only a reading of the ends decides."""
    ends = paradox_claims(["3"], n_levels=5)
    assert ends.loc["3"].drop("argument").to_dict() == {
        "squeezed flat": True, "binned flat": False, "binned hierarchical": False
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:alpha does not exist")  # where one value alone was used
def test_all_toy_cases():
    cases = paradox_table().set_index("case")
    assert " ".join(cases.index) == "1 2 3 4a 4b 5a 5b 5c 5d 6a 6b 7a 7b 7c 7d 8a 8b 8c"
    assert cases.loc["7d", "alpha"] == pytest.approx(0.28)
    assert cases.loc["7c", "phi_squeezed_flat"] == cases.loc["7d", "phi_squeezed_flat"]
    assert cases["remark"].all()


def test_joint_maximum_with_known_truths_is_the_papers_estimate():
    """argmax of the joint posterior of Phi and the item means, on a grid: .34; the marginal mode .32."""
    ratings = Ratings.from_matrix([[0.3, 0.35, 0.5], [0.8, 0.9, 0.95]], scale=(0, 1))
    known = {"item_mean": {0: 0.6, 1: 0.6}, "truth_sd": 0.05}
    assert maximum_likelihood(ratings, **known) == pytest.approx(0.34, abs=0.005)
    assert posterior_mode(prepare(ratings, **known)) == pytest.approx(0.32, abs=0.005)


def test_maximum_likelihood_of_two_camps_is_their_end():
    assert maximum_likelihood(Ratings.from_matrix([[1, 5] * 5] * 100, scale=(1, 5), step=1)) == -1.0
