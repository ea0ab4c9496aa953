"""Labels of a tree: votes as sets of leaves, lengths of paths, hierarchical scores, against plain sets and a graph."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesagree import InputError, Labels, Predictions, agreement_table, prirn, score
from bayesagree.annotations import Taxonomy

PARENTS = {
    "poodle": "dog",
    "beagle": "dog",
    "dog": "animal",
    "cat": "animal",
    "oak": "plant",
    "animal": "thing",
    "plant": "thing",
}
TREE = Taxonomy(PARENTS)
LEAVES = ["beagle", "cat", "oak", "poodle"]


@st.composite
def parents(draw):
    """A random tree or forest: the parent of a label has a smaller number."""
    size = draw(st.integers(2, 12))
    above = [draw(st.integers(-1, k - 1)) for k in range(1, size)]
    found = {k + 1: parent for k, parent in enumerate(above) if parent >= 0}
    return found or {1: 0}


def edges_between(tree, first, second):
    """Breadth-first search in the graph; None where no path exists."""
    neighbours = {name: set() for name in {*tree, *tree.values()}}
    for child, parent in tree.items():
        neighbours[child].add(parent)
        neighbours[parent].add(child)
    seen, front, steps = {first}, {first}, 0
    while front and second not in front:
        front = {other for name in front for other in neighbours[name]} - seen
        seen |= front
        steps += 1
    return steps if front else None


@given(tree=parents(), data=st.data())
def test_the_length_of_a_path_is_that_of_the_graph(tree, data):
    taxonomy = Taxonomy(tree)
    first, second = (data.draw(st.sampled_from(taxonomy.names)) for _ in range(2))
    expected = edges_between(tree, first, second)
    found = taxonomy.path_length({first}, {second})
    if expected is not None:
        assert found == expected
    else:  # of different trees: up to either top, and beyond
        assert found == len(taxonomy.lineage[first]) + len(taxonomy.lineage[second])
    assert found == taxonomy.path_length({second}, {first})


@given(data=st.data(), n=st.integers(1, 8))
def test_hierarchical_scores_are_those_of_the_sets_above_the_labels(data, n):
    names = [name for name in TREE.names if name != "thing"]
    true, predicted = (data.draw(st.lists(st.sampled_from(names), min_size=n, max_size=n)) for _ in range(2))
    above = {name: set(TREE.lineage[name]) - {"thing"} for name in names}
    both = sum(len(above[a] & above[b]) for a, b in zip(true, predicted))
    precision, recall = both / sum(len(above[b]) for b in predicted), both / sum(len(above[a]) for a in true)
    assert TREE.hierarchical_precision(true, predicted) == pytest.approx(precision)
    assert TREE.hierarchical_recall(true, predicted) == pytest.approx(recall)
    mean = 2 * precision * recall / (precision + recall) if both else 0
    assert TREE.hierarchical_f1(true, predicted) == pytest.approx(mean)


def test_a_vote_for_a_label_is_one_for_any_leaf_below_it():
    labels = Labels.from_matrix(
        [["dog", "cat"], ["thing", None], ["oak", "plant"]], items=list("xyz"), annotators=["ann", "bob"]
    )
    rankings = TREE.votes(labels)
    assert rankings.categories.tolist() == LEAVES
    rows = rankings.to_long()[["item", "annotator", "label", "rank"]].values.tolist()
    assert sorted(rows) == sorted(
        [["x", "ann", "beagle", 1], ["x", "ann", "poodle", 1], ["x", "bob", "cat", 1]]
        + [["y", "ann", leaf, 1] for leaf in LEAVES]
        + [["z", "ann", "oak", 1], ["z", "bob", "oak", 1]]
    )
    mean = prirn(rankings, draws=1000, seed=1)["posterior"]["plausibility"].mean(("chain", "draw"))
    # The two breeds are exchangeable; nothing tells the four leaves of y apart.
    assert mean.sel(item="x", category="poodle").item() == pytest.approx(
        mean.sel(item="x", category="beagle").item(), abs=0.03
    )
    np.testing.assert_allclose(mean.sel(item="y"), 0.25, atol=0.03)


def test_counts_give_as_many_rankings():
    counted = TREE.votes(Labels.from_counts([[2, 1]], labels=["dog", "cat"]))
    assert counted.n_annotations == 3
    assert not counted.annotators_known


def test_distance_and_metric_stand_in_tables():
    labels = Labels.from_matrix([["poodle", "beagle"], ["cat", "cat"], ["oak", "cat"]])
    table = agreement_table(labels, distance=TREE.path_length, seed=1).set_index("coefficient")
    # Observed: paths of 2, 0 and 4 edges; expected: the mean path of two of the six labels.
    names = ["poodle", "beagle", "cat", "cat", "oak", "cat"]
    pairs = [TREE.path_length({a}, {b}) for i, a in enumerate(names) for j, b in enumerate(names) if i != j]
    assert table.loc["alpha_path_length", "estimate"] == pytest.approx(1 - 2 / np.mean(pairs))
    model = Predictions.from_labels({"A": ["poodle", "cat", "cat"]}, labels=LEAVES)
    truth = prirn(TREE.votes(labels), draws=100, seed=1)
    found = score(truth, model, TREE.hierarchical_f1)
    assert found.name == "hierarchical_f1"
    assert 0 < found.mean().item() < 1


def test_what_is_no_tree_or_not_in_it():
    with pytest.raises(InputError, match="a < b < a: a label is above itself"):
        Taxonomy({"a": "b", "b": "a"})
    with pytest.raises(InputError, match="'cow' is not in the tree of labels; it has 'animal'"):
        TREE.votes(Labels.from_matrix([["cow", "dog"]]))
    with pytest.raises(InputError, match="'cow' is not in the tree"):
        TREE.hierarchical_f1(["cow"], ["dog"])
