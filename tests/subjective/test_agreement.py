"""Agreement within and between groups: alpha, Phi, and each group's own truth."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, Ratings, common_agreement
from bayesagree.annotations.annotators import Annotators
from bayesagree.subjective.agreement import group_agreement, group_phi


def test_agreement_within_one_group_is_krippendorffs_alpha(four):
    """Krippendorff (2004: 224): two coders, ten items, alpha .0952381."""
    votes = Labels.from_matrix([[1, 0], [1, 1], [0, 1], [0, 0], [0, 0], [0, 1], [0, 0], [0, 1], [0, 0], [0, 0]])
    people = Annotators.from_table(pd.DataFrame({"annotator": [0, 1], "group": ["g", "g"]}))
    assert float(group_agreement(votes, people, ["group"])["alpha"][0, 0]) == pytest.approx(0.0952381, abs=5e-8)


@pytest.mark.long
def test_within_a_group_phi_is_that_of_its_ratings():
    rng = np.random.default_rng(4)
    centre = rng.integers(1, 6, (40, 1))
    ratings = Ratings.from_matrix(np.clip(centre + rng.integers(-1, 2, (40, 6)), 1, 5), scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(6), "g": list("xxxyyy")}))
    tree = group_phi(ratings, people, ["g"], chains=2, random_seed=1)
    own = Ratings.from_matrix(ratings.rating.reshape(40, 6)[:, :3], scale=(1, 5), step=1)
    ours = tree["posterior"]["phi"].sel(group="x", other_group="x").values.ravel()
    alone = common_agreement(own, random_seed=2)["posterior"]["phi"].values.ravel()
    assert abs(ours.mean() - alone.mean()) < 4.5 * np.sqrt(ours.var() / ours.size + alone.var() / alone.size)
    assert tree["constant_data"]["n_items"].values.tolist() == [[40, 40], [40, 40]]
    again = group_phi(ratings, people, ["g"], chains=2, random_seed=1)
    assert again.identical(tree)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:the sign of Phi depends")  # a disagreeing crowd answers at the ends
@pytest.mark.parametrize("true_phi", [pytest.param(-0.3, marks=pytest.mark.slow), 0.5])
def test_between_groups_that_are_alike_phi_is_the_common_one(true_phi):
    """Groups sampled from one crowd: every cell, also the panels of two, covers the Phi that made the ratings."""
    rng = np.random.default_rng(6)
    precision = 2 * (1 - np.log2(1 - true_phi))
    mean = rng.beta(2, 2, (400, 1))
    x = rng.beta(mean * precision, (1 - mean) * precision, (400, 6))
    ratings = Ratings.from_matrix(np.floor(5 * np.minimum(x, 1 - 1e-12)) + 1, scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(6), "g": list("xxxyyy")}))
    phi = group_phi(ratings, people, ["g"], random_seed=1)["posterior"]["phi"]
    gap = np.abs(phi.mean(("chain", "draw")) - true_phi)
    assert (gap < 3.5 * phi.std(("chain", "draw"))).all()
    # Panels of two of 400 items say less than all ratings of a group, once these tell how to read answers at the ends.
    spread = phi.std(("chain", "draw"))
    assert true_phi < 0 or float(spread[0, 1]) > float(spread[0, 0])


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
    ours = group_agreement(votes, people, ["g"])["alpha"].sel(group="x", other_group="y")
    assert float(ours) == pytest.approx(1 - np.mean(distances) / expected)
