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
