"""Writing a report: one HTML page that needs nothing but itself."""

import base64
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayesagree._inference.arguments import checked
from bayesagree.io.files import atomic_path
from bayesagree.report import comparisons, panel, views, wording
from bayesagree.report.comparisons import ComparisonReport
from bayesagree.report.data import ReportData
from bayesagree.report.kinds import kind_of
from bayesagree.report.methods import methods_paragraph, references

TITLE = "How good are the models, when annotators disagree?"


@checked
def render(data: ReportData | ComparisonReport, *, title: str | None = None) -> str:
    """Render a report as one HTML page: style, script and figures inside, nothing from a network.

    Everything that comes from the data is escaped, and the page's content security policy lets no other script run
    than its own.

    Examples
    --------
    >>> from bayesagree.report.data import ReportSettings, report_data
    >>> from bayesagree.simulate import labelled_test_set
    >>> test_set = labelled_test_set(n_items=20, seed=1)
    >>> data = report_data(test_set.labels, test_set.predictions, settings=ReportSettings(draws=50))
    >>> page = render(data, title="<Trial>")
    >>> "&lt;Trial&gt;" in page, "<Trial>" in page
    (True, False)
    """
    script = _asset("script.js")
    environment = Environment(
        loader=PackageLoader("bayesagree.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": wording.percent, "probability": wording.probability, "named": wording.named}
    if isinstance(data, ComparisonReport):
        name, usual, context = "comparisons.html", comparisons.TITLE, comparisons.context(data)
    else:
        name, usual, context = "report.html", TITLE, _context(data)
    return environment.get_template(name).render(
        title=usual if title is None else title,
        data=data,
        **context,
        style=Markup(_asset("style.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _context(data: ReportData) -> dict[str, Any]:
    estimate = kind_of(data.annotations).point_estimate_name
    return {
        "panel": panel.panel(data),
        "notes": list(panel.notes(data)),
        "basis": panel.basis(data),
        "numbers": views.numbers(data),
        "plug_in": estimate,
        "vote": estimate.removeprefix("the ").capitalize(),
        "methods": methods_paragraph(data),
        "references": references(data),
    } | views.sections(data)


@checked
def write_report(data: ReportData | ComparisonReport, path: str | Path, *, title: str | None = None) -> None:
    """Write a report to an HTML file, whole or not at all."""
    page = render(data, title=title)
    with atomic_path(Path(path)) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
