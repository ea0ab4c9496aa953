"""Agreement in detail against published and counted values; rows that hold together; notes on planted defects."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bayesagree import Labels, Rankings, Ratings, agreement_difference, agreement_table, confusion, krippendorff_alpha
from bayesagree.agreement import icc
from bayesagree.agreement._coefficients import interval_of, item_mass
from bayesagree.errors import InputError

# Anxiety of 20 subjects by three raters, from R's irr.
ANXIETY = np.array([
    [3, 3, 2], [3, 6, 1], [3, 4, 4], [4, 6, 4], [5, 2, 3], [5, 4, 2], [2, 2, 1], [3, 4, 6], [5, 3, 1], [2, 3, 1],
    [2, 2, 1], [6, 3, 2], [1, 3, 3], [5, 3, 3], [2, 2, 1], [2, 2, 1], [1, 1, 3], [2, 3, 3], [4, 3, 2], [3, 4, 2],
])  # fmt: skip
NAMES = ["ann", "bob", "cyn"]


def anxiety():
    return Labels.from_matrix(ANXIETY, annotators=NAMES)


def strings(rows, **options):
    table = [(i, j, label) for i, row in enumerate(rows) for j, label in enumerate(row)]
    return Labels.from_long(pd.DataFrame(table, columns=["item", "annotator", "label"]), **options)


def trials(judges):
    table = [(i, j, label) for j, rows in judges.items() for i, row in enumerate(rows) for label in row]
    return Labels.from_long(pd.DataFrame(table, columns=["item", "annotator", "label"]), duplicates="keep")


def test_kappa_of_every_pair():
    """irr's kappa2; the second weighted one is irr's squared kappa of the same pair."""
    table = agreement_table(anxiety(), by="pair", random_seed=1)
    assert table[["annotator", "other_annotator"]].values.tolist() == [["ann", "bob"], ["ann", "cyn"], ["bob", "cyn"]]
    assert table["estimate"].tolist() == pytest.approx([0.119497, -0.165644, -0.006289], abs=1e-6)
    assert ((table["lower"] <= table["estimate"]) & (table["estimate"] <= table["upper"])).all()
    for weights in ("identity", "quadratic"):
        pair = Labels.from_matrix(ANXIETY[:, :2], annotators=NAMES[:2], labels=list(range(1, 7)))
        alone = agreement_table(pair, weights=weights, random_seed=1).set_index("coefficient")
        found = agreement_table(pair, by="pair", weights=weights, random_seed=1)["estimate"].item()
        assert found == pytest.approx(alone.loc["cohen_kappa", "estimate"])


@pytest.mark.usefixtures("without_phi")
def test_intraclass_correlations_of_anxiety():
    """irr's icc: of one rating and of the mean of three."""
    found = agreement_table(Ratings.from_matrix(ANXIETY, scale=(1, 6)), random_seed=1).set_index("coefficient")
    kinds = ["icc_agreement", "icc_consistency", "icc_one_way"]
    published = [0.1980, 0.2160, 0.1750, 0.4255, 0.4526, 0.3889]
    names = kinds + [f"{kind}_mean" for kind in kinds]
    np.testing.assert_allclose(found.loc[names, "estimate"], published, atol=5.1e-5)


def test_concordance_of_anxiety_with_its_ties():
    """irr's kendall(correct=TRUE): .5397."""
    rows = [(0, name, s, rating) for s, ratings in enumerate(ANXIETY) for name, rating in zip(NAMES, ratings)]
    ranked = Rankings.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label", "rank"]))
    found = agreement_table(ranked, random_seed=1).set_index("coefficient")
    assert found.loc["kendall_w_ties", "estimate"] == pytest.approx(0.5397, abs=5.1e-5)


def test_kappa_of_fourteen_raters_by_counts():
    """The example of Fleiss (1971) as Wikipedia has it: .210."""
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    found = agreement_table(Labels.from_counts(counts), random_seed=1).set_index("coefficient")
    assert found.loc["fleiss_kappa", "estimate"] == pytest.approx(0.2099, abs=5.1e-5)


