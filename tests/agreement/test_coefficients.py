"""Every agreement coefficient: published tables, brute force, what must not matter, and intervals."""

import json
from functools import partial
from itertools import combinations, permutations
from math import comb

import numpy as np
import pandas as pd
import pytest
from _paths import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from bayesagree import simulate
from bayesagree.agreement import icc
from bayesagree.agreement._coefficients import (
    WEIGHTS_OF_LEVEL,
    coefficients,
    draw_weights,
    interval_of,
    pseudo_weights,
)
from bayesagree.agreement._formulas import agreement_weights
from bayesagree.agreement._items import items_of
from bayesagree.agreement.coefficients import agreement_table, interval_of_counts, krippendorff_alpha
from bayesagree.annotations import Labels, Ratings
from bayesagree.errors import InputError

GOLDEN = json.loads((ROOT / "tests" / "golden" / "agreement.json").read_text())


def matrix_of(case):
    if "matrix" in case:
        return np.array(case["matrix"], dtype=float)
    table = np.array(case["table"])
    return np.array([(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)], dtype=float)


def table_of(annotations, **options):
    return agreement_table(annotations, random_seed=1, **options).set_index("coefficient")


def estimates(annotations, weights="identity"):
    """Return every coefficient without its interval, NaN where it does not exist."""
    return pd.Series(
        {n: c.estimate() if not c.note else np.nan for n, c in coefficients(items_of(annotations), weights)}
    )


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["source"])
def test_published_values(case):
    weights = case.get("weights") or WEIGHTS_OF_LEVEL[case.get("level") or "nominal"]
    found = estimates(Labels.from_matrix(matrix_of(case)), weights)
    for name, value in case["values"].items():
        # A published value is right to half its last digit.
        assert abs(found[name] - value) <= 0.5000001 * 10.0 ** -case["digits"]


@pytest.mark.parametrize("case", GOLDEN["counts"], ids=lambda case: case["source"])
def test_published_values_of_counts(case, public_data):
    counts = pd.read_csv(public_data / case["file"]).iloc[:, 1:].to_numpy()
    found = estimates(Labels.from_counts(counts))
    for name, value in case["values"].items():
        assert found[name] == pytest.approx(value, abs=1e-6)


VALUES = np.arange(1.0, 5.0)


def alpha_by_pairs(x, distance):
    """1 - D_o / D_e over ordered pairs of answers of one item, and of any two."""
    units = [row[~np.isnan(row)] for row in x]
    units = [u for u in units if u.size > 1]
    pooled = np.concatenate(units)
    observed = sum(distance(a, b) / (u.size - 1) for u in units for a, b in permutations(u, 2)) / pooled.size
    return 1 - observed / (sum(distance(a, b) for a, b in permutations(pooled, 2)) / pooled.size / (pooled.size - 1))


