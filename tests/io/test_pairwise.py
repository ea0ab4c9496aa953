"""Files of comparisons: battles of an arena, pairs of MT-Bench, AlpacaEval, Label Studio, Argilla's rankings."""

import json

import pandas as pd
import pytest

from bayesagree import Comparisons, InputError, read_annotations
from bayesagree.io import read_export

BATTLES = [
    {"model_a": "A", "model_b": "B", "winner": "model_a", "judge": "j1", "question_id": 1, "turn": 1},
    {"model_a": "B", "model_b": "C", "winner": "tie (bothbad)", "judge": "j2", "question_id": 1, "turn": 2},
    {"model_a": "C", "model_b": "A", "winner": "model_b", "judge": "j1", "question_id": 2, "turn": 1},
]
OUTCOMES = [("A", "B", "left"), ("B", "C", "tie"), ("C", "A", "right")]


def triples(found):
    assert isinstance(found, Comparisons)
    return sorted(map(tuple, found.to_long()[["left", "right", "winner"]].astype(str).values.tolist()))


@pytest.mark.parametrize("suffix", ["json", "jsonl", "parquet", "csv"])
def test_battles_of_an_arena(tmp_path, suffix):
    path, table = tmp_path / f"battles.{suffix}", pd.DataFrame(BATTLES)
    if suffix == "json":
        path.write_text(json.dumps(BATTLES))
    elif suffix == "jsonl":
        path.write_text("\n".join(map(json.dumps, BATTLES)))
    else:
        getattr(table, f"to_{suffix}")(path, index=False)
    found = read_annotations(path)
    assert triples(found) == OUTCOMES
    assert found.annotators.tolist() == ["j1", "j2"]
    assert found.items.tolist() == ["1, turn 1", "1, turn 2", "2, turn 1"]


def test_both_games_of_a_pair_of_mt_bench(tmp_path):
    pair = {"question_id": 81, "model_1": "A", "model_2": "B", "judge": ["gpt-4", "pair-v2"], "turn": 1}
    rows = [
        pair | {"g1_winner": "model_1", "g2_winner": "model_1"},
        pair | {"question_id": 82, "g1_winner": "model_2", "g2_winner": "error"},
        pair | {"question_id": 83, "g1_winner": "tie", "g2_winner": "model_2"},
    ]
    path = tmp_path / "gpt-4_pair.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    export = read_export(path)
    assert triples(export.annotations) == [
        ("A", "B", "left"), ("A", "B", "right"), ("A", "B", "tie"), ("B", "A", "left"), ("B", "A", "right"),
    ]  # fmt: skip
    assert export.annotations.annotators.tolist() == ["gpt-4 pair-v2"]
    assert export.contents.query("left_out")["number"].tolist() == [1]


@pytest.mark.filterwarnings("ignore:.*preferences between 1 and 2 are read as:UserWarning")
def test_annotations_of_alpaca_eval(tmp_path):
    one = {"instruction": "say hi", "generator_1": "base", "generator_2": "new", "annotator": "gpt"}
    rows = [one | {"preference": weight} for weight in (1.0, 1.98, 1.5, 0, None)]
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(rows))
    found = read_annotations(path)
    assert triples(found) == [("base", "new", "left"), ("base", "new", "right"), *[("base", "new", "tie")] * 2]
    assert not found.order_known
    switched = [one | {"preference": 1.0, "is_switched_output_1_output_2": True}]
    path.write_text(json.dumps(switched))
    found = read_annotations(path)
    assert (triples(found), found.order_known) == ([("new", "base", "right")], True)


def test_pairwise_answers_of_label_studio(tmp_path):
    def answer(who, selected):
        region = {"from_name": "better", "type": "pairwise", "value": {"selected": selected}}
        return {"completed_by": who, "result": [region]}

    data = {"prompt": "say hi", "model_a": "A", "model_b": "B"}
    tasks = [{"id": 1, "data": data, "annotations": [answer(1, "left"), answer(2, "right"), answer(3, "none")]}]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    assert triples(read_annotations(path)) == [("A", "B", "left"), ("A", "B", "right"), ("A", "B", "tie")]
    del data["model_a"]
    path.write_text(json.dumps(tasks))
    assert read_annotations(path, na_values=["none"]).categories.tolist() == ["left", "right"]


def test_rankings_of_argilla(tmp_path):
    def ranked(first, second):
        return [{"value": first, "rank": 1}, {"value": second, "rank": 2}]

    record = {"id": 1, "better.responses": [ranked("A", "B"), ranked("B", "A")], "better.responses.users": ["x", "y"]}
    path = tmp_path / "records.json"
    path.write_text(json.dumps([record]))
    assert read_annotations(path).of_item(0) == [[["A"], ["B"]], [["B"], ["A"]]]
    with pytest.raises(InputError, match="holds rankings, no comparisons; leave kind="):
        read_annotations(path, kind="comparisons")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"winner": "model_c"}, "battles.json.*row 0: winner 'model_c' is neither"),
        ({"model_b": "A"}, "row 0: model 'A' is compared with itself"),
        ({"model_a": None}, "row 0, column 'left': the model is missing"),
    ],
)  # fmt: skip
def test_broken_battles(tmp_path, change, message):
    path = tmp_path / "battles.json"
    path.write_text(json.dumps([BATTLES[0] | change, BATTLES[1]]))
    with pytest.raises(InputError, match=message):
        read_annotations(path)


def test_rows_keep_their_numbers_where_one_has_no_verdict(tmp_path):
    path = tmp_path / "battles.json"
    path.write_text(json.dumps([BATTLES[0] | {"winner": None}, BATTLES[0], BATTLES[1] | {"winner": "model_c"}]))
    with pytest.raises(InputError, match="row 2: winner 'model_c' is neither"):
        read_annotations(path)


def test_sides_and_winners_of_other_names():
    table = pd.DataFrame(
        {
            "prompt": ["p", "q", "r", "s"],
            "response_a": ["new", "old", "new", "old"],
            "response_b": ["old", "new", "old", "new"],
            "preference": ["A", "A", "B", "draw"],
        }
    )
    found = read_annotations(table)
    assert isinstance(found, Comparisons)
    assert found.models.tolist() == ["new", "old"]
    won = {str(found.items[i]): int(o) for i, o in zip(found.item_index, found.outcome)}
    assert won == {"p": 0, "q": 0, "r": 1, "s": 2}
    texts = table.assign(response_a=list("abcd"), response_b=list("efgh"))
    with pytest.raises(InputError, match="hold 8 texts in 4 rows"):
        read_annotations(texts)
    with pytest.raises(InputError, match="winner 'B' is neither of the models compared"):
        read_annotations(table.replace({"new": "A", "old": "C"}))


def test_spellings_of_a_model_or_judge_are_one_on_request():
    sides = {"left": ["GPT", "gpt ", "C"], "right": ["C", "C", "GPT"]}
    spelled = pd.DataFrame(sides | {"winner": ["gpt ", "C", "tie"], "judge": ["Zoë", "Zoe\u0308", "b"]})
    found = read_annotations(spelled, merge_similar=True)
    assert (found.models.tolist(), found.annotators.size) == (["C", "GPT"], 2)
    assert triples(found) == [("C", "GPT", "tie"), ("GPT", "C", "left"), ("GPT", "C", "right")]
    with pytest.raises(InputError, match="row 1: model 'GPT' is compared with itself"):
        read_annotations(spelled.assign(left=["GPT", "gpt ", "GPT"], right=["C", "GPT", "C"]), merge_similar=True)
