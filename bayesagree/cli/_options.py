"""Options of the commands: bundles that several share, and the texts of `options.toml` on each."""

import re
import shlex
import tomllib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import wraps
from importlib.resources import files
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer

from bayesagree.cli import with_options
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Annotations
    from bayesagree.annotations.annotators import Annotators
    from bayesagree.annotations.predictions import Predictions
    from bayesagree.io.exports import Export

KINDS = ("labels", "ratings", "rankings", "comparisons")
DUPLICATES = ("error", "keep", "first", "last")


# Help text of every option by command and parameter; ``shared`` has those of several commands.
OPTIONS = tomllib.loads(files("bayesagree.cli").joinpath("options.toml").read_text(encoding="utf-8"))


def _checked(kind: str) -> Callable[[Path | None], Path | None]:
    """Return what refuses an ending that no table, or no result, is written with, while nothing is computed yet."""

    def checked(path: Path | None) -> Path | None:
        from bayesagree.io.files import require_result
        from bayesagree.io.outputs import require_table

        if path is not None:
            {"table": require_table, "result": require_result}[kind](path)
        return path

    return checked


def described(annotation: Any, command: str, name: str) -> Any:
    """Return the type of a parameter with the flags and the help text that `options.toml` has for it."""
    if get_origin(annotation) is Annotated:
        return annotation
    found = OPTIONS.get(command, {}).get(name) or OPTIONS["shared"][name]
    text: dict[str, Any] = {"help": found} if isinstance(found, str) else dict(found)
    if text.pop("argument", False):
        return Annotated[annotation, typer.Argument(**text)]
    if "check" in text:
        text["callback"] = _checked(text.pop("check"))
    return Annotated[annotation, typer.Option(*text.pop("flags", [f"--{name.replace('_', '-')}"]), **text)]


@dataclass(frozen=True)
class Sampling:
    """Number of draws and chains, and their seed."""

    draws: int = 1000
    chains: int = 4
    seed: int = 1


@dataclass(frozen=True)
class ShortSampling(Sampling):
    """The same with fewer draws, for commands that draw many parameters or several posteriors."""

    draws: int = 500


@dataclass(frozen=True)
class Columns:
    """Names of the columns of annotations."""

    item: str = "item"
    annotator: str = "annotator"
    label: str = "label"
    rating: str = "rating"
    rank: str = "rank"


@dataclass(frozen=True)
class PredictionColumns:
    """Names of the columns of predictions, where they are not those of the annotations."""

    model: str = "model"
    predictions_item: str | None = None
    predictions_label: str | None = None