def test_an_annotator_against_the_others_is_kappa_with_each_other_counting_alike():
    table = agreement_table(anxiety(), by="annotator", random_seed=1)
    of_both = np.concatenate([ANXIETY[:, [0, 1]], ANXIETY[:, [0, 2]]])
    observed = (of_both[:, 0] == of_both[:, 1]).mean()
    shares = [np.bincount(column, minlength=7) / len(of_both) for column in of_both.T]
    expected = shares[0] @ shares[1]
    assert table["estimate"][0] == pytest.approx((observed - expected) / (1 - expected))
    assert table["annotator"].tolist() == NAMES


def test_an_annotator_with_himself():
    """Five trials of a judge: by hand 1 and .0625 of Fleiss' kappa."""
    judges = {"sure": ["aaaaa", "bbbbb", "aaaaa"], "unsure": ["aaabb", "abbbb", "aaaab"]}
    table = agreement_table(trials(judges), by="annotator", random_seed=1).set_index("annotator")
    assert table["estimate"].to_dict() == pytest.approx({"sure": 1.0, "unsure": 0.0625})
    assert set(table["against"]) == {"self"}


def test_share_of_agreeing_pairs_of_each_item_and_label():
    votes = strings(["aaa", "aab", "abc", "bbbb", "aabb", "a"])
    by_item = agreement_table(votes, by="item")
    assert by_item["estimate"].tolist() == pytest.approx([1, 1 / 3, 0, 1, 1 / 3, np.nan], nan_ok=True)
    assert by_item["note"].iloc[-1] == "fewer than two annotations"
    by_label = agreement_table(votes, by="category", random_seed=1).set_index("category")["estimate"]
    # Annotations beside another of their item that are the same label, over all that stand beside another.
    assert by_label.to_dict() == pytest.approx(
        {"a": (6 + 2 + 2) / (6 + 4 + 2 + 6), "b": (12 + 2) / (2 + 2 + 12 + 6), "c": 0}
    )


def test_an_item_without_annotations_has_no_agreement():
    """It had the agreement and the number of another item."""
    counts = agreement_table(Labels.from_counts([[0, 0], [2, 0], [1, 1]]), by="item")
    matrix = agreement_table(Labels.from_matrix([[0, 0], [None, None], [1, 0]], labels=[0, 1]), by="item")
    for table, empty in ((counts, 0), (matrix, 1)):
        assert table["estimate"].drop(empty).tolist() == [1.0, 0.0]
        assert table["n_annotations"].drop(empty).tolist() == [2, 2]
        assert np.isnan(table["estimate"][empty])
        assert table.loc[empty, ["n_annotations", "note"]].tolist() == [0, "fewer than two annotations"]


def test_confusion_of_two_and_of_all():
    table = confusion(anxiety(), "ann", "bob")
    counted = pd.crosstab(ANXIETY[:, 0], ANXIETY[:, 1]).reindex(columns=range(1, 7), fill_value=0)
    np.testing.assert_array_equal(table, counted)
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    pooled = sum(np.histogram2d(ANXIETY[:, a], ANXIETY[:, b], bins=np.arange(1, 8))[0] for a, b in pairs)
    np.testing.assert_array_equal(confusion(anxiety()), pooled)


