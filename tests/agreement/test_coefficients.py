"""Agreement coefficients against published values, brute force and their invariances."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree import simulate
from bayesagree.agreement._coefficients import interval_of
from bayesagree.agreement.coefficients import agreement_table, interval_of_counts, krippendorff_alpha
from bayesagree.annotations import Labels, Ratings
from bayesagree.errors import InputError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "agreement.json").read_text())


def matrix_of(case):
    if "matrix" in case:
        return np.array(case["matrix"], dtype=float)
    table = np.array(case["table"])
    return np.array([(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)], dtype=float)


def table_of(annotations, **options):
    return agreement_table(annotations, seed=1, **options).set_index("coefficient")


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["source"])
def test_published_values(case):
    found = table_of(
        Labels.from_matrix(matrix_of(case)), level=case.get("level", "nominal"), weights=case.get("weights")
    )
    for name, value in case["values"].items():
        # A published value is right to half its last digit.
        assert abs(found.loc[name, "estimate"] - value) <= 0.5000001 * 10.0 ** -case["digits"]


@pytest.mark.parametrize("case", GOLDEN["counts"], ids=lambda case: case["source"])
def test_published_values_of_counts(case, public_data):
    counts = pd.read_csv(public_data / case["file"]).iloc[:, 1:].to_numpy()
    found = table_of(Labels.from_counts(counts))
    for name, value in case["values"].items():
        assert found.loc[name, "estimate"] == pytest.approx(value, abs=1e-6)
    assert "annotators" in found.loc["cohen_kappa", "note"]


def brute_force_alpha(matrix, distance):
    """Average squared distance over pairs, as the definition says."""
    units = [row[~np.isnan(row)] for row in matrix]
    units = [u for u in units if u.size > 1]
    pooled = np.concatenate(units)

    def mean_distance(values):
        return sum(distance(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j) / (
            values.size * (values.size - 1)
        )

    observed = sum(u.size * mean_distance(u) for u in units) / pooled.size
    return 1 - observed / mean_distance(pooled)


@pytest.mark.parametrize(
    ("level", "distance"),
    [
        ("nominal", lambda a, b: float(a != b)),
        ("interval", lambda a, b: (a - b) ** 2),
        ("ratio", lambda a, b: ((a - b) / (a + b)) ** 2),
    ],
)
def test_alpha_is_its_definition(level, distance):
    rng = np.random.default_rng(2)
    matrix = rng.integers(1, 6, (9, 4)).astype(float)
    matrix[rng.random(matrix.shape) < 0.25] = np.nan
    ratings = Ratings.from_matrix(matrix, scale=(1, 5), step=1)
    assert krippendorff_alpha(ratings, level=level) == pytest.approx(brute_force_alpha(matrix, distance), abs=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(0.5, 20), st.floats(-50, 50))
def test_interval_alpha_ignores_the_unit_of_the_scale(seed, factor, shift):
    rng = np.random.default_rng(seed)
    x = rng.random((6, 3))
    alpha = krippendorff_alpha(Ratings.from_matrix(x, scale=(0, 1)), level="interval")
    y = shift + factor * x
    other = krippendorff_alpha(Ratings.from_matrix(y, scale=(y.min() - 1, y.max() + 1)), level="interval")
    assert other == pytest.approx(alpha, abs=1e-9)


def same_in_any_order(annotations, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (8, 3)).astype(float)
    one, two = (table_of(annotations(m)) for m in (x, x[rng.permutation(8)]))
    names = [name for name in one.index if name != "phi"]
    np.testing.assert_allclose(one["estimate"][names].astype(float), two["estimate"][names].astype(float), atol=1e-12)
    # The bootstrap of those that see who annotated what goes item by item: the order chooses the weights.
    names = [n for n in names if n not in ("conger_kappa", "icc_agreement", "icc_consistency")]
    for end in ("lower", "upper"):
        np.testing.assert_allclose(one[end][names].astype(float), two[end][names].astype(float), atol=1e-12)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_order_of_items_and_annotators_does_not_matter(seed):
    same_in_any_order(Labels.from_matrix, seed)


@pytest.mark.long
@settings(max_examples=3)
@given(st.integers(0, 10**6))
def test_order_of_rated_items_does_not_matter(seed):
    same_in_any_order(lambda x: Ratings.from_matrix(x, scale=(0, 2), step=1), seed)


def test_interval_holds_the_estimate_and_narrows_with_items():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 2000)
    x = np.where(rng.random((2000, 4)) < 0.7, truth[:, None], rng.integers(0, 3, (2000, 4)))
    few, many = table_of(Labels.from_matrix(x[:100])), table_of(Labels.from_matrix(x))
    for name in ("percent_agreement", "alpha_nominal", "fleiss_kappa", "conger_kappa", "gwet_ac1"):
        assert many.loc[name, "lower"] < many.loc[name, "estimate"] < many.loc[name, "upper"]
        width = [t.loc[name, "upper"] - t.loc[name, "lower"] for t in (few, many)]
        assert 3 < width[0] / width[1] < 6.5  # sqrt(20) = 4.5


def test_degenerate_input_is_nan_with_a_reason():
    same = table_of(Labels.from_matrix([["a", "a"], ["a", "a"]], labels=["a", "b"]))
    assert np.isnan(same.loc["alpha_nominal", "estimate"])
    assert "one value" in same.loc["alpha_nominal", "note"]
    partly = table_of(Labels.from_matrix([["a", "a"], ["a", None]], labels=["a", "b"]))
    assert "one value" in partly.loc["alpha_nominal", "note"]
    lonely = table_of(Labels.from_matrix([["a"], ["b"]]))
    assert np.isnan(lonely.loc["percent_agreement", "estimate"])
    assert "two annotations" in lonely.loc["percent_agreement", "note"]
    assert "numbers" in lonely.loc["alpha_interval", "note"]
    assert "needs ratings" in lonely.loc["phi", "note"]


def test_continuous_ratings_have_interval_coefficients_only():
    found = table_of(Ratings.from_matrix(np.random.default_rng(1).random((100, 3)), scale=(0, 1)))
    assert np.isfinite(found.loc["alpha_interval", "estimate"])
    assert "distinct values" in found.loc["alpha_nominal", "note"]


def test_unknown_level_is_refused():
    with pytest.raises(InputError, match="level"):
        agreement_table(Labels.from_matrix([["a", "a"]]), level="cardinal")  # type: ignore[arg-type]


def test_a_coefficient_alone_has_the_interval_of_the_table():
    ratings = simulate.ratings(n_items=30, phi=0.6, seed=1).ratings
    table = agreement_table(ratings, level="nominal", seed=2).set_index("coefficient")
    for coefficient in ("fleiss_kappa", "alpha_nominal", "alpha_interval", "icc_one_way"):
        row = table.loc[coefficient]
        assert interval_of_counts(ratings, coefficient, seed=2) == (row["lower"], row["upper"]), coefficient


def test_unanimous_items_leave_an_interval():
    """Twenty items on which two people agree throughout do not show that they always would."""
    found = table_of(Labels.from_matrix([["a", "a"], ["b", "b"]] * 10))
    for name in ("percent_agreement", "cohen_kappa", "fleiss_kappa", "conger_kappa", "alpha_nominal", "gwet_ac1"):
        assert found.loc[name, "estimate"] == 1
        assert 0.5 < found.loc[name, "lower"] < 0.96
        assert found.loc[name, "upper"] == pytest.approx(1, abs=1e-9)


def test_coefficients_that_divide_by_a_rare_label_have_equal_tails():
    """Kappa and alpha of unordered labels; of two values those of an order too, which are then the same."""
    tails, shortest = "dirichlet process eti", "dirichlet process hdi"
    two = table_of(Ratings.from_matrix([[0, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]] * 5, scale=(0, 1), step=1))
    of_two = two.loc[["alpha_nominal", "alpha_ordinal", "alpha_interval"]]
    assert (of_two["ci_kind"] == tails).all()
    np.testing.assert_allclose(of_two[["lower", "upper"]], of_two[["lower", "upper"]].iloc[[0, 0, 0]], rtol=1e-9)
    five = table_of(Ratings.from_matrix([[1, 2, 1], [4, 5, 5], [2, 2, 3]] * 5, scale=(1, 5), step=1))["ci_kind"]
    assert five[["alpha_nominal", "alpha_ordinal", "fleiss_kappa"]].tolist() == [tails, shortest, shortest]
    found = interval_of(np.arange(101.0) ** 2, 0.9, equal_tails=True)
    assert (found["lower"], found["upper"]) == pytest.approx((25.0, 95.0**2))


def test_interval_of_many_items_is_that_of_the_bootstrap():
    """The base measure of mass 2 does not count where there are hundreds of items."""
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 400)
    x = np.where(rng.random((400, 3)) < 0.8, truth[:, None], rng.integers(0, 3, (400, 3)))
    lower, upper = table_of(Labels.from_matrix(x)).loc["percent_agreement", ["lower", "upper"]]
    agree = np.array([(row[0] == row[1:]).sum() + (row[1] == row[2]) for row in x]) / 3
    drawn = rng.dirichlet(np.ones(400), 20_000) @ agree
    assert upper - lower == pytest.approx(np.diff(np.quantile(drawn, [0.025, 0.975]))[0], rel=0.06)


OF_ORDER = ["alpha_ordinal", "alpha_interval", "alpha_ratio", "icc_polychoric", "icc_one_way", "icc_agreement"]
OF_ORDER += ["icc_consistency"]
WEIGHTED = ["cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "brennan_prediger"]
NAMES = np.array(["ant", "bee", "cat", "dog"])
VOTES = np.random.default_rng(9).integers(0, 4, (12, 2)) // np.array([[1], [2]] * 6)


@settings(max_examples=15)
@given(st.permutations(range(4)), st.sampled_from([2, 3]), st.integers(0, 10**6))
def test_names_of_classes_do_not_matter(order, n_annotators, seed):
    """Names in another alphabetical order are other names: no coefficient of nominal labels changes."""
    votes = np.random.default_rng(seed).integers(0, 4, (8, n_annotators))
    one, other = (table_of(Labels.from_matrix(names[votes])) for names in (NAMES, NAMES[list(order)]))
    np.testing.assert_allclose(one["estimate"].astype(float), other["estimate"].astype(float), atol=1e-12)
    assert one["note"][OF_ORDER].tolist() == other["note"][OF_ORDER].tolist()
    assert one["estimate"][OF_ORDER].isna().all()


def test_an_order_has_its_coefficients_and_weights():
    stated = table_of(Labels.from_matrix(NAMES[VOTES], labels=NAMES.tolist(), ordered=True))
    forced = table_of(Labels.from_matrix(NAMES[VOTES]), level="ordinal")
    for found in (stated, forced):
        assert np.isfinite(found.loc[["alpha_ordinal", "icc_polychoric", "gwet_ac2"], "estimate"].astype(float)).all()
        assert (found.loc[[*WEIGHTED, "gwet_ac2"], "note"] == "ordinal weights").all()
        assert found.loc["icc_one_way", "note"] == "the labels are not numbers"
        assert found.loc["alpha_ordinal", "note"] == found.loc["alpha_nominal", "note"] == ""
    plain = table_of(Labels.from_matrix(NAMES[VOTES]))
    assert "ordered=True with labels=[...]" in plain.loc["icc_polychoric", "note"]
    assert (plain.loc[WEIGHTED, "note"] == "").all()
    assert plain.loc["fleiss_kappa", "estimate"] != stated.loc["fleiss_kappa", "estimate"]
    linear = table_of(Labels.from_matrix(NAMES[VOTES]), weights="linear")
    assert (linear.loc[WEIGHTED, "note"] == "linear weights").all()


def test_numbers_are_ordered_unless_they_are_codes():
    numbers, codes = (table_of(Labels.from_matrix(VOTES, ordered=ordered)) for ordered in (None, False))
    assert all("ordered=False if they are codes" in note for note in numbers.loc[OF_ORDER, "note"])
    assert (numbers.loc[[*WEIGHTED, "gwet_ac1"], "note"] == "").all()
    assert codes.loc[OF_ORDER, "estimate"].isna().all()
    same = [*WEIGHTED, "alpha_nominal", "gwet_ac1", "percent_agreement"]
    assert codes.loc[same, "estimate"].tolist() == numbers.loc[same, "estimate"].tolist()
    assert not table_of(Labels.from_matrix(VOTES, ordered=True)).loc[OF_ORDER, "note"].str.contains("codes").any()


def test_ratings_have_the_weights_of_their_level():
    found = table_of(Ratings.from_matrix(VOTES.astype(float), scale=(0, 3), step=1))
    assert (found.loc[WEIGHTED, "note"] == "quadratic weights").all()
    assert np.isfinite(found.loc["alpha_ordinal", "estimate"])


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
def test_alpha_of_names_needs_an_order(level):
    with pytest.raises(InputError, match=f"level='{level}' needs an order.*ordered=True.*or pass level='nominal'"):
        krippendorff_alpha(Labels.from_matrix(NAMES[VOTES]), level=level)
    with pytest.raises(InputError, match="needs an order"):
        krippendorff_alpha(Labels.from_matrix(VOTES, ordered=False), level=level)
    graded = Labels.from_matrix(NAMES[VOTES], labels=NAMES.tolist(), ordered=True)
    if level == "ordinal":
        numbers = Labels.from_matrix(VOTES)
        assert krippendorff_alpha(graded, level=level) == krippendorff_alpha(numbers, level=level)
    else:
        with pytest.raises(InputError, match=f"level='{level}' needs numbers"):
            krippendorff_alpha(graded, level=level)


def test_the_table_prints_estimates_and_notes_in_80_columns():
    table = agreement_table(Labels.from_matrix([["a", "b"], ["a", "a"], ["b", "b"]] * 5), seed=1)
    lines = repr(table).splitlines()
    assert max(map(len, lines)) <= 80
    alpha = table.set_index("coefficient").loc["alpha_nominal", ["estimate", "lower", "upper"]]
    assert [line.split() for line in lines if "alpha_nominal" in line] == [
        ["alpha_nominal", *(f"{value:.3f}" for value in alpha)]
    ]
    assert any(line.startswith("phi: needs ratings") for line in lines)