def oracle(x, A):
    """Return every coefficient of a matrix (item, annotator), by loops over pairs and sums of squares."""
    code = np.searchsorted(VALUES, x)
    n, k = x.shape
    pairs = [(code[:, i], code[:, j]) for i, j in combinations(range(k), 2)]
    agree = np.mean([A[i, j] for i, j in pairs])
    share = np.bincount(code.ravel(), minlength=4) / code.size
    own = np.array([np.bincount(column, minlength=4) / n for column in code.T])

    def corrected(expected):
        return (agree - expected) / (1 - expected)

    rank = np.cumsum(np.bincount(code.ravel(), minlength=4)) - np.bincount(code.ravel(), minlength=4) / 2
    rows, columns, grand = x.mean(axis=1), x.mean(axis=0), x.mean()
    between, of_columns = k * ((rows - grand) ** 2).sum(), n * ((columns - grand) ** 2).sum()
    within = ((x - rows[:, None]) ** 2).sum()
    msb, msw, msc = between / (n - 1), within / (n * (k - 1)), of_columns / (k - 1)
    mse = (within - of_columns) / ((n - 1) * (k - 1))
    found = {
        "percent_agreement": np.mean([i == j for i, j in pairs]),
        "conger_kappa": corrected(np.mean([own[i] @ A @ own[j] for i, j in combinations(range(k), 2)])),
        "fleiss_kappa": corrected(share @ A @ share),
        "gwet": corrected(A.sum() / 12 * (share * (1 - share)).sum()),
        "brennan_prediger": corrected(A.sum() / 16),
        "alpha_nominal": alpha_by_pairs(x, lambda a, b: float(a != b)),
        "alpha_ordinal": alpha_by_pairs(x, lambda a, b: (rank[int(a) - 1] - rank[int(b) - 1]) ** 2),
        "alpha_interval": alpha_by_pairs(x, lambda a, b: (a - b) ** 2),
        "alpha_ratio": alpha_by_pairs(x, lambda a, b: ((a - b) / (a + b)) ** 2),
        "icc_one_way": (msb - msw) / (msb + (k - 1) * msw),
        "icc_agreement": (msb - mse) / (msb + (k - 1) * mse + k / n * (msc - mse)),
        "icc_consistency": (msb - mse) / (msb + (k - 1) * mse),
    }
    if k == 2:
        found["scott_pi"] = found["fleiss_kappa"]
        how = {"identity": None, "linear": "linear", "quadratic": "quadratic"}
        known = next((how[w] for w in how if np.allclose(A, agreement_weights(w, VALUES))), "other")
        if known != "other":
            found["cohen_kappa"] = cohen_kappa_score(*x.T.astype(int), labels=[1, 2, 3, 4], weights=known)
    return found


@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic", "ordinal"])
@pytest.mark.parametrize("k", [2, 4])
def test_every_coefficient_is_its_definition(k, weights):
    rng = np.random.default_rng(k)
    x = np.clip(rng.integers(1, 5, (15, 1)) + rng.integers(-1, 2, (15, k)), 1, 4).astype(float)
    x[:4, 0] = VALUES  # all levels are used
    ratings = Ratings.from_matrix(x, scale=(1, 4), step=1)
    found, expected = estimates(ratings, weights), oracle(x, agreement_weights(weights, VALUES))
    if weights == "identity":
        two_way = icc(ratings, random_seed=1).set_index("kind")["estimate"]
        assert two_way["2,1"] == pytest.approx(expected["icc_agreement"], abs=1e-12)
        assert two_way["3,1"] == pytest.approx(expected["icc_consistency"], abs=1e-12)
    del expected["icc_agreement"], expected["icc_consistency"]
    expected["gwet_ac1" if weights == "identity" else "gwet_ac2"] = expected.pop("gwet")
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name
    # Cohen's kappa with ordinal weights has no other package; no coefficient is without an oracle.
    apart = {"cohen_kappa", "icc_agreement", "icc_consistency"}
    assert set(found.index) - set(expected) <= (apart if k == 2 else {*apart, "scott_pi"})


def test_agreement_weights_are_those_of_gwet():
    """Handbook of Inter-Rater Reliability (2014), chapter 3: of q ordered values 1 - C(|j - k| + 1, 2) / C(q, 2)."""
    values = np.array([1.0, 2.0, 4.0, 8.0])
    for j, k in permutations(range(4), 2):
        apart, relative = abs(values[j] - values[k]), abs(values[j] - values[k]) / (values[j] + values[k])
        expected = {
            "identity": 0,
            "ordinal": 1 - comb(abs(j - k) + 1, 2) / comb(4, 2),
            "linear": 1 - apart / 7,
            "quadratic": 1 - (apart / 7) ** 2,
            "ratio": 1 - (relative / (7 / 9)) ** 2,
        }
        for kind, weight in expected.items():
            assert agreement_weights(kind, values)[j, k] == pytest.approx(weight, abs=1e-12), kind
            assert (agreement_weights(kind, values).diagonal() == 1).all()
    assert agreement_weights("ratio", values[:1]).tolist() == [[1.0]]


