import pandas as pd
import pytest

from bayesagree import InputError
from bayesagree.agreement import span_f1

pytestmark = pytest.mark.filterwarnings("ignore:no interval of F1 where:UserWarning")


def frame(rows):
    return pd.DataFrame(rows, columns=["document", "annotator", "start", "end", "label"])


SPANS = frame(
    [
        ("d", "ann", 0, 3, "PER"), ("d", "ann", 8, 11, "PER"), ("d", "bob", 0, 3, "PER"), ("d", "bob", 9, 11, "PER"),
        ("e", "ann", 2, 5, "ORG"), ("e", "bob", 2, 5, "PER"), ("e", "cy", None, None, None),
    ]
)  # fmt: skip


def test_pairs_and_their_mean():
    found = span_f1(SPANS, random_seed=1)
    assert found[["annotator", "other_annotator"]].values.tolist()[1:] == [["ann", "bob"], ["ann", "cy"], ["bob", "cy"]]
    # ann and bob mark three spans each and share one; cy read e alone and marked nothing.
    assert found["f1"].tolist() == pytest.approx([1 / 9, 1 / 3, 0, 0])
    assert found["n_documents"].tolist() == [2, 2, 1, 1]
    assert span_f1(SPANS, match="overlap", random_seed=1)["f1"].tolist()[1] == pytest.approx(2 / 3)


@pytest.mark.filterwarnings("default:no interval of F1 where:UserWarning")
def test_an_interval_needs_three_documents_in_common():
    """One document gave 1/3 [1/3, 1/3]: weights of documents say nothing of so few."""
    more = frame([("f", "ann", 1, 2, "ORG"), ("f", "bob", 1, 2, "ORG")])
    with pytest.warns(UserWarning, match="no interval of F1 where annotators read fewer than 3 documents in common"):
        found = span_f1(pd.concat([SPANS, more]), random_seed=1)
    assert found["n_documents"].tolist() == [3, 3, 1, 1]
    assert found["lower"].isna().tolist() == found["upper"].isna().tolist() == [False, False, True, True]
    assert ((found["lower"] < found["f1"]) & (found["f1"] < found["upper"])).tolist() == [True, True, False, False]


def test_a_span_matches_once():
    rows = frame([("d", "ann", 0, 9, "A"), ("d", "bob", 0, 3, "A"), ("d", "bob", 4, 9, "A")])
    assert span_f1(rows, match="overlap", random_seed=1)["f1"].iloc[0] == pytest.approx(2 / 3)


def test_order_of_rows_does_not_matter():
    shuffled = SPANS.sample(frac=1, random_state=3)
    left, right = (span_f1(rows, match="overlap", random_seed=2) for rows in (SPANS, shuffled))
    assert left["f1"].tolist() == pytest.approx(right["f1"].tolist())


def test_refused():
    with pytest.raises(InputError, match="no two annotators read the same document"):
        span_f1(SPANS.loc[SPANS["annotator"] == "ann"])
    with pytest.raises(InputError, match="nobody marked a span"):
        span_f1(frame([("d", "ann", None, None, None), ("d", "bob", None, None, None)]))


def test_spans_that_touch_or_have_another_label_do_not_match():
    rows = frame([
        ("d", "ann", 0, 3, "A"), ("d", "ann", 5, 9, "A"), ("d", "bob", 3, 5, "A"), ("d", "bob", 8, 12, "A"),
        ("d", "bob", 5, 8, "B"),
    ])  # fmt: skip
    assert span_f1(rows, match="overlap", random_seed=1)["f1"].iloc[0] == pytest.approx(2 * 1 / 5)
    assert span_f1(rows, random_seed=1)["f1"].iloc[0] == 0
    nested = frame([("d", "ann", 0, 9, "A"), ("d", "ann", 1, 2, "A"), ("d", "bob", 1, 2, "A"), ("d", "bob", 3, 9, "A")])
    assert span_f1(nested, match="overlap", random_seed=1)["f1"].iloc[0] == 1  # the one that ends first
