import pandas as pd
import pytest

from bayesagree import InputError, Labels
from bayesagree.annotations import chosen_labels
from bayesagree.annotations.sets import sets_and_members


def kept(rows):
    return Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]), duplicates="keep")


EMOTIONS = kept(
    [("x", "ann", "fear"), ("x", "ann", "anger"), ("x", "bob", "fear"), ("y", "bob", "joy"), ("y", "ann", "joy")]
)


def test_sets_are_labels():
    assert sets_and_members(EMOTIONS)[0].to_matrix().to_dict("index") == {
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