def test_a_function_of_two_labels_or_numbers_receives_them():
    near = {frozenset(("joy", "love")): 0.3, frozenset(("anger", "sadness")): 0.5}
    votes = Labels.from_matrix([["joy", "love"], ["anger", "sadness"], ["joy", "joy"], ["anger", "joy"]])
    alpha = krippendorff_alpha(votes, distance=lambda x, y: 0 if x == y else near.get(frozenset((x, y)), 1))
    assert alpha == pytest.approx(0.267442, abs=1e-6)
    numbers = Ratings.from_matrix([(1, 2), (4, 4), (6, 9), (3, 3), (8, 7)], scale=(0, 10), step=1)
    assert krippendorff_alpha(numbers, distance=lambda x, y: abs(x - y)) == pytest.approx(0.685315, abs=1e-6)
    several = trials({"ann": ["ab", "a"], "bob": ["ab", "b"]})
    assert krippendorff_alpha(several, distance=lambda x, y: 1 - len(x & y) / len(x | y)) == pytest.approx(
        krippendorff_alpha(several, distance="jaccard")
    )


def rows(annotations, **options):
    return agreement_table(annotations, random_seed=1, **options).set_index("coefficient")


@pytest.mark.parametrize("accuracy", [0.6, 0.95, 1.0])
def test_the_estimate_lies_in_its_interval(accuracy):
    rng = np.random.default_rng(1)
    for _ in range(5):
        truth = rng.integers(2, size=(6, 1))
        table = rows(Labels.from_matrix(np.where(rng.random((6, 4)) < accuracy, truth, 1 - truth), labels=[0, 1]))
        table = table.dropna(subset=["lower"])
        assert ((table["lower"] <= table["estimate"]) & (table["estimate"] <= table["upper"])).all()


def test_fewer_than_three_items_have_a_note_in_place_of_an_interval():
    table = rows(Labels.from_matrix([list("aaaaaaaab")]))
    shown = ["percent_agreement", "conger_kappa", "fleiss_kappa", "alpha_nominal", "gwet_ac1", "brennan_prediger"]
    assert table.loc[shown, "estimate"].tolist() == pytest.approx([7 / 9, 0, -0.125, 0, 0.7231, 0.5556], abs=1e-4)
    assert table.loc[shown, ["lower", "upper"]].isna().all().all()
    assert table.loc["alpha_nominal", "note"] == "1 item: an interval over items needs 3, each with two annotations"


@pytest.mark.usefixtures("without_phi")
def test_an_empty_cell_does_not_change_the_question():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 1)) + 0.6 * np.array([-1, 0, 1]) + 0.75 * rng.normal(size=(300, 3))
    gap = x.copy()
    gap[5, 1] = np.nan
    whole, holed = (rows(Ratings.from_matrix(one, scale=(-9, 9))).loc["icc_agreement"] for one in (x, gap))
    assert holed["estimate"] == pytest.approx(whole["estimate"], abs=0.01)
    assert (holed["upper"] - holed["lower"]) == pytest.approx(whole["upper"] - whole["lower"], rel=0.3)
    assert holed["about"] == whole["about"] == "these annotators"
    others = icc(Ratings.from_matrix(gap, scale=(-9, 9)), random_seed=1).iloc[1]
    assert others["about"] == "annotators like these"
    assert others["upper"] - others["lower"] > 2 * (holed["upper"] - holed["lower"])


@pytest.mark.usefixtures("without_phi")
def test_an_intraclass_correlation_below_zero_is_one_number():
    """Analysis of variance by hand: -.0553, -.0938, -.0874."""
    x = np.zeros((16, 2))
    x[0, 0], x[1, 1], x[2, 1] = 3, 2, 1
    ratings = Ratings.from_matrix(x, scale=(0, 10), step=1)
    found, table = icc(ratings, random_seed=1).set_index("kind"), rows(ratings)
    for kind, name, value in (
        ("1,1", "icc_one_way", -0.0553), ("2,1", "icc_agreement", -0.0938), ("3,1", "icc_consistency", -0.0874),
    ):  # fmt: skip
        assert found.loc[kind, "estimate"] == pytest.approx(value, abs=6e-5)
        assert table.loc[name, "estimate"] == pytest.approx(value, abs=6e-5)
        assert found.loc[kind, "lower"] <= value + 6e-5


