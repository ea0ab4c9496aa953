"""Writing a report: one HTML page that needs nothing but itself."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from bayesagree.agreement._coefficients import WEIGHTS_OF_LEVEL
from bayesagree.evaluation.gold import gold_notes
from bayesagree.evaluation.tables import ITEMS_ARE, OPEN
from bayesagree.inference.posterior import OF_ANNOTATIONS
from bayesagree.inference.results import settings_of
from bayesagree.io.files import atomic_path
from bayesagree.plausibility.registry import POSTERIORS, STUTZ
from bayesagree.report import wording
from bayesagree.report.data import AnyReport, ComparisonReport
from bayesagree.report.kinds import kind_of
from bayesagree.report.tables import EFFECTS, coefficient_name, tables

# Probability from which on a model is called better than another; with a lower one the sentence says so.
DECIDED = 0.95
# Findings on the first screen; the section on findings has all.
MOST_FINDINGS = 5


def render(data: AnyReport, *, title: str | None = None) -> str:
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
    script, shown = _asset("script.js"), tables(data)
    assets = {
        "style": Markup(_asset("style.css")),
        "script": Markup(script),
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }
    first = [table for name, table in shown.items() if name.startswith(("scores-", "preference-"))][:1]
    return _written("page.html", data, title=title, tables=shown, first=first, **assets)


def sentences(data: AnyReport) -> list[str]:
    """Return the sentences of the first screen as plain text, without its table.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> from bayesagree.report.data import report_data
    >>> [text] = sentences(report_data(Labels.from_counts([[9, 0], [0, 9]]), draws=50))[-1:]
    >>> text
    'Give the predictions of models to compare them.'
    """
    lines = _written("panel.html", data, first=()).splitlines()
    return [text for line in lines if (text := Markup(line).striptags()) and "<h2 " not in line]


def methods_paragraph(data: AnyReport) -> str:
    """Write what was done, ready to paste into a paper.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> from bayesagree.report.data import report_data
    >>> methods_paragraph(report_data(Labels.from_counts([[9, 0], [0, 9]]), draws=50))[:34]
    'The 2 items have 18 annotations. T'
    """
    return Markup(_written("methods.html", data)).unescape()


def write_report(data: AnyReport, path: str | Path, *, title: str | None = None) -> None:
    """Write a report to an HTML file, whole or not at all."""
    page = render(data, title=title)
    with atomic_path(Path(path)) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _written(template: str, data: AnyReport, **more: Any) -> str:
    """Fill in a template: all of them know the data, what depends on their kind, and what is derived from them."""
    kind = kind_of(data.annotations)
    given: Any = data.annotations
    found: Any = data.findings[data.findings["severity"].isin(["critical", "warning", "note"])].head(
        MOST_FINDINGS
    )
    unknown = data.agreement[data.agreement["estimate"].isna()]
    papers = set(wording.PAPERS)
    context = {
        "data": data,
        "kind": kind,
        "agreement": data.agreement.set_index("coefficient").to_dict("index").get(kind.coefficient),
        "missing": unknown.groupby("note", sort=False)["coefficient"].agg(list).to_dict(),
        "findings": found.to_dict("records"),
    }
    if isinstance(data, ComparisonReport):
        table = data.models
        context |= {"games": data.comparisons, "made": settings_of(data.result)}
    else:
        known: Any = data
        scores = known.scores
        table = pd.DataFrame() if scores is None else scores.ranking[known.settings.metrics[0]].reset_index()
        against = {} if known.gold is None else settings_of(known.gold)
        weights = None if given.kind == "rankings" else WEIGHTS_OF_LEVEL[given.level]
        context |= {"games": None, "record": known.settings.record, "against": against, "weights": weights}
        context["annotated"] = np.unique(given.item_index).size
        papers |= {STUTZ, *(one.reference for one in POSTERIORS.values() if one.reference)}
    context |= {"ranking": table.to_dict("records"), "papers": sorted(papers)}
    return _environment().get_template(template).render(context | more)


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("bayesagree.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    named = {writer.__name__: writer for writer in (*wording.WRITERS, coefficient_name, gold_notes)}
    found.filters |= named | {"one_line": lambda text: Markup(re.sub(r"[ \n]+", " ", text).strip())}
    found.globals |= named | {
        "DECIDED": DECIDED, "EFFECTS": EFFECTS, "ITEMS_ARE": ITEMS_ARE, "OF_ANNOTATIONS": OF_ANNOTATIONS, "OPEN": OPEN,
    }  # fmt: skip
    return found


def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")
