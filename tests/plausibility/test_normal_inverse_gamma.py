import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _errors_of_draws import assert_mean, assert_share

from bayesagree import Ratings, annotation_certainty, normal_inverse_gamma
from bayesagree.errors import InputError
from bayesagree.plausibility import NormalInverseGammaPrior
from bayesagree.plausibility.certainty import label_certainty
from bayesagree.plausibility.normal_inverse_gamma import levels

ROOT = Path(__file__).parents[2]
MODEL = json.loads((ROOT / "models" / "normal_inverse_gamma.json").read_text())
GOLDEN = json.loads((ROOT / "tests" / "golden" / "stutz.json").read_text())["normal_inverse_gamma"]


def ratings_of(rows):
    width = max(map(len, rows))
    return Ratings.from_matrix([row + [None] * (width - len(row)) for row in rows], scale=(-4, 4))


@pytest.mark.parametrize("random_seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_reference_posterior(random_seed):
    data, expected = MODEL["data"], MODEL["posterior"]
    prior = NormalInverseGammaPrior(**data["prior"])
    tree = normal_inverse_gamma(
        ratings_of(data["ratings"]), reliability=data["reliability"], prior=prior, draws=20_000, random_seed=random_seed
    )
    posterior = tree["posterior"].to_dataset().stack(sample=("chain", "draw")).transpose("sample", "item")
    assert_mean(posterior["mean"].values, expected["mean"])
    assert_mean(posterior["variance"].values, expected["variance"])
    exact = label_certainty(tree, threshold=data["threshold"], exact=True)
    np.testing.assert_allclose(exact.sel(category="below"), expected["prob_below"], atol=1e-9)
    np.testing.assert_allclose(exact.sum("category"), 1, atol=1e-12)
    drawn = label_certainty(tree, threshold=data["threshold"])
    assert_share(drawn.sel(category="below"), expected["prob_below"], posterior.sizes["sample"])


def test_golden():
    prior = NormalInverseGammaPrior(*GOLDEN["prior"])
    ratings = ratings_of([GOLDEN["ratings"]])
    tree = normal_inverse_gamma(ratings, reliability=GOLDEN["reliability"], prior=prior, draws=1, chains=1)
    after = tree["posterior_parameters"].to_dataset().isel(item=0)
    assert after["location"].item() == pytest.approx(GOLDEN["mean"], abs=5e-7)
    assert (after["scale"] / (after["shape"] - 1)).item() == pytest.approx(GOLDEN["variance"], abs=5e-7)
    certainty = annotation_certainty(tree, threshold=GOLDEN["threshold"], exact=True)
    assert certainty.item() == pytest.approx(1 - GOLDEN["prob_below"], abs=5e-6)


def test_an_item_without_ratings_keeps_the_prior():
    tree = normal_inverse_gamma(Ratings.from_matrix([[4.0], [None]], scale=(0, 10)), draws=1, chains=1)
    assert tree["posterior_parameters"]["location"].values[1] == 5.0
    assert tree["posterior_parameters"]["shape"].values[1] == 1.5


def two_of_three(seed):
    """Thirty items, three raters who rate 1.5 higher, alike and 1.5 lower; two rate each item, in whole numbers."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(5.5, 1.5, 30)
    given = np.clip(np.round(truth[:, None] + [1.5, 0, -1.5] + rng.normal(0, 0.5, (30, 3))), 1, 10)
    given[np.arange(30), rng.integers(0, 3, 30)] = np.nan
    return Ratings.from_matrix(given, scale=(1, 10), step=1, annotators=["lenient", "fair", "harsh"]), truth


def test_levels_of_lenient_and_harsh_raters():
    """Without levels the mean error of such items was .696 in a public case, by least squares with levels .345."""
    error, alone = [], []
    for seed in range(2):
        ratings, truth = two_of_three(seed)
        found = normal_inverse_gamma(ratings, annotator_effects="shift", draws=100, chains=2, random_seed=seed)[
            "posterior"
        ]
        assert (found["annotator_shift"].mean(("chain", "draw")).values[[0, 2]] * [1, -1] > 1).all()
        error.append(np.abs(found["mean"].mean(("chain", "draw")) - truth).mean())
        plain = normal_inverse_gamma(ratings, draws=100, random_seed=seed)["posterior"]["mean"]
        alone.append(np.abs(plain.mean(("chain", "draw")) - truth).mean())
    assert np.mean(error) < 0.4 < 0.5 < np.mean(alone)


def test_careless_raters_and_raters_who_never_meet_are_named():
    how = {"annotator_effects": "shift", "draws": 100, "chains": 2, "random_seed": 1}
    rng = np.random.default_rng(2)
    truth = rng.normal(5, 1.5, 60)
    given = np.clip(truth[:, None] + rng.normal(0, [0.5, 0.5, 0.5, 0.5, 3], (60, 5)), 0, 10)
    names = [*"abcd", "careless"]
    with pytest.warns(UserWarning, match="ratings of 'careless' say little"):
        normal_inverse_gamma(Ratings.from_matrix(given, scale=(0, 10), annotators=names), **how)
    given[:30, :2] = given[30:, 2:] = np.nan
    apart = Ratings.from_matrix(given[:, :4], scale=(0, 10), annotators=names[:4])
    with pytest.warns(UserWarning, match="'a', 'b' and 'c', 'd' never rate the same items"):
        normal_inverse_gamma(apart, **how)


@pytest.mark.parametrize("effects", [{}, {"annotator_effects": "shift"}])
def test_units_of_the_scale_do_not_matter(effects):
    rows = np.random.default_rng(4).uniform(size=(40, 3)) * [1, 0.8, 1]
    drawn = []
    for low, width in ((0, 1), (20, 4)):
        ratings = Ratings.from_matrix(low + width * rows, scale=(low, low + width))
        prior = {} if effects else {"prior": NormalInverseGammaPrior(low + width * 0.4, 1.0, 2.0, width**2 * 0.1)}
        tree = normal_inverse_gamma(ratings, **effects, **prior, draws=50, chains=1, random_seed=1)
        drawn.append(tree["posterior"].to_dataset())
    unit, large = drawn
    np.testing.assert_allclose(large["mean"], 20 + 4 * unit["mean"])
    np.testing.assert_allclose(large["variance"], 16 * unit["variance"])
    for name in {"annotator_shift", "annotator_sd"} & set(unit):
        np.testing.assert_allclose(large[name], 4 * unit[name])


def test_levels_refuse_what_they_do_not_use():
    ratings, _ = two_of_three(1)
    with pytest.raises(InputError, match="priors of its own"):
        normal_inverse_gamma(ratings, annotator_effects="shift", reliability=2.0)
    few = Ratings.from_matrix([[1.0, 2.0]], scale=(0, 10))
    with pytest.raises(InputError, match="fewer than two have 5 ratings"):
        normal_inverse_gamma(few, annotator_effects="shift")


def test_large_tables_are_sparse_and_give_the_same_draws(monkeypatch):
    rating = np.random.default_rng(8).uniform(1, 5, (12, 3))
    rating[:4, 0] = np.nan
    drawn = []
    for cells in (levels.DENSE, 0):
        monkeypatch.setattr(levels, "DENSE", cells)
        given = Ratings.from_matrix(rating, scale=(1, 5))
        tree = normal_inverse_gamma(given, annotator_effects="shift", draws=20, chains=1, random_seed=1)
        drawn.append(tree["posterior"]["mean"].values)
    np.testing.assert_allclose(*drawn, rtol=1e-9)


def test_the_default_prior_moves_and_stretches_with_the_scale():
    for low, high in ((0, 1), (1, 5), (11, 15), (-100, 100)):
        prior = NormalInverseGammaPrior.for_scale((low, high))
        assert prior.mean == (low + high) / 2
        # A standard deviation of a quarter of the range: scale / shape is the variance.
        assert np.sqrt(prior.scale / prior.shape) == pytest.approx((high - low) / 4)


def test_annotators_of_five_ratings_are_known_and_of_many_the_most_prolific(monkeypatch):
    rating = np.full((9, 4), np.nan)
    for annotator, number in enumerate([5, 9, 4, 7]):
        rating[:number, annotator] = np.arange(number) % 5 + 1
    ratings = Ratings.from_matrix(rating, scale=(1, 5))
    assert levels.Levels.known_in(ratings).tolist() == [0, 1, 3]
    monkeypatch.setattr(levels, "MOST", 2)
    assert levels.Levels.known_in(ratings).tolist() == [1, 3]
    nobody = Ratings.from_long(pd.DataFrame({"item": range(9), "rating": 3}), annotator=None, scale=(1, 5))
    assert levels.Levels.known_in(nobody).size == 0
