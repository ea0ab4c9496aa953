"""The check of independent errors."""

import numpy as np
import pytest
from _errors_of_draws import assert_share
from blind._crowds import simulated
from scipy.stats import chisquare

from bayesagree.annotations.predictions import Predictions
from bayesagree.blind.independence import (
    _discrepancies,
    _simulated,
    agreements,
    independence_check,
    unevenness,
)
from studies.systems import simulated_systems


@pytest.mark.long
def test_independence_check_sees_shared_errors_and_nothing_else():
    systems, _, truth = simulated(n_items=600, accuracies=(0.65, 0.7, 0.75, 0.8, 0.85), missing=0.1)
    few = {"draws": 100, "chains": 2, "random_seed": 1}
    assert float(independence_check(systems, **few)["p_value"]) > 0.05
    codes = {m: [None if k < 0 else k for k in row] for m, row in zip(systems.models, systems.hard_labels())}
    rng = np.random.default_rng(11)
    leader = codes["s0.65"]
    codes["follower"] = [k if rng.random() < 0.7 else t for k, t in zip(leader, truth.values())]
    check = independence_check(Predictions.from_labels(codes), **few)
    assert float(check["p_value"]) < 0.05
    assert check["excess"].sel(model="follower").idxmax("other_model").item() == "s0.65"
    assert np.isnan(np.diagonal(check["excess"])).all()


def test_independence_check_allows_for_few_items_of_each_label():
    systems = simulated_systems(n_items=160, n_labels=16, accuracies=(0.75, 0.82, 0.88, 0.9, 0.93), random_seed=1)
    few = {"draws": 100, "chains": 2, "random_seed": 1}
    found = independence_check(systems.predictions, **few)
    p_value, *both = (float(found[name]) for name in ("p_value", "p_pairs", "p_items"))
    assert p_value == min(1.0, 2 * min(both)) > 0.05
    # Observed minus expected agreement of systems that err on their own, from 160 items.
    assert np.nanmax(abs(found["excess"].values)) < 4.5 * 0.5 / np.sqrt(160)
    first, second, *_ = systems.predictions.hard_labels()
    assert (first == second).mean() > 0.5  # all of it would be excess of systems that agree by chance alone


def test_agreements_are_counted_over_items_that_both_labelled():
    said = np.random.default_rng(4).integers(-1, 3, (4, 30)).astype(np.int16)
    common, agreed = agreements(said, 3)
    pairs = np.zeros(30)
    for a, b in np.ndindex(4, 4):
        both = (said[a] >= 0) & (said[b] >= 0)
        assert common[a, b] == both.sum()
        assert agreed[a, b] == (both & (said[a] == said[b])).sum()
        pairs += (a < b) * (both & (said[a] == said[b]))
    assert unevenness(said, 3) == pytest.approx(pairs.var())


def test_replicates_have_the_probabilities_that_they_are_drawn_with():
    prevalence = np.array([0.5, 0.3, 0.2])
    confusion = np.array([[[0.9, 0.1, 0.0], [0.2, 0.3, 0.5], [0.0, 0.6, 0.4]], [[0.2, 0.3, 0.5]] * 3])
    given = np.ones((2, 20_000), bool)
    given[1, :100] = False
    drawn = _simulated(np.random.default_rng(1), prevalence, confusion, given)
    assert ((drawn < 0) == ~given).all()
    for labels, rows in zip(drawn, confusion):
        assert_share((labels[100:, None] == np.arange(3)).mean(axis=0), prevalence @ rows, 19_900)


def test_discrepancy_is_pearsons_statistic_of_agreeing_and_other_items():
    agreed, common = np.array([30.0, 12, 7]), np.array([50.0, 30, 0])
    agreed[2], share = 0, np.array([0.5, 0.3, 0.6])
    wide = [np.zeros((3, 3)) for _ in range(3)]
    for square, row in zip(wide, (agreed, common, share)):
        square[np.triu_indices(3, 1)] = row
    pearson = [
        chisquare([a, n - a], [n * p, n * (1 - p)]).statistic for a, n, p in zip(agreed[:2], common[:2], share[:2])
    ]
    assert _discrepancies(*(square[None] for square in wide)) == pytest.approx(sum(pearson))
