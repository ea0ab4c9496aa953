"""Inspect runs evaluations with a model that needs no network, and shows what this package adds to them."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import bayesagree as ba

# Not imported here: collecting the tests would take seconds longer in each process.
pytestmark = [pytest.mark.integrations, pytest.mark.skipif(find_spec("inspect_ai") is None, reason="no inspect_ai")]

VOTES = [["yes", "yes", "yes"], ["no", "no", "yes"], ["yes", "no", "no"], ["no", "no", "no"]] * 5
RNG = np.random.default_rng(5)
PASSED = RNG.random(200) < 0.6
PEOPLE = np.where(RNG.random(200) < 0.9, PASSED, ~PASSED)


def target(right):
    return "yes" if right else "no"


def tasks():
    voted = [{"id": i, "target": "yes", "metadata": {"votes": votes}} for i, votes in enumerate(VOTES)]
    judged = [
        {"id": i, "target": target(right), "metadata": {"human": [bool(person)]} if i < 60 else {}}
        for i, (right, person) in enumerate(zip(PASSED, PEOPLE))
    ]
    unsure = [{"id": 1, "target": "yes", "metadata": {"human": 0.5}}]
    return {
        "words": ("uncertain_accuracy", "votes", voted),
        "rates": ("corrected_rate", "human", judged),
        "no_votes": ("uncertain_accuracy", "ratings", voted),
        "no_people": ("corrected_rate", "people", judged),
        "unsure": ("corrected_rate", "human", unsure),
    }


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """What Inspect showed of each task, by its name."""
    folder = tmp_path_factory.mktemp("inspect")
    path = folder / "tasks.json"
    path.write_text(json.dumps(tasks()), encoding="utf-8")
    script = Path(__file__).with_name("inspect_tasks.py")
    done = subprocess.run([sys.executable, script, path, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def test_accuracy_against_votes_is_that_of_evaluate(logs):
    votes = ba.Labels.from_counts([[vote.count("no"), vote.count("yes")] for vote in VOTES], labels=["no", "yes"])
    models = ba.Predictions.from_labels({"model": ["yes"] * 20}, labels=["no", "yes"])
    expected = ba.evaluate(votes, models, metrics=("accuracy",), draws=1000, random_seed=0)["posterior"]["accuracy"]
    found = logs["words"]["values"]
    assert found["accuracy"] == pytest.approx(float(expected.mean()), abs=1e-12)
    assert found["lower"] < found["accuracy"] < found["upper"]


def test_epochs_of_a_log_that_inspect_wrote_are_runs(logs, tmp_path):
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(logs["words"]["log"])
    again = [sample.model_copy(update={"epoch": 2}, deep=True) for sample in log.samples]
    for sample in again[:5]:
        sample.scores["word"].answer = "no"
    log.samples, log.eval.config.epochs = [*log.samples, *again], 2
    write_eval_log(log, str(tmp_path / "epochs.eval"))
    runs = ba.read_predictions(tmp_path / "epochs.eval")
    assert runs.model_names.tolist() == ["mockllm/model"] and runs.items.size == 20
    assert (runs.categories[runs.label_index] == "yes").sum(axis=1).tolist() == [20, 15]


def test_on_task_end_writes_the_report_beside_the_log_of_the_metric_alone(logs):
    log = Path(logs["words"]["log"])
    written = {name: result["on_task_end"] for name, result in logs.items()}
    assert written == {name: [f"{log.stem}.word.report.html"] if name == "words" else [] for name in logs}
    assert list(log.parent.glob("*.report.html")) == [log.with_name(f"{log.stem}.word.report.html")]
    assert "words: mockllm/model" in log.with_name(f"{log.stem}.word.report.html").read_text(encoding="utf-8")


def test_rate_is_corrected_by_people(logs):
    judge = ba.Labels.from_matrix(PASSED[:, None].tolist(), labels=[False, True])
    people = ba.Labels.from_matrix(PEOPLE[:60, None].tolist(), items=range(60), labels=[False, True])
    expected = ba.corrected_rate(judge, people, positive=True, random_seed=0)["posterior"]["rate"]
    found = logs["rates"]["values"]
    assert found["raw"] == pytest.approx(PASSED.mean())
    assert found["rate"] == pytest.approx(float(expected.mean()), abs=1e-12)
    assert found["lower"] < PEOPLE.mean() < found["upper"]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("no_votes", "no sample has votes: metadata['ratings']"),
        ("no_people", "no sample has 'people' in its metadata"),
        ("unsure", "the verdict 0.5 on sample 1 is not right (1) or wrong (0)"),
    ],
)
def test_what_is_missing_is_named(logs, task, message):
    assert message in logs[task]["error"]
