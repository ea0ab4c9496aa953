"""The page in a real browser: no error, sorting and filtering, no sideways scrolling, every way of looking at it."""

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, Predictions, evaluate, plots
from bayesagree.report.data import report_data
from bayesagree.report.page import write_report

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
OWN = ("file:", "data:", "blob:")


@pytest.fixture(scope="module")
def address(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(data, path)
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """Open the page in a new window; whatever the console says fails the test."""
    messages, contexts = [], []

    def window(*, folded=True, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda request: request.url.startswith(OWN) or messages.append(request.url))
        page.goto(address)
        if folded:
            page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        return page

    yield window
    for context in contexts:
        context.close()
    assert messages == []


def column(page, number):
    return page.locator(f"#open-items tbody tr:visible > :nth-child({number})").all_inner_texts()


def test_a_heading_sorts_by_number_both_ways(opened, data):
    page = opened()
    certainty = [float(re.sub("[<> ]", "", text)) for text in column(page, 2)]
    assert certainty == sorted(certainty)
    button = page.locator("#open-items").get_by_role("button", name="Certainty", exact=False)
    button.click()
    button.click()
    assert page.locator("#open-items th[aria-sort=descending]").inner_text().startswith("Certainty")
    assert [float(text) for text in column(page, 2)] == sorted(certainty, reverse=True)
    page.locator("#open-items").get_by_role("button", name="Item").click()
    assert [int(text) for text in column(page, 1)] == sorted(int(item.item) for item in data.open_items)
    assert page.locator("th[aria-sort]").count() == 1


def test_the_filter_narrows_the_table_and_says_so(opened, data):
    page = opened()
    words = ["2:", "b,", "(3)"]
    rows = [text.lower() for text in page.locator("#open-items tbody tr").all_text_contents()]
    expected = sum(all(word in row for word in words) for row in rows)
    page.get_by_label("Show rows that contain").fill(" ".join(words).upper())
    shown = column(page, 3)
    assert 0 < expected == len(shown) < 50
    assert all("(3)" in text for text in shown)
    status = page.locator("#open-items-status")
    assert status.inner_text() == f"{len(shown)} of 50 shown"
    page.get_by_label("Show rows that contain").fill("")
    assert status.inner_text() == "50 of 50 shown"


def saved(page, button):
    """Press a button that saves a file; return its name and content."""
    with page.expect_download() as download:
        button.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
def test_tables_are_saved_whatever_the_locale(opened, locale):
    page = opened(locale=locale, timezone_id="Asia/Tokyo")
    name, content = saved(page, page.locator("#scores-accuracy .tool", has_text="CSV"))
    rows = list(csv.reader(content.decode().splitlines()))
    assert name == "scores-accuracy.csv"
    assert [len(row) for row in rows] == [9] * 4
    assert any(re.fullmatch(r"0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)", cell) for cell in rows[1])


HOSTILE = [
    "=1+1", "@SUM(1)", "-1+cmd|' /C calc'!A0", "+A1",
    "<script>alert(1)</script>", "</style><style>*{display:none}</style>", "</script><script>alert(2)</script>",
    "javascript:alert(3)", "\"' onmouseover='alert(4)", "<img src=x onerror=alert(5)>", "&#60;script&#62;&amp;",
    "\u202ertl\u202c\u200f", "\x01\x1b[31m\x7f", "{{ 7 * 7 }}${7*7}", "<svg onload=alert(6)>", "W" * 300,
    "<!--", "]]><iframe src=//example.org>", "<base href=//example.org/>", "<meta http-equiv=refresh content=0>",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Glyph")
def test_hostile_names_are_text(browser, tmp_path):
    """Names of labels, items, annotators and models in every part of the page: shown as they are, nothing runs."""
    dice = np.random.default_rng(1)
    names = [f"{k} {HOSTILE[k % len(HOSTILE)]}" for k in range(32)]
    rows = [(i, who, HOSTILE[dice.choice(5) * 4 + k % 4]) for k, i in enumerate(names) for who in HOSTILE[:5]]
    labels = Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]), labels=HOSTILE)
    given = {m: pd.Series(dice.choice(HOSTILE, 32), names) for m in [*HOSTILE[:8], "$x^{$", "\x01 -- >"]}
    models = Predictions.from_labels(given, labels=HOSTILE)
    found = report_data(labels, models, plausibility="dirichlet", draws=50)
    path = tmp_path / "hostile.html"
    write_report(found, path)
    context = browser.new_context(viewport=PHONE)
    page, heard = context.new_page(), []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith(OWN) or heard.append(request.url))
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    for header in page.locator("th button").all():
        header.click()
    page.wait_for_timeout(200)
    assert heard == []
    assert page.url == path.as_uri()
    assert (
        page.evaluate("document.querySelectorAll('iframe, img, object, base, embed, [onload], [onerror]').length") == 0
    )
    assert page.evaluate("[...document.querySelectorAll('a')].every(a => !/^(javascript|data:text)/.test(a.href))")
    for button in page.get_by_role("button", name="CSV").all():
        rows = csv.reader(saved(page, button)[1].decode().splitlines())
        assert not [cell for row in rows for cell in row if re.match(r"[=@]|[+-](?![\d.]+( \(|$))", cell)]
    shown = page.locator("body").inner_text()
    assert all(text in shown for text in ("<script>alert(1)</script>", "javascript:alert(3)", "&#60;script&#62;&amp;"))
    for width in (390, 1200):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    figure = plots.plot_scores(evaluate(labels, models, plausibility="dirichlet", draws=50), metric="accuracy").figure
    figure.savefig(tmp_path / "hostile.svg")
    page.goto((tmp_path / "hostile.svg").as_uri())
    assert page.evaluate("document.querySelectorAll('script, foreignObject, parsererror').length") == 0
    assert heard == []
    context.close()
