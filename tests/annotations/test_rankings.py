"""Rankings hold the blocks that came in, in any order of rows; what breaks a rule is refused by name."""

import re
from dataclasses import replace

import pandas as pd
import pytest
from annotations._same import same
from hypothesis import given
from hypothesis import strategies as st

from bayesagree.annotations import Rankings
from bayesagree.errors import InputError


@st.composite
def block_cases(draw: st.DrawFn) -> list[list[list[list[int]]]]:
    def ranking() -> list[list[int]]:
        named = draw(st.lists(st.integers(0, 5), min_size=1, unique=True))
        cuts = sorted(draw(st.sets(st.integers(1, len(named)), max_size=3)) | {len(named)})
        return [named[a:b] for a, b in zip([0, *cuts], cuts)]

    return [[ranking() for _ in range(draw(st.integers(1, 3)))] for _ in range(draw(st.integers(1, 4)))]


def blocks_of(rankings: Rankings, r: int) -> list[set]:
    entries = slice(rankings.start[r], rankings.start[r + 1])
    named, block = rankings.label_index[entries], rankings.block[entries]
    return [set(rankings.categories[named[block == b]].tolist()) for b in range(block.max() + 1)]


@given(block_cases())
def test_rankings_hold_the_blocks_that_came_in(cases: list) -> None:
    rankings = Rankings.from_blocks(cases, labels=6)
    flat = [(i, [set(b) for b in ranking]) for i, case in enumerate(cases) for ranking in case]
    assert [(i, blocks_of(rankings, r)) for r, i in enumerate(rankings.item_index)] == flat
    assert not rankings.annotators_known


@given(block_cases(), st.randoms(use_true_random=False))
def test_blocks_and_long_rankings_agree_in_any_row_order(cases: list, random: object) -> None:
    who = [[f"a{r}" for r in range(len(case))] for case in cases]
    from_blocks = Rankings.from_blocks(cases, labels=6)
    rows = [
        (i, who[i][r], name, 10 * b + 1)
        for i, case in enumerate(cases)
        for r, ranking in enumerate(case)
        for b, block in enumerate(ranking)
        for name in block
    ]
    random.shuffle(rows)  # type: ignore[attr-defined]
    long = pd.DataFrame(rows, columns=["item", "annotator", "label", "rank"])
    read = Rankings.from_long(long, labels=range(6))
    unknown = {"annotators": from_blocks.annotators, "annotator_index": from_blocks.annotator_index}
    assert same(from_blocks, replace(read, **unknown))
    assert read.annotators[read.annotator_index].tolist() == [one for case in who for one in case]


@pytest.mark.parametrize(
    ("cases", "options", "message"),
    [
        ([[[[0], []]]], {}, "item 0, ranking 0: [] is not a list of blocks or labels; a ranking is"),
        ([[[[0], [1]], [[0], [0]]]], {}, "item 0: label 0 is named twice in one ranking"),
        ([[[[0], [5]]]], {}, "item 0, ranking 0: label 5 is not one of the 2 known (0, 1)"),
        ([[]], {}, "item 0: [] is not a list of blocks or labels"),
        ([[[[0]]]], {"offered": [[[1]]]}, "item 0, ranking 0: it names 0, which was not on offer"),
        ([[[[0]], [[1]]]], {"offered": [[[0]]]}, "offered[item] must list the labels on offer for each ranking"),
    ],
)
def test_rankings_refuse(cases: list, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        Rankings.from_blocks(cases, **({"labels": 2} | options))


def test_all_labels_on_offer_in_every_ranking_are_no_choice_sets() -> None:
    cases = [[[["a"], ["b"]], [["b"]]]]
    plain = Rankings.from_blocks(cases, labels=["a", "b"])
    assert same(Rankings.from_blocks(cases, labels=["a", "b"], offered=[[["a", "b"]] * 2]), plain)
    some = Rankings.from_blocks(cases, labels=["a", "b"], offered=[[["a", "b"], ["b"]]])
    assert some.offered is not None
