"""The ordered variant: an oracle by importance sampling, its PyMC model, and what must hold of any data."""

import numpy as np
import pytest
from scipy.special import ndtr

import bayesagree as ba
from bayesagree import InputError, Labels, dawid_skene
from bayesagree.plausibility import ordered_model
from bayesagree.plausibility.dawid_skene._ordered import interval_chance, truncated_normal

VOTES = Labels.from_matrix([[0, 1], [2, 2], [1, 0]], labels=[0, 1, 2], ordered=True)


def from_prior(n, items, people, labels, rng):
    """Draw n times everything that the model does not know."""
    mu = rng.normal(1, 1, 2 * n)
    mu = mu[mu > 0][:n]
    a, b = 0.25 / rng.standard_gamma(2, (2, n))
    alpha = np.sqrt(a)[:, None] * rng.standard_normal((n, people))
    beta = mu[:, None] + np.sqrt(b)[:, None] * rng.standard_normal((n, people))
    stretch = np.sqrt(rng.standard_gamma(5, (n, people)) / 5)
    tau = np.sort(1.5 * rng.standard_normal((n, labels - 1)), axis=1)
    return mu, alpha, beta, stretch, tau, rng.standard_normal((n, items))


def chance_of(tau, at, stretch):
    """Return the probability of each label, shape (draw, label)."""
    below = ndtr((tau - at[:, None]) * np.asarray(stretch)[..., None])
    return np.diff(np.column_stack([np.zeros(len(at)), below, np.ones(len(at))]), axis=1)


@pytest.fixture(scope="module")
def gibbs():
    return dawid_skene(VOTES, variant="ordered", draws=5000, tune=500, thin=3, seed=1)


def test_oracle_of_three_items_and_two_annotators(gibbs):
    rng = np.random.default_rng(1)
    mu, alpha, beta, stretch, tau, u = from_prior(400_000, 3, 2, 3, rng)
    log_weight = np.zeros(len(mu))
    for item, annotator, label in zip(VOTES.item_index, VOTES.annotator_index, VOTES.label_index):
        at = alpha[:, annotator] + beta[:, annotator] * u[:, item]
        log_weight += np.log(np.maximum(chance_of(tau, at, stretch[:, annotator])[:, label], 1e-300))
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    enough = 1 / np.square(weight).sum()
    posterior = gibbs["posterior"].to_dataset()
    shares = np.stack([chance_of(tau, mu * u[:, i], np.ones(len(mu))) for i in range(3)], axis=1)
    expected = {
        "latent_truth": u, "threshold": tau, "discrimination": beta * stretch, "severity": -alpha * stretch,
        "stretch": stretch, "plausibility": shares,
    }  # fmt: skip
    assert enough > 10_000
    for name, values in expected.items():
        exact = np.tensordot(weight, values, 1)
        sd = np.sqrt(np.tensordot(weight, (values - exact) ** 2, 1))
        found = posterior[name].mean(("chain", "draw")).values
        # A thousand effective draws of the chains at least, of 20,000.
        assert (np.abs(found - exact) < 4.5 * sd * np.sqrt(1 / enough + 1 / 1000)).all(), name


@pytest.mark.nuts
def test_pymc_is_the_same_posterior(gibbs):
    import pymc as pm

    with ordered_model(VOTES):
        nuts = pm.sample(1500, tune=1000, chains=2, random_seed=1, progressbar=False, target_accept=0.95)
    for name in ("plausibility", "latent_truth", "threshold", "severity", "stretch"):
        one, other = (tree["posterior"][name].stack(s=("chain", "draw")).values for tree in (gibbs, nuts))
        error = np.sqrt(other.var(axis=-1) / 700 + one.var(axis=-1) / 1000)
        assert (np.abs(one.mean(axis=-1) - other.mean(axis=-1)) < 4.5 * error).all(), name


