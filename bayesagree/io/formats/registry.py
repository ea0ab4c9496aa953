"""Every format by name, and how a file says which it is. Other packages add theirs by the entry point below."""

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import NamedTuple

from bayesagree.errors import InputError
from bayesagree.io.formats import (
    argilla,
    doccano,
    experiments,
    inspect_log,
    label_studio,
    lm_eval,
    pairwise,
    phoenix,
    preflib,
    prodigy,
    promptfoo,
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


def having(*fields: str) -> Callable[[File], bool]:
    """Recognise rows by their fields."""
    return lambda file: file.fields >= {*fields}


def listing(*keys: str) -> Callable[[File], bool]:
    """Recognise JSON by a list below these keys."""

    def recognise(file: File) -> bool:
        content = file.json
        for key in keys:
            content = content.get(key) if isinstance(content, dict) else None
        return isinstance(content, list)

    return recognise


def _is_inspect(file: File) -> bool:
    return file.suffix == ".eval" or (listing("samples")(file) and "eval" in file.json)


# Roles that users may name in files of Label Studio.
LABEL_STUDIO = ("item", "annotator")

_VOTES = (".soc", ".soi", ".toc", ".toi", ".cat")
_BUILT_IN = (
    Format("label_studio", "Label Studio (JSON)", label_studio.recognise, label_studio.read, LABEL_STUDIO),
    Format("argilla", "Argilla (records)", argilla.recognise, argilla.read),
    Format("prodigy", "Prodigy (JSON Lines)", having("_input_hash", "_task_hash", "answer"), prodigy.read),
    Format("doccano", "Doccano (ZIP of annotators)", doccano.recognise, doccano.read),
    Format("inspect", "Inspect (.eval or JSON log)", _is_inspect, inspect_log.read),
    Format(
        "lm_eval", "lm-evaluation-harness (samples)", having("doc_id", "filtered_resps", "target"), lm_eval.read
    ),
    Format("promptfoo", "promptfoo (JSON)", listing("results", "results"), promptfoo.read),
    Format("langsmith", "LangSmith (feedback)", experiments.recognise_langsmith, experiments.read_langsmith),
    Format("braintrust", "Braintrust (events)", experiments.recognise_braintrust, experiments.read_braintrust),
    Format("deepeval", "DeepEval (test run)", listing("testCases"), experiments.read_deepeval),
    Format("comparisons", "comparisons of two models", pairwise.recognise, pairwise.read),
    Format("phoenix", "Phoenix (span annotations)", phoenix.recognise, phoenix.read),
    Format("preflib", "PrefLib (votes of an election)", lambda file: file.suffix in _VOTES, preflib.read),
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
