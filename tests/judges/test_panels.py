"""Panels of judges against majorities counted one item at a time."""

from collections import Counter

import numpy as np
import pytest

from bayesagree import InputError, Labels
from bayesagree.judges import best_panel

TRUTH = np.random.default_rng(1).integers(0, 3, 600)


def judges(wrong):
    rng = np.random.default_rng(2)
    said = np.where(wrong, (TRUTH[:, None] + rng.integers(1, 3, wrong.shape)) % 3, TRUTH[:, None])
    return Labels.from_matrix(said, annotators=[*"abcd"][: wrong.shape[1]], labels=[0, 1, 2])


@pytest.fixture(scope="module")
def panel():
    rng = np.random.default_rng(3)
    wrong = rng.random((600, 4)) < [0.2, 0.2, 0.25, 0.3]
    wrong[:, 1] = wrong[:, 0]  # b errs where a does
    return judges(wrong)


def test_accuracy_is_that_of_the_majority_vote(panel):
    found = best_panel(panel, dict(enumerate(TRUTH)), draws=400, chains=2, seed=1)
    assert len(found) == 15
    said = panel.label_index.reshape(600, 4)
    for row in found.itertuples():
        columns = ["abcd".index(name) for name in row.panel]
        right = []
        for votes, truth in zip(said[:, columns], TRUTH):
            count = Counter(votes.tolist())
            first = [label for label, n in count.items() if n == max(count.values())]
            right.append((truth in first) / len(first))
        # The bootstrap's mean is the sample's; its standard error over 800 draws.
        error = np.std(right) / np.sqrt(600) / np.sqrt(800)
        assert row.accuracy == pytest.approx(np.mean(right), abs=5 * error + 1e-12)
        assert row.lower < row.accuracy < row.upper


def test_a_judge_that_errs_with_another_adds_little(panel):
    found = best_panel(panel, dict(enumerate(TRUTH)), draws=200, chains=1, seed=1)
    accuracy = dict(zip(found["panel"], found["accuracy"]))
    assert accuracy["a", "c", "d"] > accuracy["a", "b", "c"]
    assert found["prob_best"].sum() >= 1


def test_a_budget_leaves_what_it_pays_for(panel):
    cost = {"a": 5.0, "b": 1.0, "c": 1.0, "d": 1.0}
    found = best_panel(panel, dict(enumerate(TRUTH)), cost=cost, budget=3, draws=100, chains=1, seed=1)
    assert {name for row in found["panel"] for name in row} == {"b", "c", "d"}
    assert found["cost"].max() == 3
    efficient = found[found["efficient"]].sort_values("cost")
    assert efficient["accuracy"].is_monotonic_increasing
    assert found.loc[0, "efficient"]  # the best of all that is affordable


def test_order_of_judges_and_items_changes_nothing(panel):
    said = panel.label_index.reshape(600, 4)
    order = np.random.default_rng(4).permutation(600)
    turned = Labels.from_matrix(said[order][:, ::-1], items=order.tolist(), annotators=[*"dcba"], labels=[0, 1, 2])
    gold = dict(enumerate(TRUTH))
    ours, theirs = (best_panel(p, gold, draws=300, chains=2, seed=1) for p in (panel, turned))
    by_name = [{frozenset(r.panel): r.accuracy for r in t.itertuples()} for t in (ours, theirs)]
    for name, value in by_name[0].items():
        assert by_name[1][name] == pytest.approx(value, abs=0.004)  # five standard errors of the mean over draws


def test_input_is_refused(panel):
    gold = dict(enumerate(TRUTH))
    with pytest.raises(InputError, match="no entry for the judges 'b', 'c', 'd'"):
        best_panel(panel, gold, cost={"a": 1})
    with pytest.raises(InputError, match="pays for no judge: the cheapest costs 1"):
        best_panel(panel, gold, budget=0.5)
    many = Labels.from_matrix(np.tile(TRUTH[:, None], (1, 11)), labels=[0, 1, 2])
    with pytest.raises(InputError, match="11 judges form 2047 panels"):
        best_panel(many, gold)


def test_each_panel_has_its_judges_and_what_they_cost(panel):
    price = {"a": 1.0, "b": 2.5, "c": 4.0, "d": 7.0}
    table = best_panel(panel, dict(enumerate(TRUTH)), cost=price, draws=20, chains=1, seed=1)
    assert table["n_judges"].tolist() == [len(members) for members in table["panel"]]
    assert set(table["n_judges"]) == {1, 2, 3, 4}
    assert table["cost"].tolist() == [sum(price[name] for name in members) for members in table["panel"]]
    cheaper = [max([-np.inf, *table["accuracy"][table["cost"] < cost]]) for cost in table["cost"]]
    assert table["efficient"].tolist() == [mine > best for mine, best in zip(table["accuracy"], cheaper)]
