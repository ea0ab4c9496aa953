"""`bayesagree report`: one evaluation as one self-contained HTML page."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import typer

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    from bayesagree.annotations import Annotations
    from bayesagree.annotations.annotators import Annotators
    from bayesagree.annotations.groups import Groups
    from bayesagree.report.comparisons import ComparisonReport
    from bayesagree.report.data import ReportSource


def report(
    source: _options.Source,
    columns: _options.PredictionColumns,
    sampling: _options.Sampling,
    predictions: Path | None = None,
    annotators: Path | None = None,
    group: str | None = None,
    smallest_group: int = 1,
    gold: Path | None = None,
    specification: Path | None = None,
    title: str | None = None,
    plausibility: str | None = None,
    reliability: str | None = None,
    metrics: str | None = None,
    items: str = "fixed",
    least_certain: int = 50,
    missing: str = "error",
    threshold: float | None = None,
    allow_unmixed: bool = False,
    json: bool = False,
    output: Path = Path("report.html"),
) -> None:
    """Write one self-contained HTML report, for readers without Bayesian training.

    Agreement, annotation certainty, models, groups, and a methods section to paste. Of comparisons of models:
    strengths, places, ties, annotators, and the next pair to compare.

    Example: bayesagree report annotations.csv models.csv --annotators people.csv --group age -o page.html
    """
    _require_jinja2()
    from bayesagree.annotations import Comparisons, Ratings
    from bayesagree.evaluation.scoring import items_to_score
    from bayesagree.report.data import report_data
    from bayesagree.report.page import write_report
    from bayesagree.report.panel import notes, panel
    from bayesagree.report.settings import ReportSettings

    truth, models = source.read(predictions, columns)
    if isinstance(truth, Comparisons):
        from bayesagree.report import comparisons

        page = comparison_page(truth, _origin(source), output, title, **vars(sampling))
        return _show(output, page, vars(sampling), json, list(map(str, comparisons.panel(page))))
    if threshold is None and isinstance(truth, Ratings):
        threshold = sum(truth.scale) / 2
        typer.echo(
            f"the question is whether the mean of an item is below {threshold:g}, the middle; --threshold changes it",
            err=True,
        )
    people = source.features(annotators)
    groups = _groups(truth, people, group, smallest_group)
    settings = ReportSettings(
        "" if plausibility is None else _options.name_or_trace(plausibility),
        () if reliability is None else tuple(_options.numbers(reliability, "--reliability")),
        () if metrics is None else tuple(_options.words(metrics)),
        items=_options.one_of(items, "--items", ("fixed", "bootstrap")),
        threshold=threshold,
        least_certain=least_certain,
        missing=_options.one_of(missing, "--missing", ("error", "skip", "wrong")),
        allow_unmixed=allow_unmixed,
        **vars(sampling),
    ).fitting(truth, models)
    posterior = settings.record.specification
    total = None if models is None else items_to_score(posterior, truth, models, settings.reliability)
    with _output.progress("computing", total) as advance:
        beside = {"groups": groups, "annotators": people, "specification": _specification(specification)}
        beside["gold"] = None if gold is None else _gold(gold, source, truth)
        data = report_data(truth, models, settings=settings, source=_origin(source), progress=advance, **beside)
        write_report(data, output, title=title)
    used = vars(data.settings) | {"plausibility": plausibility or data.settings.record.name}
    first = () if data.gold is None else data.gold.contradiction
    sentences = [*first, *map(str, panel(data)), *(note.striptags() for note in notes(data))]
    _show(output, data, used, json, sentences)
    if not json:
        typer.echo(f"{output} is written; open it in a browser.", err=True)


def _show(output: Path, data: Any, settings: dict[str, Any], json: bool, sentences: list[str]) -> None:
    rows = [{"output": str(output), "version": data.version} | settings]
    listed = _output.Table("warnings", [{"warning": text} for text in data.warnings], most=0)
    _output.show([_output.Table("settings", rows, most=0), listed], json=json, notes=sentences)


def comparison_page(
    found: Any, source: "ReportSource", output: Path, title: str | None = None, **options: Any
) -> "ComparisonReport":
    """Fit strengths, and write their report with the warnings of the fit."""
    _require_jinja2()
    from bayesagree.comparisons import davidson
    from bayesagree.report.comparisons import comparison_report
    from bayesagree.report.page import write_report

    with catch_warnings(record=True) as caught:
        simplefilter("always", UserWarning)
        tree = davidson(found, **options)
    warnings = tuple(dict.fromkeys(str(w.message) for w in caught))
    data = comparison_report(found, tree, source=source, warnings=warnings)
    write_report(data, output, title=title)
    typer.echo(f"{output} is written; open it in a browser.", err=True)
    return data


def _require_jinja2() -> None:
    if find_spec("jinja2") is None:
        raise InputError("the report needs the extra report: pip install 'bayesagree[report]'")


def _groups(truth: "Annotations", people: "Annotators | None", features: str | None, smallest: int) -> "Groups | None":
    from bayesagree.annotations import Rankings
    from bayesagree.cli.subjective import groups_by

    if features is None:
        return None
    if people is not None and isinstance(truth, Rankings):
        raise InputError("groups of annotators are compared on labels or ratings, not on rankings; leave out --group")
    given: Any = truth
    return groups_by(given, people, features, smallest)


def _gold(path: Path, source: _options.Source, truth: Any) -> dict[Any, Any]:
    from bayesagree.annotations import Labels

    if not isinstance(truth, Labels):
        raise InputError("--gold is for labels; leave it out")
    return _options.read_gold(path, source, truth.items)


def _specification(path: Path | None) -> Any:
    from bayesagree.subjective.specification import EvaluationSpecification

    return None if path is None else EvaluationSpecification.from_json(path.read_text(encoding="utf-8"))


def _origin(source: _options.Source) -> "ReportSource":
    from bayesagree.report.data import ReportSource

    if source.data is None:
        return ReportSource("annotations" if source.annotations is None else source.annotations.name)
    from bayesagree.datasets import load

    known = load(source.data)
    return ReportSource(known.name, known.title, known.licence, known.citation)