def test_notes_speak_on_a_defect_and_are_silent_without():
    clean = rows(
        Labels.from_matrix([list("ab"), list("aa"), list("bb"), list("ab"), list("bb")] * 4, annotators=["j", "p"])
    )
    assert set(clean["note"].dropna()[clean["estimate"].notna()]) == {""}
    judge = rows(Labels.from_matrix([["pass", "pass"]] * 9 + [["fail", "pass"]], annotators=["person", "judge"]))
    by_hand = {
        "percent_agreement": 0.9,
        "cohen_kappa": 0,
        "alpha_nominal": 0,
        "fleiss_kappa": -1 / 19,
        "gwet_ac1": 0.8895,
    }
    assert judge.loc[[*by_hand], "estimate"].tolist() == pytest.approx([*by_hand.values()], abs=5e-5)
    assert "'judge' used one label for all items" in judge.loc["cohen_kappa", "note"]
    assert "chance agrees often: small beside an agreement of 90%" in judge.loc["cohen_kappa", "note"]
    assert judge.loc["gwet_ac1", "note"] == ""
    apart = [["a", "b", None, None], ["a", "a", None, None], ["b", "b", None, None], [None, None, "a", "b"]] * 2
    assert "2 groups that never met" in rows(Labels.from_matrix(apart)).loc["fleiss_kappa", "note"]
    tied = Rankings.from_blocks([[[["a", "b"]], [["a", "b"]]]] * 3, labels=["a", "b"])
    row = rows(tied).loc["kendall_w"]
    assert np.isnan(row["estimate"]) and "one block of ties" in row["note"]
    with pytest.warns(UserWarning, match="alpha does not exist: only one value was used"):
        assert np.isnan(krippendorff_alpha(Labels.from_matrix([["a", "a"], ["a", "a"]])))


@pytest.mark.usefixtures("without_phi")
def test_few_items_are_those_with_two_annotations():
    """Four items that one annotator saw add nothing to an interval over items."""
    labels = Labels.from_matrix([["a", "b"], ["a", None], ["b", None], ["a", None], ["b", None]])
    table = rows(labels)
    shown = ["percent_agreement", "cohen_kappa", "conger_kappa", "alpha_nominal", "gwet_ac1", "brennan_prediger"]
    assert table.loc[shown, ["lower", "upper"]].isna().all().all()
    assert table.loc[shown, "note"].str.startswith("1 item: ").all()
    assert table.loc["conger_kappa", "estimate"] == pytest.approx(-2 / 3)
    specific = agreement_table(labels, by="category", random_seed=1)
    assert specific["note"].str.startswith("1 item: ").all()


@pytest.mark.usefixtures("without_phi")
def test_no_interval_has_no_width():
    unanimous = [[["a"], ["b"], ["c"]]] * 2
    for n, note in ((2, "2 items: "), (5, "do not differ")):
        table = rows(Rankings.from_blocks([unanimous] * n, labels=["a", "b", "c"]))
        assert table["estimate"].tolist() == pytest.approx([1, 1, 1]) and table["lower"].isna().all()
        assert table["note"].str.contains(note).all()
    alone = rows(Labels.from_matrix([["y", "y"]] * 9)).loc["percent_agreement"]
    assert alone["estimate"] == 1 and np.isnan(alone["lower"]) and "do not differ" in alone["note"]
    one = rows(Rankings.from_blocks([[[["a"], ["b"]], [["b"], ["a"]], [["a"], ["b"]]]], labels=["a", "b"]))
    assert one.loc["kendall_w", "estimate"] == pytest.approx(1 / 9)
    assert one.loc["kendall_w", "lower"] >= 0


