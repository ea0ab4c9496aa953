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
from studies.paradoxes import PARADOXES, paradox_claims, paradox_table, percent_agreement

GOLDEN = json.loads((ROOT / "tests" / "golden" / "agreement.json").read_text())
CASES = {paradox.case: paradox.ratings() for paradox in PARADOXES}


def posterior_of(ratings, likelihood="binned", **options):
    return joint_posterior(prepare(ratings, likelihood=likelihood, **options)).phi


@pytest.mark.parametrize("case", GOLDEN["squeezed_flat"]["cases"])
def test_paradoxes_squeezed_with_flat_means(case):
    mean, lower, upper = GOLDEN["squeezed_flat"]["cases"][case]
    found = posterior_of(CASES[case], item_mean="flat", likelihood="squeezed").summary()
    assert (found.mean, found.lower, found.upper) == pytest.approx((mean, lower, upper), abs=0.0101)


def test_claims_of_the_paper_hold_on_the_squeezed_likelihood():
    found = {c: posterior_of(r, item_mean="flat", likelihood="squeezed").summary() for c, r in CASES.items()}
    for case in ("2", "3", "4a", "4b", "5b", "5c", "5d"):
        assert found[case].lower > 0.99
    assert found["6a"].mean > found["6b"].mean
    assert found["7a"] == pytest.approx(found["7b"], abs=1e-10)
    assert found["7c"] == pytest.approx(found["7d"], abs=1e-10)
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
