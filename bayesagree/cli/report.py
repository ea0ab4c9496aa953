"""`bayesagree report`: one evaluation as one self-contained HTML page."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option, echo

from bayesagree.cli import _output
from bayesagree.cli._options import (
    AnnotatorsFile,
    Group,
    Sampling,
    Scoring,
    Source,
    WithPredictions,
    groups_of,
    unused,
)
from bayesagree.cli._output import Answer, Table
from bayesagree.errors import InputError

if TYPE_CHECKING:
    from bayesagree.report.settings import ReportSource


def report(
    source: WithPredictions,
    sampling: Sampling,
    scoring: Scoring,
    annotators: AnnotatorsFile = None,
    group: Group = None,
    specification: Annotated[Path | None, Option(help="Declaration of the evaluation, JSON.")] = None,
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
    from bayesagree.inference.posterior import Request
    from bayesagree.report.data import report_data
    from bayesagree.report.page import sentences, write_report
    from bayesagree.report.settings import ReportSettings
    from bayesagree.subjective.specification import EvaluationSpecification

    truth, models = source.read()
    beside: Any = {"source": _origin(source)}
    how, total = vars(sampling), None
    if truth.kind == "comparisons":
        unused(
            "for comparisons of models", *vars(scoring), "annotators", "group", "specification", "predictions"
        )
    else:
        settings = ReportSettings(**scoring.given(source.label), **how).fitting(truth, models)
        how, people = vars(settings), source.features(annotators)
        beside |= {"annotators": people, "gold": source.gold(scoring.gold, truth)}
        if group is not None:
            beside["groups"] = groups_of(truth, people, group)
        if specification is not None:
            declared = EvaluationSpecification.from_json(specification.read_text(encoding="utf-8"))
            beside["specification"] = declared
        if models is not None:
            request = Request(settings.draws, settings.chains)
            total = items_to_score(settings.record.specification, truth, models, settings.reliability, request)
    with _output.progress("computing", total) as advance:
        data: Any = report_data(truth, models, progress=advance, **beside, **how)
        write_report(data, output)
    echo(f"{output} is written; open it in a browser.", err=True)
    if "plausibility" in how:
        how |= {"plausibility": scoring.plausibility or data.settings.record.name}
    listed = Table("warnings", [{"warning": text} for text in data.warnings], most=0)
    rows = [{"output": str(output), "version": data.version} | how]
    return Answer([Table("settings", rows, most=0), listed], sentences(data))


def _origin(source: Source) -> "ReportSource":
    from bayesagree.report.settings import ReportSource

    known = source.found
    if source.annotations is not None:
        return ReportSource(source.annotations.name, left_out=tuple(known.sentences()))
    return ReportSource(known.name, known.title, known.licence, known.citation)
