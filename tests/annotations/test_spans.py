import pandas as pd
import pytest

from bayesagree import InputError, Labels

NONE = (None, None, None)
TEXT = "Ann met Bob. They left."


def frame(rows):
    return pd.DataFrame(rows, columns=["document", "annotator", "start", "end", "label"])


SPANS = frame(
    [
        ("d", "ann", 0, 3, "PER"), ("d", "ann", 8, 11, "PER"), ("d", "bob", 0, 7, "PER"), ("d", "cy", *NONE),
        ("e", "ann", 2, 5, "ORG"), ("e", "bob", 2, 5, "PER"),
    ]
)  # fmt: skip


def table(labels):
    return labels.to_matrix().where(lambda cells: cells.notna(), None).to_dict("index")


def test_overlapping_spans_are_one_item():
    assert table(Labels.from_spans(SPANS)) == {
        "d:0-7": {"ann": "PER", "bob": "PER", "cy": "no label"},
        "d:8-11": {"ann": "PER", "bob": "no label", "cy": "no label"},
        "e:2-5": {"ann": "ORG", "bob": "PER", "cy": None},
    }


def test_exact_spans():
    found = table(Labels.from_spans(SPANS, match="exact", no_label="O"))
    assert found["d:0-3"] == {"ann": "PER", "bob": "O", "cy": "O"}
    assert found["d:0-7"] == {"ann": "O", "bob": "PER", "cy": "O"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("d", "ann", 3, 3, "PER"), "row 0: start=3, end=3, label='PER': a span has a label and whole numbers"),
        (("d", "ann", 1, 3, None), "leave all three empty where an annotator marked nothing"),
        (("d", "ann", 1, float("inf"), "PER"), "start=1, end=inf, label='PER': a span has a label and whole numbers"),
        (("d", None, 1, 3, "PER"), "row 0: document 'd', annotator None: every span names both"),
        (("d", "ann", *NONE), "there is no span: every document is empty"),
    ],
)
def test_broken_rows(row, message):
    with pytest.raises(InputError, match=message):
        Labels.from_spans(frame([row]))


def test_spans_that_touch_are_two_items_and_the_longest_part_names_one():
    rows = [
        ("d", "ann", 0, 2, "PER"), ("d", "ann", 2, 7, "ORG"), ("d", "bob", 0, 3, "PER"), ("d", "bob", 4, 7, "ORG"),
        ("d", "cy", 1, 6, "LOC"), ("d", "ann", 7, 9, "PER"), ("d", "dan", 0, 1, "PER"),
    ]  # fmt: skip
    assert table(Labels.from_spans(frame(rows))) == {
        "d:0-7": {"ann": "ORG", "bob": "PER", "cy": "LOC", "dan": "PER"},  # of equal parts the first
        "d:7-9": {"ann": "PER", "bob": "no label", "cy": "no label", "dan": "no label"},
    }
    chain = frame(
        [("d", "ann", 0, 4, "PER"), ("d", "bob", 3, 6, "PER"), ("d", "cy", 1, 2, "PER"), ("d", "cy", 5, 9, "LOC")]
    )
    assert Labels.from_spans(chain).items.tolist() == ["d:0-9"]
    with pytest.raises(InputError, match="row 1: start=-1, end=2"):
        Labels.from_spans(frame([("d", "ann", 0, 4, "PER"), ("d", "bob", -1, 2, "PER")]))
    with pytest.raises(InputError, match="match='near' is not one of 'overlap', 'exact'"):
        Labels.from_spans(chain, match="near")
