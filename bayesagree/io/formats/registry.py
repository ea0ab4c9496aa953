"""Every format by name, and how a file says which it is. Other packages add theirs by the entry point below."""

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import NamedTuple

from bayesagree.errors import InputError
from bayesagree.io.formats import (
    argilla,
    conll,
    cvat,
    doccano,
    experiments,
    ground_truth,
    inspect_log,
    label_studio,
    labelbox,
    lewidi,
    lm_eval,
    mturk,
    pairwise,
    phoenix,
    preflib,
    prodigy,
    promptfoo,
    snorkel,
)
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found
from bayesagree.io.formats.spreadsheet import LAYOUTS

# Group of entry points; each names a `Format`.
ENTRY_POINT = "bayesagree.formats"


class Format(NamedTuple):
    """Reader of the files of one tool.

    Attributes
    ----------
    name
        As the argument `format` takes it.
    title
        For readers.
    recognise
        Whether a file is of this format, by its fields; quick and without errors.
    read
        (file, question) -> `Found`.
    names
        Roles of columns that `read` finds by the names in ``file.names``.
    """

    name: str
    title: str
    recognise: Callable[[File], bool]
    read: Callable[[File, str | None], Found]
    names: tuple[str, ...] = ()


# Roles that users may name in files of Label Studio.
LABEL_STUDIO = ("item", "annotator")

_BUILT_IN = (
    Format(
        "label_studio", "Label Studio (JSON or JSON-MIN)", label_studio.recognise, label_studio.read, LABEL_STUDIO
    ),
    Format("argilla", "Argilla (records)", argilla.recognise, argilla.read),
    Format("prodigy", "Prodigy (JSON Lines)", prodigy.recognise, prodigy.read),
    Format("doccano", "Doccano (ZIP of annotators)", doccano.recognise, doccano.read),
    Format("labelbox", "Labelbox (export of version 2)", labelbox.recognise, labelbox.read),
    Format("cvat", "CVAT (ZIP of XML for images)", cvat.recognise, cvat.read),
    Format("conll", "CoNLL (ZIP of annotators)", conll.recognise, conll.read),
    Format(
        "ground_truth", "SageMaker Ground Truth (worker responses)", ground_truth.recognise, ground_truth.read
    ),
    Format("mturk", "Mechanical Turk (batch CSV)", mturk.recognise, mturk.read),
    Format("lewidi", "Learning With Disagreements (JSON)", lewidi.recognise, lewidi.read),
    Format("inspect", "Inspect (.eval or JSON log)", inspect_log.recognise, inspect_log.read),
    Format("lm_eval", "lm-evaluation-harness (samples)", lm_eval.recognise, lm_eval.read),
    Format("promptfoo", "promptfoo (JSON)", promptfoo.recognise, promptfoo.read),
    Format("langsmith", "LangSmith (feedback)", experiments.recognise_langsmith, experiments.read_langsmith),
    Format("braintrust", "Braintrust (events)", experiments.recognise_braintrust, experiments.read_braintrust),
    Format("deepeval", "DeepEval (test run)", experiments.recognise_deepeval, experiments.read_deepeval),
    Format("comparisons", "comparisons of two models", pairwise.recognise, pairwise.read),
    Format("phoenix", "Phoenix (span annotations)", phoenix.recognise, phoenix.read),
    Format("snorkel", "Snorkel (matrix of votes)", snorkel.recognise, snorkel.read),
    Format("preflib", "PrefLib (votes of an election)", preflib.recognise, preflib.read),
)


def formats() -> dict[str, Format]:
    """Return every format by name, those of other packages last."""
    known = {record.name: record for record in _BUILT_IN}
    for record in _of_others():
        known.setdefault(record.name, record)
    return known


@cache
def _of_others() -> list[Format]:
    """Formats of other packages: to look for them opens a file of every package that is installed."""
    return [point.load() for point in entry_points(group=ENTRY_POINT)]


def format_of(file: File, name: str | None) -> Format | None:
    """Return the tool whose file this is, or the named one; None for layouts of spreadsheets and any other file."""
    known = formats()
    if name is None:
        return next((record for record in known.values() if record.recognise(file)), None)
    if name in LAYOUTS:
        return None
    if name not in known:
        raise InputError(f"format={name!r} is not one of {', '.join((*known, *LAYOUTS))}")
    return known[name]
