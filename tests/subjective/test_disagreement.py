"""Disagreement rates: their definition, ties, and rates from other items."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesagree import InputError, Labels, Ratings
from bayesagree.annotations.groups import Groups
from bayesagree.subjective.disagreement import disagreement_rate, recode, without_items
from bayesagree.subjective.performance import group_performance
from studies.groups import dispersion_null


@st.composite
def sparse_votes(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cells = rng.integers(0, 3, shape).astype(object)
    cells[rng.random(shape) < 0.3] = None
    cells[0, 0] = 0
    return cells


@pytest.mark.filterwarnings("ignore:.*annotators have no item")
@given(sparse_votes(), st.sampled_from(["full", "exclude"]), st.booleans())
def test_disagreement_rate_equals_its_definition(cells, ties, own_vote):
    ours = disagreement_rate(Labels.from_matrix(cells, labels=[0, 1, 2]), ties=ties, own_vote=own_vote)
    for j in range(cells.shape[1]):
        differs = []
        for i in range(cells.shape[0]):
            if cells[i, j] is None:
                continue
            jury = Counter(v for k, v in enumerate(cells[i]) if v is not None and (own_vote or k != j))
            modes = [label for label, n in jury.items() if n == max(jury.values())]
            if not jury or (ties == "exclude" and len(modes) > 1):
                continue
            differs.append(cells[i, j] not in modes)
        expected = np.mean(differs) if differs else np.nan
        np.testing.assert_equal(float(ours[j]), float(expected))


def test_a_tie_between_labels_that_are_not_ones_own_does_not_count():
    votes = Labels.from_matrix([["a", "b", "c"]], annotators=list("xyz"))
    for own_vote in (True, False):
        with pytest.warns(UserWarning, match="3 annotators have no item"):
            rate = disagreement_rate(votes, ties="exclude", own_vote=own_vote)
        assert np.isnan(rate).all()


def test_the_rate_from_some_items_is_that_of_only_those():
    rng = np.random.default_rng(9)
    labels = Labels.from_matrix(rng.integers(0, 2, (30, 8)), labels=[0, 1])
    some, others = labels.items[:12], labels.items[12:]
    np.testing.assert_array_equal(
        disagreement_rate(labels, items=some), disagreement_rate(without_items(labels, others))
    )
    rest = without_items(labels, some)
    assert rest.items.tolist() == others.tolist()
    assert rest.annotators.tolist() == labels.annotators.tolist()
    with pytest.raises(InputError, match="item 99 has no annotation"):
        disagreement_rate(labels, items=[99])
    with pytest.raises(InputError, match="leave out fewer"):
        without_items(labels, labels.items)


def test_an_annotator_without_a_majority_to_differ_from_has_no_rate():
    alone = Labels.from_matrix([["a", "a", None], ["a", "b", None], [None, None, "b"]], annotators=[*"xyz"])
    with pytest.warns(UserWarning, match="1 annotators have no item with a majority to differ from, .* NaN: 'z'"):
        rate = disagreement_rate(alone, own_vote=False)
    np.testing.assert_array_equal(rate, [0.5, 0.5, np.nan])
    with pytest.raises(InputError, match="ties='half' is not one of 'full', 'exclude'"):
        disagreement_rate(Labels.from_matrix([["a", "a"]]), ties="half")
    with pytest.raises(InputError, match=r"items= holds \[1\], which names no item"):
        disagreement_rate(Labels.from_matrix([["a", "a"]]), items=[[1]])
    with pytest.raises(InputError, match="the disagreement rate needs to know who gave each label"):
        disagreement_rate(Labels.from_counts([[1, 2]]))


def test_a_rating_at_the_threshold_is_on_its_upper_side():
    sides = recode(Ratings.from_matrix([[1, 2], [3, np.nan]], scale=(1, 3), step=1), 2)
    assert sides.to_matrix().to_numpy().tolist() == [["below", "at_or_above"], ["at_or_above", None]]


def test_a_rate_from_other_items_does_not_make_bias():
    """Everybody guesses: binned by the labels scored, chance looks like bias; binned by other labels it does not."""
    rng, called = np.random.default_rng(3), [0, 0]
    for _ in range(25):
        labels = Labels.from_matrix((rng.random((40, 60)) < 0.7).astype(int), labels=[0, 1])
        models = {"A": pd.Series(1, index=labels.items)}
        half = labels.items[:20]
        rest = without_items(labels, half)
        for k, rate in enumerate((disagreement_rate(rest), disagreement_rate(labels, items=half))):
            groups = Groups.by_disagreement(rate, bins=3)
            null = dispersion_null(group_performance(rest, models, groups), permutations=99, random_seed=rng)
            called[k] += bool(null["biased"][0])
    assert called[0] == 25
    assert called[1] <= 25 * 0.05 + 3 * np.sqrt(25 * 0.05 * 0.95)
