"""Broken files of comparisons: each gets a sentence with place, value, rule and way out."""

import json
import re

import pytest

from bayesagree import InputError, read_annotations
from bayesagree.io.exports import read_export

HEAD = "left,right,winner,annotator,item\nA,B,left,x,1\n"
BATTLE = {"model_a": "A", "model_b": "B", "winner": "model_c"}
OUTPUT = {"instruction": "i", "generator_1": "A", "generator_2": "B", "preference": 7}
PAIR = {"question_id": 81, "model_1": "A", "model_2": "B", "g1_winner": "model_1", "g2_winner": "model_3"}
FILES = {
    "winner.csv": (
        HEAD + "A,C,D,x,2\n",
        r"row 1: winner 'D' is neither of the models .*; correct the",
    ),
    "battle.json": (
        json.dumps([BATTLE]),
        r"row 0: winner 'model_c' is neither of the .*'model_a'.*; correct",
    ),
    "pair.jsonl": (json.dumps(PAIR) + "\n", r"winner 'model_3' is neither of the models compared.*correct the"),
    "output.json": (
        json.dumps([OUTPUT]),
        r"row 0: preference 7 is neither 0 \(a tie\) nor from 1 to 2; correct",
    ),
    "itself.csv": (HEAD + "C,C,left,x,2\n", r"row 1: model 'C' is compared with itself; .*two models; correct or drop"),
    "no_model.csv": (
        HEAD + "A,,left,x,2\n",
        r"row 1: the model in column 'right' is missing; .*fill it in or drop",
    ),
    "no_winner.csv": (
        "left,right,who\nA,B,x\n",
        r"columns 'left', 'right', 'who': comparisons are .*winner=\.\.\.",
    ),
    "no_rows.csv": ("left,right,winner\n", r"is empty: no row below the columns 'left', 'right', 'winner'"),
    "nothing.csv": ("", "is empty: the first line must name the columns"),
    "word.csv": (HEAD + "tie,B,tie,x,1\n", r"row 1, column 'winner': 'tie' is the name of a model and a word.*rename"),
    "short.csv": (HEAD + "A,C\n", "line 3: 2 fields where the header has 5; quote fields .* and fill missing ones"),
    "cut.json": (json.dumps([BATTLE])[:-4], r"line 1: not JSON \(.*\); export it again"),
    "twice.csv": ("left,left,winner\nA,B,left\n", "column 'left' is there twice; give every column a name of its own"),
}


@pytest.mark.parametrize("name", FILES)
def test_sentence(tmp_path, name):
    content, message = FILES[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as caught:
        read_annotations(tmp_path / name, kind="comparisons")
    assert name in str(caught.value)
    assert re.search(message, str(caught.value)), caught.value


def test_what_is_left_out_is_named(tmp_path):
    (tmp_path / "games.csv").write_text(HEAD + "A,C,,x,2\nA,C,tie,,2\n")
    export = read_export(str(tmp_path / "games.csv"), kind="comparisons")
    assert export.annotations.n_comparisons == 2
    assert export.annotations.annotators.size == 0
    assert "1 rows have no 'annotator': the annotator counts as unknown; fill them in or drop them" in export.notes
    assert export.contents.query("left_out")["number"].tolist() == [1]
