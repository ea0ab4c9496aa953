"""The container: words for the winner, components, bad input."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Comparisons, InputError, Labels, agreement_table, davidson

TABLE = pd.DataFrame({"left": ["A", "B", "C"], "right": ["B", "C", "A"], "winner": ["left", "right", "tie"]})


@pytest.mark.parametrize(
    "winner",
    [
        ["A", "C", "tie"], ["left", "right", "tie"], ["model_a", "model_b", "both_bad"], [1, 0, 0.5],
        ["model_a", "model_b", "tie (bothbad)"], [1.0, 0.0, 0.5],
    ],
)  # fmt: skip
def test_words_for_the_winner(winner):
    found = Comparisons.from_long(TABLE.assign(winner=winner))
    assert found.outcome.tolist() == [0, 1, 2]


def test_names_of_numbers_are_names():
    table = pd.DataFrame({"left": [1, 2], "right": [2, 3], "winner": [2, 3]})
    assert Comparisons.from_long(table).outcome.tolist() == [1, 1]


def test_two_orders_are_two_rows():
    table = pd.DataFrame({"left": ["A", "B"], "right": ["B", "A"], "winner": ["A", "A"]})
    found = Comparisons.from_long(table)
    assert (found.first.tolist(), found.second.tolist(), found.outcome.tolist()) == ([0, 1], [1, 0], [0, 1])


def test_tables_return():
    table = TABLE.assign(who=["ann", "bob", "ann"], prompt=[1, 1, 2])
    one = Comparisons.from_long(table, annotator="who", item="prompt")
    two = Comparisons.from_long(one.to_long(), annotator="annotator", item="item")
    assert one.to_long().equals(two.to_long())
    assert one.to_long().equals(Comparisons.from_long(table[::-1], annotator="who", item="prompt").to_long())


def test_components():
    table = pd.DataFrame({"left": ["A", "C"], "right": ["B", "D"], "winner": ["A", "D"]})
    found = Comparisons.from_long(table)
    assert found.components()["component"].tolist() == [0, 0, 1, 1]
    assert "2 components" in repr(found)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"right": ["B", "B", "A"]}, {}, "row 1: model 'B' is compared with itself"),
        ({"winner": ["left", None, "tie"]}, {}, "row 1: the winner is missing.*drop the row"),
        ({"winner": ["left", "Z", "tie"]}, {}, "row 1: winner 'Z' is neither of the models compared .'B', 'C'"),
        ({"left": [None, "B", "C"]}, {}, "row 0, column 'left': the model is missing"),
        ({"left": ["tie", "B", "C"]}, {}, "'tie' is the name of a model and a word"),
        ({"who": ["ann", None, "bob"]}, {"annotator": "who"}, "row 1: the annotator is missing"),
    ],
)  # fmt: skip
def test_bad_input(change, options, message):
    with pytest.raises(InputError, match=message):
        Comparisons.from_long(TABLE.assign(**change), **options)


def test_nobody_knows_the_order():
    found = Comparisons.from_long(TABLE, order_known=False)
    with pytest.raises(InputError, match="order='common', but nobody knows which model was shown first"):
        davidson(found, order="common")
    assert "order" not in davidson(found, draws=10, chains=1, random_seed=1)["posterior"]


def test_agreement_of_annotators_on_pairs():
    rng = np.random.default_rng(1)
    rows = [
        (pair, who, "AB"[pair % 2], "AB"[1 - pair % 2], "A" if rng.random() < 0.9 else "B")
        for pair in range(40)
        for who in "xyz"
    ]
    table = pd.DataFrame(rows, columns=["prompt", "who", "left", "right", "winner"])
    games = Comparisons.from_long(table, annotator="who", item="prompt")
    assert games.to_labels().to_long()["label"].value_counts()["wins"] == (table["winner"] == "A").sum()
    wins = table.assign(won=table["winner"] == "A").pivot(index="prompt", columns="who", values="won")
    by_hand = Labels.from_matrix(wins.to_numpy())
    ours, theirs = (
        agreement_table(found, random_seed=1).set_index("coefficient")["estimate"] for found in (games, by_hand)
    )
    assert ours["alpha_nominal"] == pytest.approx(theirs["alpha_nominal"])
    with pytest.raises(InputError, match="x"):
        Comparisons.from_long(table, annotator="who").to_labels()


@pytest.mark.parametrize("sides", [("model_a", "model_b"), ("system_a", "system_b"), ("left", "right")])
def test_columns_of_the_two_models_have_the_names_of_arenas(sides):
    named = TABLE.rename(columns=dict(zip(("left", "right"), sides)))
    assert Comparisons.from_long(named).to_long().equals(Comparisons.from_long(TABLE).to_long())
    with pytest.raises(InputError, match="no column 'left'"):
        Comparisons.from_long(named.rename(columns=dict(zip(sides, ("one", "two")))))
