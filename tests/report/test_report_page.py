"""The page: self-contained, escaped, complete; its sentences say what the numbers say."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from _report import VOID

from bayesagree import Annotators, Labels, Predictions
from bayesagree.annotations.groups import Groups
from bayesagree.report.data import report_data
from bayesagree.report.figures import bars, curve
from bayesagree.report.page import render, write_report
from bayesagree.subjective import EvaluationSpecification

EVIL = "<script>alert('x')</script>\"'><img src=x onerror=alert(1)>&{{ 7 * 7 }}"


class Page(HTMLParser):
    """What a browser would see: tags in balance, attributes, text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.text, self.ids = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def evil():
    """Names of everything are an attack."""
    names = [f"{EVIL}{k}" for k in range(3)]
    votes = Labels.from_long(
        pd.DataFrame(
            {"item": np.repeat(names, 4), "annotator": [f"w{j}{EVIL}" for j in range(4)] * 3,
             "label": [names[0], names[1], names[0], names[2]] * 3}
        )
    )  # fmt: skip
    models = Predictions.from_labels({names[0]: names, names[1]: names[::-1]}, items=names, labels=names)
    people = Annotators.from_table(pd.DataFrame({"annotator": votes.annotators, EVIL: [names[0], names[1]] * 2}))
    declared = EvaluationSpecification(EVIL, protected=[EVIL], collection=EVIL)
    return report_data(
        votes, models, groups=Groups.by_features(votes, people, [EVIL]), annotators=people, specification=declared,
        plausibility="dirichlet", draws=20, chains=2,
    )  # fmt: skip


def test_the_page_needs_no_network(data):
    text = render(data)
    page = Page(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    for tag, attributes in page.tags:
        assert tag not in ("iframe", "object", "embed", "base")
        for name in ("src", "href", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:,")), (tag, attributes)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttp", text)
    assert "Content-Security-Policy" in text


def test_names_from_the_data_stay_text(evil):
    text = render(evil, title=EVIL)
    page = Page(text)
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert [one.get("type") for one in scripts] == [None]
    assert not any(tag == "img" for tag, _ in page.tags)
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert text.count("alert(") == len(re.findall(r"alert\((?:\\?&#39;x\\?&#39;|1)\)(?:&lt;|&gt;)", text))
    assert "49" not in "".join(page.text).split("{{")[0]
    shown = "".join(page.text)
    assert "{{ 7 * 7 }}" in shown
    assert EVIL in shown


def test_writing_is_whole_or_not_at_all(data, tmp_path, monkeypatch):
    out = tmp_path / "report.html"
    out.write_text("old")

    def stop(self, text, encoding):
        with self.open("w", encoding=encoding) as file:
            file.write(text[:10])
        raise KeyboardInterrupt

    monkeypatch.setattr("pathlib.Path.write_text", stop)
    with pytest.raises(KeyboardInterrupt):
        write_report(data, out)
    monkeypatch.undo()
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert out.read_text() == "old"
    write_report(data, out, title="New")
    assert "<h1>New</h1>" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize("values", [(0.5, 0.5, 0.5), (0.0, 0.0, 1.0), (0.999999, 0.999999, 1.0)])
def test_figures_survive_values_that_are_all_alike(values):
    value, lower, upper = values
    drawn, nothing = bars([(value, lower, upper), (float("nan"),) * 3])
    assert "nan" not in str(drawn)
    assert (nothing, drawn.count("<circle")) == ("", 1)
    assert "nan" not in str(curve(np.full(3, value)))
