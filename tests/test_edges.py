"""The smallest, the most one-sided and the largest data, through every posterior: numbers, or a sentence."""

import numpy as np
import pytest

import bayesagree as ba

LABELS = {
    "one item": ba.Labels.from_matrix([["a", "b", "a"]]),
    "one annotator": ba.Labels.from_matrix([["a"], ["b"], ["a"]]),
    "one annotation": ba.Labels.from_matrix([["a"]], labels=["a", "b"]),
    "one label": ba.Labels.from_matrix([["a", "a"], ["a", "a"]]),
    "unanimous": ba.Labels.from_matrix([["a"] * 5, ["b"] * 5]),
    "contradictory": ba.Labels.from_matrix([["a", "b"], ["b", "a"]]),
    "huge counts": ba.Labels.from_counts([[10**9, 1], [3, 10**9]], labels=["a", "b"]),
}
RANKINGS = {
    "one ranking, one label": ba.Rankings.from_blocks([[[[0]]]], labels=1),
    "one ranking": ba.Rankings.from_blocks([[[[0], [1]]]], labels=3),
    "all labels tied": ba.Rankings.from_blocks([[[[0, 1, 2]]]], labels=3),
    "unanimous": ba.Rankings.from_blocks([[[[0], [1], [2]]] * 8], labels=3),
    "contradictory": ba.Rankings.from_blocks([[[[0], [1], [2]], [[2], [1], [0]]]], labels=3),
}
RATINGS = {
    "one item": [[1.0, 5.0, 3.0]],
    "one annotator": [[1.0], [5.0], [3.0]],
    "unanimous": [[3.0] * 5, [4.0] * 5],
    "at one end": [[5.0] * 4, [5.0] * 4],
    "contradictory": [[1.0, 5.0], [5.0, 1.0]],
}
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # short chains, lone annotators
FEW = {"draws": 50, "chains": 2, "random_seed": 1}


def require_plausibilities(tree):
    values = tree["posterior"]["plausibility"].values
    assert (values >= 0).all()  # no NaN either
    np.testing.assert_allclose(values.sum(axis=-1), 1, atol=1e-9)
    certainty = ba.annotation_certainty(tree).values
    assert ((certainty > 0) & (certainty <= 1)).all()


@pytest.mark.parametrize("reliability", [0, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize("name", LABELS)
def test_dirichlet(name, reliability):
    tree = ba.dirichlet(LABELS[name], reliability=reliability, **FEW)
    require_plausibilities(tree)
    exact = ba.certainty.label_certainty(tree, exact=True)
    np.testing.assert_allclose(exact.sum("category"), 1, atol=1e-7)
    if reliability == 0:
        np.testing.assert_allclose(exact, 1 / exact.sizes["category"], atol=1e-7)
    if reliability == 1e9 and name in ("unanimous", "huge counts"):
        assert (exact.max("category") > 1 - 1e-7).all()


@pytest.mark.parametrize("variant", ["full", "one_coin"])
@pytest.mark.parametrize("name", [n for n in LABELS if n not in ("one label", "huge counts")])
def test_dawid_skene(name, variant):
    require_plausibilities(ba.dawid_skene(LABELS[name], variant=variant, tune=20, **FEW))


@pytest.mark.parametrize("name", RANKINGS)
def test_rankings(name):
    for reliability in (1, 1000):
        require_plausibilities(ba.prirn(RANKINGS[name], reliability=reliability, **FEW))
        require_plausibilities(ba.plackett_luce(RANKINGS[name], reliability=reliability, **FEW))


@pytest.mark.parametrize("name", RATINGS)
def test_ratings(name):
    tree = ba.normal_inverse_gamma(ba.Ratings.from_matrix(RATINGS[name], scale=(1, 5), step=1), **FEW)
    assert np.isfinite(tree["posterior"]["mean"].values).all()
    assert (tree["posterior"]["variance"].values > 0).all()


@pytest.mark.long
@pytest.mark.parametrize("name", RATINGS)
def test_phi(name):
    tree = ba.common_agreement(ba.Ratings.from_matrix(RATINGS[name], scale=(1, 5), step=1), **FEW)
    assert (abs(tree["posterior"]["phi"].values) < 1).all()


@pytest.mark.parametrize("name", [n for n in LABELS if n != "huge counts"])
def test_every_coefficient_is_a_number_or_says_why_not(name):
    table = ba.agreement_table(LABELS[name], random_seed=1)
    assert (table["estimate"].notna() | (table["note"] != "")).all()
    assert (table["estimate"].dropna() <= 1 + 1e-12).all()


def test_a_hundred_thousand_labels():
    n = 100_000
    labels = ba.Labels.from_matrix([[5, 7], [5, None]], labels=list(range(n)))
    models = ba.Predictions.from_labels({"right": [5, 5], "wrong": [9, 9]}, labels=list(range(n)))
    score = ba.evaluate(labels, models, draws=1000, chains=1, random_seed=1)["posterior"]["accuracy"]
    # Exactly .510; the standard error of 1000 draws of two items is .011.
    assert abs(float(score.sel(model="right").mean()) - 0.510) < 0.05
    assert float(score.sel(model="wrong").mean()) < 0.01
