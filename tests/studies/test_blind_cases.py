"""Files of a blind experiment."""

import pandas as pd
import pytest

from bayesagree import InputError
from studies.blind_cases import read_blind_case


@pytest.fixture
def folder(tmp_path):
    systems = pd.DataFrame({"system": ["A", "A", "B", "B"], "task": [1, 2, 1, 2], "label": list("xyxx")})
    systems.to_csv(tmp_path / "systems.csv", index=False)
    pd.DataFrame({"task": [1, 2], "label": ["x", "z"]}).to_csv(tmp_path / "gold.csv", index=False)
    return tmp_path


def test_labels_of_all_files_are_known_and_a_crowd_needs_no_names(folder):
    columns = {"model": "system", "item": "task"}
    case = read_blind_case(folder / "systems.csv", folder / "gold.csv", folder / "gold.csv", **columns)
    assert case.predictions.categories.tolist() == ["x", "y", "z"]
    assert case.gold == {1: "x", 2: "z"}
    assert case.crowd.annotators.tolist() == ["crowd"]
    assert read_blind_case(folder / "systems.csv", **columns).crowd is None


@pytest.mark.parametrize(
    ("gold", "message"),
    [("task,label\n1,x\n1,y\n", "item 1 has more than one row"), ("task,answer\n1,x\n", "no column 'label'")],
)
def test_gold_is_one_label_per_item(folder, gold, message):
    (folder / "gold.csv").write_text(gold)
    with pytest.raises(InputError, match=message):
        read_blind_case(folder / "systems.csv", None, folder / "gold.csv", model="system", item="task")
