"""`bayesagree report`: one evaluation as one self-contained HTML page."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option, echo

from bayesagree.cli import _options, _output
from bayesagree.cli._output import Answer, Table
from bayesagree.errors import InputError

if TYPE_CHECKING:
    from bayesagree.report.settings import ReportSource


def report(
    source: _options.Source,
    columns: _options.PredictionColumns,
    sampling: _options.Sampling,
    predictions: _options.PredictionsFile = None,
    annotators: _options.AnnotatorsFile = None,
    group: _options.Group = None,
    smallest_group: _options.SmallestGroup = 1,
    gold: _options.GoldFile = None,
    specification: _options.SpecificationFile = None,
    title: Annotated[str | None, Option(help="Title of the page.")] = None,
    plausibility: _options.PlausibilityName = None,
    reliability: _options.Reliabilities = None,
    metrics: _options.Metrics = None,
    items: _options.Items = "fixed",
    least_certain: Annotated[int, Option(min=1, help="How many of the least certain items to list.")] = 50,
    missing: _options.Missing = "error",
    threshold: _options.Threshold = None,
    allow_unmixed: _options.AllowUnmixed = False,
    output: Annotated[Path, Option("--output", "-o", help="Where the page goes.")] = Path("report.html"),
) -> Answer:
    """Write one self-contained HTML report, for readers without Bayesian training.

    Agreement, annotation certainty, models, groups, and a methods section to paste. Of comparisons of models:
    strengths, places, ties, annotators, and the next pair to compare.

    Example: bayesagree report annotations.csv models.csv --annotators people.csv --group age -o page.html
    """
    if find_spec("jinja2") is None:
        raise InputError("the report needs the extra report: pip install 'bayesagree[report]'")
    from bayesagree.evaluation.scoring import items_to_score
    from bayesagree.report import comparison_views, panel
    from bayesagree.report.data import report_data
    from bayesagree.report.page import write_report
    from bayesagree.report.settings import ReportSettings

    truth, models = source.read(predictions, columns)
    if truth.kind == "comparisons":
        games: Any = report_data(truth, source=_origin(source), **vars(sampling))
        write_report(games, output, title=title)
        said = [*comparison_views.answer(games), *comparison_views.facts(games), *comparison_views.steps(games)]
        return _answer(output, games, vars(sampling), said)
    if threshold is None and truth.kind == "ratings":
        threshold = sum(truth.scale) / 2
        echo(f"is the mean of an item below {threshold:g}, the middle of the scale? see --threshold", err=True)
    if gold is not None and truth.kind != "labels":
        raise InputError("--gold is for labels; leave it out")
    people = source.features(annotators)
    given: dict[str, Any] = {
        "items": items,
        "threshold": threshold,
        "missing": missing,
        "allow_unmixed": allow_unmixed,
    }
    given |= {
        "reliability": tuple(reliability or ()),
        "metrics": tuple(metrics or ()),
        "least_certain": least_certain,
    }
    if plausibility is not None:
        given["plausibility"] = _options.name_or_trace(plausibility)
    settings = ReportSettings(**given, **vars(sampling)).fitting(truth, models)
    beside: dict[str, Any] = {
        "annotators": people,
        "gold": source.gold(gold, truth.items),
        "source": _origin(source),
    }
    if group is not None:
        beside["groups"] = _options.groups_of(truth, people, group, smallest_group)
    if specification is not None:
        from bayesagree.subjective.specification import EvaluationSpecification

        beside["specification"] = EvaluationSpecification.from_json(specification.read_text(encoding="utf-8"))
    total = None
    if models is not None:
        total = items_to_score(settings.record.specification, truth, models, settings.reliability)
    with _output.progress("computing", total) as advance:
        data: Any = report_data(truth, models, progress=advance, **beside, **vars(settings))
        write_report(data, output, title=title)
    used = vars(data.settings) | {"plausibility": plausibility or data.settings.record.name}
    found = (f"{one['severity']} {one['finding']} {one['what_to_do']}" for one in panel.findings(data.findings))
    return _answer(output, data, used, [*panel.answer(data), *panel.facts(data), *found, *panel.steps(data)])


def _answer(output: Path, data: Any, settings: dict[str, Any], said: list[Any]) -> Answer:
    """Return the sentences of the first screen of the page that was written."""
    from markupsafe import Markup

    echo(f"{output} is written; open it in a browser.", err=True)
    rows = [{"output": str(output), "version": data.version} | settings]
    listed = Table("warnings", [{"warning": text} for text in data.warnings], most=0)
    notes = [part.striptags() if isinstance(part, Markup) else str(part) for part in said]
    return Answer([Table("settings", rows, most=0), listed], notes)


def _origin(source: _options.Source) -> "ReportSource":
    from bayesagree.report.settings import ReportSource

    if source.data is None:
        name = "annotations" if source.annotations is None else source.annotations.name
        return ReportSource(name, left_out=tuple(source.said))
    from bayesagree.datasets import load

    known = load(source.data)
    return ReportSource(known.name, known.title, known.licence, known.citation)
