"""Draws of the parameters against importance sampling in the plain twin, and what they do to the second moment."""

import json

import numpy as np
import pytest
from _paths import ROOT
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import kstest

from bayesagree import Labels, Predictions, evaluate
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.inference.convergence import ENOUGH_DRAWS, diagnostics
from bayesagree.inference.hamiltonian import walk
from bayesagree.inference.slices import UNIT_DRAWS, Fit, Prior, chains_of, climb, refitted
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.frame import warn_of_chains
from bayesagree.plausibility.informed.prior import SHAPE_NAMES

MODEL = json.loads((ROOT / "models" / "informed_dirichlet.json").read_text())


def skewed(x):
    """Log density and gradient of an exponential variable in logs and a t variable."""
    height = x[:, 0] - np.exp(np.minimum(x[:, 0], 50)) - 2 * np.log1p(x[:, 1] ** 2 / 3)
    return height, np.column_stack([1 - np.exp(np.minimum(x[:, 0], 50)), -4 * x[:, 1] / (3 + x[:, 1] ** 2)])


@pytest.mark.parametrize("gradients", [False, True])
def test_samplers_draw_a_skewed_density(gradients):
    """From a start and units that fit neither variable."""
    rng, start = np.random.default_rng(1), np.random.default_rng(2).normal(size=(40, 2))
    if gradients:
        drawn = walk(skewed, start, 2 * np.eye(2), 200, rng, lambda n: None)[:, ::10]
    else:
        fit = Fit(np.array([3.0, 2.0]), 2 * np.eye(2))
        drawn = chains_of(lambda x: skewed(x)[0], [fit], 200, 40, rng)[:, ::10]
    assert kstest(np.exp(drawn[..., 0].ravel()), "expon").pvalue > 1e-3
    assert kstest(drawn[..., 1].ravel(), "t", args=(3,)).pvalue > 1e-3


def test_the_climb_ends_at_the_mode_with_the_information_of_the_scores_there():
    """A logistic regression of 30 kinds of items, some of them several, with normal priors."""
    rng = np.random.default_rng(3)
    x, y, number = rng.normal(size=(30, 2)), rng.random(30) < 0.6, rng.integers(1, 5, 30).astype(float)
    prior = Prior(np.array([0.5, -1.0]), np.array([0.8, 2.0]))

    def values(theta):
        return log_expit(np.where(y, 1, -1)[:, None] * (x @ theta.T))

    def loss(theta):
        return 0.5 * (((theta - prior.mean) / prior.sd) ** 2).sum() - number @ values(theta[None])[:, 0]

    found = climb(values, prior, number, enough=1e-10)
    best = minimize(loss, np.zeros(2), tol=1e-12).x
    np.testing.assert_allclose(found.mode, best, atol=1e-4)
    scores = (y - expit(x @ best))[:, None] * x
    information = (scores.T * number) @ scores + np.diag(prior.sd**-2.0)
    np.testing.assert_allclose(np.linalg.inv(found.root @ found.root.T), information, rtol=1e-3)


def test_units_are_refitted_to_draws_beside_a_few_of_the_old_units():
    rng = np.random.default_rng(4)
    units, draws = np.linalg.cholesky([[4.0, 1.0], [1.0, 2.0]]), rng.normal(size=(50, 2)) @ [[1.0, 0.3], [0.0, 0.2]] + 3
    found = refitted(units, draws)
    worth = UNIT_DRAWS * 2
    scatter = np.cov(draws, rowvar=False, ddof=0) * 50
    np.testing.assert_allclose(found @ found.T, (scatter + worth * units @ units.T) / (50 + worth))


def test_chains_jump_between_modes():
    """Three parts of ten of the mass lie twelve standard deviations from the rest."""
    far, log_share = np.full(4, 6.0), np.log([0.3, 0.7])

    def density(x):
        return np.logaddexp(*(log_share - 0.5 * np.square(x[:, None] - np.stack([far, -far])).sum(axis=2)).T)

    fits = [Fit(sign * far + 0.3, 1.2 * np.eye(4)) for sign in (1, -1)]
    first = chains_of(density, fits, 500, 4, np.random.default_rng(1))[..., :1] > 0
    _, ess = diagnostics(first.astype(float))
    assert abs(first.mean() - 0.3) < 4 * np.sqrt(0.21 / ess[0])
    assert ess[0] > 300


