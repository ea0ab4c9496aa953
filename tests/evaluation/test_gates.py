"""A claim about two models: its probability by hand, what passes and what fails, and bad input."""

import numpy as np
import pytest
from scipy.stats import norm

from bayesagree import InputError, Labels, Predictions, assert_better, evaluate, pairwise
from bayesagree.evaluation.gates import claim_of, required_probability

# Five kinds of items, eight times each, are no mixture of binomials.
pytestmark = pytest.mark.filterwarnings("ignore:models .* not independent")
LABELS = Labels.from_counts([[3, 0], [2, 1], [0, 3], [1, 2], [3, 0]] * 8)
MODELS = Predictions.from_labels({"new": [0, 0, 1, 1, 0] * 8, "mid": [0, 1, 1, 1, 0] * 8, "old": [0, 1, 1, 0, 1] * 8})


@pytest.fixture(scope="module", params=["dirichlet", "informed_dirichlet"])
def result(request):
    return evaluate(LABELS, MODELS, plausibility=request.param, draws=200, chains=2, random_seed=3)


@pytest.mark.parametrize("margin", [-0.1, -0.05, 0.0, 0.05])
def test_probability_is_counted_on_the_posterior_that_all_models_share(result, margin):
    chances = []
    for truth in {"posterior", "without_unsure"} & set(result.children):
        drawn = result[truth]["accuracy"]
        right = {name: np.rint(drawn.sel(model=name).values * LABELS.items.size) for name in ("new", "mid")}
        lead = right["new"] - right["mid"] - round(margin * LABELS.items.size)
        chances.append((lead > 0).mean() + (lead == 0).mean() / 2)
    found = claim_of(result, "new", "mid", 0.9, margin, "accuracy")
    assert found.found == pytest.approx(np.mean(chances))
    assert found.supported == (found.found >= 0.9)
    if margin == 0:
        pair = pairwise(result).sel(model="new", other_model="mid")
        assert found.found == pytest.approx(float(pair["prob_better"]))


def test_margin_is_an_improvement_where_lower_is_better():
    options = {"metric": "brier", "plausibility": "dirichlet", "draws": 50, "random_seed": 1}
    scores = {"good": np.tile([[0.9, 0.1], [0.6, 0.4]], (20, 1)), "poor": np.tile([[0.1, 0.9], [0.4, 0.6]], (20, 1))}
    labels = Labels.from_counts([[3, 0], [2, 1]] * 20)
    models = Predictions.from_scores(scores, labels=[0, 1])
    assert_better(labels, models, "good", "poor", margin=0.05, **options)
    with pytest.raises(AssertionError, match=r"poor is not worse than good by .05"):
        assert_better(labels, models, "poor", "good", margin=-0.05, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"new": "best"}, "new='best' is not one of the models"),
        ({"old": "new"}, "new and old are both 'new'"),
        ({"probability": 1.0}, "must lie between 0 and 1"),
        ({"margin": float("nan")}, "margin=nan must be a difference"),
        ({"metric": "fun"}, "fun"),
    ],
)
def test_bad_input_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        assert_better(LABELS, MODELS, **({"new": "new", "old": "old"} | change))


@pytest.mark.parametrize("looks", [2, 5, 10])
def test_equal_models_pass_any_of_several_looks_as_often_as_one(looks):
    """By 40,000 studies of their own; Pocock's boundaries, one-sided at .05 with five looks, is 2.122."""
    required = required_probability(0.95, looks)
    walks = np.random.default_rng(7).standard_normal((40_000, looks)).cumsum(axis=1) / np.sqrt(np.arange(1, looks + 1))
    assert (norm.cdf(walks) >= required).any(axis=1).mean() == pytest.approx(0.05, abs=0.005)
    if looks == 5:
        assert norm.ppf(required) == pytest.approx(2.122, abs=0.02)
