"""MLflow with a tracking store of its own: assessments are read, results are logged and found again."""

import json

import numpy as np
import pytest

import bayesagree as ba
from bayesagree.errors import InputError

pytestmark = [pytest.mark.integrations, pytest.mark.filterwarnings("default")]  # warnings of MLflow's own dependencies

HUMAN = {"ann": ["yes", "no", "yes"], "bob": ["yes", "yes", None]}
JUDGE, PROGRAM = ["no", "no", "yes"], ["no", "yes", "yes"]


@pytest.fixture(scope="module")
def mlflow():
    """Give the module, imported here: collecting the tests would take seconds longer in each process."""
    return pytest.importorskip("mlflow")


@pytest.fixture(scope="module")
def store(mlflow, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.create_experiment("answers", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment("answers")
    return folder


@pytest.fixture(scope="module")
def traces(mlflow, store):
    """Ids of three traces with feedback by two people, a judge and a program, and an expectation."""
    from mlflow.entities import AssessmentSource

    ids = []
    for number in range(3):
        with mlflow.start_span(name="answer") as span:
            span.set_inputs({"question": number})
        ids.append(span.trace_id)
    mlflow.flush_trace_async_logging()

    def log(item, kind, who, value, name="safe"):
        source = AssessmentSource(source_type=kind, source_id=who)
        mlflow.log_feedback(trace_id=item, name=name, value=value, source=source)

    for who, values in HUMAN.items():
        for item, value in zip(ids, values):
            if value is not None:
                log(item, "HUMAN", who, value)
    for item, judge, program in zip(ids, JUDGE, PROGRAM):
        log(item, "LLM_JUDGE", "gpt", judge)
        log(item, "CODE", "rules", program)
    log(ids[0], "HUMAN", "ann", 3, name="stars")
    mlflow.log_expectation(trace_id=ids[1], name="safe", value="no")
    return ids


@pytest.mark.parametrize("form", ["pandas", "list"])
def test_assessments_of_each_source(mlflow, traces, form):
    from bayesagree.integrations.mlflow import read_assessments

    found = read_assessments(mlflow.search_traces(return_type=form), name="safe")
    votes = {(row.item, row.annotator): row.label for row in found.annotations.to_long().itertuples()}
    expected = {(i, who): v for who, values in HUMAN.items() for i, v in zip(traces, values) if v is not None}
    assert votes == expected
    judged = {row.item: row.label for row in found.judges.to_long().itertuples()}
    assert judged == dict(zip(traces, JUDGE))
    assert found.predictions.models.tolist() == ["rules"]
    assert found.gold == {traces[1]: "no"}
    assert found.left_out == {}


def test_ratings_need_a_name_and_a_scale(mlflow, traces):
    from bayesagree.integrations.mlflow import read_assessments

    frame = mlflow.search_traces(return_type="pandas")
    with pytest.raises(InputError, match=r"people assessed 'safe', 'stars'; choose one with name="):
        read_assessments(frame)
    ratings = read_assessments(frame, name="stars", scale=(1, 5), step=1).annotations
    assert isinstance(ratings, ba.Ratings)
    assert ratings.n_annotations == 1


def test_replaced_and_failed_assessments_are_counted(mlflow, traces):
    from bayesagree.integrations.mlflow import read_assessments

    frame = mlflow.search_traces(return_type="pandas").loc[lambda table: table["trace_id"] == traces[0]]
    (given,) = frame["assessments"]
    extra = [given[0] | {"valid": False}, given[0] | {"feedback": {"value": None, "error": {"error_code": "Timeout"}}}]
    found = read_assessments(frame.assign(assessments=[[*given, *extra]]), name="safe")
    assert found.left_out == {"assessments that a later one replaced": 1, "assessments that ended in an error": 1}


def test_result_is_logged_with_intervals_table_and_report(mlflow, store, tmp_path):
    from bayesagree.integrations.mlflow import log_result

    votes = ba.Labels.from_counts(np.array([[3, 0], [0, 3], [2, 1]] * 4))
    models = ba.Predictions.from_labels({"A (v1)": [0, 1, 1] * 4, "B": [1, 1, 1] * 4})
    result = ba.evaluate(votes, models, metrics=("accuracy",), plausibility="dirichlet", draws=200, random_seed=1)
    page = tmp_path / "report.html"
    page.write_text("<p>report", encoding="utf-8")
    with mlflow.start_run() as run:
        log_result(result, report=page)
    logged = mlflow.get_run(run.info.run_id).data.metrics
    scores = result["posterior"]["accuracy"].mean(("chain", "draw"))
    assert logged["A _v1_/accuracy"] == pytest.approx(float(scores.sel(model="A (v1)")))
    assert logged["B/accuracy/lower"] < logged["B/accuracy"] < logged["B/accuracy/upper"]
    table = json.loads(mlflow.artifacts.load_text(f"{run.info.artifact_uri}/scores.json"))
    assert [row[table["columns"].index("model")] for row in table["data"]] == ["A (v1)", "B"]
    assert mlflow.artifacts.load_text(f"{run.info.artifact_uri}/report.html") == "<p>report"
