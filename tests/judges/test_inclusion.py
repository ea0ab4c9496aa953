"""People saw items with unequal probabilities: estimates that know them."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, corrected_rate
from bayesagree.judges import CorrectedRatePrior
from bayesagree.judges._panel import panel_of, regression
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


def test_strata_expect_as_many_labels_each():
    """Probabilities 0.1 of 100 items, 0.5 of 20 and 1 of 30: ten labels, ten and thirty of fifty."""
    inclusion = np.repeat([0.1, 0.5, 1.0], [100, 20, 30])
    names = [f"i{k}" for k in range(150)]
    mixed = np.random.default_rng(1).permutation(150)
    verdicts = Labels.from_matrix(np.arange(150)[:, None] % 2, items=[names[k] for k in mixed], annotators=["j"])
    people = Labels.from_matrix([[1], [0]], items=["i149", "i148"], labels=[0, 1])
    panel = panel_of(verdicts, people, None, 1, None, dict(zip(names, inclusion)))
    system, strata = panel.factors
    assert (system.levels.size, strata.name) == (1, "inclusion")
    np.testing.assert_array_equal(panel.inclusion, inclusion[mixed])
    # A fifth of the labels is ten; equal probabilities stand together, in the stratum of the first of them.
    np.testing.assert_array_equal(strata.code, np.repeat([0, 1, 2], [100, 20, 30])[mixed])
    assert strata.levels.tolist() == ["0", "1", "2"]


def test_the_logarithm_of_the_probability_is_a_predictor_with_the_scale_of_slopes():
    verdicts = Labels.from_matrix(np.arange(40)[:, None] % 2, annotators=["j"])
    people = Labels.from_matrix([[1], [0]], items=[0, 1], labels=[0, 1])
    inclusion = np.linspace(0.1, 1.0, 40)
    panel = panel_of(verdicts, people, None, 1, None, dict(enumerate(inclusion)))
    found = regression(panel, CorrectedRatePrior(slope_sd=0.7))
    column = found.columns[:, found.names.index("log inclusion probability")]
    log = np.log(inclusion)
    np.testing.assert_allclose(column, 0.7 * (log - log.mean()) / log.std())
    assert found.scale_index[found.names.index("log inclusion probability")] == -1


@pytest.mark.parametrize("wrong", [-0.01, 1.01])
def test_an_inclusion_is_a_number_from_0_to_1(wrong):
    verdicts = Labels.from_matrix([[0], [1]] * 10, annotators=["j"])
    people = Labels.from_matrix([[1]], items=[0], labels=[0, 1])
    ends = {k: k % 2 for k in range(20)} | {0: 1}
    assert panel_of(verdicts, people, None, 1, None, ends).inclusion.tolist() == [1.0, *[1.0, 0.0] * 9, 1.0]
    with pytest.raises(InputError, match=f"gives item 3 {wrong}; every item needs a number from 0 to 1"):
        corrected_rate(verdicts, people, positive=1, inclusion=ends | {3: wrong})


def test_input_is_refused():
    verdicts = Labels.from_matrix([[0], [1]] * 10, annotators=["j"])
    people = Labels.from_matrix([[1]], items=[0], labels=[0, 1])
    with pytest.raises(InputError, match="inclusion probability 0: 0"):
        corrected_rate(verdicts, people, positive=1, inclusion=dict.fromkeys(range(20), 0.0))
    with pytest.raises(InputError, match="gives item 0 nan; every item needs a number"):
        corrected_rate(verdicts, people, positive=1, inclusion=dict.fromkeys(range(20), "often"))
