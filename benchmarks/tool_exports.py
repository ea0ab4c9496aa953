r"""Writes the files of tests/io/exported, each by the library of its tool, or by a server of it on this machine.

Tests read the stored files.

uv run --no-project --with label-studio-sdk==2.1.2 benchmarks/tool_exports.py label_studio
uv run --no-project --python 3.11 --with "argilla==1.29.1" benchmarks/tool_exports.py argilla
uv run --no-project --python 3.11 --with argilla==2.8.0 --with requests benchmarks/tool_exports.py argilla_spans
uv run --no-project --with braintrust==0.48.1 --with pytest benchmarks/tool_exports.py braintrust
uv run --no-project --python 3.10 --with "doccano==1.8.4" --with "numpy<2" --with "marshmallow<4" \
    --with "setuptools<80" benchmarks/tool_exports.py doccano
uv run --no-project --python 3.11 --with arize-phoenix==20.26.1 benchmarks/tool_exports.py phoenix
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parents[1] / "tests" / "io" / "exported"
USERS = [f"00000000-0000-0000-0000-00000000000{k}" for k in (1, 2)]
VOTES = [("one", [("sad", 2), ("glad", 4)]), ("two", [("glad", 5), ("glad", 4)])]


def label_studio():
    """Tasks, annotations and predictions by the models of the SDK, regions by the controls of a labelling interface."""
    from label_studio_sdk.label_interface import LabelInterface
    from label_studio_sdk.label_interface.objects import AnnotationValue, PredictionValue, TaskValue

    interface = LabelInterface(
        '<View><Text name="text" value="$text"/><Choices name="mood" toName="text"><Choice value="sad"/>'
        '<Choice value="glad"/></Choices><Rating name="stars" toName="text"/>'
        '<Labels name="ner" toName="text"><Label value="PER"/></Labels></View>'
    )
    mood, stars, ner = (interface.get_control(name) for name in ("mood", "stars", "ner"))

    def regions(label, rating, *spans):
        return [mood.label(label), stars.label(rating=rating)] + [
            ner.label(label=["PER"], start=start, end=end) for start, end in spans
        ]

    tasks = []
    for number, (text, votes) in enumerate(VOTES, 1):
        given = [
            AnnotationValue(completed_by=who, result=regions(*vote, (0, 3)))
            for who, vote in enumerate(votes, 7)
        ]
        given.append(AnnotationValue(completed_by=9, was_cancelled=True, result=[]))
        guess = PredictionValue(model_version="m1", result=[mood.label("glad")])
        task = TaskValue(data={"text": text}, annotations=given, predictions=[guess])
        tasks.append({"id": number} | json.loads(task.model_dump_json()))
    return "label_studio.json", tasks


def argilla():
    """Records of a feedback dataset of version 1."""
    import argilla as rg

    records = [
        rg.FeedbackRecord(
            external_id=text,
            fields={"text": text},
            responses=[
                {
                    "user_id": who,
                    "status": "submitted",
                    "values": {"mood": {"value": label}, "stars": {"value": rating}},
                }
                for who, (label, rating) in zip(USERS, votes)
            ]
            + [{"user_id": USERS[0][:-1] + "3", "status": "discarded", "values": {"mood": {"value": "sad"}}}],
            suggestions=[{"question_name": "mood", "value": "glad", "agent": "m1"}],
        )
        for text, votes in VOTES
    ]
    dataset = rg.FeedbackDataset(
        fields=[rg.TextField(name="text")],
        questions=[
            rg.LabelQuestion(name="mood", labels=["sad", "glad"]),
            rg.RatingQuestion(name="stars", values=[1, 2, 3, 4, 5]),
        ],
    )
    dataset.add_records(records)
    return "argilla_1.json", [json.loads(record.json()) for record in dataset.records]


def argilla_spans():
    """Records of version 2 with marked spans, nested and flat; the third person marked nothing."""
    import argilla as rg
    from argilla.records._io import GenericIO

    users, person = [*USERS, USERS[0][:-1] + "3"], [{"start": 5, "end": 8, "label": "PER"}]
    records = [
        rg.Record(
            id=text,
            fields={"text": f"{text}: Ada met Bob"},
            responses=[
                rg.Response("ner", spans, user_id=who, status="submitted")
                for who, spans in zip(users, (person, person, []))
            ],
        )
        for text, _ in VOTES
    ]
    flat = GenericIO.to_list(records, flatten=True)
    (HERE / "argilla_spans_flat.json").write_text(json.dumps(flat, indent=1) + "\n")
    return "argilla_spans.json", [record.to_dict() for record in records]


def braintrust():
    """Events of an experiment as its logger would send them, kept in memory; reviews are spans below a row."""
    from braintrust import logger
    from braintrust.test_helpers import simulate_login
    from braintrust.util import LazyValue

    simulate_login()
    project, name = (logger.ObjectMetadata(id=one, name=one, full_info={}) for one in ("project", "experiment"))
    metadata = logger.ProjectExperimentMetadata(project=project, experiment=name)
    with logger._internal_with_memory_background_logger() as memory:
        experiment = logger.Experiment(LazyValue(lambda: metadata, use_mutex=False))
        for question, expected, votes in (("1+1", "2", (1.0, 0.0)), ("2+2", "4", (0.0, 0.0))):
            with experiment.start_span(name="eval", type="eval", input=question, expected=expected) as row:
                row.log(output="2", scores={"correct": float(expected == "2")})
                for who, score in zip(("ann", "bob"), votes):
                    with row.start_span(name=who, type="review") as review:
                        review.log(scores={"helpful": score})
        experiment.flush()
        events = memory.pop()
    return "braintrust.json", [
        {key: event[key] for key in event if key not in ("context", "created")} for event in events
    ]


def doccano():
    """Exports of the server itself, on a database of its own: labels and spans per annotator, and merged labels."""
    (backend,) = importlib.util.find_spec("backend").submodule_search_locations
    sys.path.insert(0, backend)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings.development",
            "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
        }
        import django
        from django.conf import settings
        from django.core.management import call_command

        django.setup()
        settings.MEDIA_ROOT = folder
        call_command("migrate", verbosity=0)
        call_command("create_roles")
        for name, kind, merged in (
            ("labels", "labels", False),
            ("spans", "spans", False),
            ("merged", "labels", True),
        ):
            shutil.move(_doccano_project(kind, merged), HERE / f"doccano_{name}.zip")


def _doccano_project(kind, merged):
    """Path of the export of a project of text classification, or of sequence labelling."""
    from data_export.celery_tasks import export_dataset
    from django.contrib.auth.models import User
    from examples.models import Example
    from label_types.models import CategoryType, SpanType
    from labels.models import Category, Span
    from projects.models import Member, SequenceLabelingProject, TextClassificationProject
    from roles.models import Role

    make, task = {
        "labels": (TextClassificationProject, "DocumentClassification"),
        "spans": (SequenceLabelingProject, "SequenceLabeling"),
    }[kind]
    users = [User.objects.get_or_create(username=who)[0] for who in ("ann", "bob", "cy")]
    options = {"project_type": task, "created_by": users[0], "collaborative_annotation": merged}
    project = make.objects.create(name=kind, **options)
    for user in users:
        Member.objects.get_or_create(user=user, project=project, role=Role.objects.get(name="annotator"))
    types = {
        name: (CategoryType if kind == "labels" else SpanType).objects.create(project=project, text=name)
        for name in ("glad", "sad", "PER")
    }
    for text, votes in VOTES:
        example = Example.objects.create(project=project, text=f"{text}: Ada met Bob")
        for user, (label, _) in zip(users, votes):
            if kind == "labels":
                Category.objects.create(example=example, user=user, label=types[label])
                continue
            ends = {"label": types["PER"], "start_offset": len(text) + 2, "end_offset": len(text) + 5}
            Span.objects.create(example=example, user=user, **ends)
    return export_dataset(project.id, "JSONL")


def phoenix():
    """Annotations as the server answers, and as its client makes a data frame of the answer."""
    from phoenix.client import Client

    base, spans = "http://127.0.0.1:6061", [str(number).rjust(16, "a") for number in (1, 2)]
    with tempfile.TemporaryDirectory() as folder:
        set_up = {"PHOENIX_WORKING_DIR": folder, "PHOENIX_PORT": "6061", "PHOENIX_GRPC_PORT": "6062"}
        server = subprocess.Popen(
            [sys.executable, "-m", "phoenix.server.main", "serve"],
            env=os.environ | set_up | {"PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false"},
        )
        try:
            _wait(base)
            client = Client(base_url=base).spans
            hour = "2026-01-01T00:00:00+00:00"
            told = {
                "name": "answer",
                "span_kind": "LLM",
                "status_code": "OK",
                "start_time": hour,
                "end_time": hour,
            }
            contexts = [{"trace_id": span.rjust(32, "b"), "span_id": span} for span in spans]
            client.log_spans(
                project_identifier="default",
                spans=[told | {"context": one, "attributes": {}} for one in contexts],
            )
            time.sleep(5)  # the server takes spans from a queue
            for span, (_, votes) in zip(spans, VOTES):
                answers = [("HUMAN", who, label, stars) for who, (label, stars) in zip(("ann", "bob"), votes)]
                for kind, who, label, stars in [*answers, ("LLM", "judge", "glad", 1)]:
                    by = {"span_id": span, "annotator_kind": kind, "identifier": who, "sync": True}
                    client.add_span_annotation(annotation_name="mood", label=label, **by)
                    client.add_span_annotation(annotation_name="stars", score=float(stars), **by)
            table = client.get_span_annotations_dataframe(span_ids=spans, project_identifier="default")
            table.to_csv(HERE / "phoenix.csv")
            query = "&".join(f"span_ids={span}" for span in spans)
            with urllib.request.urlopen(
                f"{base}/v1/projects/default/span_annotations?{query}&limit=1000"
            ) as answer:
                return "phoenix.json", json.load(answer)
        finally:
            server.terminate()
            server.wait()


def _wait(base):
    """Return when the server answers, within two minutes."""
    for _ in range(120):
        try:
            urllib.request.urlopen(f"{base}/healthz").close()
            return
        except OSError:
            time.sleep(1)
    raise TimeoutError(base)


if __name__ == "__main__":
    for tool in sys.argv[1:]:
        if tool == "doccano":
            doccano()
            continue
        name, content = {f.__name__: f for f in (label_studio, argilla, argilla_spans, braintrust, phoenix)}[
            tool
        ]()
        (HERE / name).write_text(json.dumps(content, indent=1) + "\n")
