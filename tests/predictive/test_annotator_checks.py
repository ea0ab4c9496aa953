"""Checks made for annotation find what was planted."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayesagree.annotations import Labels
from bayesagree.datasets.simulate import crowd_labels
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
from bayesagree.predictive.annotator_checks import agreement_check, annotator_table, crowd_checks, label_switching

CAREFUL = np.full((3, 3), 0.05) + 0.85 * np.eye(3)
LIAR = np.full((3, 3), 0.475) - 0.425 * np.eye(3)


def crowd(ambiguity: float = 0.0, n_items: int = 300):
    return drawn(4, np.stack([CAREFUL] * 7 + [LIAR]), ambiguity, n_items)


def drawn(labels_per_item, confusion, ambiguity, n_items=300):
    size = {"n_items": n_items, "n_annotators": 8, "n_labels": 3, "labels_per_item": labels_per_item}
    return crowd_labels(**size, confusion=confusion, ambiguity=ambiguity, random_seed=1)


@pytest.mark.long
def test_a_liar_is_flagged_and_careful_annotators_are_not():
    tree = dawid_skene(crowd().labels, draws=600, random_seed=1)  # concentrations: some hundred effective draws
    table = annotator_table(tree).set_index("annotator")
    assert table.loc[7, "flags"] == ["worse_than_chance"]
    assert table.loc[range(7), "flags"].map(len).sum() == 0
    assert (table["lower"] < table["accuracy"]).all()
    assert (table["upper"] > table["accuracy"]).all()
    assert table["n_labels_given"].sum() == 1200
    assert label_switching(tree) < 0.01


def result_of_full(found: float, labels_given: int, **settings: float) -> xr.DataTree:
    """Ten annotators of two labels, whose accuracies are known up to an sd of .05."""
    draws = found + 0.05 * np.random.default_rng(3).standard_normal((2, 500, 10))
    coords = {"annotator": range(10), "category": ["x", "y"]}
    posterior = xr.Dataset({"accuracy": (("chain", "draw", "annotator"), draws)}, coords)
    given = xr.Dataset({"n_labels_given": ("annotator", [labels_given] * 10)})
    tree = xr.DataTree.from_dict({"posterior": posterior, "constant_data": given})
    tree.attrs["settings"] = json.dumps({"variant": "full", "prior": settings or None})
    return tree


def test_a_crowd_unlike_its_prior_is_warned_of():
    for found in (0.75, 0.678):
        with pytest.warns(UserWarning, match=rf"mean accuracy is {found:.2f}, and its prior says 0\.6: .*hierarchical"):
            annotator_table(result_of_full(found, 50))


@pytest.mark.parametrize(
    ("tree", "why"),
    [
        (result_of_full(0.64, 50), "within two sds of the prior, which are .07"),
        (result_of_full(0.668, 50), "hardly within two sds of the prior, which are .073"),
        (result_of_full(0.75, 500), "the prior counts for 16 labels of 516"),
        (result_of_full(0.75, 50, accuracy=0.74), "the prior of the user is near"),
    ],
)
def test_a_crowd_like_its_prior_or_with_many_labels_is_not_warned_of(tree, why):
    annotator_table(tree)


def test_flags_follow_from_draws_and_counts():
    """Of three labels: one who guesses worse, one whose interval is wide, one with nine labels, one who is fine."""
    rng = np.random.default_rng(2)
    center, spread = np.array([0.2, 0.6, 0.8, 0.8]), np.array([0.02, 0.2, 0.02, 0.02])
    draws = center + spread * rng.uniform(-1, 1, (2, 500, 4))
    posterior = xr.Dataset(
        {"accuracy": (("chain", "draw", "annotator"), draws)},
        {"annotator": ["low", "wide", "few", "fine"], "category": ["x", "y", "z"]},
    )
    given = xr.Dataset({"n_labels_given": ("annotator", [50, 50, 9, 10])})
    table = annotator_table(xr.DataTree.from_dict({"posterior": posterior, "constant_data": given}))
    assert table["flags"].tolist() == [["worse_than_chance"], ["too_few_labels"], ["too_few_labels"], []]
    np.testing.assert_allclose(table["accuracy"], draws.mean(axis=(0, 1)))
    assert table["prob_below_chance"].tolist() == [1, 0, 0, 0]
    assert table["n_labels_given"].tolist() == [50, 50, 9, 10]


def test_ambiguous_items_show_in_the_spread_of_agreement():
    """Annotators who hardly err: all disagreement comes from a few ambiguous items."""
    exact = np.stack([np.full((3, 3), 0.01) + 0.97 * np.eye(3)] * 8)
    z = {}
    for ambiguity in (0.0, 0.3):
        labels = drawn(6, exact, ambiguity).labels
        tree = dawid_skene(labels, variant="hierarchical", draws=60, chains=2, random_seed=1)
        check = agreement_check(labels, tree, replicates=60, random_seed=1)
        z[ambiguity] = float(check["z"].sel(statistic="variance"))
    assert abs(z[0.0]) < 3.5
    assert z[0.3] > 1.96  # the level at which a reader of z would notice


def test_copies_show_in_the_histogram_of_agreement():
    """Ten annotators, five an item, of whom seven in ten copy the first: the fit believes the copied label."""
    p_value = {}
    for copying in (0.0, 0.7):
        rng = np.random.default_rng(1)
        truth = rng.integers(0, 3, (400, 1))
        said = np.where(rng.random((400, 5)) < 0.7, truth, (truth + rng.integers(1, 3, (400, 5))) % 3)
        said = np.where(rng.random((400, 5)) < copying, said[:, :1], said)
        who = rng.permuted(np.tile(np.arange(10), (400, 1)), axis=1)[:, :5]
        rows = {"item": np.repeat(np.arange(400), 5), "annotator": who.ravel(), "label": said.ravel()}
        labels = Labels.from_long(pd.DataFrame(rows))
        check = agreement_check(
            labels, dawid_skene(labels, variant="full", draws=100, chains=2, random_seed=1), random_seed=1
        )
        p_value[copying] = float(check["p_value"].sel(statistic="histogram"))
    assert p_value[0.0] > 0.01
    assert p_value[0.7] < 0.01


def test_nobody_shares_an_item():
    rows = {"item": range(30), "annotator": np.arange(30) % 3, "label": np.arange(30) % 2}
    labels = Labels.from_long(pd.DataFrame(rows))
    check = agreement_check(labels, dawid_skene(labels, draws=20, chains=1, random_seed=1), replicates=5, random_seed=1)
    assert np.isnan(check["p_value"]).all()


def test_groups_without_a_common_item_are_counted():
    rows = [(i, j, (i + j) % 2) for i in range(8) for j in range(4)]
    rows += [(i, j, i % 2) for i in range(8, 14) for j in range(4, 8)]
    labels = Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]))
    found = crowd_checks(labels, dawid_skene(labels, draws=20, chains=2, random_seed=1))
    assert found["separate_groups_of_annotators"] == 2


def test_a_draw_has_switched_where_other_labels_match_better():
    """In place; two exchanged; a row largest elsewhere, but no better matching; exchanged by who labelled little."""
    right, exchanged = np.full((3, 3), 0.1) + 0.7 * np.eye(3), (np.full((3, 3), 0.1) + 0.7 * np.eye(3))[[1, 0, 2]]
    leaning = np.array([[0.8, 0.1, 0.1], [0.5, 0.4, 0.1], [0.1, 0.1, 0.8]])
    confusion = np.array([[[right, right], [exchanged, exchanged], [leaning, leaning], [right, exchanged]]])
    dims = ("chain", "draw", "annotator", "category", "observed_category")
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"confusion": (dims, confusion)}),
            "constant_data": xr.Dataset({"n_labels_given": ("annotator", [30, 10])}),
        }
    )
    assert label_switching(tree) == 0.25
