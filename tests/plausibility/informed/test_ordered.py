"""The informed posterior of ordered labels: oracles by direct sums, its PyMC model, calibration, what it refuses."""

import json

import numpy as np
import pytest
from _paths import ROOT
from scipy.special import softmax
from scipy.stats import dirichlet_multinomial, kstest, norm

from bayesagree import Labels, Predictions, evaluate, informed_dirichlet
from bayesagree.inference.convergence import diagnostics
from bayesagree.inference.nuts import sample_nuts
from bayesagree.inference.posterior import Request
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.ordered import GRID, OrderedProblem, places_on_scale
from bayesagree.plausibility.informed.posterior import InformedDirichlet

RNG = np.random.default_rng(1)
COUNTS = np.array([[3, 1, 0, 0], [0, 0, 2, 1], [1, 0, 0, 2], [0, 4, 0, 0]])
VOTES = Labels.from_counts(COUNTS, ordered=True)
MODELS = Predictions.from_labels({"A": [0, 3, 2, 1], "B": [1, 2, 2, 0]}, labels=range(4))
PROBLEM = OrderedProblem.of(VOTES, MODELS)
THETA = np.array([0.7, -0.2, 0.3, 0.1, -0.2, 0.0, 0.2, 1.1])


def parts(theta, x):
    """Return shapes of every place and the prior of the places of every item."""
    place = np.arange(theta.size - x.shape[1] - 2)
    place = place - place.mean()
    shapes = np.exp(theta[-1]) * softmax(theta[x.shape[1] : -2] + np.exp(theta[-2]) * np.outer(GRID, place), axis=1)
    at = norm.pdf(GRID, (x @ theta[: x.shape[1]])[:, None])
    return shapes, at / at.sum(axis=1, keepdims=True)


def test_models_put_items_on_the_scale_by_their_mean_label():
    """Standardised; a model that says one label for all items puts all in the middle, as a missing label does."""
    p = np.random.default_rng(2).dirichlet(np.ones(4), 5)
    (place,) = places_on_scale(Covariates.of(Predictions.from_scores({"m": p})), 4).T
    mean = p @ np.arange(4)
    np.testing.assert_allclose(place, (mean - mean.mean()) / mean.std(), atol=1e-5)
    said = Predictions.from_labels({"m": [0, 3, None, 2, 3], "same": [1] * 5}, labels=range(4))
    found = places_on_scale(Covariates.of(said), 4)
    centred = np.array([-2.0, 1, 0, 0, 1])
    np.testing.assert_allclose(found[:, said.models.tolist().index("m")], centred / centred.std())
    assert (found[:, said.models.tolist().index("same")] == 0).all()


def test_likelihood_is_a_sum_over_places():
    shapes, at = parts(THETA, PROBLEM.x)
    of_place = np.array([[dirichlet_multinomial(s, n.sum()).pmf(n) for s in shapes] for n in COUNTS])
    orders = np.array([dirichlet_multinomial([1] * 4, n.sum()).logpmf(n) for n in COUNTS])
    # Labels in their order: without the number of orders, which does not depend on the parameters.
    values = PROBLEM.of_votes(np.arange(len(COUNTS)), COUNTS)
    out, other = values(np.stack([THETA, THETA * 0.5])).T
    shapes, before = parts(THETA * 0.5, PROBLEM.x)
    of_other = np.array([[dirichlet_multinomial(s, n.sum()).pmf(n) for s in shapes] for n in COUNTS])
    expected = np.log((at * of_place).sum(axis=1)) - np.log((before * of_other).sum(axis=1))
    assert np.isfinite(orders).all()
    np.testing.assert_allclose(out - other, expected, rtol=1e-8)


def test_items_are_drawn_from_their_mixture():
    shapes, at = parts(THETA, PROBLEM.x)
    weight = at * np.array([[dirichlet_multinomial(s, n.sum()).pmf(n) for s in shapes] for n in COUNTS])
    weight /= weight.sum(axis=1, keepdims=True)
    mean = np.array(
        [w @ ((shapes + n) / (shapes.sum(axis=1, keepdims=True) + n.sum())) for w, n in zip(weight, COUNTS)]
    )
    out = PROBLEM.draw_items(np.random.default_rng(2), THETA[None], slice(0, 4), 20_000, best=False)
    np.testing.assert_allclose(out.sum(axis=2), 1)
    assert (np.abs(out.mean(axis=1) - mean) < 4.5 * out.std(axis=1) / np.sqrt(20_000)).all()


