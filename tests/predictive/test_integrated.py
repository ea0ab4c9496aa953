"""The item-integrated log likelihood of a PyMC model: that of the quadrature, comparable with the package's results."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

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


def test_of_a_normal_model_it_is_the_density_of_the_ratings_of_each_item():
    """Ratings of an item are jointly normal: with its mean integrated out they have a variance in common."""
    import pymc as pm
    import pytensor

    rng, item = np.random.default_rng(1), np.array([0, 0, 0, 1, 1, 2])
    rating = rng.normal(0, 1.5, 6)
    with pm.Model(coords={"item": list("xyz")}) as model:
        of = pm.Data("which", item)
        spread = pm.HalfNormal("spread", 1.0)
        middle = pm.Normal("middle", 0.5, spread, dims="item")
        pm.Normal("answer", middle[of], 0.7, observed=rating)
    posterior = xr.Dataset(
        {
            "spread": (("chain", "draw"), [[0.012, 1.8, 0.7], [0.9, 1.2, 0.5]]),  # narrow beside all draws of an item
            "middle": (("chain", "draw", "item"), rng.normal(0.5, 1, (2, 3, 3))),
        },
        {"chain": [0, 1], "draw": range(3)},
    )
    trace, names = xr.DataTree.from_dict({"posterior": posterior}), {"latent": "middle", "observed": "answer"}
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        found = integrated_log_likelihood(trace, model, **names, item_of="which")["log_likelihood"]["annotations"]
        thinned = integrated_log_likelihood(trace, model, **names, item_of="which", draws=1)["log_likelihood"]
        posterior["spread"][0, 0] = 1e-7
        with pytest.warns(UserWarning, match="1 of 2 draws: the items' priors are so narrow"):
            integrated_log_likelihood(trace, model, **names, item_of="which", draws=1)
        posterior["spread"][0, 0] = 0.012
    assert found["item"].values.tolist() == list("xyz")
    for chain, draw, i in np.ndindex(2, 3, 3):
        own = rating[item == i]
        cov = float(posterior["spread"][chain, draw]) ** 2 + 0.7**2 * np.eye(own.size)
        expected = stats.multivariate_normal(np.full(own.size, 0.5), cov).logpdf(own)
        assert float(found[chain, draw, i]) == pytest.approx(expected, abs=0.01)
    assert thinned["annotations"]["draw"].values.tolist() == [0]
    with pytest.raises(InputError, match="'unit_item_mean' is no variable of this model, which has"):
        integrated_log_likelihood(trace, model)
    with pytest.raises(InputError, match="no draws of 'spread', a free variable"):
        integrated_log_likelihood(
            xr.DataTree.from_dict({"posterior": posterior[["middle"]]}), model, **names, item_of="which"
        )


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
