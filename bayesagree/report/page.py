"""Writing a report: one HTML page that needs nothing but itself."""

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayesagree.io.files import atomic_path
from bayesagree.report import comparison_views, methods, panel, views, wording
from bayesagree.report.data import ReportData

if TYPE_CHECKING:
    from bayesagree.report.comparisons import ComparisonReport


def render(data: "ReportData | ComparisonReport", *, title: str | None = None) -> str:
    """Render a report as one HTML page: style, script and drawings inside, nothing from a network.

    Everything that comes from the data is escaped, and the page's content security policy lets no other script run
    than its own.

    Examples
    --------
    >>> from bayesagree.report.data import report_data
    >>> from bayesagree.datasets.simulate import labelled_test_set
    >>> test_set = labelled_test_set(n_items=20, random_seed=1)
    >>> data = report_data(test_set.labels, test_set.predictions, draws=50)
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
    environment.filters["named"] = wording.named
    context = _context(data) if isinstance(data, ReportData) else comparison_views.context(data)
    return environment.get_template("page.html").render(
        context | ({} if title is None else {"title": title}),
        data=data,
        findings=panel.findings(data.findings),
        diagnostics=views.diagnostics(data.diagnostics),
        style=Markup(_asset("style.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _context(data: ReportData) -> dict[str, Any]:
    tables = [] if data.scores is None else [views.score_table(data, data.scores, data.settings.metrics[0])]
    agreed = "How good are the models, when annotators disagree?"
    return {
        "title": agreed if tables else "How far do annotators agree, and what is undecided?",
        "answer": list(panel.answer(data)),
        "tables": tables,
        "facts": panel.facts(data),
        "steps": list(panel.steps(data)),
        "basis": panel.basis(data),
        "sections": views.sections(data, views.SECTIONS),
        "settings": views.settings(data),
        "numbers": views.numbers(data),
        "methods": methods.methods_paragraph(data),
        "references": methods.references(data),
    }


def write_report(data: "ReportData | ComparisonReport", path: str | Path, *, title: str | None = None) -> None:
    """Write a report to an HTML file, whole or not at all."""
    page = render(data, title=title)
    with atomic_path(Path(path)) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
