"""Displays of containers: one line, and a table in notebooks; never arrays."""

import pytest

from bayesagree import simulate
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.annotations.predictions import Predictions

VOTES = Labels.from_matrix([["a", "b", None], ["a", "a", "b"]])
SHOWN = [
    (
        VOTES,
        "Labels(2 items, 3 annotators, 5 annotations, annotations per item 2 to 3, median 2.5, categories 'a', 'b')",
    ),
    (
        Labels.from_counts([[3, 1]], labels=["<x>", "y"]),
        "Labels(1 items, annotators unknown, 4 annotations, annotations per item 4, categories '<x>', 'y')",
    ),
    (
        Ratings.from_matrix([[1, 2]], scale=(1, 5), step=1),
        "Ratings(1 items, 2 annotators, 2 annotations, annotations per item 2, scale 1 to 5, 5 levels)",
    ),
    (
        Rankings.from_blocks([[[["a"], ["b"]]]], labels=["a", "b"]),
        "Rankings(1 items, annotators unknown, 1 annotations, annotations per item 1, categories 'a', 'b')",
    ),
    (
        Predictions.from_labels({"A": [0, 1]}),
        "Predictions(models 'A', 2 items, categories 0, 1, predicted labels, 0 missing)",
    ),
    (
        Predictions.from_labels({"A": [0, None, 2]}, labels=[0, 1, 2]),
        "Predictions(models 'A', 3 items, categories 0, 1, 2, predicted labels, 1 missing)",
    ),
    (
        Predictions.from_numbers({"A": [[0.5, 1], [2, 3], [4, 5]]}),
        "Predictions(models 'A', 3 items, predicted numbers, 2 values per item)",
    ),
]


@pytest.mark.parametrize(("shown", "text"), SHOWN)
def test_one_line_says_what_there_is(shown, text):
    assert repr(shown) == text


@pytest.mark.parametrize(("shown", "_"), SHOWN)
def test_notebooks_see_a_table_of_the_same(shown, _):
    html = shown._repr_html_()
    assert html.count("<tr>") == html.count("</tr>") >= len(shown.overview())
    assert "<x>" not in html


def test_bars_are_the_shares_of_the_categories():
    assert VOTES.shares() == {"a": pytest.approx(3 / 5), "b": pytest.approx(2 / 5)}
    assert "width:4.80em" in VOTES._repr_html_()


@pytest.mark.parametrize(
    ("simulated", "sizes"),
    [
        (simulate.labelled_test_set(n_items=20, seed=1), ("Labels(20 items", "Predictions(models 'A'", "array 20 x 4")),
        (simulate.crowd_labels(n_items=20, seed=1), ("Labels(20 items", "confusion=array 40 x 4 x 4")),
        (simulate.crowdsourced_binary(n_items=20, seed=1), ("plausibility=array 20,", "scores=array")),
        (simulate.rankings(n_items=20, seed=1), ("Rankings(20 items", "plausibility=array 20 x")),
        (simulate.ratings(n_items=20, phi=0.3, seed=1), ("Ratings(20 items", "phi=0.3", "item_mean=array 20)")),
        (simulate.simulated_systems(n_items=20, seed=1), ("Predictions(models 'system 1'", "truth=array 20)")),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, tuple) else "",
)
def test_simulated_data_describe_themselves_in_a_line(simulated, sizes):
    text = repr(simulated)
    assert text.startswith(f"{type(simulated).__name__}(")
    assert len(text) < 300
    assert all(size in text for size in sizes), text
