"""Alpha of sets of labels, against pairs counted one by one."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesagree as ba
from bayesagree import InputError
from bayesagree.agreement._set_distances import jaccard, masi

# The example of https://stats.stackexchange.com/questions/407453: labels of two coders for each of eleven items.
CODERS = [
    ("l1 l2", "l1"), ("l1 l2", "l1 l2"), ("l1", "l1"), ("l3", "l3"), ("l3", "l1 l3"), ("l4", "l4"), ("l2", "l4"),
    ("l1 l2", "l1"), ("l1 l2", "l1 l2 l3"), ("l1", "l1"), ("l1", "l1"),
]  # fmt: skip


def labels_of(answers):
    """Labels of sets, from (item, annotator, set)."""
    rows = [(item, who, label) for item, who, chosen in answers for label in chosen]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    return ba.Labels.from_long(frame, duplicates="keep")


def by_pairs(answers, distance):
    """Alpha by its definition: every ordered pair of answers to one item, and every ordered pair of answers at all."""
    units = {}
    for item, _, chosen in answers:
        units.setdefault(item, []).append(frozenset(chosen))
    units = [unit for unit in units.values() if len(unit) > 1]
    pooled = [chosen for unit in units for chosen in unit]
    observed = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / len(pooled)
    expected = sum(distance(a, b) for a, b in permutations(pooled, 2)) / (len(pooled) * (len(pooled) - 1))
    return 1 - observed / expected if expected else np.nan


def test_distances():
    a, ab, bc = frozenset("a"), frozenset("ab"), frozenset("bc")
    assert masi(ab, ab) == masi(a, a) == 0
    assert masi(a, ab) == pytest.approx(1 - 2 / 3 * 1 / 2)
    assert masi(ab, bc) == pytest.approx(1 - 1 / 3 * 1 / 3)
    assert masi(a, bc) == jaccard(a, bc) == 1
    # nltk issue 3361: exact thirds, of which nltk's .665 was a rounding.
    assert masi(frozenset([1, 2]), frozenset([1, 2, 3, 4])) == pytest.approx(2 / 3)


@pytest.mark.parametrize("distance", [masi, jaccard])
def test_published_example(distance):
    answers = [(i, who, text.split()) for i, pair in enumerate(CODERS) for who, text in enumerate(pair)]
    expected = by_pairs(answers, distance)
    assert ba.krippendorff_alpha(labels_of(answers), distance=distance.__name__) == pytest.approx(expected, abs=1e-12)
    table = ba.agreement_table(labels_of(answers), distance=distance, random_seed=1)
    first = table.iloc[0]
    assert first["coefficient"] == f"alpha_{distance.__name__}"
    assert first["estimate"] == pytest.approx(expected, abs=1e-12)
    assert first["lower"] < expected < first["upper"]
    # Beside it stand the coefficients of equal sets.
    nominal = table.set_index("coefficient").loc["alpha_nominal", "estimate"]
    assert nominal == pytest.approx(by_pairs(answers, lambda a, b: float(a != b)), abs=1e-12)


def test_published_value():
    """Stack Overflow question 45741934: three coders, two texts; alpha with the Jaccard distance is printed as 0.75."""
    topics = {"text01": ["love gifts"] * 3, "text02": ["slime gaming", "slime", "slime gaming"]}
    answers = [(text, who, given.split()) for text, sets in topics.items() for who, given in enumerate(sets)]
    assert ba.krippendorff_alpha(labels_of(answers), distance="jaccard") == pytest.approx(0.75, abs=1e-12)


SETS = st.sets(st.sampled_from("abc"), min_size=1)


@pytest.mark.filterwarnings("ignore:alpha does not exist")
@given(st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 3)), SETS, min_size=2, max_size=12))
def test_equal_to_its_definition(chosen):
    answers = [(item, who, sorted(labels)) for (item, who), labels in chosen.items()]
    found = ba.krippendorff_alpha(labels_of(answers), distance="masi")
    expected = by_pairs(answers, masi) if max(np.unique([a[0] for a in answers], return_counts=True)[1]) > 1 else np.nan
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-9)


def test_refused():
    labels = labels_of([(1, "ann", "ab"), (1, "bob", "a")])
    with pytest.raises(InputError, match="distance='dice' is not 'masi' or 'jaccard' of labels, or a function"):
        ba.krippendorff_alpha(labels, distance="dice")
    with pytest.raises(InputError, match="must be finite, at least 0, the same both ways"):
        ba.krippendorff_alpha(labels, distance=lambda a, b: len(a) - len(b))
    with pytest.raises(InputError, match="distance='masi' is not 'masi' or 'jaccard' of labels"):
        ba.krippendorff_alpha(ba.Ratings.from_matrix([[1, 2]], scale=(1, 5)), distance="masi")
    with pytest.raises(InputError, match="annotators are unknown"):
        ba.krippendorff_alpha(ba.Labels.from_counts([[1, 1]]), distance="masi")
