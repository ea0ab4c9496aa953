"""People saw items with unequal probabilities: estimates that know them."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, corrected_rate
from studies.rates import weighted_mean


def test_weighted_mean_is_right_where_the_choice_depends_on_the_answer():
    world = np.random.default_rng(3)
    estimates, held = [], []
    for _ in range(200):
        doubt = world.random(2000)
        good = world.random(2000) < 0.9 - 0.6 * doubt
        verdict = np.where(world.random(2000) < 0.8, good, ~good)
        inclusion = 300 * (0.1 + doubt) / (0.1 + doubt).sum()
        seen = world.random(2000) < inclusion
        found = weighted_mean(*(v.astype(float) for v in (good[seen], verdict[seen], verdict[~seen])), inclusion[seen])
        estimates.append(found.estimate - good.mean())
        held.append(found.lower <= good.mean() <= found.upper)
    assert abs(np.mean(estimates)) < 4 * np.std(estimates) / np.sqrt(200)
    assert np.mean(held) > 0.9


@pytest.mark.long
def test_the_posterior_needs_the_probabilities_of_chosen_items():
    world = np.random.default_rng(4)
    doubt = world.random(3000)
    good = world.random(3000) < 0.9 - 0.6 * doubt
    inclusion = dict(enumerate(600 * doubt**2 / (doubt**2).sum()))
    seen = np.flatnonzero(world.random(3000) < np.array(list(inclusion.values())))
    verdicts = Labels.from_matrix(world.integers(0, 2, (3000, 1)), annotators=["useless"], labels=[0, 1])
    people = Labels.from_matrix(good[seen, None].astype(int), items=seen.tolist(), labels=[0, 1])
    few = {"positive": 1, "draws": 300, "chains": 2, "random_seed": 1}
    blind = corrected_rate(verdicts, people, **few)["derived"].to_dataset()
    knowing = corrected_rate(verdicts, people, inclusion=inclusion, **few)
    derived = knowing["derived"].to_dataset()
    assert blind["rate_upper"].item() < good.mean()
    assert derived["rate_lower"].item() < good.mean() < derived["rate_upper"].item()


def test_input_is_refused():
    verdicts = Labels.from_matrix([[0], [1]] * 10, annotators=["j"])
    people = Labels.from_matrix([[1]], items=[0], labels=[0, 1])
    with pytest.raises(InputError, match="inclusion probability 0: 0"):
        corrected_rate(verdicts, people, positive=1, inclusion=dict.fromkeys(range(20), 0.0))
    with pytest.raises(InputError, match="gives item 0 nan; every item needs a number"):
        corrected_rate(verdicts, people, positive=1, inclusion=dict.fromkeys(range(20), "often"))
