"""The numerical edge table: the smallest, the most one-sided and the largest data, through every engine."""

import warnings

import numpy as np
import pytest

from bayesagree import (
    InputError,
    Labels,
    Predictions,
    Rankings,
    Ratings,
    agreement_table,
    annotation_certainty,
    common_agreement,
    dawid_skene,
    dirichlet,
    evaluate,
    label_certainty,
    normal_inverse_gamma,
    plackett_luce,
    prirn,
    subjective,
)

LABELS = {
    "one item": Labels.from_matrix([["a", "b", "a"]]),
    "one annotator": Labels.from_matrix([["a"], ["b"], ["a"]]),
    "one annotation": Labels.from_matrix([["a"]], labels=["a", "b"]),
    "one label": Labels.from_matrix([["a", "a"], ["a", "a"]]),
    "unanimous": Labels.from_matrix([["a"] * 5, ["b"] * 5]),
    "contradictory": Labels.from_matrix([["a", "b"], ["b", "a"]]),
    "huge counts": Labels.from_counts([[10**9, 1], [3, 10**9]], labels=["a", "b"]),
}
VARIANTS = ("one_coin", "class_conditional", "full", "hierarchical", "mixed_membership")
RANKINGS = {
    "one item, one ranking, one label": Rankings.from_blocks([[[[0]]]], labels=1),
    "one item, one ranking": Rankings.from_blocks([[[[0], [1]]]], labels=3),
    "all labels tied": Rankings.from_blocks([[[[0, 1, 2]]]], labels=3),
    "unanimous": Rankings.from_blocks([[[[0], [1], [2]]] * 8], labels=3),
    "contradictory": Rankings.from_blocks([[[[0], [1], [2]], [[2], [1], [0]]]], labels=3),
}
RATINGS = {
    "one item": [[1.0, 5.0, 3.0]],
    "one annotator": [[1.0], [5.0], [3.0]],
    "unanimous": [[3.0] * 5, [4.0] * 5],
    "all at one end": [[5.0] * 4, [5.0] * 4],
    "contradictory": [[1.0, 5.0], [5.0, 1.0]],
}


def posterior(kind, data, **options):
    """Draw quietly: short chains and lone annotators warn, which other tests ask about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return kind(data, draws=50, chains=2, seed=1, **options)


def require_plausibilities(tree):
    values = tree["posterior"]["plausibility"].values
    assert np.isfinite(values).all()
    assert (values >= 0).all()
    np.testing.assert_allclose(values.sum(axis=-1), 1, atol=1e-9)
    certainty = annotation_certainty(tree).values
    assert ((certainty > 0) & (certainty <= 1)).all()


@pytest.mark.parametrize("reliability", [0, 1e-9, 1.0, 1e9])
@pytest.mark.parametrize("name", LABELS)
def test_dirichlet(name, reliability):
    tree = posterior(dirichlet, LABELS[name], reliability=reliability)
    require_plausibilities(tree)
    exact = label_certainty(tree, exact=True)
    np.testing.assert_allclose(exact.sum("category"), 1, atol=1e-7)
    if reliability == 0:
        np.testing.assert_allclose(exact, 1 / exact.sizes["category"], atol=1e-7)
    if reliability == 1e9 and name in ("unanimous", "huge counts"):
        assert (exact.max("category") > 1 - 1e-7).all()


@pytest.mark.parametrize("options", [{"engine": "em"}, *({"variant": v, "tune": 100} for v in VARIANTS)], ids=str)
@pytest.mark.parametrize("name", [n for n in LABELS if n not in ("one label", "huge counts")])
def test_dawid_skene(name, options):
    tree = posterior(dawid_skene, LABELS[name], **options)
    values = tree["posterior"]["plausibility"].values
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values.sum(axis=-1), 1, atol=1e-9)


@pytest.mark.parametrize("name", RANKINGS)
def test_rankings(name):
    for reliability in (1, 1000):
        require_plausibilities(posterior(prirn, RANKINGS[name], reliability=reliability))
        require_plausibilities(posterior(plackett_luce, RANKINGS[name], reliability=reliability))


LONG = set(RATINGS) - {"unanimous"}  # the quadrature of Phi takes seconds where the ratings say little


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n in LONG else n for n in RATINGS])
def test_ratings(name):
    ratings = Ratings.from_matrix(RATINGS[name], scale=(1, 5), step=1)
    tree = posterior(normal_inverse_gamma, ratings)
    assert np.isfinite(tree["posterior"]["mean"].values).all()
    assert (tree["posterior"]["variance"].values > 0).all()
    phi = posterior(common_agreement, ratings)["posterior"]["phi"].values
    assert ((phi > -1) & (phi < 1)).all()


@pytest.mark.parametrize("name", [n for n in LABELS if n != "huge counts"])
def test_every_coefficient_is_a_number_or_says_why_not(name):
    table = agreement_table(LABELS[name], seed=1)
    assert (table["estimate"].notna() | (table["note"] != "")).all()
    assert (table["estimate"].dropna() <= 1 + 1e-12).all()


def test_what_does_not_exist_is_refused():
    with pytest.raises(InputError, match="there is only the label 'a'"):
        dawid_skene(LABELS["one label"])
    for name in ("one annotator", "one annotation"):
        with pytest.raises(InputError, match="no item was judged by two annotators"):
            subjective.crowdtruth(LABELS[name])


@pytest.mark.parametrize("name", ["one item", "one label", "unanimous", "contradictory"])
def test_crowdtruth_stays_between_0_and_1(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        quality = subjective.crowdtruth(LABELS[name])
    for variable in quality.data_vars.values():
        known = variable.values[~np.isnan(variable.values)]
        assert ((known >= -1e-12) & (known <= 1 + 1e-12)).all()


def test_a_hundred_thousand_labels():
    n = 100_000
    labels = Labels.from_matrix([[5, 7], [5, None]], labels=list(range(n)))
    models = Predictions.from_labels({"right": [5, 5], "wrong": [9, 9]}, labels=list(range(n)))
    tree = evaluate(labels, models, draws=4000, chains=1, seed=1)
    score = tree["posterior"]["top_1_accuracy"].mean(("chain", "draw")).squeeze()
    # Exactly .510; the standard error of 4000 draws of two items is .005.
    assert abs(float(score.sel(model="right")) - 0.510) < 0.025
    assert float(score.sel(model="wrong")) < 0.01
    top = posterior(dirichlet, labels, top_labels=3)["posterior"]["top_label"].values
    assert ((top >= 0) & (top < n)).all()
