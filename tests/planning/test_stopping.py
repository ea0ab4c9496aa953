"""The worth of further votes: against votes that are really drawn, and where nothing can be learnt."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, Predictions, annotate_next
from bayesagree._numerics.dirichlet_argmax import argmax_probabilities
from bayesagree.planning import value_of_votes


def study(seed, n_items=300, n_votes=2):
    """Votes on items of the default prior, and two models that differ on a third of them."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(3, 1 / 3), n_items)
    first = np.where(rng.random(n_items) < 0.8, truth.argmax(axis=1), rng.integers(3, size=n_items))
    second = np.where(rng.random(n_items) < 0.67, first, rng.integers(3, size=n_items))
    labels = Labels.from_counts(rng.multinomial(n_votes, truth), labels=[0, 1, 2])
    return labels, Predictions.from_labels({"A": first, "B": second}, labels=[0, 1, 2])


@pytest.mark.parametrize("seed", [1, 2])
def test_probability_is_the_rate_of_right_choices_after_votes_that_are_drawn(seed):
    labels, models = study(seed)
    n, repeats = 40, 400
    found = value_of_votes(labels, models)
    order = found.attrs["models"]
    picked = models.hard_labels()[[list(models.models).index(name) for name in order]]
    items = annotate_next(labels, models, n=n, seed=1)["item"].to_numpy()
    shape, rng = labels.counts() + 1 / 3, np.random.default_rng(seed + 100)

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
    # The step of the mean is what the votes take from the variance: an independent way to the same figure.
    drop = (found["sd"].iloc[0] ** 2 - row["sd"] ** 2) * labels.items.size**2
    assert drop == pytest.approx(np.var(leads), rel=4 * np.sqrt(2 / repeats))


def test_votes_never_harm_and_begin_with_what_is_known_today():
    labels, models = study(3)
    found = value_of_votes(labels, models)
    assert (np.diff(found["prob_right"]) >= 0).all()
    assert (np.diff(found["sd"]) <= 0).all()
    differ = models.hard_labels()[0] != models.hard_labels()[1]
    assert found["votes"].tolist() == list(range(differ.sum() + 1))
    assert found["prob_right"].between(0.5, 1).all()


def test_models_that_predict_alike_cannot_be_told_apart():
    models = Predictions.from_labels({"A": [0, 1], "B": [0, 1]})
    assert value_of_votes(Labels.from_counts([[2, 0], [1, 1]]), models)["prob_right"].tolist() == [0.5]


def test_one_model_or_no_labels_are_refused():
    one = Predictions.from_labels({"A": [0, 1]})
    with pytest.raises(InputError, match="a choice needs two models"):
        value_of_votes(Labels.from_counts([[2, 0], [1, 1]]), one)
    with pytest.raises(InputError, match="expected Labels"):
        value_of_votes([[2, 0]], one)  # type: ignore[arg-type]