def test_plausibilities_are_cut_from_one_normal_distribution():
    """Along the items in order of their latent truth every cumulated share falls: no label jumps over another."""
    rng = np.random.default_rng(2)
    votes = Labels.from_matrix(rng.integers(0, 5, (30, 4)), labels=range(5), ordered=True)
    posterior = dawid_skene(votes, variant="ordered", draws=50, seed=1)["posterior"].to_dataset()
    shares, latent = (posterior[name].values.reshape(200, 30, -1) for name in ("plausibility", "latent_truth"))
    np.testing.assert_allclose(shares.sum(axis=-1), 1)
    order = np.argsort(latent, axis=1)
    at_most = np.take_along_axis(np.cumsum(shares, axis=-1), order, axis=1)
    assert (np.diff(at_most, axis=1) <= 1e-12).all()


def test_a_severe_annotator_is_found():
    rng = np.random.default_rng(3)
    u = rng.standard_normal(150)
    z = u[:, None] + 0.6 * rng.standard_normal((150, 6))
    z[:, 5] -= 1.2
    votes = Labels.from_matrix(np.searchsorted([-0.8, 0.0, 0.8], z), labels=range(4), ordered=True)
    tree = dawid_skene(votes, variant="ordered", draws=200, seed=1)
    severity = tree["posterior"]["severity"].mean(("chain", "draw"))
    assert severity.values.argmax() == 5
    assert np.corrcoef(tree["posterior"]["latent_truth"].mean(("chain", "draw")), u)[0, 1] > 0.9
    assert tree["posterior"]["accuracy"].mean(("chain", "draw")).values.argmin() == 5


def test_reversed_labels_give_the_reversed_result():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (25, 3))
    one, other = (
        dawid_skene(Labels.from_matrix(c, labels=range(3), ordered=True), variant="ordered", draws=500, seed=seed)
        for c, seed in ((codes, 1), (2 - codes, 2))
    )
    first, second = (tree["derived"]["label_probability"].values for tree in (one, other))
    np.testing.assert_allclose(first, second[:, ::-1], atol=0.06)


def test_auto_offers_it_for_a_stated_order_alone():
    from bayesagree.plausibility.dawid_skene._engines import DawidSkenePosterior

    assert "ordered" in DawidSkenePosterior(VOTES, "auto").averaged
    assert "ordered" not in DawidSkenePosterior(Labels.from_matrix([[0, 1], [1, 1]]), "auto").averaged
    assert "ordered" not in DawidSkenePosterior(VOTES, "auto", gold={0: 1}).averaged


def test_evaluate_takes_it():
    rng = np.random.default_rng(5)
    votes = Labels.from_matrix(rng.integers(0, 3, (40, 3)), labels=range(3), ordered=True)
    models = ba.Predictions.from_labels({"A": rng.integers(0, 3, 40)}, labels=range(3))
    tree = ba.evaluate(votes, models, plausibility="dawid_skene", variant="ordered", draws=50, tune=200, seed=1)
    assert tree["posterior"]["top_1_accuracy"].sizes["draw"] == 50


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (Labels.from_matrix([["a", "b"], ["b", "b"]]), {}, "needs an order"),
        (VOTES, {"gold": {0: 1}}, "takes no gold="),
        (VOTES, {"candidates": "observed"}, "takes no candidates="),
        (VOTES, {"engine": "nuts"}, "has engine='gibbs'"),
        (VOTES, {"engine": "em"}, "has no EM"),
    ],
)
def test_refused(labels, options, message):
    with pytest.raises(InputError, match=message):
        dawid_skene(labels, variant="ordered", **options)


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 2.0), (-0.1, 0.3), (2.0, np.inf), (-np.inf, -3.0), (4.0, 4.2), (-9, -8)]
)
def test_truncated_normal_has_its_mean(low, high):
    from scipy.stats import truncnorm

    rng = np.random.default_rng(6)
    drawn = np.array([truncated_normal(rng, float(low), float(high)) for _ in range(4000)])
    exact = truncnorm(low, high)
    assert ((drawn >= low) & (drawn <= high)).all()
    assert abs(drawn.mean() - exact.mean()) < 4.5 * exact.std() / np.sqrt(4000)
    mass = ndtr(-low) - ndtr(-high) if low > 0 else ndtr(high) - ndtr(low)
    assert interval_chance(float(low), float(high)) == pytest.approx(float(mass), rel=1e-9)