@dataclass(frozen=True)
class Source(Columns):
    """Annotations: a file and its columns, or the name of a public data set."""

    annotations: Path | None = None
    data: str | None = None
    format: str | None = None
    question: str | None = None
    kind: str | None = None
    scale: tuple[float, float] | None = None
    step: float | None = None
    labels: str | None = None
    duplicates: str = "error"
    no_annotator: bool = False
    missing_labels: str | None = None
    merge_similar: bool = False
    ordered: bool | None = None

    def read(
        self, predictions: Path | None = None, columns: PredictionColumns | None = None
    ) -> tuple[Any, "Predictions | None"]:
        """Read annotations from the file, or the named data set; predictions from their own file, or that of these."""
        annotations, known = self._read()
        numbers = getattr(annotations, "kind", "") == "ratings"
        return annotations, known if predictions is None else self.predictions(predictions, columns, numbers=numbers)

    def _read(self) -> tuple["Annotations", "Predictions | None"]:
        if (self.annotations is None) == (self.data is None):
            raise InputError("give either a file of annotations or --data NAME, not both and not neither")
        if self.data is not None:
            from bayesagree.datasets import load

            dataset = load(self.data)
            given: Any = dataset.annotations
            if self.ordered is not None and given.kind == "labels":
                given = replace(given, ordered=self.ordered)
            return given, dataset.predictions
        export = self.export()
        for note in export.notes:
            typer.echo(f"{self.annotations}: {with_options(note)}", err=True)
        for what, number in export.contents.query("left_out")[["what", "number"]].itertuples(index=False):
            typer.echo(f"{self.annotations}: left out {number} {what}", err=True)
        if export.annotations is None:
            raise InputError(f"{str(self.annotations)!r} ({export.format}) holds outputs of models, no annotations")
        found: Any = export.annotations  # comparisons are refused by the commands that do not take them
        return found, export.predictions

    def export(self) -> "Export":
        """Read all that the file holds."""
        from bayesagree.io.exports import read_export

        if self.annotations is None:
            raise InputError("name a file: it is read and its contents are shown")
        kept = one_of(self.duplicates, "--duplicates", DUPLICATES)
        columns = {name: getattr(self, name) for name in ("item", "annotator", "label", "rating", "rank")}
        names: Any = label_names(self.labels)
        if names and len(names) == 1 and isinstance(names[0], int):
            names = names[0]  # the number of labels, whose names are 0, 1, ...
        kind: Any = None if self.kind is None else one_of(self.kind, "--kind", KINDS)
        scale: Any = {"kind": kind, "scale": self.scale, "step": self.step}
        if self.no_annotator:
            columns["annotator"] = None
        layout: Any = {"format": self.format, "question": self.question, "labels": names, "duplicates": kept}
        layout |= {"na_values": () if self.missing_labels is None else words(self.missing_labels)}
        layout |= {"merge_similar": self.merge_similar, "ordered": self.ordered}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            export = read_export(str(self.annotations), **layout, **columns, **scale)
        for warning in caught:
            typer.echo(str(warning.message), err=True)
        return export

    def as_typed(self) -> str:
        """Return the file and the options that were given, as they are typed."""
        given = [shlex.quote(str(self.annotations))]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("annotations", "data") and value != field.default:
                given.append(f"--{field.name.replace('_', '-')}")
                if value is not True:
                    listed = ",".join(f"{end:g}" for end in value) if isinstance(value, tuple) else str(value)
                    given.append(shlex.quote(listed))
        return " ".join(given)

    def predictions(
        self, path: Path, columns: PredictionColumns | None = None, labels: Any = None, *, numbers: bool = False
    ) -> "Predictions":
        """Read predictions, whose columns of item and label have the names of those of the annotations by default."""
        from bayesagree.io.files import read_predictions

        own = columns or PredictionColumns()
        item, label = own.predictions_item or self.item, own.predictions_label or self.label
        with _flags_of_predictions():
            return read_predictions(path, model=own.model, item=item, label=label, labels=labels, numbers=numbers)

    def features(self, path: Path | None) -> "Annotators | None":
        """Read the features of the annotators from a file, or take those that come with the named data set."""
        from bayesagree.annotations.annotators import Annotators

        if path is not None:
            from bayesagree.io.files import read_table

            return Annotators.from_table(read_table(path), annotator=self.annotator)
        if self.data is None:
            return None
        from bayesagree.datasets import load

        found = load(self.data).extra.get("annotators")
        return None if found is None else Annotators.from_table(found)


@contextmanager
def _flags_of_predictions() -> Iterator[None]:
    """Name the options of the predictions in an error about their columns: --item is that of both files."""
    try:
        yield
    except InputError as error:
        raise InputError(re.sub(r"(?<![\w-])(item|label)=", r"--predictions-\1 ", str(error))) from error


def flattened(function: Callable[..., None], command: str) -> Callable[..., None]:
    """Return a function whose parameters are options: a dataclass of them becomes its fields."""
    parameters: list[Parameter] = []
    bundles: dict[str, Any] = {}
    for parameter in signature(function, eval_str=True).parameters.values():
        own: list[Any] = [parameter]
        bundle: Any = parameter.annotation
        if is_dataclass(parameter.annotation):
            bundles[parameter.name], own = bundle, list(signature(bundle, eval_str=True).parameters.values())
        parameters += [p.replace(kind=p.KEYWORD_ONLY, annotation=described(p.annotation, command, p.name)) for p in own]

    @wraps(function)
    def flat(**given: Any) -> None:
        if given.get("data") is not None and "predictions" in given and given["predictions"] is None:
            # The annotations have a name, so that the one file is that of predictions.
            given["predictions"], given["annotations"] = given["annotations"], None
        for name, bundle in bundles.items():
            given[name] = bundle(**{field.name: given.pop(field.name) for field in fields(bundle)})
        function(**given)

    flat.__signature__ = signature(function).replace(parameters=parameters)  # type: ignore[attr-defined]
    return flat


