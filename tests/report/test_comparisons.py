"""The report of comparisons: its numbers are those of the package, and its page is whole."""

import json
import re

import pandas as pd
import pytest

from bayesagree import Comparisons, InputError, davidson
from bayesagree.comparisons import preference_table
from bayesagree.report import comparison_report
from bayesagree.report.comparisons import panel
from bayesagree.report.page import render
from bayesagree.report.wording import percent
from tests.comparisons.test_davidson import crowd, food


@pytest.fixture(scope="module")
def data():
    games = Comparisons.from_long(crowd(n=600), annotator="who", item="prompt")
    effects = {"ties": "annotator", "order": "annotator", "discrimination": None}
    return comparison_report(
        games, davidson(games, **effects, draws=200, chains=2, random_seed=1), warnings=("<careful>",)
    )


def test_intervals_of_the_panel_begin_with_their_lower_end(data):
    best = preference_table(data.result, scale="win_rate").iloc[0]
    common = data.effects[data.effects["annotator"].isna()].set_index("effect")
    rows = {"How often does": best, "Does the first place win?": common.loc["first_wins"]}
    found = [answer for answer in panel(data) if answer.question.startswith(tuple(rows))]
    assert len(found) == 2
    for answer, row in zip(found, rows.values()):
        ends = " to ".join(percent(row[name]) for name in ("lower", "upper"))
        assert row["lower"] < row["mean"] < row["upper"]
        assert (answer.number, answer.ends) == (percent(row["mean"]), ends)


def test_page_has_the_numbers_and_no_error(data):
    page = render(data, title="A & B")
    numbers = json.loads(re.search(r'id="numbers">(.*?)</script>', page, re.S).group(1))
    table = preference_table(data.result, scale="win_rate")
    assert [row["mean"] for row in numbers["models"]] == pytest.approx(table["mean"].tolist())
    assert "A &amp; B" in page
    assert "&lt;careful&gt;" in page


def test_a_result_of_other_comparisons_is_refused():
    games = Comparisons.from_long(food()[lambda t: t["winner"] != "tie"])
    tree = davidson(games, ties=None, order=None, discrimination=None, draws=50, chains=1, random_seed=1)
    other = Comparisons.from_long(pd.DataFrame({"left": ["A"], "right": ["B"], "winner": ["A"]}))
    with pytest.raises(InputError, match="none of davidson for these comparisons"):
        comparison_report(other, tree)