@pytest.mark.parametrize(("chains", "draws"), [(1, 300), (4, ENOUGH_DRAWS - 1), (4, ENOUGH_DRAWS)])
def test_chains_that_disagree_are_named_and_short_ones_say_nothing(chains, draws):
    drawn = np.random.default_rng(6).normal(size=(chains, draws, 3))
    drawn[:, :, 1] += 5 * np.arange(chains)[:, None]
    names = np.array(["slope", "level", "scale"])
    if draws != ENOUGH_DRAWS:
        warn_of_chains(names, drawn)  # an error where it warns
        return
    with pytest.warns(UserWarning, match=r"chains of 1 of 3 parameters disagree .*: 'level'; raise draws="):
        warn_of_chains(names, drawn)
    warn_of_chains(names, drawn[:, :, [0, 2]])


def test_parameters_are_those_of_the_plain_twin():
    labels = Labels.from_counts(MODEL["data"]["counts"])
    models = Predictions.from_scores({"A": MODEL["data"]["probability"]}, probabilities=True)
    drawn = InformedProblem.of(labels, models).parameters(400, 4, 1)
    known = MODEL["posterior"]
    _, ess = diagnostics(drawn)
    columns = ("slope", *SHAPE_NAMES)
    mean, sd, error = (
        np.concatenate([np.ravel(known[name][key]) for name in columns]) for key in ("mean", "sd", "error")
    )
    # 13 standard normal differences: below 4 but once in a thousand runs. Both have a Monte-Carlo error.
    z = (drawn.mean(axis=(0, 1)) - mean) / np.sqrt(sd**2 / ess + error**2)
    assert np.abs(z).max() < 4
    np.testing.assert_allclose(drawn.std(axis=(0, 1)), sd, rtol=0.25)


def test_items_keep_the_agreement_of_their_voters():
    """E sum lambda^2 over draws is what pairs of votes estimate; a normal approximation exceeds it."""
    data = labelled_test_set(n_items=150, per_item=3, n_labels=3, spread=0.5, random_seed=5)
    posterior = InformedProblem.of(data.labels, data.predictions)
    counts = data.labels.counts()
    pairs = (counts * (counts - 1)).sum(axis=1) / 6
    theta = posterior.parameters(50, 4, 1).reshape(200, -1)
    drawn = posterior.draw_items(np.random.default_rng(1), theta, slice(0, 150), 1, best=False)
    assert abs((drawn**2).sum(axis=2).mean() - pairs.mean()) < pairs.std() / np.sqrt(150)


@pytest.mark.slow
@pytest.mark.parametrize("votes", [3, 10])
@pytest.mark.parametrize("kind", ["best", "half", "most", "looks"])
def test_intervals_hold_whatever_the_model_knows_of_split_items(kind, votes):
    """It names the best label with probability .8, less where fewer agree, or it is a noisy look at the shares."""
    held = []
    for random_seed in range(20):
        rng = np.random.default_rng([random_seed, votes])
        shares = rng.dirichlet(np.full(3, 0.6), 300)
        best, most = shares.argmax(axis=1), shares.max(axis=1)
        knows = {"best": 0.8, "half": 0.8 * (0.5 + 0.5 * most), "most": 0.8 * most}
        said = (np.log(shares + 1e-12) + rng.normal(0, 1.2, shares.shape)).argmax(axis=1)
        if kind in knows:
            said = np.where(rng.random(300) < knows[kind], best, rng.integers(0, 3, 300))
        labels = Labels.from_counts(rng.multinomial(votes, shares))
        models = Predictions.from_labels({"A": said}, labels=range(3))
        drawn = evaluate(labels, models, draws=250, random_seed=random_seed)["posterior"]["accuracy"]
        low, high = drawn.quantile([0.025, 0.975]).values
        held.append(low <= (said == best).mean() <= high)
    # Of intervals that hold .85 fewer than 13 in one set of runs in a hundred.
    assert np.sum(held) >= 13