def read_gold(path: Path, source: Source, items: Any) -> dict[Any, Any]:
    """Read the true labels of some items from a table; those of other items are left out."""
    from bayesagree.io.files import read_table

    table = read_table(path)
    item, label = source.item, source.label
    column = next((c for c in (label, "gold", "truth") if c in table.columns), None)
    if item not in table.columns or column is None:
        raise InputError(f"{str(path)!r} needs the columns {item!r} and {label!r}; it has {', '.join(table.columns)}")
    known = set(items.tolist())
    gold = {i: truth for i, truth in zip(table[item].tolist(), table[column].tolist()) if i in known}
    if not gold:
        raise InputError(f"{str(path)!r}: none of its items has labels in the annotations")
    return gold


def write_items(table: Any, output: Path | None, tool: str | None, contents: Path | None, item: str) -> None:
    """Write a list of items for a tool, if it is to be kept."""
    if output is None:
        return
    from bayesagree.io.outputs import TOOLS
    from bayesagree.io.outputs import write_items as write
    from bayesagree.io.tables import read_table

    seen = None if contents is None else read_table(contents)
    write(table, output, contents=seen, item=item, tool=one_of(tool or "table", "--tool", TOOLS))


def one_of(value: str, option: str, known: tuple[str, ...]) -> Any:
    """Return the value of an option that has few, or refuse it."""
    if value not in known:
        raise InputError(f"{option} {value!r} is not one of {', '.join(known)}")
    return value


def name_or_trace(plausibility: str) -> "str | xr.DataTree":
    """Return the name of a posterior as it is, and the trace that the file of this name keeps."""
    from bayesagree.io.files import read_result

    return read_result(plausibility) if Path(plausibility).suffix == ".nc" else plausibility


def posterior_of(
    truth: Any, models: Any, plausibility: str | None, levels: tuple[float, ...] | None, given: dict[str, Any]
) -> tuple[Any, Any]:
    """Return the requested plausibility, and the record of the posterior that it, or by default ``auto``, names."""
    from bayesagree.plausibility.registry import default_posterior, record_for

    chosen = name_or_trace(plausibility or "auto")
    weighted = given | ({} if levels in (None, (1.0,)) else {"reliability": levels})
    return chosen, record_for(truth, chosen if plausibility else default_posterior(truth, models, weighted).name)


def label_names(text: str | None) -> list[Any] | None:
    """Split a comma-separated list of labels; all of them whole numbers are numbers."""
    if text is None:
        return None
    names = words(text)
    return [int(name) for name in names] if all(name.lstrip("-").isdigit() for name in names) else names


def words(text: str) -> list[str]:
    """Split a comma-separated list of names."""
    return [name.strip() for name in text.split(",")]


def numbers(text: str, option: str, *, whole: bool = False) -> list[Any]:
    """Split a comma-separated list of numbers."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{option} {text!r} is not a list of numbers such as 0.1,1,10") from None
    if not whole:
        return found
    if not all(number.is_integer() for number in found):
        raise InputError(f"{option} {text!r} must be whole numbers")
    return [int(number) for number in found]


def dask_client(address: str | None) -> Any:
    """Connect to the Dask scheduler at an address, if there is one."""
    if address is None:
        return None
    from importlib.util import find_spec

    if find_spec("distributed") is None:
        raise InputError("--dask needs the extra scale: pip install 'bayesagree[scale]'")
    from distributed import Client

    return Client(address)
