"""The next label: gains against SciPy, and what must not matter."""

import numpy as np
import pytest
import scipy as sp
import xarray as xr

from bayesagree import annotate_next, dirichlet, evaluate
from bayesagree.annotations import Labels, Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.dirichlet_argmax import argmax_probabilities
from bayesagree.planning import value_of_votes
from bayesagree.plausibility.dirichlet.posterior import Dirichlet

ALONE = {"plausibility": "dirichlet", "random_seed": 1}
VOTES = [[3, 0, 0], [2, 1, 0], [1, 1, 1], [0, 0, 0], [0, 4, 1]]
MODELS = Predictions.from_labels({"A": [0, 0, 1, 2, 1], "B": [0, 1, 1, 0, 2]}, labels=[0, 1, 2])


def best(shape):
    """Pr(each label has the largest of independent gamma variables): a mean over the quantiles of its own."""
    u = (np.arange(2000) + 0.5) / 2000
    own, F = [sp.stats.gamma.ppf(u, a) for a in shape], sp.stats.gamma.cdf
    return np.array(
        [np.prod([F(x, b) for j, b in enumerate(shape) if j != k], axis=0).mean() for k, x in enumerate(own)]
    )


def drop(counts, score):
    """Drop of the variance of score(top label) by one vote, by SciPy alone."""
    shape, value = np.asarray(counts) + 1 / 3, score(np.arange(3)).astype(float)
    after = [best(shape + vote) @ value for vote in np.eye(3)]
    return (shape / shape.sum() * np.square(after)).sum() - (best(shape) @ value) ** 2


def test_gain_of_a_decision_is_the_drop_of_the_variance():
    found = annotate_next(Labels.from_counts(VOTES), MODELS, n=5, **ALONE).set_index("item")["gain"]
    predicted = MODELS.hard_labels()
    for item, counts in enumerate(VOTES):
        a, b = predicted[:, item]
        expected = drop(counts, lambda top, a=a, b=b: (top == a).astype(float) - (top == b))
        assert found[item] == pytest.approx(expected, abs=1e-3)
    assert found[0] == found[2] == 0


def test_gain_of_a_metric_is_the_mean_over_models():
    found = annotate_next(Labels.from_counts(VOTES), MODELS, n=5, goal="metric", **ALONE).set_index("item")["gain"]
    for item, counts in enumerate(VOTES):
        gains = [drop(counts, lambda top, a=a: top == a) for a in MODELS.hard_labels()[:, item]]
        assert found[item] == pytest.approx(np.mean(gains), abs=1e-3)


@pytest.mark.parametrize("counts", [[3, 0, 0], [2, 1, 0], [1, 1, 1], [0, 4, 1], [0, 3, 2]])
def test_gain_of_certainty_is_that_of_the_fewest_votes_that_can_change_the_answer(counts):
    shape = np.array(counts) + 1 / 3
    now = argmax_probabilities(shape[None]).max()

    def expected(votes):
        """Certainty after so many votes, over all of their outcomes."""
        cases = [(a, b, votes - a - b) for a in range(votes + 1) for b in range(votes + 1 - a)]
        chance = [sp.stats.dirichlet_multinomial.pmf(case, shape, votes) for case in cases]
        return np.dot(chance, argmax_probabilities(shape + np.array(cases)).max(axis=1))

    row = annotate_next(Labels.from_counts([counts]), n=1, random_seed=1).iloc[0]
    fewest = next(m for m in range(1, 9) if expected(m) > now + 1e-9)
    assert row["votes"] == fewest
    assert row["gain"] == pytest.approx((expected(fewest) - now) / fewest, abs=1e-9)


def study(random_seed, n_items=300, n_votes=2):
    """Votes on items of the default prior, and two models that differ on a third of them."""
    rng = np.random.default_rng(random_seed)
    truth = rng.dirichlet(np.full(3, 1 / 3), n_items)
    first = np.where(rng.random(n_items) < 0.8, truth.argmax(axis=1), rng.integers(3, size=n_items))
    second = np.where(rng.random(n_items) < 0.67, first, rng.integers(3, size=n_items))
    labels = Labels.from_counts(rng.multinomial(n_votes, truth), labels=[0, 1, 2])
    return labels, Predictions.from_labels({"A": first, "B": second}, labels=[0, 1, 2])


