"""Outright answers at the ends of the scale: the exact engine against brute force, and what it claims."""

import json

import numpy as np
import pytest
from _paths import ROOT
from scipy.special import betainc, logit, logsumexp

from bayesagree import simulate
from bayesagree.agreement._phi.likelihood import outright_shares
from bayesagree.agreement._phi.posterior import joint_posterior, pattern_evidence
from bayesagree.agreement._phi.problem import prepare
from bayesagree.agreement.phi import common_agreement, common_agreement_model
from bayesagree.agreement.predictive import PREDICTIVE
from bayesagree.annotations import Ratings

MODELS = ROOT / "models"
ROWS = np.array([[0, 0, 1, 2], [2, 3, 2, 2], [0, 0, 0, 0], [1, 2, 2, 3], [4, 3, 4, 4], [0, 1, 0, 3]])


def levels(rows, scale=(0, 4)):
    return Ratings.from_matrix(rows, scale=scale, step=1)


def piled(n_items, phi, shares, random_seed, n_levels=5, raters=6):
    """Ratings of which some are outright ends; the judgments are of the common-agreement model."""
    rng = np.random.default_rng(random_seed)
    means = rng.beta(2, 2, n_items)
    made = simulate.ratings(
        n_items=n_items, ratings_per_item=raters, phi=phi, n_levels=n_levels, item_mean=means, random_seed=rng
    ).ratings
    low, high, _ = outright_shares(*shares, logit(means)[:, None])
    u, x = rng.random((n_items, raters)), made.rating.reshape(n_items, raters)
    x = np.where(u < np.exp(low), 1, np.where(u > 1 - np.exp(high), n_levels, x))
    return levels(x, (1, n_levels))


def brute_force(rows, n=24):
    """Mean and sd of Phi, log evidence: sums over Phi, both roots and the flat item mean, by scipy's Beta."""
    phi = (np.arange(4 * n) + 0.5) / (2 * n) - 1
    root = (np.arange(n) + 0.5) / n
    node, weight = np.polynomial.legendre.leggauss(80)
    mu, log_weight = (node + 1) / 2, np.log(weight / 2)
    odds = root**2 / (1 - root**2)
    low, high = odds[:, None, None] * (1 - mu) / mu, odds[None, :, None] * mu / (1 - mu)
    total = 1 + low + high
    log_likelihood = np.empty((phi.size, n, n))
    for k, p in enumerate(2 * (1 - np.log2(1 - phi))):
        below = betainc(np.maximum(mu * p, 1e-300), (1 - mu) * p, np.arange(1, 5)[:, None] / 5)
        cells = np.maximum(np.diff(below, axis=0, prepend=0, append=1), 1e-300)
        cells = [c / total for c in cells]
        cells[0], cells[-1] = cells[0] + low / total, cells[-1] + high / total
        log_cells = np.log(np.array(cells))
        log_likelihood[k] = sum(logsumexp(log_cells[row].sum(axis=0) + log_weight, axis=-1) for row in rows)
    evidence = logsumexp(log_likelihood) - np.log(log_likelihood.size)
    mass = np.exp(log_likelihood - logsumexp(log_likelihood)).sum(axis=(1, 2))
    mean = mass @ phi
    return mean, np.sqrt(mass @ (phi - mean) ** 2), evidence


def test_posterior_is_that_of_brute_force():
    """Six items: the least quadratic density there is, flat item means."""
    found = joint_posterior(prepare(levels(ROWS), item_mean="flat", likelihood="inflated")).phi
    mean, sd, evidence = brute_force(ROWS)
    assert found.summary().mean == pytest.approx(mean, abs=0.03 * sd)
    assert found.summary().sd == pytest.approx(sd, rel=0.03)
    assert found.log_evidence == pytest.approx(evidence, abs=0.03)


def test_shares_of_outright_ends_are_found_and_phi_is_that_of_the_judgments():
    ratings = piled(150, 0.7, (0.3, 0.05), random_seed=4)
    found = common_agreement(ratings, likelihood="inflated", draws=500, chains=2, random_seed=1)
    drawn = found["posterior"].to_dataset()
    for name, share in (("low_end_share", 0.3), ("high_end_share", 0.05)):
        assert float(abs(drawn[name].mean() - share)) < 4 * float(drawn[name].std())
    summary = found["agreement"]
    assert float(summary["lower"]) < 0.7 < float(summary["upper"])
    binned = common_agreement(ratings, likelihood="binned", draws=50, chains=1, random_seed=1)["agreement"]
    assert float(binned["upper"]) < 0.3
    assert float(summary["log_evidence"]) > float(binned["log_evidence"]) + 20
    assert float(drawn["phi"].mean()) == pytest.approx(float(summary["mean"]), abs=0.02)