def test_no_coefficient_has_ratios_of_values_below_zero():
    """Of -1 and 1 the distance would be 2 / 0: the default table says so, and alpha of .23 and kappa of .16 do not."""
    labels = Labels.from_matrix([[-1, 2], [0, 0], [1, -1], [1, 1], [2, 2], [-1, -1]], ordered=True)
    note = agreement_table(labels, random_seed=1).set_index("coefficient").loc["alpha_ratio", "note"]
    assert note.startswith("ratio distances need values of at least 0")
    for asked in (
        partial(krippendorff_alpha, level="ratio"),
        partial(agreement_table, level="ratio"),
        partial(agreement_table, weights="ratio", by="pair"),
    ):
        with pytest.raises(InputError, match="values of at least 0, and there is -1; take level='interval'"):
            asked(labels)


NAMES = np.array(["ant", "bee", "cat"])
VOTES = st.integers(0, 10**6).map(lambda random_seed: np.random.default_rng(random_seed).integers(0, 3, (8, 4)))
OF_COUNTS = ["percent_agreement", "fleiss_kappa", "alpha_nominal", "gwet_ac1", "brennan_prediger"]
OF_ORDER = ["alpha_ordinal", "alpha_interval", "alpha_ratio", "icc_one_way"]


@settings(max_examples=8)
@given(VOTES, st.randoms(use_true_random=False))
def test_what_must_not_matter(votes, random):
    """Names of labels, the order of items and of annotators; two votes are a vote of weight two."""
    rng = np.random.default_rng(random.randint(0, 10**6))
    known = ["ant", "bee", "cat"]
    base = estimates(Labels.from_matrix(NAMES[votes], labels=known))
    renamed = NAMES[rng.permutation(3)][votes]
    moved = votes[rng.permutation(8)][:, rng.permutation(4)]
    for other in (Labels.from_matrix(renamed, labels=known), Labels.from_matrix(NAMES[moved], labels=known)):
        np.testing.assert_allclose(estimates(other), base, atol=1e-12)
    counts = Labels.from_counts(np.stack([np.bincount(row, minlength=3) for row in votes]), labels=known)
    np.testing.assert_allclose(estimates(counts)[OF_COUNTS], base[OF_COUNTS], atol=1e-12)
    numbers = estimates(Labels.from_matrix(votes)), estimates(Labels.from_matrix(moved))
    np.testing.assert_allclose(*numbers, atol=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.floats(0.5, 20), st.floats(-50, 50))
def test_interval_coefficients_ignore_the_unit_of_the_scale(random_seed, factor, shift):
    x = np.random.default_rng(random_seed).random((6, 3))
    y = shift + factor * x
    one, two = Ratings.from_matrix(x, scale=(0, 1)), Ratings.from_matrix(y, scale=(y.min() - 1, y.max() + 1))
    names = ["alpha_interval", "icc_one_way"]
    np.testing.assert_allclose(estimates(one)[names], estimates(two)[names], atol=1e-7)


@pytest.mark.parametrize(
    ("rows", "coefficient", "reason"),
    [
        ([["a", "a"], ["a", "a"]], "alpha_nominal", "one value"),
        ([["a", "a"], ["a", None]], "fleiss_kappa", "one value"),
        ([["a"], ["b"]], "percent_agreement", "two annotations"),
        ([["a", "b"]], "alpha_ordinal", "no order"),
        ([["a", "b", "a"]], "cohen_kappa", "exactly two"),
        ([[1.5, 2.5]], "icc_agreement", "components of variance"),
        ([["a", "b"]], "phi", "needs ratings"),
    ],
)
def test_what_does_not_exist_is_nan_with_a_reason(rows, coefficient, reason):
    found = table_of(Labels.from_matrix(rows))
    assert np.isnan(found.loc[coefficient, "estimate"])
    assert reason in found.loc[coefficient, "note"]
    assert (found["estimate"].notna() | (found["note"] != "")).all()


