"""The page: self-contained, escaped, complete; its sentences say what the numbers say."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from _report import VOID, said

from bayesagree import Annotators, Labels, Predictions
from bayesagree.annotations.groups import Groups
from bayesagree.datasets.simulate import rankings, ratings
from bayesagree.plausibility.registry import POSTERIORS, Reference
from bayesagree.report import views, wording
from bayesagree.report.data import report_data
from bayesagree.report.figures import Mark, MarkGroup, _grid, certainty_curve, interval_plot
from bayesagree.report.page import methods_paragraph, references, render, write_report
from bayesagree.report.settings import ReportSettings
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
        settings=ReportSettings(draws=50),
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


def test_every_anchor_has_its_section(data):
    page = Page(render(data))
    anchors = [a["href"][1:] for tag, a in page.tags if tag == "a"]
    assert anchors
    assert set(anchors) <= set(page.ids)


def test_names_from_the_data_stay_text(evil):
    text = render(evil, title=EVIL)
    page = Page(text)
    scripts = [attributes for tag, attributes in page.tags if tag == "script"]
    assert [one.get("type") for one in scripts] == ["application/json", None]
    assert not any(tag == "img" for tag, _ in page.tags)
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    text, numbers = re.fullmatch(
        r"(.*)<script type=.application/json.*?>(.*?)</script>.*", text, flags=re.DOTALL
    ).groups()
    assert not re.search(r"[<>&']", numbers)
    assert text.count("alert(") == text.count("alert(&#39;x&#39;)") + text.count("onerror=alert(1)&gt;")
    assert "49" not in "".join(page.text).split("{{")[0]
    shown = "".join(page.text)
    assert "{{ 7 * 7 }}" in shown
    assert EVIL in shown


def test_svg_is_well_formed_whatever_the_names(evil):
    from xml.etree import ElementTree

    figures = re.findall(r"<svg.*?</svg>", render(evil), flags=re.DOTALL)
    assert len(figures) >= 4
    for figure in figures:
        ElementTree.fromstring(figure)


def test_the_script_may_run_and_no_other(data):
    import base64
    import hashlib

    text = render(data)
    script = re.search(r"<script>(.*?)</script>", text, flags=re.DOTALL)[1]
    policy = re.search(r"script-src '([^']+)'", text)[1]
    assert policy == f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def test_the_numbers_are_there_with_all_digits(data):
    block = re.search(r'id="numbers">(.*?)</script>', render(data), flags=re.DOTALL)[1]
    tables = json.loads(block)
    assert set(tables) == {"agreement", "certainty", "scores", "pairs", "point_estimate"}
    shown = {(row["reliability"], row["model"]): row["score"] for row in tables["scores"]}
    for (level, model), value in shown.items():
        known = data.scores.table["score"].sel(metric="top_1_accuracy", reliability=level, model=model)
        assert value == pytest.approx(float(known), rel=1e-9)
    assert len(shown) == 9
    assert len(tables["pairs"]) == 6
    assert len(tables["certainty"]) == data.certainty.size


def test_tables_hold_the_numbers_of_the_data(data):
    found = views.sections(data)
    for row, level, values in zip(found["certainty"]["rows"], data.settings.reliability, data.certainty.values):
        assert row == (f"{level:g}", f"{values.mean():.3f}", f"{100 * np.mean(values < 0.95):.0f}\u00a0%")
    known = [r for r in data.agreement.to_dict("records") if np.isfinite(r["estimate"])]
    expected = [(f"{r['estimate']:.3f}", f"{r['lower']:.3f} to {r['upper']:.3f}", r["note"]) for r in known]
    assert [row[1:] for row in found["agreement"]["rows"]] == expected
    assert len(known) + len(found["agreement"]["missing"]) == len(data.agreement)
    settings = dict(found["settings"])
    weights = ", ".join(f"{level:g}" for level in data.settings.reliability[1:])
    assert (settings["Draws"], settings["Reliability"]) == ("4 chains of 200", f"1 (reference), {weights}")
    assert found["diagnostics"][0][1] == "independent"
    rows = found["further_votes"]["rows"]
    assert [row[0] for row in rows] == [f"{n:,.0f}" for n in data.further_votes.table["votes"]]


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


def test_the_first_sentence_names_the_best_model_and_its_probability(data):
    found = data.scores.comparison["top_1_accuracy"]
    best, second = found["model"].values[:2]
    p = wording.probability(float(found["prob_better"].sel(model=best, other_model=second)))
    first = said(data)[0]
    assert f"{best} is better than {second} with probability {' '.join(p.split())}." in first
    assert ("stays open" in first) == (float(p.split()[-1]) < 0.95)
    assert any(wording.percent(data.open_share) in sentence for sentence in said(data))


def test_sentences_say_when_the_best_model_depends_on_trust(data):
    table = data.scores.table.copy(deep=True)
    table["score"].loc[{"reliability": 3.0, "model": "C"}] = 1.0
    scores = replace(data.scores, table=table)
    assert any("C at reliability 3" in sentence for sentence in said(replace(data, scores=scores)))


def test_a_warning_is_in_the_summary_and_in_its_section(data):
    text = render(replace(data, warnings=("chains have not mixed",)))
    assert "Warning: chains have not mixed" in text
    assert "gave 1 warning: <a" in text


@pytest.mark.parametrize("kind", ["labels", "rankings", "ratings", "bootstrap", "dawid_skene"])
def test_methods_say_what_was_done_and_cite_it(kind, test_set):
    ranked, rated = rankings(n_items=8, seed=1).rankings, ratings(n_items=8, ratings_per_item=5, seed=1).ratings
    given, models, settings, keys = {
        "labels": (test_set.labels, test_set.predictions, ReportSettings(draws=20), {"Stutz et al., 2023"}),
        "rankings": (ranked, None, ReportSettings(draws=20), {"Stutz et al., 2023"}),
        "ratings": (rated, None, ReportSettings(threshold=0.5), {"Checco et al., 2017", "Rubin, 1981"}),
        "bootstrap": (
            test_set.labels, test_set.predictions, ReportSettings(draws=20, items="bootstrap"), {"Rubin, 1981"},
        ),
        "dawid_skene": (
            test_set.labels, None, ReportSettings("dawid_skene", draws=50, chains=2), {"Dawid and Skene, 1979"},
        ),
    }[kind]  # fmt: skip
    found = report_data(given, models, settings=settings)
    text = methods_paragraph(found)
    assert keys <= {reference.key for reference in references(found)}
    assert all(reference.key in text for reference in references(found))
    assert "seed 1" in text
    assert ("predicts annotators held out" in render(found)) == (kind == "dawid_skene")
    assert "sample" in text or models is None
    page = Page(render(found))
    assert page.open == []


def test_the_paper_of_a_new_posterior_is_listed(data, monkeypatch):
    paper = Reference("Nobody, 2030", "N. Nobody. A posterior. 2030.")
    monkeypatch.setitem(POSTERIORS, "dirichlet", replace(POSTERIORS["dirichlet"], reference=paper))
    assert paper in references(data)


def test_numbers_are_never_rounded_to_certainty():
    assert wording.percent(0.99999).split() == [">", "99.9", "%"]
    assert wording.percent(1.0).split() == ["100", "%"]
    assert [wording.percent(p).split()[0] for p in (0.01, 0.99)] == ["1", "99"]
    assert wording.probability(0.9999).split() == [">", "0.999"]
    assert wording.number(float("nan")) == wording.MISSING
    assert wording.interval(float("nan"), float("nan")) == wording.MISSING
    assert wording.count(1234567).split() == ["1", "234", "567"]


@pytest.mark.parametrize("values", [(0.5, 0.5, 0.5), (0.0, 0.0, 1.0), (0.999999, 0.999999, 1.0)])
def test_figures_survive_values_that_are_all_alike(values):
    value, lower, upper = values
    marks = (Mark(value, lower, upper, "x"), Mark(float("nan"), float("nan"), float("nan"), "missing"))
    figure = interval_plot([MarkGroup("A" * 200, marks)], title="t", axis="a", limits=(0, 1))
    assert "nan" not in str(figure)
    curve = certainty_curve([1.0], np.full((1, 3), value), 0.95)
    assert "nan" not in str(curve)


@pytest.mark.parametrize("smallest", [0.35, 0.62, 0.97])
def test_the_curve_of_certainty_stays_in_its_frame(smallest):
    """Top of the frame is certainty one; its bottom is the tenth below the smallest, at most 0.9."""
    certainty = np.array([[smallest, 0.98, 0.99, 1.0]])
    drawn = re.search(r'<polyline[^>]* points="([^"]*)"', str(certainty_curve([1.0], certainty, 0.95)))[1]
    y = np.array([float(point.split(",")[1]) for point in drawn.split()])
    low = min(0.9, int(10 * smallest) / 10)
    top, bottom = 10, 220
    assert y.min() == pytest.approx(top, abs=0.1)
    assert y.max() == pytest.approx(bottom - (bottom - top) * (smallest - low) / (1 - low), abs=0.1)


def test_the_reference_has_the_full_line_and_every_curve_its_key():
    text = str(certainty_curve([1.0, 2.0], np.array([[0.6, 0.9], [0.7, 1.0]]), 0.95))
    curves = re.findall(r'<polyline class="([^"]*)" stroke-dasharray="([^"]*)"', text)
    assert [cls for cls, _ in curves] == ["curve", "curve other"]
    assert curves[0][1] != curves[1][1]
    assert re.findall(r">(reliability [^<]*)<", text) == ["reliability 1 (reference)", "reliability 2"]
    keys = re.findall(r'<line[^>]*class="(curve[^"]*)"[^>]*', text)
    assert keys == ["curve", "curve other"]


def test_as_many_dividing_items_as_stated_are_listed():
    empty = pd.DataFrame(columns=["model", "group", "mean", "lower", "upper", "difference"])
    empty = empty.assign(difference_lower=[], difference_upper=[], worst_served=[], votes=[], divided=[], p_value=[])
    items = pd.DataFrame({"group": "g", "item": range(30), "prob_different": 0.9})
    found = views._group_truth({"scores": empty, "groups": empty, "items": items})
    assert ([row[1] for row in found["dividing"]], found["number"]) == ([str(k) for k in range(20)], "30")


def test_the_coefficient_of_the_kind_is_the_one_that_is_marked(data):
    figure = str(views.agreement(data)["figure"])
    shown = [name for name, *_ in views.agreement(data)["rows"]]
    assert figure.count('<circle class="reference"') == 1
    assert figure.count('<circle class="other"') == len(shown) - 1 > 1


def test_lines_of_a_grid_lie_at_their_values():
    """From .5 at the bottom, 210, to 1 at the top, 10."""
    grid = str(_grid(40, 240, 10, 210, 0.5))
    heights = [float(y) for y in re.findall(r'class="grid"[^>]* y1="([\d.]+)"', grid)]
    labels = [float(value) for value in re.findall(r">(0?\.\d+|1)</text>", grid)]
    assert len(labels) > 2
    np.testing.assert_allclose(heights, [210 - 400 * (value - 0.5) for value in labels], atol=0.06)
