"""Items to label: inclusion probabilities that the sample has, and estimates that know them."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, Ratings, corrected_rate
from bayesagree.judges import label_allocation, prediction_powered_mean
from bayesagree.judges.allocation import _at_most_one, _systematic

rng = np.random.default_rng(1)
SCORES = Ratings.from_matrix(rng.random((60, 1)), scale=(0, 1), annotators=["judge"])
SYSTEMS = {i: "abc"[i % 3] if i < 30 else "a" for i in range(60)}


def test_items_are_drawn_with_their_probabilities():
    inclusion = _at_most_one(np.random.default_rng(2).random(40) ** 3, 12)
    assert inclusion.sum() == pytest.approx(12)
    assert inclusion.max() == 1
    drawn = np.zeros(40)
    for seed in range(4000):
        chosen = _systematic(inclusion, np.arange(40) % 3, np.random.default_rng(seed))
        assert chosen.size == 12
        drawn[chosen] += 1
    error = np.sqrt(inclusion * (1 - inclusion) / 4000)
    assert (np.abs(drawn / 4000 - inclusion) <= 4.5 * error + 1e-12).all()


def test_designs():
    options = {"n": 15, "positive": 1, "system": SYSTEMS, "seed": 1}
    for design in ("random", "stratified", "doubt"):
        found = label_allocation(SCORES, design=design, **options)
        assert found["chosen"].sum() == 15
        assert found["inclusion"].sum() == pytest.approx(15)
        by_system = found.groupby(found["item"].map(SYSTEMS))["inclusion"].sum()
        assert by_system.to_numpy() == pytest.approx([10, 2.5, 2.5] if design == "random" else [5, 5, 5])
    p = SCORES.rating[:30:3]  # items of one system
    of_doubt = label_allocation(SCORES, design="doubt", **options)["inclusion"].to_numpy()[:30:3]
    doubt = np.maximum(np.sqrt(p * (1 - p)), 0.125)
    np.testing.assert_allclose(of_doubt / of_doubt[0], doubt / doubt[0])


def test_weighted_mean_is_right_where_the_choice_depends_on_the_answer():
    world = np.random.default_rng(3)
    estimates, held = [], []
    for _ in range(200):
        doubt = world.random(2000)
        good = world.random(2000) < 0.9 - 0.6 * doubt
        verdict = np.where(world.random(2000) < 0.8, good, ~good)
        inclusion = 300 * (0.1 + doubt) / (0.1 + doubt).sum()
        seen = world.random(2000) < inclusion
        found = prediction_powered_mean(good[seen], verdict[seen], verdict[~seen], inclusion=inclusion[seen])
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
    few = {"positive": 1, "draws": 300, "chains": 2, "seed": 1}
    blind = corrected_rate(verdicts, people, **few)["derived"].to_dataset()
    knowing = corrected_rate(verdicts, people, inclusion=inclusion, **few)
    derived, checks = knowing["derived"].to_dataset(), knowing["checks"].to_dataset()
    assert blind["rate_upper"].item() < good.mean()
    assert derived["rate_lower"].item() < good.mean() < derived["rate_upper"].item()
    assert checks["ppi_lower"].item() < good.mean() < checks["ppi_upper"].item()


def test_input_is_refused():
    with pytest.raises(InputError, match="n=61 items are requested, there are 60"):
        label_allocation(SCORES, n=61, positive=1)
    with pytest.raises(InputError, match="expected= gives item 1 nan"):
        label_allocation(SCORES, n=5, positive=1, design="doubt", expected={0: 0.5})
    with pytest.raises(InputError, match="a probability above 0"):
        prediction_powered_mean([0, 1], [0, 1], [1], inclusion=[0.0, 1.0])
    verdicts = Labels.from_matrix([[0], [1]] * 10, annotators=["j"])
    people = Labels.from_matrix([[1]], items=[0], labels=[0, 1])
    with pytest.raises(InputError, match="inclusion probability 0: 0"):
        corrected_rate(verdicts, people, positive=1, inclusion=dict.fromkeys(range(20), 0.0))
