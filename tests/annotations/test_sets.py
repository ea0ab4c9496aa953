import pandas as pd
import pytest

from bayesagree import InputError, Labels, agreement_table
from bayesagree.annotations import chosen_labels, label_sets, repeated_labels


def kept(rows):
    return Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]), duplicates="keep")


EMOTIONS = kept(
    [("x", "ann", "fear"), ("x", "ann", "anger"), ("x", "bob", "fear"), ("y", "bob", "joy"), ("y", "ann", "joy")]
)


def test_sets_are_labels():
    assert label_sets(EMOTIONS).to_matrix().to_dict("index") == {
        "x": {"ann": "anger + fear", "bob": "fear"},
        "y": {"ann": "joy", "bob": "joy"},
    }


def test_each_label_is_a_question_of_its_own():
    assert chosen_labels(EMOTIONS, "anger").to_matrix().to_dict("index") == {
        "x": {"ann": "yes", "bob": "no"},
        "y": {"ann": "no", "bob": "no"},
    }
    with pytest.raises(InputError, match="'hope' is not one of the categories, 'anger', 'fear', 'joy'"):
        chosen_labels(EMOTIONS, "hope")


def test_a_person_with_themselves():
    rows = [(1, "ann", "a"), (1, "ann", "a"), (1, "ann", "b"), (2, "ann", "b"), (2, "bob", "b"), (2, "bob", "b")]
    again = repeated_labels(kept(rows))
    assert again.items.tolist() == ["1, ann", "2, bob"]
    assert again.counts().tolist() == [[2, 1], [0, 2]]
    table = agreement_table(again, random_seed=1).set_index("coefficient")
    assert table.loc["percent_agreement", "estimate"] == pytest.approx((1 / 3 + 1) / 2)
    with pytest.raises(InputError, match="nobody labelled an item twice"):
        repeated_labels(kept([(1, "ann", "a"), (1, "bob", "a")]))
