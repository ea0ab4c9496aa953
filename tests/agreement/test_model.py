"""The PyMC model of Phi: the same posterior as the exact engine, under its priors and others."""

import arviz as az
import numpy as np
import pytest

from bayesagree import evaluate, simulate
from bayesagree.agreement.phi import common_agreement
from bayesagree.agreement.summary import phi_summary
from bayesagree.annotations import Labels, Predictions, Ratings
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


def test_a_posterior_without_phi_has_no_summary():
    tree = dirichlet(Labels.from_matrix([[0, 1]], labels=[0, 1]), draws=2, chains=1, random_seed=1)
    with pytest.raises(InputError, match="no phi"):
        phi_summary(tree)


@pytest.mark.nuts
def test_levels_of_lenient_and_harsh_reviewers_enter_the_scores():
    """Two of three reviewers (+1.5, 0, -1.5) an item: the model that knows the truth loses to the mean rating."""
    rng = np.random.default_rng(3)
    truth, level = rng.uniform(3, 8, 30), np.array([1.5, 0, -1.5])
    given = np.clip(np.round(truth[:, None] + level + 0.3 * rng.standard_normal((30, 3))), 1, 10)
    given[np.arange(30), rng.integers(0, 3, 30)] = np.nan
    ratings = Ratings.from_matrix(given, scale=(1, 10), step=1)
    models = Predictions.from_numbers({"truth": truth, "mean": np.nanmean(given, axis=1)})
    levels = common_agreement(
        ratings, annotator_effects="shift", keep_item_means=True, draws=300, chains=2, random_seed=1
    )
    for plausibility, best in ((levels, "truth"), ("normal_inverse_gamma", "mean")):
        error = evaluate(ratings, models, plausibility=plausibility, random_seed=1)["posterior"]["mae"]
        assert error.idxmin("model").to_series().mode().item() == best