@pytest.mark.usefixtures("without_phi")
def test_an_order_has_its_coefficients_and_weights():
    votes = np.random.default_rng(9).integers(0, 3, (12, 2))
    weighted = ["cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "brennan_prediger"]
    plain = table_of(Labels.from_matrix(NAMES[votes]))
    assert plain.loc[OF_ORDER, "estimate"].isna().all()
    assert "ordered=True with labels=[...]" in plain.loc["alpha_ordinal", "note"]
    stated = table_of(Labels.from_matrix(NAMES[votes], labels=NAMES.tolist(), ordered=True))
    forced = table_of(Labels.from_matrix(NAMES[votes]), level="ordinal")
    for found in (stated, forced):
        assert np.isfinite(found.loc[["alpha_ordinal", "gwet_ac2"], "estimate"].astype(float)).all()
        assert (found.loc[[*weighted, "gwet_ac2"], "note"] == "ordinal weights").all()
    numbers, codes = (table_of(Labels.from_matrix(votes, ordered=ordered)) for ordered in (None, False))
    assert all("ordered=False if they are codes" in note for note in numbers.loc[OF_ORDER, "note"])
    assert codes.loc[OF_ORDER, "estimate"].isna().all()
    continuous = table_of(Ratings.from_matrix(np.random.default_rng(1).random((100, 3)), scale=(0, 1)))
    assert np.isfinite(continuous.loc["alpha_interval", "estimate"])
    assert "distinct values" in continuous.loc["alpha_nominal", "note"]


def test_alpha_of_names_needs_an_order():
    votes = NAMES[np.random.default_rng(9).integers(0, 3, (12, 2))]
    graded = Labels.from_matrix(votes, labels=NAMES.tolist(), ordered=True)
    for labels, level, words in (
        (Labels.from_matrix(votes), "ordinal", "needs an order"),
        (graded, "interval", "needs numbers"),
        (graded, "cardinal", "level='cardinal'"),
    ):
        with pytest.raises(InputError, match=words):
            krippendorff_alpha(labels, level=level)
    with pytest.raises(InputError, match="ci_prob=95"):
        agreement_table(graded, ci_prob=95)


@pytest.mark.usefixtures("without_phi")
def test_interval_holds_the_estimate_and_narrows_with_items():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 1000)
    x = np.where(rng.random((1000, 4)) < 0.7, truth[:, None], rng.integers(0, 3, (1000, 4)))
    few, many = table_of(Labels.from_matrix(x[:50])), table_of(Labels.from_matrix(x))
    for name in ("percent_agreement", "alpha_nominal", "fleiss_kappa", "conger_kappa", "gwet_ac1"):
        assert many.loc[name, "lower"] < many.loc[name, "estimate"] < many.loc[name, "upper"]
        width = [t.loc[name, "upper"] - t.loc[name, "lower"] for t in (few, many)]
        assert 3 < width[0] / width[1] < 6.5  # sqrt(20) = 4.5
    # The base measure of mass 2 does not count where there are hundreds of items: a Bayesian bootstrap.
    agree = np.array([np.mean([a == b for a, b in combinations(row, 2)]) for row in x[:400]])
    lower, upper = table_of(Labels.from_matrix(x[:400])).loc["percent_agreement", ["lower", "upper"]]
    drawn = rng.dirichlet(np.ones(400), 8_000) @ agree
    assert upper - lower == pytest.approx(np.diff(np.quantile(drawn, [0.025, 0.975]))[0], rel=0.06)


