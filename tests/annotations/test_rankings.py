"""Rankings hold the blocks that came in, in any order of rows; what breaks a rule is refused by name."""

import re
from dataclasses import replace

import pandas as pd
import pytest
from annotations._same import same
from hypothesis import given
from hypothesis import strategies as st

from bayesagree.annotations import Rankings
from bayesagree.annotations.rankings import who_competed
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


def test_each_label_of_a_block_has_the_size_of_its_block() -> None:
    rankings = Rankings.from_blocks([[[["a"], ["b", "c"]], [["b"]]], [[["a", "b", "c"]]]], labels=[*"abc"])
    assert rankings.block_sizes().tolist() == [1, 2, 2, 1, 3, 3, 3]
    assert rankings.ranking_index().tolist() == [0, 0, 0, 1, 2, 2, 2]
    long = rankings.to_long()
    assert long["rank"].tolist() == [1, 2, 2, 1, 1, 1, 1] and long["ranking"].tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert long["item"].tolist() == [0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("sizes", "doubtful"),
    [
        ([(2, 2)], False),  # the same number of labels
        ([(1, 2)], False),  # half of the labels are not most of them
        ([(1, 3)], True),
        ([(2, 2), (3, 4), (1, 3)], True),
    ],
)
def test_it_is_doubtful_who_competed_where_some_rankings_name_most_labels_and_others_fewer(sizes, doubtful) -> None:
    """Of four labels; the item with the widest range is named."""
    cases = [[[[k] for k in range(n)] for n in pair] for pair in sizes]
    said, found = who_competed(Rankings.from_blocks(cases, labels=4, items=[*"pqr"][: len(sizes)]))
    assert found == doubtful
    assert said.startswith("All 4 labels compete in every ranking: one that a ranking does not name was beaten by")
    worst = "pqr"[len(sizes) - 1]
    assert (f"rankings of item '{worst}' name 1 to 3 labels" in said) == doubtful
    shown = [[[0, 1, 2, 3] if r else [0, 1, 2] for r in range(2)] for _ in sizes]
    if max(map(max, sizes)) < 4:
        offered = who_competed(Rankings.from_blocks(cases, labels=4, offered=shown))
        assert offered == (
            "Rankings say what was on offer: a label that one does not name was beaten if it was offered.",
            False,
        )


def test_rows_without_a_rank_are_on_offer_alone() -> None:
    rows = [(1, "ann", "x", 1), (1, "ann", "y", None), (1, "bob", "z", 2), (1, "bob", "x", 1), (1, "bob", "y", 2)]
    table = pd.DataFrame(rows, columns=["item", "annotator", "label", "rank"])
    read = Rankings.from_long(table, offered=True)
    assert read.of_item(0) == [[["x"]], [["x"], ["y", "z"]]]
    assert read.offered is not None
    assert read.offered.start.tolist() == [0, 2, 5] and read.offered.label_index.tolist() == [0, 1, 0, 1, 2]
    with pytest.raises(InputError, match="row 1: the rank is missing; leave unranked labels out, or pass offered=True"):
        Rankings.from_long(table)
    with pytest.raises(
        InputError, match="item 1, annotator 'ann': a ranking names none of the labels on offer; drop it"
    ):
        Rankings.from_long(table.assign(rank=[None, None, 2, 1, 2]), offered=True)
    with pytest.raises(InputError, match="row 4: the label is missing"):
        Rankings.from_long(table.assign(label=["x", "y", "z", "x", None]), offered=True)
