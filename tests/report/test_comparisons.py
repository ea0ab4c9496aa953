"""The report of comparisons: its numbers are those of the package, and its page is whole."""

from dataclasses import replace

import pytest

from bayesagree import Comparisons
from bayesagree.comparisons import preference_table
from bayesagree.report import report_data
from bayesagree.report.page import render, sentences
from bayesagree.report.tables import EFFECTS, tables
from bayesagree.report.wording import SPACE, percent
from tests.comparisons.test_davidson import crowd


@pytest.fixture(scope="module")
def data():
    games = Comparisons.from_long(crowd(n=300), annotator="who", item="prompt")
    effects = {"ties": "annotator", "order": "annotator", "discrimination": None}
    found = report_data(games, **effects, draws=100, chains=2, random_seed=1)
    return replace(found, warnings=("<careful>",))


def test_intervals_of_the_panel_begin_with_their_lower_end(data):
    best = preference_table(data.result, scale="win_rate").iloc[0]
    said = " ".join(sentences(data)).replace(" %", f"{SPACE}%")
    ends = " to ".join(percent(best[name]) for name in ("lower", "upper"))
    assert f"wins {percent(best['mean'])} ({ends}) against" in said
    row = data.effects[data.effects["annotator"].isna()].set_index("effect").loc["first_wins"]
    ends = " to ".join(percent(row[name]) for name in ("lower", "upper"))
    assert row["lower"] < row["mean"] < row["upper"]
    assert f"Does the first place win? {percent(row['mean'])} ({ends})" in said


def test_page_has_the_numbers_and_no_error(data):
    page = render(data, title="A & B")
    table = preference_table(data.result, scale="win_rate")
    assert all(f"{percent(row['mean'])} ({percent(row['lower'])} to" in page for _, row in table.iterrows())
    rows = tables(data)["effect-table"].rows
    assert [row[:2] for row in rows[:2]] == [(EFFECTS[name], "all") for name in ("tie_probability", "first_wins")]
    assert len(rows) == len(data.effects)
    assert "A &amp; B" in page
    assert "&lt;careful&gt;" in page
