"""Options of the commands: an alias for each that several have, bundles of those that come together, and reading."""

import re
from collections.abc import Collection
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, BadParameter, Option, echo

from bayesagree.errors import InputError, shorten

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations.annotators import Annotators
    from bayesagree.annotations.groups import Groups


# Options that stand on the command line, by the names of their parameters.
GIVEN: ContextVar[dict[str, str]] = ContextVar("GIVEN")


def unused(why: str, *names: str, but: Collection[str] = ()) -> None:
    """Refuse these of the options on the command line, or else all but some, which would not be used."""
    given = GIVEN.get({})
    for name in names or given.keys() - {*but}:
        if name in given:
            raise InputError(f"{given[name]} is not used {why}; leave it out")


def names(text: str) -> list[str]:
    """Split a comma-separated list of names."""
    return [name.strip() for name in text.split(",")]


def numbers(text: str) -> list[Any]:
    """Split a comma-separated list of numbers; whole ones are whole."""
    try:
        return [int(part) if part.strip("- ").isdigit() else float(part) for part in text.split(",")]
    except ValueError:
        raise BadParameter(f"{text!r} is not a list of numbers such as 0.1,1,10") from None


def label_names(text: str) -> Any:
    """Split a list of labels; all of them whole numbers are numbers, and a single one is the number of labels."""
    found = names(text)
    if {*found} <= {"True", "False"}:
        return [name == "True" for name in found]
    if not all(re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", name) for name in found):
        return found
    return numbers(text) if len(found) > 1 else numbers(text)[0]


# What an option may name, or not.
Text = str | None
File = Path | None
Json = Annotated[bool, Option("--json", help="Print one JSON document: each table as a list of records.")]
TableFile = Annotated[File, Option("--output", "-o", help="Write the table here (.csv, ...).")]
ResultFile = Annotated[File, Option("--output", "-o", help="Keep the result: a .nc file.")]
Seed = Annotated[int, Option("--seed", help="Same seed, same draws.")]
Draws = Annotated[int, Option(min=1, help="Draws per chain.")]
PlausibilityName = Annotated[Text, Option(help="Posterior of the truth: a name, or a trace (.nc).")]
Reliabilities = Annotated[Any, Option(parser=numbers, help="Weights of an annotation, such as 0.1,1,10.")]
Items = Annotated[Literal["fixed", "bootstrap"], Option(help="This test set, or items are a sample.")]
Missing = Annotated[Literal["error", "skip", "wrong"], Option(help="Items that a model predicts nothing for.")]
Duplicates = Annotated[Literal["error", "keep", "first", "last"], Option(help="Repeated (item, annotator).")]
Kind = Literal["labels", "ratings", "rankings", "comparisons"]
# The way out of a command that is for labels alone.
AS_LABELS = "--kind labels --label COLUMN reads a column as labels (where ranks are rows: --duplicates first)"
Threshold = Annotated[float | None, Option(help="For ratings: is the mean below this value or not?")]
AllowUnmixed = Annotated[bool, Option("--allow-unmixed", help="Give a result even if chains disagree.")]
AnnotatorsFile = Annotated[File, Option(help="Features: one row per annotator, any columns.")]
Group = Annotated[Text, Option(help="Features of annotators to group by, comma separated.")]
GoldFile = Annotated[File, Option(help="Items whose true label is known: columns item and label.")]
RiskFile = Annotated[File, Option(help="Risk of each label: columns label and risk.")]
ItemFeatures = Annotated[File, Option(help="Features: one row per item, any columns.")]
ContentsFile = Annotated[File, Option(help="What annotators see of each item, for --tool.")]
Labels = Annotated[Any, Option(parser=label_names, help="All labels in their order, or their number.")]
NoAnswers = Annotated[Any, Option("--missing-labels", parser=names, help="Labels for no answer, such as n/a.")]
Scale = Annotated[Any, Option(parser=numbers, metavar="LOW,HIGH", help="Lowest, highest rating, such as 1,5.")]
ModelColumn = Annotated[str, Option(help="Column of the predictions that names the model.")]


@dataclass(frozen=True)
class Sampling:
    """Number of draws and chains, and their seed."""

    draws: Draws = 1000
    chains: Annotated[int, Option(min=1, help="Chains.")] = 4
    random_seed: Seed = 1


@dataclass(frozen=True)
class ShortSampling(Sampling):
    """The same with fewer draws, for commands that draw many parameters or several posteriors."""

    draws: Draws = 500


@dataclass(frozen=True)
class Columns:
    """Names of the columns of annotations."""

    item: Annotated[str, Option(help="Column that names the item.")] = "item"
    annotator: Annotated[str, Option(help="Column that names the annotator.")] = "annotator"
    label: Annotated[str, Option(help="Column of the label.")] = "label"
    rating: Annotated[str, Option(help="Column of the rating.")] = "rating"
    rank: Annotated[str, Option(help="Column of the rank; equal ranks are ties.")] = "rank"


@dataclass(frozen=True)
class Source(Columns):
    """Annotations: a file and its columns, or the name of a public data set."""

    annotations: Annotated[File, Argument(help="A table or an export of a tool, or a folder of such.")] = None
    data: Annotated[Text, Option(help="A public data set by name, instead of files.")] = None
    format: Annotated[Text, Option(help="Tool or layout of the file (detected by default).")] = None
    question: Annotated[Text, Option(help="Which question, if the file has several.")] = None
    kind: Annotated[Kind | None, Option(help="If the columns do not decide it.")] = None
    scale: Scale = None
    step: Annotated[float | None, Option(help="Distance of the levels of the scale.")] = None
    labels: Labels = None
    duplicates: Duplicates = "error"
    no_annotator: Annotated[bool, Option("--no-annotator", help="No column names the annotator.")] = False
    na_values: NoAnswers = None
    merge_similar: Annotated[bool, Option("--merge-similar", help="Ignore case and spaces of labels.")] = False
    ordered: Annotated[bool | None, Option("--ordered/--unordered", help="Do labels have an order?")] = None

    @cached_property
    def found(self) -> Any:
        """All that the file holds, or the data set of the name."""
        if (self.annotations is None) == (self.data is None):
            raise InputError("give either a file of annotations or --data NAME, not both and not neither")
        if self.data is not None:
            from bayesagree.datasets import load

            of_files = {one.name for one in fields(Source)} - {"data", "ordered", "item", "annotator", "label"}
            unused(f"with --data {self.data}, which is read as it is", *sorted(of_files))
            return load(self.data)
        from bayesagree.io.exports import read_export

        given = {one.name: getattr(self, one.name) for one in fields(Source)}
        file, _, nobody = (given.pop(name) for name in ("annotations", "data", "no_annotator"))
        how = {name: value for name, value in given.items() if value is not None}
        return read_export(str(file), **how | ({"annotator": None} if nobody else {}))

    def read(self) -> tuple[Any, Any]:
        """Read annotations, and the predictions that come with them, if any do."""
        found = self.found
        for sentence in found.sentences() if self.data is None else ():
            echo(f"{self.annotations}: {sentence}", err=True)
        if found.annotations is None:
            raise InputError(f"{self.annotations} ({found.format}) holds outputs of models, no annotations")
        given = found.annotations
        if self.ordered is not None and given.kind == "labels":  # of a named data set too
            given = replace(given, ordered=self.ordered)
        return given, found.predictions

    def features(self, path: Path | None) -> "Annotators | None":
        """Read the features of the annotators from a file, or take those that come with the named data set."""
        from bayesagree.annotations.annotators import Annotators

        if path is not None:
            from bayesagree.annotations._words import guessed_columns
            from bayesagree.io.tables import read_table

            table = read_table(path)
            (who,) = guessed_columns(table.columns, annotator=self.annotator)
            return Annotators.from_table(table, annotator=who)
        found = None if self.data is None else self.found.extra.get("annotators")
        return None if found is None else Annotators.from_table(found)

    def gold(self, path: Path | None, annotations: Any, models: Any = None) -> dict[Any, Any] | None:
        """Read the true labels of some items from a table; those of other items are left out."""
        if path is None:
            return None
        if annotations.kind != "labels":
            raise InputError(f"--gold is for labels, not for {annotations.kind}")
        truth = by_item(path, self.item, self.label, "gold", "truth", labels=annotations.categories)
        gold = truth[truth.index.isin((models or annotations).items)].to_dict()
        if not gold:
            raise InputError(f"{str(path)!r}: none of its items has labels in the annotations")
        if left := [item for item in truth.index if item not in gold]:
            echo(
                f"{path}: left out {len(left)} of {len(truth)} items, on which there is no label: {shorten(left)}",
                err=True,
            )
        return gold


@dataclass(frozen=True)
class WithPredictions(Source):
    """Annotations and predictions: these come from a file of their own or with the annotations, if at all."""

    predictions: Annotated[File, Argument(help="Columns model, item, and label or scores.")] = None
    model: ModelColumn = "model"
    predictions_item: Annotated[Text, Option(help="Column of their items, if not --item.")] = None
    predictions_label: Annotated[Text, Option(help="Column of their labels, if not --label.")] = None

    def read(self, *, needed: bool = False) -> tuple[Any, Any]:
        """Read annotations and predictions."""
        annotations, known = super().read()
        if self.predictions is not None:
            from bayesagree.io.predictions import read_outputs

            item, label = self.predictions_item or self.item, self.predictions_label or self.label
            kind = annotations.kind
            two = annotations.categories.tolist() if kind == "labels" else None  # of one probability an item
            how = {"item": item, "label": label, "model": self.model, "two": two}
            how["spelled"] = annotations.categories.tolist() if self.merge_similar and kind != "ratings" else ()
            known = read_outputs(self.predictions, **how, numbers=kind == "ratings")
        if needed and known is None:
            raise InputError("there are no predictions: give a file of predictions")
        return annotations, known


@dataclass(frozen=True)
class Scoring:
    """How models are scored, as `evaluate` takes it."""

    plausibility: PlausibilityName = None
    reliability: Reliabilities = None
    metrics: Annotated[Any, Option("--metrics", "--metric", parser=names, help="f1_macro,module:function.")] = (
        None
    )
    items: Items = "fixed"
    missing: Missing = "error"
    gold: GoldFile = None
    risk: RiskFile = None
    threshold: Threshold = None
    allow_unmixed: AllowUnmixed = False

    def given(self, label: str) -> dict[str, Any]:
        """Return what was given as arguments of `evaluate`, but the file of gold; `label` is the column of labels."""
        found = {name: value for name, value in vars(self).items() if value is not None and name != "gold"}
        if self.risk is not None:
            found["risk"] = by_item(self.risk, label, "risk", "level").to_dict()
        found |= {name: tuple(found[name]) for name in ("reliability", "metrics") if name in found}
        return found | {"plausibility": name_or_trace(self.plausibility)}


def by_item(path: Path, item: str, *columns: str, labels: Any = None) -> Any:
    """Read a column of a table, the first of these that is there, as a series by item."""
    from bayesagree.annotations._words import named_columns
    from bayesagree.io.tables import read_table

    table = read_table(path, labels)
    (key,) = named_columns(table.columns, item=item)
    column = next((name for name in columns if name in table.columns), columns[0])
    if missing := [name for name in (key, column) if name not in table.columns]:
        there = ", ".join(map(str, table.columns))
        raise InputError(f"{str(path)!r} has no column {missing[0]!r}; it has {there}")
    told = table.drop_duplicates([key, column]).set_index(key)[column]
    if (twice := told.index[told.index.duplicated()]).size:
        raise InputError(f"{str(path)!r} says {shorten(told[twice[:1]])} of {twice[0]!r}; leave one of them")
    return told


def one_named(text: str, known: list[Any]) -> Any:
    """Return what has this name among those that are known, such as a label that is a number, or else the name."""
    return next((name for name in known if str(name) == text), text)


def groups_of(annotations: Any, people: "Annotators | None", features: str) -> "Groups":
    """Group the annotators by the named features."""
    from bayesagree.annotations.groups import Groups

    if people is None:
        raise InputError(f"--group {features} needs the features of the annotators: give --annotators FILE")
    return Groups.by_features(annotations, people, names(features))


def item_groups(path: Path | None, item: str, **columns: str | None) -> dict[str, Any]:
    """Read the requested columns of the item features, as series by item."""
    requested = {option: column for option, column in columns.items() if column is not None}
    if path is not None and not requested:
        raise InputError(f"--item-features {path} is not used: name a column of it, --{' or --'.join(columns)}")
    if path is None and requested:
        option = next(iter(requested))
        raise InputError(f"--{option} names a column of the items: give their table, --item-features FILE")
    return {option: by_item(Path(path or ""), item, column) for option, column in requested.items()}


def name_or_trace(plausibility: str | None) -> "str | xr.DataTree":
    """Return the name of a posterior as it is, and the trace that the file of this name keeps."""
    from bayesagree.io.files import read_result

    return (
        read_result(plausibility) if plausibility and plausibility.endswith(".nc") else plausibility or "auto"
    )
