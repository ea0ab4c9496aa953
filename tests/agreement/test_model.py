"""The PyMC model of Phi: the same posterior as the exact engine, under its priors and others."""

import arviz as az
import numpy as np
import pymc as pm
import pytest
from scipy.stats import beta as beta_distribution

from bayesagree import simulate
from bayesagree._inference.nuts import sample_nuts
from bayesagree.agreement.model import AgreementPrior
from bayesagree.agreement.phi import common_agreement, common_agreement_model
from bayesagree.agreement.summary import phi_difference, phi_summary
from bayesagree.annotations import Labels, Ratings
from bayesagree.errors import InputError
from bayesagree.plausibility.dirichlet.posterior import dirichlet
from bayesagree.plots import plot_item_fits


@pytest.mark.nuts
@pytest.mark.parametrize("known", [False, True])
def test_pymc_model_is_the_same_posterior(known):
    """Hierarchical means, and known truths of two items in three (the rest flat)."""
    problem = simulate.ratings(n_items=30, ratings_per_item=5, phi=0.4, seed=7)
    truth = {i: 1 + 4 * float(problem.item_mean[i]) for i in range(20)} if known else "hierarchical"
    given = {"item_mean": truth, "likelihood": "binned", "seed": 1}
    exact = common_agreement(problem.ratings, **given)["agreement"]
    nuts = common_agreement(problem.ratings, **given, engine="nuts", draws=400, chains=2)
    phi = nuts["posterior"].to_dataset()[["phi"]]
    assert abs(float(phi["phi"].mean()) - float(exact["mean"])) < 4.5 * float(az.mcse(phi)["phi"])


@pytest.mark.nuts
@pytest.mark.parametrize("collapsed", [False, True])
def test_nutpie_draws_from_the_same_posterior(collapsed):
    """The extra ``nutpie``: our kernels run inside of its functions, and what ran stands in attrs."""
    pytest.importorskip("nutpie")
    ratings = simulate.ratings(n_items=30, ratings_per_item=5, phi=0.4, seed=7).ratings
    given = {"likelihood": "binned", "seed": 1}
    exact = common_agreement(ratings, **given)["agreement"]
    how = {"draws": 400, "chains": 2, "sampler": {"nuts_sampler": "nutpie"}}
    if collapsed:
        tree = sample_nuts(common_agreement_model(ratings, likelihood="binned", collapsed=True), seed=1, **how)
    else:
        tree = common_agreement(ratings, **given, engine="nuts", **how)
    assert tree.attrs["sampler"].startswith("nutpie")
    phi = tree["posterior"].to_dataset()[["phi"]]
    assert abs(float(phi["phi"].mean()) - float(exact["mean"])) < 4.5 * float(az.mcse(phi)["phi"])


@pytest.mark.slow
def test_item_means_are_in_units_of_the_scale_from_both_engines():
    ratings = simulate.ratings(n_items=8, ratings_per_item=6, phi=0.6, seed=3).ratings
    exact = common_agreement(ratings, keep_item_means=True, seed=1)["posterior"].to_dataset()
    options = {"draws": 300, "chains": 2, "sampler": {"tune": 500, "target_accept": 0.9}}
    nuts = common_agreement(ratings, keep_item_means=True, engine="nuts", seed=1, **options)
    drawn = nuts["posterior"].to_dataset()
    assert nuts.attrs["sampler"] in ("pymc", "nutpie")
    assert "diverging" in nuts["sample_stats"]
    assert exact["item_mean"].dims == drawn["item_mean"].dims
    error = az.mcse(drawn[["item_mean"]])["item_mean"].values
    difference = drawn["item_mean"].mean(("chain", "draw")) - exact["item_mean"].mean(("chain", "draw"))
    assert (np.abs(difference.values) < 5 * error).all()


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


@pytest.mark.slow
def test_a_trace_of_ones_own_has_a_summary_and_feeds_the_plots():
    given = simulate.ratings(n_items=8, ratings_per_item=6, phi=0.6, seed=3).ratings
    with common_agreement_model(given):
        trace = pm.sample(300, chains=2, cores=1, random_seed=1, progressbar=False, quiet=True)
    found = phi_summary(trace)
    tree = common_agreement(given, engine="nuts", draws=300, chains=2, seed=4)
    assert found.attrs["decision"] == tree["agreement"].attrs["decision"]
    assert set(found) | {"prob_inflated"} == set(tree["agreement"].to_dataset())
    assert float(found["mean"]) == pytest.approx(float(tree["agreement"]["mean"]), abs=0.1)
    assert plot_item_fits(trace, given).size == 8
    assert set(phi_difference(trace, tree)) >= {"mean", "lower", "upper"}


def test_a_posterior_without_phi_has_no_summary():
    tree = dirichlet(Labels.from_matrix([[0, 1]], labels=[0, 1]), draws=2, chains=1, seed=1)
    with pytest.raises(InputError, match="no phi"):
        phi_summary(tree)