@pytest.mark.usefixtures("without_phi")
def test_a_coefficient_alone_has_the_interval_of_the_table():
    ratings = simulate.ratings(n_items=30, phi=0.6, random_seed=1).ratings
    table = table_of(ratings, level="nominal")
    for coefficient in ("fleiss_kappa", "alpha_interval", "icc_one_way"):
        row = table.loc[coefficient]
        assert interval_of_counts(ratings, coefficient, random_seed=1) == (row["lower"], row["upper"]), coefficient


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
    two = table_of(Labels.from_matrix([[0, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]] * 5))
    assert (two.loc[["alpha_nominal", "alpha_ordinal", "alpha_interval"], "ci_kind"] == tails).all()
    five = table_of(Labels.from_matrix([[1, 2, 1], [4, 5, 5], [2, 2, 3]] * 5), level="ordinal")["ci_kind"]
    assert five[["alpha_nominal", "alpha_ordinal", "fleiss_kappa"]].tolist() == [tails, shortest, shortest]
    found = interval_of(np.arange(101.0) ** 2, 0.9, equal_tails=True)
    assert (found["lower"], found["upper"]) == pytest.approx((25.0, 95.0**2))


@pytest.mark.usefixtures("without_phi")
def test_two_values_have_one_distance_and_one_interval():
    """Alpha at any level, and the kappas of two annotators, are then the same numbers to the last replicate."""
    rng = np.random.default_rng(5)
    table = table_of(Labels.from_matrix(np.where(rng.random((20, 3)) < 0.7, np.arange(20)[:, None] % 2, 1)))
    alphas = table.loc[["alpha_nominal", "alpha_ordinal", "alpha_interval"], ["estimate", "lower", "upper"]].astype(
        float
    )
    np.testing.assert_allclose(alphas, np.tile(alphas.iloc[0], (3, 1)), atol=1e-12)


def weights_of(*annotations, cluster=None, places=None):
    """Return weights of the items of each side, replicate by replicate, and their coefficients."""
    rng = np.random.default_rng(1)
    sides = tuple(dict(coefficients(items_of(one), "identity"))["conger_kappa"] for one in annotations)
    places = [np.arange(one.items.size) for one in annotations] if places is None else places
    drawn = draw_weights(sides, places, [pseudo_weights(rng) for _ in sides], rng, cluster)
    return [np.concatenate(one) for one in zip(*drawn)], sides


def votes_of(n, random_seed):
    return Labels.from_matrix(np.random.default_rng(random_seed).integers(0, 3, (n, 3)), labels=[0, 1, 2])


def test_weights_of_items_are_those_of_a_dirichlet_process_of_mass_two():
    """Each of 20 items counts 18 / 20 of one, with the variance of a share of a Dirichlet distribution of mass 20."""
    (weight,), (side,) = weights_of(votes_of(20, 2))
    np.testing.assert_allclose(weight.sum(axis=1), 20)
    share = weight[:, side.unit[:20]] / 20
    mean, sd = 0.9 / 20, np.sqrt(0.9 / 20 * (1 - 0.9 / 20) / 21)
    assert (np.abs(share.mean(axis=0) - mean) < 4.5 * sd / np.sqrt(2000)).all()
    assert share.std() == pytest.approx(sd, rel=0.05)
    assert share.sum(axis=1).mean() == pytest.approx(0.9, abs=4.5 * np.sqrt(0.09 / 21 / 2000))


def test_items_of_a_cluster_have_one_weight_and_clusters_count_alike():
    cluster = np.repeat(np.arange(10), [1, 1, 1, 1, 2, 2, 2, 2, 4, 4])
    (weight,), (side,) = weights_of(votes_of(20, 3), cluster=cluster)
    own = weight[:, side.unit[:20]]
    for k in range(10):
        np.testing.assert_allclose(
            own[:, cluster == k], own[:, cluster == k][:, :1].repeat((cluster == k).sum(), axis=1)
        )
    np.testing.assert_allclose(weight.sum(axis=1), 20)
    one_each = own[:, [0, 4, 12, 19]]
    assert np.abs(np.corrcoef(one_each.T) - np.eye(4)).max() < 0.5
    np.testing.assert_allclose(one_each.mean(axis=0), one_each.mean(), rtol=0.2)


