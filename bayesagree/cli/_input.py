"""What the commands read: a named data set or the user's own files, with the user's own column names."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesagree.errors import InputError

if TYPE_CHECKING:
    from bayesagree.annotations import Annotations
    from bayesagree.annotations.annotators import Annotators
    from bayesagree.patterns.patterns import LabelPatterns, RatingPatterns
    from bayesagree.predictions import Predictions


def stream(
    path: Path | None,
    *,
    columns: dict[str, Any],
    scale: tuple[float, float] | None,
    step: float | None,
    labels: str | None,
) -> "LabelPatterns | RatingPatterns":
    """Read the patterns of a file that is sorted by item: of ratings where a scale is given, else of labels."""
    from bayesagree.patterns.patterns import LabelPatterns, RatingPatterns

    if path is None:
        raise InputError("--streamed reads a file: name it; a named data set fits the memory")
    if scale is None:
        return LabelPatterns.from_file(path, item=columns["item"], label=columns["label"], labels=label_names(labels))
    if step is None:
        raise InputError("--streamed ratings need levels: pass --step; continuous ratings share no patterns")
    return RatingPatterns.from_file(path, scale=scale, step=step, item=columns["item"], rating=columns["rating"])


def read(
    path: Path | None,
    data: str | None,
    *,
    columns: dict[str, Any],
    scale: tuple[float, float] | None,
    step: float | None,
    labels: str | None,
    duplicates: str,
) -> tuple["Annotations", "Predictions | None"]:
    """Read annotations from a file, or a named data set together with its predictions."""
    if (path is None) == (data is None):
        raise InputError("give either a file of annotations or --data NAME, not both and not neither")
    if data is not None:
        from bayesagree.datasets import load

        dataset = load(data)
        return dataset.annotations, dataset.predictions
    from bayesagree.io.files import read_annotations

    if duplicates not in ("error", "keep", "first", "last"):
        raise InputError(f"--duplicates {duplicates!r} is not one of error, keep, first, last")
    names = label_names(labels)
    return read_annotations(str(path), **columns, scale=scale, step=step, labels=names, duplicates=duplicates), None


def annotators(path: Path | None, data: str | None, column: str) -> "Annotators | None":
    """Read the features of the annotators from a file, or take those that come with a named data set."""
    from bayesagree.annotations.annotators import Annotators

    if path is not None:
        from bayesagree.io.files import read_table

        return Annotators.from_table(read_table(path), annotator=column)
    if data is None:
        return None
    from bayesagree.datasets import load

    features = load(data).extra.get("annotators")
    return None if features is None else Annotators.from_table(features)


def label_names(text: str | None) -> list[Any] | None:
    """Split a comma-separated list of labels; all of them whole numbers are numbers."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    return [int(name) for name in names] if all(name.lstrip("-").isdigit() for name in names) else names


def numbers(text: str, option: str) -> list[float]:
    """Split a comma-separated list of numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{option} {text!r} is not a list of numbers such as 0.1,1,10") from None


def dask_client(address: str | None) -> Any:
    """Connect to the Dask scheduler at an address, if there is one."""
    if address is None:
        return None
    if find_spec("distributed") is None:
        raise InputError("--dask needs the extra scale: pip install 'bayesagree[scale]'")
    from distributed import Client

    return Client(address)
