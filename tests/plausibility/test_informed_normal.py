import json
from pathlib import Path

import numpy as np
import pytest
from _errors_of_draws import assert_mean, assert_same_mean

from bayesagree import InputError, Predictions, Ratings, evaluate, informed_normal
from bayesagree.inference.nuts import sample_nuts
from bayesagree.plausibility.informed_normal.posterior import InformedNormal
from bayesagree.plausibility.registry import default_posterior

MODELS = Path(__file__).parents[2] / "models"
MODEL = json.loads((MODELS / "informed_normal.json").read_text())
LEVELS = json.loads((MODELS / "informed_normal_levels.json").read_text())


def given(rows, predictions, scale=(0, 1)):
    width = max(map(len, rows))
    ratings = Ratings.from_matrix([row + [None] * (width - len(row)) for row in rows], scale=scale)
    return ratings, Predictions.from_numbers({"A": predictions})


def test_reference_posterior():
    data, expected = MODEL["data"], MODEL["posterior"]
    tree = informed_normal(*given(data["ratings"], data["predictions"]), draws=20_000, random_seed=1)
    draws = tree["posterior"]["mean"].stack(sample=("chain", "draw")).transpose("sample", "item")
    assert_mean(draws.values, expected["mean"])
    found = tree["posterior_parameters"].to_dataset()
    for name in ("sd_rating", "sd_item"):
        one = found.sel(parameter=name)
        assert float(one["estimate"]) == pytest.approx(expected[name][0], abs=4 * float(one["sd"]) / np.sqrt(80_000))


@pytest.mark.filterwarnings("ignore:the ratings of")
def test_reference_posterior_with_levels_of_annotators():
    given_, expected = LEVELS["data"], LEVELS["posterior"]
    ratings = Ratings.from_matrix(
        np.array(given_["ratings"], float), scale=(0, 1), annotators=["high", "b", "careless"]
    )
    models = Predictions.from_numbers({"A": given_["predictions"]})
    how = {"draws": 300, "chains": 6, "random_seed": 1, "progress": (done := []).append}
    found = informed_normal(ratings, models, **how)["posterior"]
    assert sum(done) == 6 * 500 + ratings.items.size
    for name, ours in (("mean", "mean"), ("shift", "annotator_shift")):
        draws = found[ours].values
        of_chains = draws.mean(axis=1)
        # Six chains: their means tell the error, six times of which are asked with five degrees of freedom.
        error = np.hypot(of_chains.std(axis=0, ddof=1) / np.sqrt(6), expected[name]["mcse_mean"])
        assert (np.abs(of_chains.mean(axis=0) - expected[name]["mean"]) < 6 * error).all()
        np.testing.assert_allclose(draws.std(axis=(0, 1)), expected[name]["sd"], rtol=0.15)


def test_evaluate_learns_levels_by_default():
    """A rater who is 2 points higher rates the items of one half, one who is 2 points lower the others."""
    rng = np.random.default_rng(5)
    truth = rng.uniform(3, 7, 60)
    rating = truth[:, None] + [2.0, 0, 0, -2.0] + rng.normal(0, 0.4, (60, 4))
    rating[:30, 3] = rating[30:, 0] = np.nan
    ratings = Ratings.from_matrix(rating, scale=(0, 10), annotators=list("abcd"))
    models = Predictions.from_numbers({"A": truth + rng.normal(0, 1, 60)})
    real = np.abs(models.points()[0] - truth).mean()
    error = []
    for effects in ("auto", None):
        tree = evaluate(ratings, models, metrics=["mae"], annotator_effects=effects, draws=200, chains=2, random_seed=1)
        error.append(float(tree["posterior"]["mae"].std()))
        assert abs(float(tree["posterior"]["mae"].mean()) - real) < 2 * error[-1]
    assert error[0] < error[1] / 2


@pytest.mark.nuts
def test_nuts_is_the_same_posterior():
    case = given([[1, 2, 2, 5], [3, 3, 4], [2, 1, 1], [4, 5]], [2.0, 3.5, 1.0, 4.0], (1, 5))
    exact = informed_normal(*case, draws=4000, random_seed=1)
    model = InformedNormal(predictions=case[1]).model(case[0])
    nuts = sample_nuts(model, draws=1500, chains=2, random_seed=2, sampler={"target_accept": 0.95})
    assert_same_mean(exact, nuts, "mean")
    assert_same_mean(exact, nuts, "variance")


@pytest.mark.filterwarnings("ignore:20 of 80 items have predictions and no annotations")
def test_predicted_items_without_ratings_are_drawn_from_the_line():
    rng = np.random.default_rng(4)
    truth = rng.uniform(0.2, 0.8, 80)
    models = Predictions.from_numbers({"A": truth}, items=range(80))
    rated = Ratings.from_matrix(truth[:60, None] + 0.02 * rng.standard_normal((60, 3)), scale=(0, 1))
    mean = informed_normal(rated, models, draws=200, chains=2, random_seed=1)["posterior"]["mean"].mean(
        ("chain", "draw")
    )
    assert np.abs(mean.values[60:] - truth[60:]).max() < 0.02
    assert evaluate(rated, models, metrics=["mae"], draws=5, chains=1, random_seed=1)["certainty"].sizes["item"] == 80


@pytest.mark.filterwarnings("ignore:models .A. are not independent", "ignore:the ratings of")
@pytest.mark.parametrize("end", [0.0, 1.0])
def test_many_items_at_one_end_are_warned_of(end):
    rows = [[end, end]] * 13 + [[end, 0.5]] * 12 + [[0.3, 0.4]] * 15
    with pytest.warns(UserWarning, match=r"all ratings of 0\.33 of the items lie at one end"):
        informed_normal(*given(rows, np.linspace(0, 1, 40)), draws=5, chains=1, random_seed=1)
    # A quarter at an end is no reason, nor are items with one rating.
    informed_normal(*given([*rows[4:], *[[end]] * 9], np.linspace(0, 1, 45)), draws=5, chains=1, random_seed=1)


def test_auto_learns_from_numbers_where_there_are_enough_items():
    ratings, models = given([[0.1, 0.4]] * 40, np.linspace(0, 1, 40))
    assert default_posterior(ratings, models).name == "informed_normal"
    with pytest.raises(InputError, match=r"reliability=... is no argument of informed_normal.*'normal_inverse_gamma'"):
        default_posterior(ratings, models, {"reliability": 3.0})
    few = given([[0.1, 0.4]] * 20, np.linspace(0, 1, 20))
    assert default_posterior(*few).name == "normal_inverse_gamma"