@pytest.mark.usefixtures("without_phi")
@pytest.mark.filterwarnings("error")
def test_undefined_correlations_have_reasons():
    """The mean squares of items and errors vanish: 0 / 0 of the consistency, nothing to divide means by."""
    table = rows(Ratings.from_matrix([[1, 4]] * 4, scale=(0, 10)))
    undefined = ["icc_consistency", "icc_one_way_mean", "icc_consistency_mean"]
    assert table.loc[undefined, "estimate"].isna().all()
    assert table.loc[undefined, "note"].str.contains("the mean ratings of items do not differ").all()
    assert table.loc["icc_agreement", "estimate"] == pytest.approx(0, abs=1e-9)
    for matrix, why in (
        ([[1, 2, 3]], "fewer than two items"),
        ([[2, 2], [2, 2]], "all ratings are equal"),
        ([[1, 2, 3], [3, 4, 4]], "2 items: "),
    ):
        row = rows(Ratings.from_matrix(matrix, scale=(1, 5), step=1)).loc["icc_agreement"]
        assert why in row["note"] and np.isnan(row["lower"])
    with pytest.raises(InputError, match="k=0 must be"):
        icc(Ratings.from_matrix([[1, 2], [2, 4]], scale=(1, 5)), k=0)


@pytest.mark.usefixtures("without_phi")
def test_correlations_say_who_never_met():
    apart = [[1, 2, None, None], [1, 3, None, None], [None, None, 4, 5], [None, None, 2, 4]]
    table = rows(Ratings.from_matrix(apart, scale=(1, 5)))
    assert "2 groups that never met" in table.loc["icc_agreement", "note"]


def test_who_used_one_label_is_named_in_pairs_and_differences():
    said = np.random.default_rng(0).integers(0, 2, (40, 3))
    idle = Labels.from_matrix(np.column_stack([np.ones(40, int), said]), annotators=list("abcd"))
    pairs = agreement_table(idle, by="pair", random_seed=1).set_index("annotator")["note"]
    assert pairs.loc["a"].str.contains("'a' used one label for all items").all()
    assert (pairs.drop("a") == "").all()
    difference = agreement_difference(Labels.from_matrix(said), idle, random_seed=1).set_index("coefficient")
    assert difference.loc["fleiss_kappa", "note"].startswith("second: 'a' used one label")
    assert difference.loc["percent_agreement", "note"] == ""


RANKED = Rankings.from_blocks([[[["a"], ["b"]]]], labels=["a", "b"])
MANY_VALUES = Ratings.from_matrix(np.arange(302).reshape(151, 2), scale=(0, 301))


@pytest.mark.parametrize(
    ("annotations", "who", "message"),
    [
        (Labels.from_counts([[2, 1]]), (), "the annotators are unknown, and a confusion is of two of them"),
        (anxiety(), ("ann", "dan"), "annotator 'dan' is not one of 'ann', 'bob', 'cyn'"),
        (anxiety(), ("ann",), "a confusion is of two annotators, or of all: name both, or none"),
        (anxiety(), (None, "ann"), "a confusion is of two annotators, or of all: name both, or none"),
        (MANY_VALUES, (), "302 distinct values are more than 150; round the ratings first"),
    ],
)
def test_a_confusion_is_of_two_known_annotators_and_few_values(annotations, who, message):
    with pytest.raises(InputError, match=message):
        confusion(annotations, *who)


@pytest.mark.parametrize(
    ("annotations", "options", "message"),
    [
        (Labels.from_counts([[2, 1]]), {"by": "pair"}, "by='pair' needs annotators with names; these annotations have"),
        (Labels.from_counts([[2, 1]]), {"by": "annotator"}, "by='annotator' needs annotators with names"),
        (anxiety(), {"by": "rater"}, "by='rater' is not one of"),
        (anxiety(), {"by": "item", "distance": "masi"}, "by='item' is without distance="),
        (RANKED, {"by": "item"}, "by= and cluster= are of labels and ratings, not of"),
        (RANKED, {"cluster": {0: 1}}, "by= and cluster= are of labels and ratings"),
        (
            Ratings.from_matrix(np.arange(302).reshape(151, 2), scale=(0, 301)),
            {"by": "item"},
            "by='item': 302 distinct",
        ),
    ],
)
def test_details_that_annotations_do_not_have(annotations, options, message):
    with pytest.raises(InputError, match=message):
        agreement_table(annotations, **options)