def test_probability_is_the_rate_of_right_choices_after_votes_that_are_drawn():
    random_seed = 1
    labels, models = study(random_seed)
    n, repeats = 40, 400
    found = value_of_votes(labels, models, plausibility="dirichlet")
    order = found.attrs["models"]
    picked = models.hard_labels()[[list(models.models).index(name) for name in order]]
    items = annotate_next(labels, models, n=n, plausibility="dirichlet", random_seed=1)["item"].to_numpy()
    shape, rng = labels.counts() + 1 / 3, np.random.default_rng(random_seed + 100)

    def lead(top):
        return (
            np.take_along_axis(top, picked[0][:, None], 1).sum() - np.take_along_axis(top, picked[1][:, None], 1).sum()
        )

    now, right, leads = argmax_probabilities(shape), 0.0, []
    for _ in range(repeats):
        gamma = rng.standard_gamma(shape)
        truth = gamma / gamma.sum(axis=1, keepdims=True)
        after = now.copy()
        after[items] = argmax_probabilities(shape[items] + rng.multinomial(1, truth[items]))
        chosen, true = lead(after), lead(np.eye(3)[truth.argmax(axis=1)])
        right += 0.5 if true == 0 else float((chosen > 0) == (true > 0))
        leads.append(chosen)
    row = found.iloc[n]
    assert row["prob_right"] == pytest.approx(right / repeats, abs=4 * 0.5 / np.sqrt(repeats))
    apart = np.mean(np.abs(leads) > 1.96 * row["sd"] * labels.items.size)
    assert row["prob_separated"] == pytest.approx(apart, abs=4 * 0.5 / np.sqrt(repeats))
    # The step of the mean is what the votes take from the variance: an independent way to the same figure.
    drop = (found["sd"].iloc[0] ** 2 - row["sd"] ** 2) * labels.items.size**2
    assert drop == pytest.approx(np.var(leads), rel=4 * np.sqrt(2 / repeats))


def test_votes_never_harm_and_begin_with_what_is_known_today():
    labels, models = study(3)
    found = value_of_votes(labels, models, plausibility="dirichlet")
    assert (np.diff(found["prob_right"]) >= 0).all()
    assert (np.diff(found["sd"]) <= 0).all()
    differ = models.hard_labels()[0] != models.hard_labels()[1]
    assert found["votes"].tolist() == list(range(differ.sum() + 1))
    assert found["prob_right"].between(0.5, 1).all()


def test_fewer_than_two_models_are_refused():
    with pytest.raises(InputError, match=r"goal='decision' is not one of 'certainty' here: .* 'decision' two"):
        annotate_next(Labels.from_counts(VOTES), n=1, goal="decision")
    one = Predictions.from_labels({"A": [0, 1]})
    with pytest.raises(InputError, match="a choice needs two models"):
        value_of_votes(Labels.from_counts([[2, 0], [1, 1]]), one)


@pytest.mark.parametrize("goal", ["decision", "metric", "certainty"])
def test_draws_of_a_posterior_give_the_gains_of_its_formula(goal):
    labels = Labels.from_counts(VOTES)
    # A trace that knows no formula: nothing but the draws.
    truth = xr.DataTree.from_dict(
        {"posterior": dirichlet(labels, draws=20_000, random_seed=3)["posterior"].to_dataset()}
    )
    exact, drawn = (
        annotate_next(labels, MODELS, n=5, goal=goal, plausibility=posterior, random_seed=1)
        .set_index("item")
        .loc[range(5)]
        for posterior in ("dirichlet", truth)
    )
    # Five Monte-Carlo errors of a gain from 80,000 draws: a mean of conditional means, each with an sd below 1 / 4.
    np.testing.assert_allclose(drawn["gain"], exact["gain"], atol=5 * 0.25 / np.sqrt(80_000))
    assert (drawn["gain"] != exact["gain"]).any()
    clear = exact["gain"] > 0.01  # below, draws may find fewer votes by chance
    assert drawn["votes"][clear].tolist() == exact["votes"][clear].tolist()


