"""Numbers, names and drawings of the page: rounding that claims nothing, and places by hand."""

import math
import re

import numpy as np
import pytest
import xarray as xr

from bayesagree import Labels, Rankings, Ratings
from bayesagree.report.beside import diagnostics
from bayesagree.report.figures import bars, curve, shade, with_bars
from bayesagree.report.kinds import kind_of
from bayesagree.report.tables import Table, coefficient_name
from bayesagree.report.wording import (
    SPACE,
    compact,
    count,
    interval,
    listed,
    named,
    number,
    percent,
    probability,
    sentence,
)


@pytest.mark.parametrize(("share", "text"), [
    (0.0, "0 %"), (1.0, "100 %"), (0.0004, "< 0.1 %"), (0.0005, "0.1 %"), (0.0006, "0.1 %"), (0.0094, "0.9 %"),
    (0.01, "1 %"), (0.256, "26 %"), (0.99, "99 %"), (0.9912, "99.1 %"), (0.9996, "> 99.9 %"),
    (math.nan, "–"),
])  # fmt: skip
def test_shares_near_their_ends_have_a_decimal_and_reach_no_end(share, text):
    assert percent(share).replace(SPACE, " ") == text


@pytest.mark.parametrize(("p", "text"), [
    (0.0, "< 0.001"), (0.0009, "< 0.001"), (0.001, "0.001"), (0.0094, "0.009"), (0.01, "0.01"), (0.5, "0.50"),
    (0.99, "0.99"), (0.9912, "0.991"), (0.999, "0.999"), (0.9991, "> 0.999"), (1.0, "> 0.999"), (math.nan, "–"),
])  # fmt: skip
def test_probabilities_counted_in_draws_are_neither_0_nor_1(p, text):
    assert probability(p).replace(SPACE, " ") == text


def test_numbers_that_do_not_exist_are_a_dash():
    assert (number(0.12345), number(math.nan)) == ("0.123", "–")
    assert (interval(0.1, 0.25), interval(math.nan, 0.25)) == ("0.100 to 0.250", "–")


def places(drawing, *names):
    return [[float(value) for value in re.findall(rf'{name}="([\d.]+)"', drawing)] for name in names]


def test_bars_of_all_rows_share_one_axis():
    """From 6 to 114 of 120: the lowest end of all rows and the highest; a value in the middle is at 60."""
    drawn = bars([(0.5, 0.25, 0.75), (0.625, 0.5, 1.0), (math.nan,) * 3, (0.25, math.nan, math.nan), (0.0, 0.0, 0.25)])
    assert places(drawn[0], "cx", "x1", "x2") == [[60], [33], [87]]
    assert places(drawn[1], "cx", "x1", "x2") == [[73.5], [60], [114]]
    assert places(drawn[3], "cx", "x1", "x2") == [[33], [], []]
    assert (drawn[2], places(drawn[4], "cx", "x1", "x2")) == ("", [[6], [6], [33]])
    assert places(bars([(0.5, 0.5, 0.5)])[0], "cx", "x1", "x2") == [[6], [6], [6]]
    assert with_bars([("a", "b"), ("c", "d")], [(0.0,) * 3, (1.0,) * 3], 1)[1][::2] == ("c", "d")


@pytest.mark.parametrize(("values", "first", "middle", "last"), [
    (np.zeros(5), 15, 15, 15), (np.ones(5), 1, 1, 1), (np.linspace(0, 1, 119), 15, 8, 1), (np.array([1, 0]), 15, 8, 1),
])  # fmt: skip
def test_a_curve_rises_from_the_lowest_value_to_the_highest_within_its_frame(values, first, middle, last):
    points = re.search(r'points="([^"]*)"', curve(values))
    xy = np.array([point.split(",") for point in points[1].split()], float)
    np.testing.assert_array_equal(xy[:, 0], np.arange(0, 120, 2))
    assert (xy[0, 1], xy[-1, 1]) == (first, last)
    assert xy[29:31, 1].mean() == pytest.approx(middle, abs=0.06)
    assert (np.diff(xy[:, 1]) <= 0).all()