def test_items_of_both_sides_share_their_weights():
    """Up to the whole of each side: its own items and pseudo-items differ."""
    first, second = votes_of(12, 4), votes_of(15, 5)
    places = [np.append(np.arange(12), np.full(5, -1)), np.array([*range(10), -1, -1, *range(10, 15)])]
    (one, other), sides = weights_of(first, second, places=places)
    both = one[:, sides[0].unit[:10]] / other[:, sides[1].unit[:10]]
    np.testing.assert_allclose(both, both[:, :1].repeat(10, axis=1))
    own = one[:, sides[0].unit[10]] / one[:, sides[0].unit[0]], other[:, sides[1].unit[10]] / other[:, sides[1].unit[0]]
    assert abs(np.corrcoef(np.log(own))[0, 1]) < 0.9
    np.testing.assert_allclose([one.sum(axis=1), other.sum(axis=1)], np.tile([[12], [15]], 2000))


@pytest.mark.parametrize("weights", ["identity", "quadratic"])
def test_every_coefficient_of_ratings_with_gaps_is_its_definition(weights):
    """By loops: items of two ratings or more agree, all that are rated tell of chance; one has one rating, one none."""
    rng = np.random.default_rng(8)
    x = np.clip(rng.integers(1, 5, (20, 1)) + rng.integers(-1, 2, (20, 4)), 1, 4).astype(float)
    x[rng.random(x.shape) < 0.25] = np.nan
    x[0], x[1, 1:], x[2] = np.nan, np.nan, [1, 2, 3, 4]
    A = agreement_weights(weights, VALUES)
    found = dict(coefficients(items_of(Ratings.from_matrix(x, scale=(1, 4), step=1)), weights))
    rows = [np.searchsorted(VALUES, row[~np.isnan(row)]) for row in x]
    several = [row for row in rows if row.size > 1]
    agreed = [np.mean([A[a, b] for a, b in permutations(row, 2)]) for row in several]
    share = np.mean([np.bincount(row, minlength=4) / row.size for row in rows if row.size], axis=0)
    own = [np.bincount(np.searchsorted(VALUES, c[~np.isnan(c)]), minlength=4) / (~np.isnan(c)).sum() for c in x.T]

    def corrected(chance):
        return (np.mean(agreed) - chance) / (1 - chance)

    n = np.array([row.size for row in rows if row.size])
    mean = np.array([VALUES[row].mean() for row in rows if row.size])
    grand = n @ mean / n.sum()
    between = n @ (mean - grand) ** 2 / (n.size - 1)
    within = sum(((VALUES[row] - VALUES[row].mean()) ** 2).sum() for row in rows if row.size) / (n.sum() - n.size)
    size = (n.sum() - n @ n / n.sum()) / (n.size - 1)
    expected = {
        "percent_agreement": np.mean([np.mean([a == b for a, b in permutations(row, 2)]) for row in several]),
        "fleiss_kappa": corrected(share @ A @ share),
        "conger_kappa": corrected(np.mean([one @ A @ other for one, other in permutations(own, 2)])),
        "gwet_ac1" if weights == "identity" else "gwet_ac2": corrected(A.sum() / 12 * (share * (1 - share)).sum()),
        "brennan_prediger": corrected(A.mean()),
        "alpha_nominal": alpha_by_pairs(x, lambda a, b: float(a != b)),
        "alpha_interval": alpha_by_pairs(x, lambda a, b: (a - b) ** 2),
        "alpha_ratio": alpha_by_pairs(x, lambda a, b: ((a - b) / (a + b)) ** 2),
        "icc_one_way": (between - within) / (between + (size - 1) * within),
    }
    for name, value in expected.items():
        assert found[name].estimate() == pytest.approx(value, abs=1e-12), name