@pytest.mark.parametrize("models", [None, MODELS])
def test_votes_of_five_times_the_reliability_are_five_times_as_many(models):
    weighted, more = (
        annotate_next(Labels.from_counts(counts), models, n=5, plausibility=posterior, random_seed=1)
        for counts, posterior in ((VOTES, Dirichlet(5)), (5 * np.array(VOTES), "dirichlet"))
    )
    weighted, more = (found.set_index("item").loc[range(5), "gain"] for found in (weighted, more))
    np.testing.assert_allclose(weighted, more, atol=5 * 0.25 / np.sqrt(4000))


@pytest.mark.long
def test_predictions_inform_the_next_label_by_default():
    labels, models = study(5, n_items=100)
    found = annotate_next(labels, models, n=20, random_seed=1)
    asked = annotate_next(labels, models, n=20, plausibility="informed_dirichlet", random_seed=1)
    assert found["item"].tolist() == asked["item"].tolist()
    differ = models.hard_labels()[0] != models.hard_labels()[1]
    assert differ[found["item"]].all()
    worth = value_of_votes(labels, models, random_seed=1)
    # What is open today is the spread of the difference under the posterior that every model informs.
    tree = evaluate(labels, models, random_seed=1)["posterior"]["accuracy"].values.reshape(-1, 2)
    assert worth["sd"].iloc[0] == pytest.approx((tree[:, 0] - tree[:, 1]).std(), rel=0.1)


def test_missing_predictions_are_refused_or_left_out():
    labels = Labels.from_counts(VOTES)
    models = Predictions.from_labels({"A": [0, 0, 1, None, 1], "B": [0, 1, 1, 0, 2]}, labels=[0, 1, 2])
    with pytest.raises(InputError, match="'A' has no prediction for 1 of 5 items: 3"):
        annotate_next(labels, models, n=5, **ALONE)
    assert 3 not in annotate_next(labels, models, n=5, missing="skip", **ALONE)["item"].tolist()
    assert annotate_next(labels, models, n=5, missing="wrong", **ALONE)["item"].size == 5


def test_rankings_of_first_places_are_votes():
    """Under Plackett-Luce a first place has the likelihood of a vote, so that both list the same gains."""
    rows, how = VOTES[:3], {"predictions": MODELS.take(np.arange(3), np.arange(3)), "n": 3, "goal": "metric"}
    first = [[[[label]] for label, n in enumerate(row) for _ in range(n)] for row in rows]
    found = annotate_next(Rankings.from_blocks(first, labels=3), **how, plausibility="plackett_luce", random_seed=1)
    both = annotate_next(Labels.from_counts(rows), **how, **ALONE).merge(found, on="item")
    # A probability of 4000 draws errs by up to .008; a gain is a difference of their squares, of the same draws.
    np.testing.assert_allclose(both["gain_x"], both["gain_y"], atol=0.004)
    assert both["gain_x"].max() > 0.02


def test_progress_counts_every_item_drawn():
    rng, done = np.random.default_rng(1), []
    truth = np.arange(40) % 3
    said = np.where(rng.random((40, 5)) < 0.3, rng.integers(0, 3, (40, 5)), truth[:, None])
    models = Predictions.from_labels({"A": truth, "B": said[:, 4]}, labels=3)
    how = {"n": 3, "random_seed": 1}
    table = annotate_next(Labels.from_matrix(said[:, :4]), models, **how, progress=done.append)
    assert sum(done) > 40 and min(done) > 0  # sets of parameters, then 40 items
    assert table.equals(annotate_next(Labels.from_matrix(said[:, :4]), models, **how))
