"""`bayesagree report`: everything about one evaluation on one page for people who know no Bayes."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesagree.cli import _input, _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    from bayesagree.annotations import Annotations
    from bayesagree.annotations.annotators import Annotators
    from bayesagree.report.data import ReportData, Source
    from bayesagree.report.settings import Settings
    from bayesagree.subjective.groups import Groups


def report(
    annotations: _options.AnnotationsFile = None,
    data: _options.Data = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", help="Columns model, item and label, score, or one column per label."),
    ] = None,
    annotators: _options.AnnotatorsFile = None,
    group: Annotated[str | None, typer.Option("--group", help="Features to group by, comma separated.")] = None,
    specification: _options.SpecificationFile = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the page.")] = None,
    plausibility: _options.Plausibility = None,
    reliability: Annotated[
        str | None,
        typer.Option(help="Trust in the annotators, comma separated; the first is the one the headlines are about."),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option(help="Comma separated, such as top_1_accuracy; the first is in the headlines.")
    ] = None,
    items: _options.ItemsAre = "fixed",
    least_certain: Annotated[int, typer.Option(help="How many of the least certain items to list.", min=1)] = 50,
    draws: _options.Draws = 500,
    chains: _options.Chains = 4,
    seed: _options.Seed = 1,
    threshold: _options.Threshold = None,
    model: _options.ModelColumn = "model",
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    rating: _options.RatingColumn = "rating",
    rank: _options.RankColumn = "rank",
    scale: _options.Scale = None,
    step: _options.Step = None,
    labels: _options.LabelNames = None,
    duplicates: _options.Duplicates = "error",
    json: _options.Json = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path("report.html"),
) -> None:
    """Write one self-contained HTML page: agreement, what stays open, models, groups, methods to paste.

    Example: bayesagree report annotations.csv --predictions models.csv --annotators people.csv --group age -o page.html
    """
    _require_jinja2()
    from bayesagree.report.data import report_data
    from bayesagree.report.page import write_report

    columns = {"item": item, "annotator": annotator, "label": label, "rating": rating, "rank": rank}
    truth, models = _input.read(
        annotations, data, columns=columns, scale=scale, step=step, labels=labels, duplicates=duplicates
    )
    if predictions is not None:
        from bayesagree.io.files import read_predictions

        models = read_predictions(predictions, model=model, item=item, label=label)
    people = _input.annotators(annotators, data, annotator)
    settings = _settings(plausibility, reliability, metrics, items, draws, chains, seed, threshold, least_certain)
    complete = settings.fitting(truth, models)
    total = None if models is None else truth.items.size * len(complete.reliability)
    with _output.progress("computing", total) as advance:
        found = report_data(
            truth, models, settings=complete, source=_source(annotations, data), progress=advance,
            groups=_groups(truth, people, group, threshold), annotators=people,
            specification=_specification(specification),
        )  # fmt: skip
        write_report(found, output, title=title)
    _say(found, output, json)


def _require_jinja2() -> None:
    if find_spec("jinja2") is None:
        raise InputError("the report needs the extra report: pip install 'bayesagree[report]'")


def _settings(
    plausibility: str | None, reliability: str | None, metrics: str | None, items: str, draws: int, chains: int,
    seed: int, threshold: float | None, least_certain: int,
) -> "Settings":  # fmt: skip
    from bayesagree.report.settings import Settings

    if items not in ("fixed", "bootstrap"):
        raise InputError(f"--items {items!r} is not one of fixed, bootstrap")
    levels = () if reliability is None else tuple(_input.numbers(reliability, "--reliability"))
    names = () if metrics is None else tuple(name.strip() for name in metrics.split(","))
    return Settings(plausibility or "", levels, names, draws, chains, seed, items, threshold, least_certain)


def _groups(
    truth: "Annotations", people: "Annotators | None", features: str | None, threshold: float | None
) -> "Groups | None":
    from bayesagree.annotations import Rankings
    from bayesagree.subjective.groups import Groups

    if features is None:
        return None
    if people is None:
        raise InputError(f"--group {features} needs the features of the annotators: give --annotators FILE")
    if isinstance(truth, Rankings):
        raise InputError("groups of annotators are compared on labels or ratings, not on rankings; leave out --group")
    return Groups.by_features(truth, people, [name.strip() for name in features.split(",")])


def _specification(path: Path | None) -> Any:
    from bayesagree.subjective.specification import EvaluationSpecification

    return None if path is None else EvaluationSpecification.from_json(path.read_text(encoding="utf-8"))


def _source(path: Path | None, data: str | None) -> "Source":
    from bayesagree.report.data import Source

    if data is None:
        return Source("annotations" if path is None else path.name)
    from bayesagree.datasets import load

    known = load(data)
    return Source(known.name, known.title, known.licence, known.citation)


def _say(data: "ReportData", output: Path, json: bool) -> None:
    from bayesagree.report.headlines import headlines

    sentences = headlines(data)
    if json:
        document = {"output": str(output), "headlines": sentences, "warnings": list(data.warnings)}
        _output.show_json(document | {"settings": vars(data.settings), "version": data.version})
        return
    for sentence in sentences:
        typer.echo(sentence)
    typer.echo(f"{output} is written; open it in a browser.", err=True)
