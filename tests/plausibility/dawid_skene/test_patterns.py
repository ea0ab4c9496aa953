"""Items with equal votes, counted once: the same posterior as that of the items one by one."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bayesagree import Labels, dawid_skene
from bayesagree.plausibility.dawid_skene import _patterns
from bayesagree.plausibility.dawid_skene._average import FOLDS, HeldOut, folds_of_patterns, stacking_weights
from bayesagree.plausibility.dawid_skene._patterns import count_patterns, merge_patterns, split_patterns

ROWS = ("item_index", "annotator_index", "label_index", "count")


def votes_of(n_items, right, seed, missing=0.0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_items) < 0.4
    hit = rng.random((n_items, len(right))) < right
    votes = np.where(hit, truth[:, None], ~truth[:, None]).astype(float)
    return Labels.from_matrix(np.where(rng.random(votes.shape) < missing, np.nan, votes))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(_patterns, "FEWEST", 50)


def test_each_item_has_the_votes_of_its_pattern(few):
    labels = votes_of(500, [0.9, 0.8, 0.7], seed=1, missing=0.2)
    one_each, repeated = count_patterns(labels)
    own, votes = (each.to_matrix().to_numpy(float) for each in (one_each, labels))
    assert np.array_equal(own[repeated.of_item], votes, equal_nan=True)
    assert len(np.unique(np.nan_to_num(own, nan=-1), axis=0)) == len(own) == repeated.number.size
    assert (repeated.number == np.bincount(repeated.of_item)).all()


def test_items_that_differ_stay_items(few):
    assert count_patterns(votes_of(500, [0.6] * 12, seed=1)) is None
    assert count_patterns(votes_of(49, [0.9, 0.8], seed=1)) is None
    assert count_patterns(Labels.from_matrix(np.tile([[0, 1], [1, 2]], (200, 1)))) is None


def test_patterns_without_an_annotator_are_merged(few):
    labels = votes_of(500, [0.9, 0.8, 0.7], seed=1, missing=0.2)
    one_each, repeated = count_patterns(labels)
    left = {name: getattr(one_each, name)[one_each.annotator_index != 1] for name in ROWS}
    merged, counted = merge_patterns(replace(one_each, **left), repeated.number)
    own = merged.to_matrix().reindex(columns=[0, 1, 2]).to_numpy(float)
    assert len(np.unique(np.nan_to_num(own, nan=-1), axis=0)) == len(own) == counted.number.size < repeated.number.size
    votes = labels.to_matrix().to_numpy(float, copy=True)
    votes[:, 1] = np.nan
    assert np.array_equal(own[counted.of_item][repeated.of_item], votes, equal_nan=True)
    assert (counted.number == np.bincount(counted.of_item[repeated.of_item])).all()


def test_every_annotator_is_held_out_from_a_fifth_of_each_pattern(few):
    labels, repeated = split_patterns(*count_patterns(votes_of(500, [0.9, 0.8, 0.7], seed=2)), FOLDS)
    assert repeated.number.sum() == 500
    fold = folds_of_patterns(labels, np.random.default_rng(1))
    pattern = labels.item_index // FOLDS
    for annotator in range(3):
        own = labels.annotator_index == annotator
        held = np.zeros((pattern.max() + 1, FOLDS))
        np.add.at(held, (pattern[own], fold[own]), repeated.number[labels.item_index[own]])
        assert np.ptp(held, axis=1).max() <= 1


def test_times_weigh_as_repeated_items():
    panel, annotator = np.repeat(np.arange(30), 2), np.tile([0, 1], 30)
    label, even = panel // 2 % 2, panel % 2 == 0
    chance, times = np.where(even[:, None], [0.9, 0.3], [0.3, 0.9]), np.where(even, 4, 1)
    row = np.concatenate([np.flatnonzero(panel == p) for p in range(30) for _ in range(times[2 * p])])
    many = np.repeat(np.arange(row.size // 2), 2)
    counted = stacking_weights(HeldOut(panel, annotator, label, chance, times * 1.0), 2, 2)
    listed = stacking_weights(HeldOut(many, annotator[row], label[row], chance[row], np.ones(row.size)), 2, 2)
    assert np.allclose(counted, listed, atol=1e-6)
    assert (
        np.abs(counted - stacking_weights(HeldOut(panel, annotator, label, chance, np.ones(label.size)), 2, 2)).max()
        > 0.1
    )


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["full", "hierarchical", "mixed_membership", "votes"])
def test_patterns_and_items_have_one_posterior(variant, monkeypatch):
    labels, length = votes_of(150, [0.9, 0.8, 0.7, 0.85], seed=3, missing=0.1), {"draws": 2000, "seed": 4}
    one_by_one = dawid_skene(labels, variant=variant, **length)
    monkeypatch.setattr(_patterns, "FEWEST", 50)
    monkeypatch.setattr(_patterns, "REPEATED", 2)
    counted = dawid_skene(labels, variant=variant, thin=1 if variant == "votes" else 6, **length)
    one, other = one_by_one["posterior"], counted["posterior"]
    assert other.sizes["item"] == 150
    compared = {name: one[name].size for name in one.data_vars if name not in ("plausibility", "top_label")}
    assert "accuracy" in compared
    for name in compared:  # chains move slowly in alpha and kappa, whose densities have long tails
        mine, theirs = (tree[name].values.reshape(4 * 2000, -1) for tree in (other, one))
        if name in ("ambiguity", "concentration"):
            mine, theirs = np.log(mine), np.log(theirs)
        sd = theirs.std(axis=0)
        assert (np.abs(mine.mean(axis=0) - theirs.mean(axis=0)) < 0.25 * sd).all(), name
        assert (np.abs(np.log(mine.std(axis=0) / sd)) < 0.25).all(), name
    probability = [tree["derived"]["label_probability"].values[:, 1] for tree in (counted, one_by_one)]
    assert np.abs(probability[0] - probability[1]).max() < 0.02
    drawn = [tree["plausibility"].values[..., 1] for tree in (other, one)]
    assert np.abs(drawn[0].mean((0, 1)) - probability[1]).max() < 0.04
    assert np.abs(drawn[0].std((0, 1)) - drawn[1].std((0, 1))).max() < 0.04
    best = dawid_skene(labels, variant=variant, top_labels=1, **length)["posterior"]["top_label"].values[..., 0]
    assert np.abs(best.mean((0, 1)) - (drawn[1] > 0.5).mean((0, 1))).max() < 0.06


@pytest.mark.long
def test_kept_items_and_confusion_are_one_draw(few):
    """Where accuracies of a draw are high, items of that draw follow their votes."""
    labels = votes_of(60, [0.7, 0.7, 0.7], seed=5)
    tree = dawid_skene(labels, variant="full", draws=4000, chains=1, seed=1)
    assert tree["posterior"].sizes["item"] == 60
    one_by_one = dawid_skene(labels, variant="one_coin", draws=10, chains=1, seed=1)
    assert one_by_one["posterior"].sizes["item"] == 60
    draw = tree["posterior"]["plausibility"].values[0, :, :, 1] > 0.5
    first = labels.to_matrix().to_numpy(float)[:, 0] == 1
    agreed = (draw == first).mean(axis=1)
    accuracy = tree["posterior"]["accuracy"].values[0, :, 0]
    assert stats.spearmanr(agreed, accuracy)[0] > 0.5


@pytest.mark.long
def test_masks_take_the_default(monkeypatch):
    monkeypatch.setattr(_patterns, "FEWEST", 1000)
    row, column = np.ogrid[:64, :64]
    masks = np.stack([(row - 32) ** 2 + (column - c) ** 2 < r**2 for c, r in [(32, 24), (33, 25), (34, 26), (30, 22)]])
    labels = Labels.from_masks(masks)
    tree = dawid_skene(labels, draws=200, top_labels=1, seed=1)
    number = labels.counts()[:, 1]
    inside = tree["derived"]["label_probability"].values[:, 1]
    assert inside[number == 4].min() > 0.95
    assert inside[number == 1].max() < inside[number == 4].min()
    kept = (tree["posterior"]["top_label"].values[..., 0] == 1).mean((0, 1))
    assert kept[number == 4].min() > 0.9
    again = dawid_skene(labels, draws=200, top_labels=1, seed=1)
    assert (again["posterior"]["top_label"].values == tree["posterior"]["top_label"].values).all()
