"""Checks made for annotation find what was planted."""

import numpy as np
import pandas as pd
import pytest

from bayesagree.annotations import Labels
from bayesagree.annotator_checks import (
    agreement_check,
    annotation_parts,
    annotator_table,
    label_switching,
    prior_sensitivity,
)
from bayesagree.errors import InputError
from bayesagree.plausibility.dawid_skene import dawid_skene
from bayesagree.plausibility.dirichlet import dirichlet
from bayesagree.simulate import crowd_labels

CAREFUL = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
LIAR = np.full((3, 3), 0.475) - 0.425 * np.eye(3)


def crowd(ambiguity: float = 0.0, n_items: int = 300):
    confusion = np.stack([CAREFUL] * 7 + [LIAR])
    return crowd_labels(
        n_items=n_items, n_annotators=8, n_labels=3, labels_per_item=4, confusion=confusion, ambiguity=ambiguity, seed=1
    )


def test_a_liar_is_flagged_and_careful_annotators_are_not():
    tree = dawid_skene(crowd().labels, draws=150, seed=1)
    table = annotator_table(tree).set_index("annotator")
    assert table.loc[7, "flags"] == ["worse_than_chance"]
    assert table.loc[range(7), "flags"].map(len).sum() == 0
    assert (table["lower"] < table["accuracy"]).all()
    assert (table["upper"] > table["accuracy"]).all()
    assert table["n_labels_given"].sum() == 1200
    assert label_switching(tree) == 0.0


def test_annotators_with_few_labels_are_flagged():
    rows = [(i, j, i % 3) for i in range(40) for j in range(4)] + [(0, 9, 0), (1, 9, 1)]
    labels = Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    table = annotator_table(dawid_skene(labels, draws=100, seed=1)).set_index("annotator")
    assert "too_few_labels" in table.loc[9, "flags"]
    assert annotation_parts(labels).tolist() == [0] * 5


def test_groups_without_a_common_item_are_told_apart():
    rows = [(i, j, 0) for i in (0, 1) for j in (0, 1)] + [(2, 2, 1), (2, 3, 1), (3, 3, 0)]
    labels = Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    assert annotation_parts(labels).tolist() == [0, 0, 1, 1]


def test_ambiguous_items_show_in_the_spread_of_agreement():
    """Annotators who hardly err: all disagreement comes from a few ambiguous items."""
    exact = np.stack([np.full((3, 3), 0.01) + 0.97 * np.eye(3)] * 8)
    z = {}
    for ambiguity in (0.0, 0.3):
        labels = crowd_labels(
            n_items=300, n_annotators=8, n_labels=3, labels_per_item=6, confusion=exact, ambiguity=ambiguity, seed=1
        ).labels
        tree = dawid_skene(labels, variant="hierarchical", draws=60, chains=2, seed=1)
        check = agreement_check(labels, tree, replicates=60, seed=1)
        z[ambiguity] = float(check["z"].sel(statistic="variance"))
    assert abs(z[0.0]) < 3.5
    assert z[0.3] > 1.96  # the level at which a reader of z would notice


def test_prior_sensitivity_is_small_where_labels_are_many():
    many = prior_sensitivity(crowd(n_items=200).labels, draws=100, seed=1)
    assert many["strength"].tolist() == [4.0, 16.0]
    assert (many["largest_change_of_accuracy"] < 0.1).all()
    assert (many["items_with_another_label"] < 0.03).all()


def test_other_posteriors_have_no_annotators():
    tree = dirichlet(crowd(n_items=10).labels, draws=10, seed=1)
    with pytest.raises(InputError, match="no annotators"):
        annotator_table(tree)
    with pytest.raises(InputError, match="confusion"):
        label_switching(tree)