def test_reference_posterior():
    """The plain twin, by importance sampling."""
    model = json.loads((ROOT / "models" / "informed_ordered.json").read_text())
    labels = Labels.from_counts(model["data"]["counts"], labels=range(4), ordered=True)
    models = Predictions.from_labels({"A": model["data"]["label"]}, labels=range(4))
    problem, known = OrderedProblem.of(labels, models), model["posterior"]["parameters"]
    request = Request(1000, 4, 1)
    thetas = problem.drawn(request)
    error = np.sqrt(np.square(known["sd"]) / diagnostics(thetas)[1] + np.square(known["error"]))
    assert (np.abs(thetas.mean(axis=(0, 1)) - known["mean"]) < 4.5 * error).all()
    drawn = problem.drawer(request)(slice(0, len(labels.items)), np.random.default_rng(2)).plausibility
    known = model["posterior"]["plausibility"]
    # 800 draws of the parameters, of which a third at least count as independent, five of the items at each.
    error = np.sqrt(np.square(known["sd"]) / 260 + 1 / 16_000)
    assert (np.abs(drawn.mean(axis=1) - known["mean"]) < 4.5 * error).all()


def simulated(rng, items=60, votes=4, labels=4):
    """Draw parameters from the prior and labels from them."""
    models = Predictions.from_labels({"A": rng.integers(labels, size=items)}, labels=range(labels))
    layout = OrderedProblem.of(Labels.from_counts(np.ones((items, labels), int), ordered=True), models).layout
    theta = layout.mean + layout.sd * rng.standard_normal(layout.mean.size)
    x = models.hard_labels()[0] - models.hard_labels()[0].mean()
    shapes, at = parts(theta, (x / x.std())[:, None])
    places = [rng.choice(GRID.size, p=p) for p in at]
    counts = np.array([rng.multinomial(votes, rng.dirichlet(shapes[g] + 1e-9)) for g in places])
    return theta, Labels.from_counts(counts, labels=list(range(labels)), ordered=True), models


@pytest.mark.parametrize(
    "worlds", [pytest.param(25, marks=pytest.mark.long), pytest.param(500, marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore:chains of")
def test_simulation_based_calibration(worlds):
    rng, ranks = np.random.default_rng(3), []
    for _ in range(worlds):
        theta, labels, models = simulated(rng)
        drawn = OrderedProblem.of(labels, models).drawn(Request(990, 1, int(rng.integers(2**31))))[0]
        ranks.append((drawn < theta).mean(axis=0))
    # Levels have a common part that no label depends on; all else is compared as it is.
    p = kstest(np.clip(ranks, 0, 1), "uniform", axis=0).pvalue
    assert (p > 1e-4).all(), p


@pytest.mark.slow  # 50 s; the two oracles above run always
def test_pymc_is_the_same_posterior():
    rng = np.random.default_rng(5)
    _, labels, models = simulated(rng, items=30)
    fast = informed_dirichlet(labels, models, draws=2000, chains=2, random_seed=1)
    how = {"tune": 1000, "target_accept": 0.95}
    nuts = sample_nuts(InformedDirichlet(models).model(labels), draws=1000, chains=2, random_seed=1, sampler=how)
    one, other = (t["posterior"]["plausibility"].mean(("chain", "draw")).values for t in (fast, nuts))
    assert np.abs(one - other).max() < 0.06
    assert np.abs(one - other).mean() < 0.015


def test_neighbours_of_a_vote_are_likelier_than_labels_far_from_it():
    rng = np.random.default_rng(6)
    u = rng.standard_normal(60)
    code = np.searchsorted([-1.2, -0.4, 0.4, 1.2], u[:, None] + 0.5 * rng.standard_normal((60, 3)))
    votes = Labels.from_matrix(code, labels=range(5), ordered=True)
    models = Predictions.from_labels({"A": np.clip(np.rint(u + 2), 0, 4).astype(int)}, labels=range(5))
    tree = informed_dirichlet(votes, models, draws=50, chains=2, random_seed=1)
    mean = tree["posterior"]["plausibility"].mean(("chain", "draw")).values
    all_high = (code == 4).all(axis=1)
    assert all_high.any()
    assert (np.diff(mean[all_high], axis=1) > 0).all()
    scores = evaluate(votes, models, metrics=["ordinal_mae"], draws=20, chains=2, random_seed=1)
    assert tree["posterior_parameters"]["parameter"].values[-1] == "log_concentration"
    assert "annotations_only" in scores
    assert 0 < scores["posterior"]["ordinal_mae"].mean() < 1
