"""Leaderboards, effects, and what else reads the strengths."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Comparisons, davidson, pairwise
from bayesagree.comparisons import effect_table, preference_table
from bayesagree.inference.tiers import rank_probabilities, rank_sets
from bayesagree.plots import plot_rank_probability, plot_scores
from tests.comparisons.test_davidson import crowd, food


@pytest.fixture(scope="module")
def result():
    given = Comparisons.from_long(crowd(n=3000), annotator="who")
    return davidson(given, draws=300, chains=2, random_seed=1)


def test_leaderboard(result):
    table = preference_table(result)
    draws = result["posterior"]["strength"].values.reshape(-1, 5)
    assert table["mean"].is_monotonic_decreasing
    assert table["comparisons"].sum() == 6000
    first, second = table["model"][:2]
    assert table["prob_better"][0] == pytest.approx((draws[:, first] > draws[:, second]).mean())
    assert (table["lower"] < table["mean"]).all() and (table["mean"] < table["upper"]).all()
    assert table["prob_best"].sum() == pytest.approx(1)


def test_places_and_tiers_do_not_depend_on_the_scale():
    """The order is one in each draw; of sixty comparisons strengths once gave one tier and shares of wins two."""
    rng, strength = np.random.default_rng(1), np.array([1.0, 0.5, 0.0, -1.0])
    left = rng.integers(4, size=60)
    right = (left + rng.integers(1, 4, size=60)) % 4
    first_wins = rng.random(60) < 1 / (1 + np.exp(strength[right] - strength[left]))
    games = pd.DataFrame({"left": left, "right": right, "winner": np.where(first_wins, left, right)})
    tree = davidson(Comparisons.from_long(games), draws=250, random_seed=1)
    of_scale = {s: preference_table(tree, scale=s).set_index("model") for s in ("strength", "win_rate", "arena")}
    places = ["rank_lower", "rank_upper", "tier", "prob_best"]
    for table in of_scale.values():
        pd.testing.assert_frame_equal(table[places], of_scale["strength"][places])


def test_effects(result):
    table = effect_table(result).set_index("effect")
    posterior = result["posterior"].to_dataset()
    odds = np.exp(posterior["average_tie"]).mean()
    nu = np.exp(posterior["average_tie"])
    assert table.loc["tie_probability", "mean"].iloc[0] == pytest.approx(float((nu / (2 + nu)).mean()))
    assert odds > 0
    assert table.loc["tie_probability", "annotator"].tolist() == [None, *range(6)]
    assert len(table.loc["discrimination"]) == 6


def test_share_of_the_first_place():
    tree = davidson(Comparisons.from_long(food()), ties="common", order="common", draws=200, chains=1, random_seed=1)
    share = 1 / (1 + np.exp(-tree["posterior"]["order"]))
    table = effect_table(tree).set_index("effect")
    assert table.loc["first_wins", "mean"] == pytest.approx(float(share.mean()))


def test_rank_sets_hold_their_probability_and_no_smaller_one_does():
    draws = np.random.default_rng(1).normal(size=(500, 7)) + 0.5 * np.arange(7)
    places = rank_probabilities(draws)
    first, last = rank_sets(places, 0.9)
    for m in range(7):
        mass = {(a, b): places[m, a - 1 : b].sum() for a in range(1, 8) for b in range(a, 8)}
        width = last[m] - first[m]
        assert mass[first[m], last[m]] >= 0.9 - 1e-9
        assert all(p < 0.9 for (a, b), p in mass.items() if b - a < width)
        assert mass[first[m], last[m]] == max(p for (a, b), p in mass.items() if b - a == width)


def test_whatever_reads_scores_reads_strengths(result):
    found = pairwise(result, "strength")
    assert found["model"].values.tolist() == preference_table(result)["model"].tolist()
    assert float(pairwise(result, "win_rate", rope=1.0)["equivalent"].min()) == 1.0
    assert plot_rank_probability(found).get_xlabel() == "place by strength"
    names = [label.get_text() for label in plot_scores(result, metric="arena").get_yticklabels()]
    assert names == preference_table(result)["model"].astype(str).tolist()
