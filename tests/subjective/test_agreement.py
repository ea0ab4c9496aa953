"""Agreement within and between groups."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, Ratings, krippendorff_alpha
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.subjective.agreement import group_agreement


def test_agreement_within_one_group_is_krippendorffs_alpha(four):
    """Krippendorff (2004: 224): two coders, ten items, alpha .0952381."""
    votes = Labels.from_matrix([[1, 0], [1, 1], [0, 1], [0, 0], [0, 0], [0, 1], [0, 0], [0, 1], [0, 0], [0, 0]])
    people = Annotators.from_table(pd.DataFrame({"annotator": [0, 1], "group": ["g", "g"]}))
    assert group_agreement(votes, people, ["group"])["alpha"].item() == pytest.approx(0.0952381, abs=5e-8)


@pytest.mark.long
def test_alpha_between_groups_counts_every_annotation_once():
    rng = np.random.default_rng(12)
    cells = rng.integers(0, 3, (9, 7)).astype(object)
    cells[rng.random(cells.shape) < 0.3] = None
    votes = Labels.from_matrix(cells, labels=[0, 1, 2])
    people = Annotators.from_table(pd.DataFrame({"annotator": range(7), "g": list("xxxyyyy")}))
    distances, common = [], ([], [])
    for row in cells:
        x, y = ([v for v in part if v is not None] for part in (row[:3], row[3:]))
        if x and y:
            for own, other in ((x, y), (y, x)):
                distances += [np.mean([v != w for w in other]) for v in own]
            common[0].extend(x)
            common[1].extend(y)
    expected = np.mean([v != w for v in common[0] for w in common[1]])
    ours = group_agreement(votes, people, ["g"]).set_index(["group", "other_group"]).loc[("x", "y"), "alpha"]
    assert ours == pytest.approx(1 - np.mean(distances) / expected)


def test_too_few_items_have_no_interval_and_alpha_is_at_most_one():
    people = Annotators.from_table(pd.DataFrame({"annotator": range(6), "g": list("xxyyzz")}))
    given = np.random.default_rng(0).integers(0, 3, (40, 6))
    for n in (1, 2, 3, 40):
        table = group_agreement(Labels.from_matrix(given[:n], labels=3), people, ["g"], random_seed=1)
        known = table["alpha"].notna()
        assert table.loc[known, "lower"].isna().all() == (n < 3)
        assert table.loc[known, "note"].str.contains("an interval over items needs 3").all() == (n < 3)
        assert (table.loc[~known, "note"] != "").all()
        assert not (table[["alpha", "lower", "upper"]] > 1).any(axis=None)


def test_ratings_of_groups_agree_by_the_square_of_their_distance():
    """Pairs of the two groups by loops: items without one of both are left out, an annotation counts once."""
    cells = np.array([[1, 2, 4, np.nan], [3, 3, 3, 5], [5, np.nan, 4, 4], [2, 1, np.nan, np.nan]])
    ratings = Ratings.from_matrix(cells, scale=(1, 5), step=1)
    groups = Groups(ratings.annotators, np.array(["x", "y"]), np.array([0, 0, 1, 1], np.int32), "g")
    distances, common = [], ([], [])
    for row in cells[:3]:
        x, y = (part[~np.isnan(part)] for part in (row[:2], row[2:]))
        distances += [((v - other) ** 2).mean() for own, other in ((x, y), (y, x)) for v in own]
        common[0].extend(x)
        common[1].extend(y)
    expected = np.mean([(v - w) ** 2 for v in common[0] for w in common[1]])
    table = group_agreement(ratings, groups, random_seed=1).set_index(["group", "other_group"])
    between = table.loc[("x", "y")]
    assert between["alpha"] == pytest.approx(1 - np.mean(distances) / expected)
    assert between["pairs"] == 2 + 4 + 2
    assert table.loc[("x", "x"), "pairs"] == 3 and table.loc[("y", "y"), "pairs"] == 2
    within = krippendorff_alpha(Ratings.from_matrix(cells[:, :2], scale=(1, 5)), level="interval")
    assert table.loc[("x", "x"), "alpha"] == pytest.approx(within)
    assert table.attrs["ci_kind"] == "dirichlet process hdi"
    unordered = group_agreement(Labels.from_matrix(cells), groups, random_seed=1)
    assert unordered.attrs["ci_kind"] == "dirichlet process eti"