def test_a_shade_is_as_long_as_its_share():
    assert "--share:0.250" in shade(0.25) and ">0.25<" in shade(0.25)
    assert "--share:0.000" in shade(math.nan, "none") and ">none<" in shade(math.nan, "none")


@pytest.mark.parametrize(("name", "text"), [
    ("phi", "Common agreement Phi"), ("gwet_ac1", "Gwet AC1"), ("icc_one_way", "ICC one way"),
    ("alpha_nominal", "Alpha nominal"), ("percent_agreement", "Percent agreement"),
])  # fmt: skip
def test_coefficients_have_the_names_of_books(name, text):
    assert coefficient_name(name) == text


RATED = Ratings.from_matrix([[1, 4], [5, 3], [np.nan, np.nan]], scale=(1, 5), items=["p", "q", "r"])


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")
def test_a_mean_rating_at_the_threshold_is_on_its_upper_side_and_no_rating_on_both():
    record = kind_of(RATED)
    assert record.point_estimate(RATED, 2.5).values.tolist() == [[0, 1], [0, 1], [0.5, 0.5]]
    assert record.point_estimate(RATED, 2.75).values.tolist() == [[1, 0], [0, 1], [0.5, 0.5]]
    np.testing.assert_array_equal(record.point_estimate(RATED, None), [2.5, 4, np.nan])


def test_items_show_their_annotations_the_most_frequent_first():
    assert [kind_of(RATED).lines(RATED, item) for item in range(3)] == [(("1, 4",), 2), (("3, 5",), 2), ((), 0)]
    votes = Labels.from_counts([[1, 3], [0, 0], [2, 0]], labels=["no", "yes"])
    lines = [kind_of(votes).lines(votes, item) for item in range(3)]
    assert lines == [(("yes (3), no (1)",), 4), ((), 0), (("no (2)",), 2)]


def test_the_worst_chain_counts():
    stats = xr.Dataset({"r_hat": ("v", [1.01, 1.2, np.nan]), "ess": ("v", [400.0, np.nan, 90.0]), "draws": 5})
    assert diagnostics(xr.DataTree.from_dict({"/diagnostics": stats})) == {"r_hat": 1.2, "ess": 90.0}
    unknown = stats.assign(r_hat=("v", [np.nan] * 3))
    assert diagnostics(xr.DataTree.from_dict({"/diagnostics": unknown})) == {"ess": 90.0}
    assert diagnostics(xr.DataTree()) == {}


def test_cells_are_numbers_in_all_rows_or_stand_left():
    table = Table("t", "", ("name", "a", "b", "c"), [("1", "0.5", "<b>2</b>", "x"), ("2", "", "3 to 4", "0.1")])
    assert [table.numeric(column) for column in (0, 1, 3)] == [False, True, False]


def test_words_of_the_page():
    assert (listed(["a"]), listed(["a", "b"]), listed([1, 2, 3])) == ("a", "a and b", "1, 2 and 3")
    assert (sentence("few votes"), sentence("")) == ("Few votes.", "")
    assert [count(n) for n in (999, 1000)] == ["999", "1\N{NARROW NO-BREAK SPACE}000"]
    assert (compact(2.0), compact(0.125)) == ("2", "0.125")
    assert named("<b>" + 21 * "x") == f'<span class="name">&lt;b&gt;{21 * "x"}</span>'  # 24 letters
    assert named(25 * "x") == 25 * "x"


def test_rankings_of_an_item_are_written_with_their_ties():
    rankings = Rankings.from_blocks([[[["a"], ["b", "c"]], [["b"]]]], labels=[*"abc"])
    assert kind_of(rankings).lines(rankings, 0) == (("a > {b, c}", "b"), 2)
