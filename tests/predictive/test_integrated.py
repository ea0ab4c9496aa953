"""The item-integrated log likelihood of a PyMC model: that of the quadrature, comparable with the package's results."""

import numpy as np
import pytest
import xarray as xr

import bayesagree as ba
from bayesagree import simulate
from bayesagree.errors import InputError
from bayesagree.predictive import integrated_log_likelihood, with_log_likelihood, with_posterior_predictive

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def drawn(ratings, **options):
    """Return draws of our own engine with the free variables of the PyMC model."""
    how = {"likelihood": "binned", "keep_item_means": True} | options  # the reading of the model in PyMC
    tree = ba.common_agreement(ratings, **({"draws": 30} | how), chains=2, random_seed=1)
    low, high = ratings.scale
    posterior = tree["posterior"].to_dataset()
    return tree, xr.DataTree.from_dict(
        {"posterior": posterior.assign(unit_item_mean=(posterior["item_mean"] - low) / (high - low))}
    )


@pytest.mark.long
def test_it_is_the_log_likelihood_of_the_quadrature():
    ratings = simulate.ratings(n_items=12, ratings_per_item=4, phi=0.5, n_levels=5, random_seed=2).ratings
    tree, trace = drawn(ratings, draws=100)
    model = ba.agreement.common_agreement_model(ratings)
    found = integrated_log_likelihood(trace, model)["log_likelihood"]["annotations"]
    expected = with_log_likelihood(tree, ratings)["log_likelihood"]["annotations"]
    # 200 draws instead of thousands place the rule; an item at an end has the longest tail.
    assert np.abs(found.values - expected.values).max() < 0.02
    assert found["item"].values.tolist() == expected["item"].values.tolist()


@pytest.mark.long
def test_own_part_of_the_model_compares_with_ours():
    import arviz as az
    import pymc as pm

    ratings = simulate.ratings(n_items=12, ratings_per_item=4, phi=0.5, n_levels=5, random_seed=2).ratings
    tree, trace = drawn(ratings)

    def mean(unit_mean, item, annotator):
        shift = pm.ZeroSumNormal("shift", 1.0, dims="annotator")
        return pm.math.invlogit(pm.math.logit(unit_mean) + shift[annotator])

    model = ba.agreement.common_agreement_model(ratings, mean=mean)
    assert model.named_vars_to_dims["shift"] == ("annotator",)
    assert list(model.coords["annotator"]) == ratings.annotators.tolist()
    with pytest.raises(InputError, match="no draws of 'shift'"):
        integrated_log_likelihood(trace, model)
    trace["posterior"] = (
        trace["posterior"]
        .to_dataset()
        .assign(shift=(("chain", "draw", "annotator"), np.zeros((2, 30, ratings.annotators.size))))
    )
    own = integrated_log_likelihood(trace, model, draws=30)
    table = az.compare({"own": own, "plain": with_log_likelihood(tree, ratings)}, method="BB-pseudo-BMA")
    assert table["elpd"].diff().abs().max() < 0.5
    with pytest.raises(InputError, match="'rate' is no variable"):
        integrated_log_likelihood(trace, model, observed="rate")


@pytest.mark.nuts
def test_replicates_know_annotators_levels():
    rng = np.random.default_rng(1)
    judged = rng.normal(3, 0.7, (40, 1)) + np.array([-1, 0, 1]) + rng.normal(0, 0.4, (40, 3))
    score = np.clip(np.round(judged), 1, 5)
    ratings = ba.Ratings.from_matrix(score, scale=(1, 5), step=1)
    tree, _ = drawn(ratings, annotator_effects="shift")
    replicates = with_posterior_predictive(tree, ratings, random_seed=1)["posterior_predictive"]["rating"]
    mean = [float(replicates.values[..., ratings.annotator_index == j].mean()) for j in range(3)]
    assert mean == pytest.approx(score.mean(axis=0), abs=0.25)
    with pytest.raises(InputError, match="integrated_log_likelihood"):
        with_log_likelihood(tree, ratings)
