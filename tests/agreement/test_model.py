"""The PyMC model of Phi: the same posterior as the exact engine, under its priors and others."""

import arviz as az
import pytest

from bayesagree import simulate
from bayesagree.agreement.model import AgreementPrior
from bayesagree.agreement.phi import common_agreement
from bayesagree.agreement.summary import phi_summary
from bayesagree.annotations import Labels
from bayesagree.errors import InputError
from bayesagree.plausibility.dirichlet.posterior import dirichlet


@pytest.mark.nuts
@pytest.mark.parametrize("known", [False, True])
def test_pymc_model_is_the_same_posterior(known):
    """Hierarchical means, and known truths of two items in three (the rest flat)."""
    problem = simulate.ratings(n_items=30, ratings_per_item=5, phi=0.4, random_seed=7)
    truth = {i: 1 + 4 * float(problem.item_mean[i]) for i in range(20)} if known else "hierarchical"
    given = {"item_mean": truth, "likelihood": "binned", "random_seed": 1}
    exact = common_agreement(problem.ratings, **given)["agreement"]
    nuts = common_agreement(problem.ratings, **given, engine="nuts", draws=400, chains=2)
    phi = nuts["posterior"].to_dataset()[["phi"]]
    assert abs(float(phi["phi"].mean()) - float(exact["mean"])) < 4.5 * float(az.mcse(phi)["phi"])


@pytest.mark.nuts
def test_nutpie_draws_from_the_same_posterior():
    """The extra ``nutpie``: our kernels run inside of its functions, and what ran stands in attrs."""
    pytest.importorskip("nutpie")
    ratings = simulate.ratings(n_items=30, ratings_per_item=5, phi=0.4, random_seed=7).ratings
    given = {"likelihood": "binned", "random_seed": 1}
    exact = common_agreement(ratings, **given)["agreement"]
    how = {"draws": 400, "chains": 2, "sampler": {"nuts_sampler": "nutpie"}}
    tree = common_agreement(ratings, **given, engine="nuts", **how)
    assert tree.attrs["sampler"].startswith("nutpie")
    phi = tree["posterior"].to_dataset()[["phi"]]
    assert abs(float(phi["phi"].mean()) - float(exact["mean"])) < 4.5 * float(az.mcse(phi)["phi"])


@pytest.mark.parametrize("shapes", [(1.0,), (0.0, 1.0), (1.0, -2.0)])
def test_a_prior_that_is_no_beta_is_refused(shapes):
    with pytest.raises(InputError, match="prior phi"):
        AgreementPrior(phi=shapes)


def test_a_posterior_without_phi_has_no_summary():
    tree = dirichlet(Labels.from_matrix([[0, 1]], labels=[0, 1]), draws=2, chains=1, random_seed=1)
    with pytest.raises(InputError, match="no phi"):
        phi_summary(tree)