def test_a_table_prints_its_estimates_and_below_them_each_note_once():
    text = repr(agreement_table(Labels.from_matrix([["pass", "pass"]] * 9 + [["fail", "pass"]]), random_seed=1))
    numbers, notes = text.split("\n")[:9], text.split("\n", 9)[9]
    assert numbers[0].split() == ["coefficient", "estimate", "lower", "upper"]
    estimates = dict(line.split()[:2] for line in numbers[1:])
    assert estimates["percent_agreement"] == "0.900" and estimates["fleiss_kappa"] == f"{-1 / 19:.3f}"
    assert "phi" not in estimates and "NaN" not in text
    assert "phi: needs ratings" in notes and notes.replace("\n ", "").count("used one label for all items") == 1
    assert max(map(len, text.splitlines())) <= 80


def test_an_interval_is_of_the_replicates_that_exist_and_holds_the_estimate():
    drawn = np.append(np.linspace(0, 1, 101), [np.nan, np.nan])
    found = interval_of(drawn, 0.5, "ordinal weights", estimate=2.0)
    assert (found["upper"], found["note"]) == (2.0, "ordinal weights; 2 of 103 replicates undefined")
    assert found["upper"] - found["lower"] > 0.5 and found["ci_kind"] == "dirichlet process hdi"
    tails = interval_of(drawn[:101], 0.5, equal_tails=True, estimate=0.5)
    assert (tails["lower"], tails["upper"]) == pytest.approx((0.25, 0.75))
    assert (tails["ci_kind"], tails["note"]) == ("dirichlet process eti", "")
    low = interval_of(drawn[:101], 0.5, estimate=-1.0, equal_tails=True)
    assert (low["lower"], low["upper"]) == pytest.approx((-1, 0.75))
    alike = interval_of(np.full(9, 0.5), 0.5, "x")
    assert np.isnan(alike["lower"]) and alike["note"] == "x; items and replicates do not differ: no interval"


@pytest.mark.parametrize(
    ("n", "of_order", "mass"),
    [(100, False, 98), (10, False, 8), (3, False, 1.5), (4, False, 2), (10, True, 8), (1, False, 0.5)],
)
def test_items_count_as_two_fewer_and_few_as_half(n, of_order, mass):
    assert n * item_mass(n, of_order=of_order) == pytest.approx(mass)


def test_coefficients_of_an_order_have_the_variance_of_student_s_t_from_twelve_items_on():
    """A fifth below the number of items at most; of many items two below it."""
    for n in (12, 40, 400):
        ratio = stats.norm.ppf(0.975) / stats.t.ppf(0.975, n - 1)
        asked = (n - 1) * ratio**2 - 1
        assert n * item_mass(n, of_order=True) == pytest.approx(max(asked, min(n - 2, 0.8 * n)))
        assert asked < n - 2


@pytest.mark.usefixtures("without_phi")
@pytest.mark.parametrize(("n_split", "said"), [(4, True), (5, False)])
def test_chance_that_agrees_often_is_said_of_a_small_kappa_alone(n_split, said):
    """Of 20 items of two annotators some are split: agreement .8 and a label of .9, or .75 and one of .875."""
    one, other = np.array(["y"] * 20), np.array(["y"] * 20)
    one[: n_split // 2], other[n_split // 2 : n_split] = "n", "n"
    table = rows(Labels.from_matrix(np.column_stack([one, other])))
    assert table.loc["percent_agreement", "estimate"] == 1 - n_split / 20
    words = "one label has 90% of the annotations, so that chance agrees often: small beside an agreement of 80%"
    noted = table.index[table["note"].str.contains(words)]
    assert set(noted) == (
        {"cohen_kappa", "scott_pi", "conger_kappa", "fleiss_kappa", "alpha_nominal"} if said else set()
    )
