"""Simulated annotations have the distributions that their descriptions state."""

import re

import numpy as np
import pytest
from scipy import stats

from bayesagree import InputError, simulate


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: simulate.ratings(n_items=2, phi=1.0), "phi=1.0 must lie between -1 and 1"),
        (lambda: simulate.ratings(n_items=2, phi=-1.0), "phi=-1.0 must lie between -1 and 1"),
        (lambda: simulate.ratings(phi=0.5, n_items=0), "n_items=0"),
        (lambda: simulate.crowd_labels(n_annotators=2), "labels_per_item=3 is more than the 2 annotators there are"),
        (lambda: simulate.crowd_labels(ambiguity=-1.0), "ambiguity=-1.0"),
        (lambda: simulate.rankings(n_labels=2, patterns=[(1, 2)]), "patterns=[(1, 2)]: every ranking names between 1"),
        (lambda: simulate.rankings(patterns=[]), "patterns=[]: every ranking names between 1 and n_labels="),
        (lambda: simulate.rankings(patterns=[()]), "patterns=[()]: every ranking names between 1 and n_labels="),
    ],
)
def test_sizes_that_no_simulation_has(make, message):
    with pytest.raises(InputError, match=re.escape(message)):
        make()


@pytest.mark.parametrize("n_levels", [None, 5])
def test_ratings_are_beta_judgments_of_the_precision_of_phi_or_their_levels(n_levels):
    """At Phi one half the precision is 4; a level is the fifth of the scale in which a judgment falls."""
    made = simulate.ratings(
        n_items=1000, ratings_per_item=3, phi=0.5, n_levels=n_levels, item_mean=0.3, random_seed=1
    ).ratings
    law = stats.beta(1.2, 2.8)
    if n_levels is None:
        assert made.scale == (0, 1) and stats.kstest(made.rating, law.cdf).pvalue > 1e-4
        return
    assert (made.scale, made.step) == ((1, 5), 1)
    expected = np.diff(law.cdf(np.arange(6) / 5))
    share = np.bincount(made.rating.astype(int), minlength=6)[1:] / 3000
    assert (np.abs(share - expected) < 4.5 * np.sqrt(expected / 3000)).all()


def test_a_crowd_confuses_labels_as_its_matrices_say():
    """Two annotators of three label an item; the second calls every a b, and the third guesses."""
    confusion = np.array([np.eye(2), [[0.0, 1.0], [0.0, 1.0]], np.full((2, 2), 0.5)])
    crowd = simulate.crowd_labels(
        n_items=2000, n_annotators=3, n_labels=2, labels_per_item=2, prevalence=[0.8, 0.2], confusion=confusion,
        random_seed=1,
    )  # fmt: skip
    labels = crowd.labels
    assert (np.bincount(labels.item_index) == 2).all() and not labels.has_repeats
    assert abs((crowd.truth == 0).mean() - 0.8) < 4.5 * 0.4 / np.sqrt(2000)
    assert (crowd.plausibility.argmax(axis=1) == crowd.truth).all()
    who, said, true = labels.annotator_index, labels.label_index, crowd.truth[labels.item_index]
    assert (said[who == 0] == true[who == 0]).all() and (said[who == 1] == 1).all()
    guesses = said[who == 2]
    assert abs(guesses.mean() - 0.5) < 4.5 * 0.5 / np.sqrt(guesses.size)


def test_without_a_matrix_annotators_are_right_more_often_than_not_and_ambiguous_items_have_no_one_label():
    crowd = simulate.crowd_labels(n_items=300, n_annotators=5, n_labels=3, random_seed=2)
    np.testing.assert_allclose(crowd.confusion.sum(axis=2), 1)
    assert (np.diagonal(crowd.confusion, axis1=1, axis2=2).mean() > 1 / 3) and set(np.ravel(crowd.plausibility)) == {
        0,
        1,
    }
    vague = simulate.crowd_labels(n_items=2000, n_labels=2, n_annotators=3, ambiguity=2.0, random_seed=2)
    assert stats.kstest(vague.plausibility[:, 0], stats.beta(1, 1).cdf).pvalue > 1e-4


def test_rankings_follow_the_plausibilities_in_blocks_of_the_patterns():
    """The first label of a Plackett-Luce order is the plausibility; a pattern (1, 2) is one label above two."""
    made = simulate.rankings(n_items=2, n_labels=4, n_annotators=3000, patterns=[(1, 2)], random_seed=3)
    ranked = made.rankings
    assert ranked.n_annotations == 6000 and np.tile([0, 1, 1], 6000).tolist() == ranked.block.tolist()
    first = ranked.label_index[::3].reshape(2, 3000)
    for said, plausibility in zip(first, made.plausibility.values):
        share = np.bincount(said, minlength=4) / 3000
        assert (np.abs(share - plausibility) < 4.5 * np.sqrt(plausibility / 3000) + 1e-3).all()


def test_votes_of_a_test_set_are_drawn_from_its_plausibilities():
    made = simulate.labelled_test_set(
        n_items=3, n_annotators=4000, per_item=3000, spread=1.0, noise=(0.0,) * 28, random_seed=1
    )
    counts = made.labels.counts()
    assert (counts.sum(axis=1) == 3000).all()
    assert (np.abs(counts / 3000 - made.plausibility) < 4.5 * np.sqrt(made.plausibility / 3000)).all()
    assert made.predictions.models.tolist()[-3:] == ["Z", "AA", "AB"]
    np.testing.assert_allclose(made.predictions.scores[0], made.plausibility, rtol=1e-6)  # without noise