def test_without_outright_ends_the_likelihood_is_the_binned_one():
    problem, y, hyper = prepare(levels(ROWS)), np.zeros(1), np.array([[0.4, 0.6]])
    alone = pattern_evidence(problem, y, hyper)
    for shares in ((0.0, 0.0), (1e-12, 0.0)):
        assert pattern_evidence(problem, y, hyper, np.array([shares])) == pytest.approx(alone, abs=1e-6)


def test_pymc_likelihood_is_the_written_one():
    """At one point: bins by scipy, odds of outright ends as the docstring has them."""
    given = {"phi": 0.3, "root_low_end_share": 0.5, "root_high_end_share": 0.3, "mean_location": 0.5}
    given |= {"mean_spread": 0.4, "unit_item_mean": np.array([0.4, 0.2])}
    x = np.array([0, 1, 4, 2, 0, 0])
    model = common_agreement_model(levels(x.reshape(2, 3)), likelihood="inflated")
    point = {}
    for variable in model.free_RVs:
        value, transform = model.rvs_to_values[variable], model.rvs_to_transforms[variable]
        point[value.name] = transform.forward(given[variable.name], *variable.owner.inputs).eval()
    found = model.compile_logp(vars=[model["rating"]], jacobian=False, sum=False)(point)[0]
    p, mu = 2 * (1 - np.log2(0.7)), np.repeat([0.4, 0.2], 3)
    cells = np.diff(betainc((mu * p)[:, None], ((1 - mu) * p)[:, None], np.arange(6) / 5))[np.arange(6), x]
    low, high = 0.25 / 0.75 * (1 - mu) / mu, 0.09 / 0.91 * mu / (1 - mu)
    np.testing.assert_allclose(found, np.log((cells + low * (x == 0) + high * (x == 4)) / (1 + low + high)), rtol=1e-9)


def test_predictive_checks_of_continuous_outright_ends_replicate_the_ends():
    """At Phi .8 and means .3 the odds of an outright low end are w / (1 - w) .7 / .3, and no judgment is an end."""
    import pymc as pm

    ratings = Ratings.from_matrix([[0.0, 0.1, 0.2], [0.5, 0.6, 1.0]], scale=(0, 1))
    model = PREDICTIVE.model(ratings, {"likelihood": "averaged"})
    given = {"phi": 0.8, "low_end_share": 0.3, "high_end_share": 0.0}
    with pm.do(model, given | {"unit_item_mean": np.full(2, 0.3)}):
        x = pm.sample_prior_predictive(500, var_names=["rating"], random_seed=1)["prior_predictive"]["rating"].values
    odds = 0.3 / 0.7 * 0.7 / 0.3
    assert abs((x == 0).mean() - odds / (1 + odds)) < 4.5 * 0.5 / np.sqrt(x.size)
    assert (x < 1).all()


def test_reference_posterior_of_outright_ends():
    """The tolerance of the exact engine, a fiftieth of a standard deviation, beside the reference's error."""
    record = json.loads((MODELS / "common_agreement_hierarchical_inflated.json").read_text())
    assert all(record["checks_made"].values())
    given = levels(np.array(record["data"]["ratings"]))
    tree = common_agreement(given, likelihood="inflated", draws=1000, chains=4, random_seed=1)
    drawn = tree["posterior"].to_dataset()
    names = {"w_low": "low_end_share", "w_high": "high_end_share", "m": "mean_location", "s": "mean_spread"}
    for name, ours in ({"phi": "phi"} | names).items():
        reference = record["posterior"][name]
        error = np.hypot(reference["mcse_mean"], reference["sd"] / np.sqrt(4000))
        assert abs(float(drawn[ours].mean()) - reference["mean"]) < 4.5 * error + 0.02 * reference["sd"], name
        assert float(drawn[ours].std()) == pytest.approx(reference["sd"], rel=0.12), name
