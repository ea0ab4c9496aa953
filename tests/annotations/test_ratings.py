"""Ratings keep their values in any order of rows; what breaks a rule is refused by name."""

import re

import numpy as np
import pandas as pd
import pytest
from annotations._same import same
from hypothesis import given
from hypothesis import strategies as st

from bayesagree.annotations import Ratings
from bayesagree.errors import InputError


def ratings(*values: object, **options: object) -> Ratings:
    rows = pd.DataFrame({"item": "q17", "annotator": [f"a{i}" for i in range(len(values))], "rating": values})
    return Ratings.from_long(rows, **({"scale": (1, 5)} | options))  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 12), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_ratings_keep_values_in_any_row_order(levels: list[int], random: object) -> None:
    values = [-1 + 0.25 * level for level in levels]
    rows = pd.DataFrame(
        {"item": [i % 3 for i in range(len(values))], "annotator": range(len(values)), "rating": values}
    )
    order = list(range(len(values)))
    random.shuffle(order)  # type: ignore[attr-defined]
    held = Ratings.from_long(rows, scale=(-1, 2), step=0.25)
    assert same(held, Ratings.from_long(rows.iloc[order], scale=(-1, 2), step=0.25))
    assert sorted(held.rating) == sorted(values)
    assert sorted(held.levels()) == sorted(levels)
    assert held.n_levels == 13
    assert np.allclose(held.unit(), held.levels() / 12, rtol=0, atol=1e-15)


def test_rating_matrix_and_long_agree() -> None:
    matrix = pd.DataFrame([[1.5, np.nan], [2.0, 5.0]], index=["p", "q"], columns=["a", "b"])
    rows = pd.DataFrame({"item": ["q", "p", "q"], "annotator": ["b", "a", "a"], "rating": [5, "1.5", None]})
    rows = pd.concat([rows.iloc[:2], pd.DataFrame({"item": ["q"], "annotator": ["a"], "rating": ["2"]})])
    assert same(Ratings.from_matrix(matrix, scale=(1, 5)), Ratings.from_long(rows, scale=(1, 5)))


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1, 6], {}, "item 'q17', annotator 'a1': rating 6 is outside the scale (1, 5); pass scale=(1, 6) or drop"),
        ([1, 99], {}, "rating 99 is outside the scale (1, 5); read them with na_values=[99] or drop the row"),
        ([1, -1], {}, "rating -1 is outside the scale (1, 5); read them with na_values=[-1] or drop the row"),
        ([1, np.inf], {}, "item 'q17', annotator 'a1': rating inf is not finite"),
        ([1, 2.5], {"step": 1}, "rating 2.5 is off the step: levels are 1, 2, ..., 5; pass step=None"),
        ([1], {"step": 3}, "step 3 does not divide the scale (1, 5) into whole levels"),
        ([1], {"scale": (5, 1)}, "scale (5, 1) is not (lowest, highest), two numbers with lowest < highest"),
    ],
)
def test_ratings_refuse(values: list, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        ratings(*values, **options)


def test_a_continuous_scale_has_no_levels() -> None:
    assert ratings(1.0).n_levels is None
    with pytest.raises(InputError, match="a continuous scale has no levels; pass step="):
        ratings(1.0).levels()
