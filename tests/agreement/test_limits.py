"""Where Phi says little: each warning speaks on data with the defect, and is silent on clean ones."""

import re
import warnings

import numpy as np
import pytest
from scipy import stats

from bayesagree import simulate
from bayesagree.agreement.annotator_effects import level_share
from bayesagree.agreement.checks import judgments
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Ratings


def levels(rows, scale=(1, 5)):
    return Ratings.from_matrix(rows, scale=scale, step=1)


def fitted(ratings, **options):
    """Return the summary and the warnings of a fit."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = common_agreement(ratings, draws=50, chains=4, random_seed=1, **options)["agreement"]
    return found, " ".join(str(warning.message) for warning in seen)


RNG = np.random.default_rng(1)
GRID = RNG.integers(1, 6, (40, 5)).astype(float)
HALF = np.repeat([[1, 2, 1, 1], [5, 4, 5, 5]], 40, axis=0).astype(float)
ALIKE = simulate.ratings(n_items=80, ratings_per_item=4, phi=0.5, n_levels=5, random_seed=1).ratings
STRICT = np.clip(
    np.array([2, 3, 4, 2, 3, 4] * 8)[:, None] + np.array([-1, 0, 0, 1]) + RNG.integers(0, 2, (48, 4)), 1, 5
)
CLEAN = levels(GRID)

# Words of the warning; ratings with the defect and options; ratings without it.
DEFECTS = {
    "one item": ("one item, which", levels(GRID[:1]), {}, levels(GRID[:2])),
    "one rating per item": ("one rating per item", levels(GRID[:, :1]), {}, CLEAN),
    "few levels": ("4 levels, below 5", levels(np.minimum(GRID, 4), (1, 4)), {}, CLEAN),
    "two levels": ("2 levels, below 5", levels(np.minimum(GRID, 2), (1, 2)), {}, CLEAN),
    "a forgotten step": ("grid of 5 levels .* pass step=1(;|$)", Ratings.from_matrix(GRID, scale=(1, 5)), {}, CLEAN),
    "a forgotten step of a half": (
        "grid of 9 levels .* pass step=0.5(;|$)",
        Ratings.from_matrix(np.repeat([np.arange(1, 5.5, 0.5), np.arange(5, 0.5, -0.5)], 4, axis=0).T, scale=(1, 5)),
        {},
        CLEAN,
    ),
    "few ratings, flat means": ("4.0 ratings per item with flat", levels(GRID[:, :4]), {}, CLEAN),
    "answers at one end": ("on 100% of the items all ratings are one end", levels([[1] * 5] * 40), {}, CLEAN),
    "item means at two ends": ("does not fit one Beta", levels(HALF), {"item_mean": "hierarchical"}, ALIKE),
    "strict annotators": ("annotators' levels explain", levels(STRICT), {}, ALIKE),
}  # fmt: skip

SAID: dict[tuple[int, str], str] = {}  # of clean ratings, which several defects share


@pytest.mark.parametrize("name", DEFECTS)
def test_a_warning_speaks_on_the_defect_and_is_silent_without_it(name):
    words, defect, options, clean = DEFECTS[name]
    options = {"likelihood": "binned", "item_mean": "flat"} | options
    assert re.search(words, fitted(defect, **options)[1])
    key = id(clean), repr(options)
    said = SAID[key] = SAID.get(key) or fitted(clean, **options)[1] + "."
    assert not re.search(words, said)


UNANIMOUS = {
    "one end": [[1] * 5] * 100,
    "limitation 2": [[5] * 5] * 100,
    "limitations 3 and 4a": [[5, 5]] * 99 + [[5, 1]],  # the order of the ratings of an item is not read
    "nearly": [[5] * 5] * 99 + [[5, 5, 5, 5, 4]],
}


@pytest.mark.parametrize(
    ("name", "item_mean"),
    [
        ("limitations 3 and 4a", "flat"),
        ("nearly", "flat"),
        *(pytest.param(name, "flat", marks=pytest.mark.long) for name in ("one end", "limitation 2")),
        *(pytest.param(name, "hierarchical", marks=pytest.mark.long) for name in UNANIMOUS),
    ],
)
def test_unanimous_answers_at_an_end_are_never_disagreement(name, item_mean):
    """Under flat means all of them gave -.99, under the default limitations 3 and 4a gave disagreement."""
    found, said = fitted(levels(UNANIMOUS[name]), item_mean=item_mean)
    assert found.attrs["decision"] != "disagreement"
    assert float(found["share_at_ends"]) >= 0.99
    assert "one end of the scale" in said


@pytest.mark.parametrize("item_mean", [pytest.param("hierarchical", marks=pytest.mark.long), "flat"])
def test_two_camps_stay_disagreement(item_mean):
    camps, _ = fitted(levels([[1, 5, 1, 5, 5]] * 40), item_mean=item_mean)
    assert camps.attrs["decision"] == "disagreement"
    assert float(camps["share_at_ends"]) == 0


def test_items_at_the_ends_leave_what_the_others_say():
    """Half of the items unanimous at an end, half of the kind that agreeing annotators give."""
    inside = simulate.ratings(n_items=40, ratings_per_item=5, phi=0.8, random_seed=1).ratings
    ends, _ = fitted(levels(np.vstack([inside.rating.reshape(40, 5), np.full((40, 5), 1.0)])), likelihood="binned")
    assert ends.attrs["decision"] == "agreement"


@pytest.mark.long
def test_one_level_inside_the_scale_is_agreement():
    assert fitted(levels([[2] * 5] * 100), item_mean="flat")[0].attrs["decision"] == "agreement"


def test_continuous_ratings_are_no_grid():
    x = np.random.default_rng(1).uniform(0.01, 0.99, (30, 5)).round(2)
    assert "grid" not in fitted(Ratings.from_matrix(x, scale=(0, 1)), item_mean="flat", likelihood="binned")[1]


@pytest.mark.parametrize("share_missing", [0.0, 0.25])
def test_levels_of_annotators_are_those_of_two_way_analysis_of_variance(share_missing):
    """Least squares on indicators, the F test of SciPy, and R^2 adjusted for the number of annotators."""
    rng = np.random.default_rng(4)
    x = rng.uniform(3, 7, (12, 1)) + np.array([0.4, 0, -0.4, 0.2]) + rng.normal(0, 0.5, (12, 4))
    x[rng.random(x.shape) < share_missing] = np.nan
    ratings = Ratings.from_matrix(x, scale=(0, 10))
    item, who = np.eye(12)[ratings.item_index], np.eye(4)[ratings.annotator_index]
    rest = [
        float(((ratings.rating - design @ np.linalg.lstsq(design, ratings.rating)[0]) ** 2).sum())
        for design in (item, np.hstack([item, who]))
    ]
    free = ratings.rating.size - 12
    f = (rest[0] - rest[1]) / 3 / (rest[1] / (free - 3))
    expected = 1 - rest[1] / (free - 3) / (rest[0] / free), stats.f.sf(f, 3, free - 3)
    assert level_share(ratings) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("matrix", [[[1, 2]], [[1], [2]], [[1, 1], [2, 2]], [[1, 2], [3, 5]]])
def test_levels_need_ratings_beside_them(matrix):
    """One item, one annotator, no disagreement; two by two leaves one free number beside the level."""
    share, p_value = level_share(Ratings.from_matrix(matrix, scale=(0, 5)))
    assert (share, p_value) == (0, 1) if len(matrix) == 1 or matrix != [[1, 2], [3, 5]] else 0 < p_value < 1


def test_judgments_are_beta_or_outright_ends():
    """At means .2 and .8 the odds of a low end are 3 / 7 times 4 and 1 / 4, of a high one 1 / 9 times 1 / 4 and 4."""
    mu = np.repeat([0.2, 0.8], 4000)
    x = judgments(mu, 5.0, (0.3, 0.1), np.random.default_rng(1)).reshape(2, 4000)
    for drawn, mean in zip(x, (0.2, 0.8)):
        low, high = 3 / 7 * (1 - mean) / mean, 1 / 9 * mean / (1 - mean)
        shares = np.array([low, high]) / (1 + low + high)
        found = np.array([(drawn == 0).mean(), (drawn == 1).mean()])
        assert (np.abs(found - shares) < 4.5 * np.sqrt(shares * (1 - shares) / 4000)).all()
        inside = drawn[(drawn > 0) & (drawn < 1)]
        assert stats.kstest(inside, stats.beta(5 * mean, 5 * (1 - mean)).cdf).pvalue > 1e-4
