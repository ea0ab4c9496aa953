"""The regression of gold on votes and predictions: density, mode and draws against independent computations."""

import numpy as np
import pytest
import scipy as sp

from bayesagree import Labels, Predictions
from bayesagree.inference.convergence import diagnostics
from bayesagree.inference.posterior import Request
from bayesagree.inference.slices import climb
from bayesagree.plausibility import InformedDirichlet
from bayesagree.plausibility.informed.gold import GoldProblem

N, N_GOLD = 60, 40


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=N)
    right = np.where(rng.random(N) < 0.6, truth, rng.integers(3, size=N))
    scores = rng.dirichlet(np.ones(3), N) + 2 * np.eye(3)[right]
    predictions = Predictions.from_scores({"A": scores / scores.sum(axis=1, keepdims=True)})
    votes = Labels.from_counts(rng.multinomial(3, np.eye(3)[truth] * 0.4 + 0.2))
    return votes, predictions, dict(enumerate(truth[:N_GOLD].tolist()))


@pytest.fixture(scope="module")
def problem(case) -> GoldProblem:
    votes, predictions, gold = case
    return InformedDirichlet(predictions, gold=gold).problem(votes)


def test_columns_are_votes_covariates_and_pairs_of_labels(case, problem):
    """Logs of the shares of votes, with one vote spread over all labels; of each pair the share of the label said."""
    counts = case[0].counts()
    share = (counts + 1 / 3) / (counts.sum(axis=1, keepdims=True) + 1)
    found, names = problem.columns(np.arange(N)), problem.layout.names.tolist()
    logs = np.log(share)
    np.testing.assert_allclose(found[:, :, names.index("votes")], logs - logs.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(found[:, :, 1:4], problem.covariates.columns())
    for true in range(3):
        for said in range(3):
            expected = share[:, [said]] * (np.arange(3) == true)
            np.testing.assert_allclose(found[:, :, names.index(f"confusion:{said}:{true}")], expected)
    assert found.shape[2] == len(names) == 1 + 3 + 9
    prior = dict(zip(names, zip(*problem.layout.prior)))
    assert (prior["votes"], prior["top_label:A"], prior["probability:A"]) == ((1, 1), (0, 4), (0, 1))
    assert prior["confusion:0:1"] == (0, 1.5)


@pytest.mark.parametrize(("n_labels", "pairs"), [(16, 256), (17, 0)])
def test_pairs_of_many_labels_have_no_column(n_labels, pairs):
    rng = np.random.default_rng(1)
    votes = Labels.from_counts(rng.multinomial(3, np.full(n_labels, 1 / n_labels), 5), labels=range(n_labels))
    models = Predictions.from_labels({"A": range(5)}, labels=range(n_labels))
    problem = InformedDirichlet(models, gold={0: 1}).problem(votes)
    assert problem.columns(np.arange(5)).shape == (5, n_labels, 2 + pairs)
    assert problem.layout.mean.size == 2 + pairs


def mode_of(problem):
    values, number = problem.likelihood(None)
    return climb(values, problem.layout.prior, number)


def density(problem, points):
    (values, number), (mean, sd) = problem.likelihood(None), problem.layout.prior
    return number @ values(points) - np.square((points - mean) / sd).sum(axis=1) / 2


def test_density_is_that_of_the_pymc_model_and_largest_at_the_mode(case, problem):
    votes, predictions, gold = case
    log_density = InformedDirichlet(predictions, gold=gold).model(votes).compile_logp()
    points = np.random.default_rng(3).normal(size=(2, problem.layout.mean.size))
    apart = [density(problem, point[None])[0] - float(log_density({"parameters": point})) for point in points]
    np.testing.assert_allclose(apart, apart[0], atol=1e-8)
    mode = mode_of(problem).mode
    found = sp.optimize.minimize(lambda x: -density(problem, x[None])[0], mode)
    assert -found.fun - density(problem, mode[None])[0] < 1e-3


def test_draws_have_the_mean_and_sd_of_importance_sampling(problem):
    mode, root = mode_of(problem)
    proposal = sp.stats.multivariate_t(mode, 1.3 * root @ root.T, df=8, seed=4)
    points = proposal.rvs(5_000)
    log_weight = density(problem, points) - proposal.logpdf(points)
    weight = sp.special.softmax(log_weight)
    size = 1 / np.square(weight).sum()
    assert size > 150
    mean = weight @ points
    sd = np.sqrt(weight @ np.square(points - mean))
    drawn = problem.parameters(400, 4, 5)
    error = sd * np.sqrt(1 / size + 1 / diagnostics(drawn)[1])
    assert (np.abs(drawn.mean(axis=(0, 1)) - mean) < 4 * error).all()
    np.testing.assert_allclose(drawn.std(axis=(0, 1)), sd, rtol=0.2)


def test_few_draws_share_few_sets_of_parameters(problem):
    """Of 4 x 250 draws that shared sets of five only a hundred were effective."""
    assert problem.sets(1000) == 200
    assert problem.sets(250) == 125
    assert problem.sets(100) == 100


def test_every_draw_is_gold_where_there_is_gold_and_one_label_elsewhere(case):
    votes, predictions, gold = case
    tree = InformedDirichlet(predictions, gold=gold).draw(votes, Request(draws=50, chains=2, random_seed=1))
    drawn = tree["posterior"]["plausibility"].values
    assert set(np.unique(drawn)) == {0.0, 1.0}
    assert (drawn.argmax(axis=-1)[..., :N_GOLD] == list(gold.values())).all()
    assert (drawn.argmax(axis=-1)[..., N_GOLD:].std(axis=(0, 1)) > 0).any()
    best = InformedDirichlet(predictions, gold=gold).draw(
        votes, Request(draws=50, chains=2, random_seed=1, top_labels=1)
    )
    assert (best["posterior"]["top_label"].values[..., 0] == drawn.argmax(axis=-1)).all()


def test_labels_elsewhere_are_drawn_by_their_probabilities(problem):
    theta = np.random.default_rng(2).normal(size=(1, problem.layout.mean.size))
    drawn = problem.draw_items(np.random.default_rng(1), theta, slice(N_GOLD, N), 4000, best=True)
    expected = sp.special.softmax(problem.columns(slice(N_GOLD, N)) @ theta[0], axis=1)
    found = (drawn[:, :, None] == np.arange(3)).mean(axis=1)
    assert (np.abs(found - expected) < 4.5 * np.sqrt(expected * (1 - expected) / 4000) + 1e-3).all()


@pytest.mark.parametrize("n", [1, 9])
def test_few_items_with_gold_are_warned_of(case, n):
    votes, predictions, gold = case
    few = InformedDirichlet(predictions, gold={item: gold[item] for item in range(n)}).problem(votes)
    with pytest.warns(UserWarning, match=f"gold of {n} items hardly tells"):
        assert few.known_items[1].size == n
