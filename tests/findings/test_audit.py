"""For each check a planted defect of which it speaks; it is silent on the same test set without the defect."""

import itertools
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

import bayesagree as ba
from bayesagree.findings import of_annotations, of_models
from bayesagree.findings.case import Case, Finding
from bayesagree.findings.table import _corrected
from benchmarks import audit as worlds

SILENT = {"none", "not run"}
# Of a clean test set these may say that which is so of any: few votes, models nearly alike, hard items.
NOTES = {"few_votes", "unseparated", "all_err"}
LONG = {"drifts", "knows_votes", "served_badly", "camps"}


@cache
def audited(defect=None):
    """A test set with twice the answers that the weakest check needs; the seed was not chosen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return worlds.audited(defect, random_seed=1, n_items=600 if defect in LONG else 200)


@pytest.mark.parametrize("defect", worlds.DEFECTS)
def test_a_check_speaks_of_its_defect(defect):
    name = defect.partition(",")[0]
    found = audited(defect).loc[name]
    assert found["severity"] not in SILENT
    assert all(found[["finding", "evidence", "what_to_do", "where"]])
    assert audited(defect).attrs["where"][name]
    if name not in NOTES:
        assert audited()["severity"][name] in SILENT


@pytest.mark.parametrize(
    ("defect", "who"),
    [("copies", {("r0", "r1"), ("r1", "r0")}), ("drifts", {"r0"}), ("one_answer", {"r0"}), ("careless", {"r0"}),
     ("careless, against", {"r0"}), ("too_fast", {"r0"}), ("knows_votes", {"A"}), ("unused, by one", {"other"}),
     ("camps", {f"r{j}" for j in range(6)}),
     ("base_rate", {"C"}), ("uncalibrated", {"C"}), ("no_probabilities", {"C"}), ("paradox", {"good"})],
)  # fmt: skip
def test_it_names_the_culprits_and_nobody_else(defect, who):
    found = audited(defect).attrs["where"][defect.partition(",")[0]]
    assert found
    assert set(found) <= who


def test_a_judge_who_names_the_first_or_favours_a_model_is_found_and_no_other():
    assert worlds.arena(1.5, 1, n=600).attrs["where"]["first_place"] == ["j5"]
    assert worlds.arena(0.0, 1, n=900, favour=1.5).attrs["where"]["favours"] == [("j5", "B")]
    fair = worlds.arena(0.0, 1, n=600)["severity"]
    assert fair[["first_place", "favours"]].tolist() == ["none", "none"]
    assert fair["few_votes"] == "not run"  # most pairs are compared once


def test_the_worst_stand_first_and_names_are_few():
    order = audited("copies")["severity"].map(["critical", "warning", "note", "none", "not run"].index)
    assert order.is_monotonic_increasing
    assert audited("few_votes")["where"]["few_votes"].count(",") == 5


def test_checks_are_corrected_together():
    """Holm by hand: .01 * 4, .02 * 3, and never below what stands before; a counted one has no part."""
    said = {name: Finding(["x"], chance=p) for name, p in zip("dabc", (0.01, 0.02, 0.021, 1.0))}
    found = _corrected(said | {"fact": Finding(["x"])})
    assert found == pytest.approx({"d": 0.04, "a": 0.06, "b": 0.06, "c": 1.0, "fact": 0.0})


def test_ratings_frames_and_what_a_check_lacks():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(np.clip(rng.normal(rng.normal(50, 25, (150, 1)), 8, (150, 5)), 0, 100), columns=list("abcde"))
    table["e"] = rng.uniform(0, 100, 150)
    found = ba.audit(ba.Ratings.from_matrix(table.to_numpy(), scale=(0, 100), annotators=list("abcde")))
    assert found.attrs["where"]["careless"] == ["e"]
    assert found.loc["few_votes", "finding"].endswith("needs labels")
    long = table.round(-2).stack().rename_axis(["item", "annotator"]).rename("label").astype(str).reset_index()
    assert ba.audit(long, gold={0: "0.0", 1: "0.0", 999: "0.0"})["severity"]["against_gold"] != "not run"
    counts = ba.audit(ba.Labels.from_counts([[3, 1], [0, 4]]))
    assert counts.loc["never_meet", "finding"].endswith("needs who gave each answer: one row per annotation")


def test_the_command_says_the_same(run, tmp_path):
    given = worlds.arguments(worlds.clean(np.random.default_rng(1)))
    text = given["annotations"].to_long().to_csv(index=False).replace(",poor", ",Good ")
    (tmp_path / "labels.csv").write_text(text)
    found = run("audit", tmp_path / "labels.csv", "-o", tmp_path / "audit.csv").stdout
    assert "Nothing found: Annotators who never meet on an item." in found
    kept = pd.read_csv(tmp_path / "audit.csv")
    assert kept["severity"].iloc[0] == "critical"
    assert "ba." not in kept["what_to_do"].fillna("").str.cat()  # commands on the command line


def test_progress_counts_the_checks():
    done = []
    found = ba.audit(ba.Labels.from_matrix([[0, 1], [1, 1], [0, 0]] * 5), random_seed=1, progress=done.append)
    assert done == [1] * len(found)


def case_of(annotations, **given):
    """A test set as the checks see it."""
    every = {"every_item": annotations.items, "predictions": None, "people": None, "gold": None, "time": pd.DataFrame()}
    return Case(annotations, **(every | {"random_seed": 1, "comparisons": None} | given))


def looked(name, annotations, **given):
    checks = of_annotations.CHECKS | of_models.CHECKS
    return checks[name].look(case_of(annotations, **given))


def test_an_answer_agrees_with_the_majority_of_the_others_a_half_where_they_are_split():
    votes = ba.Labels.from_matrix([["a", "a", "b"], ["a", "b", None], ["a", None, None], ["b", "b", "b"]])
    np.testing.assert_array_equal(case_of(votes).agrees, [0.5, 0.5, 0, 0, 0, np.nan, 1, 1, 1])
    with pytest.raises(ba.InputError, match="items with two answers"):
        _ = case_of(ba.Labels.from_matrix([["a", None], [None, "b"]])).agrees
    fifths = case_of(ba.Ratings.from_matrix(np.arange(10.0).reshape(5, 2), scale=(0, 9)))
    assert fifths.code.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


@pytest.mark.parametrize(
    ("split", "where"), [(1, ["a"]), (7, []), (0, [])], ids=["kappa is low", "agreement is low", "nothing differs"]
)
def test_high_agreement_with_a_low_kappa_is_said_by_both(split, where):
    """Pairs by hand: of 20 items some are split, all others have one label."""
    counts = np.array([[1, 1]] * split + [[2, 0]] * (19 - split) + [[2 * (split > 0), 2 * (split == 0)]])
    found = looked("paradox", ba.Labels.from_counts(counts, labels=["a", "b"]))
    usual = counts.sum(axis=0) / 40
    agreed = 1 - split / 20
    assert found.where == where
    assert found.said == (
        f"answers agree in {agreed:.2f} of pairs, yet kappa is {1 - (1 - agreed) / (1 - usual @ usual):.2f}: "
        f"{usual.max():.2f} of them are 'a'"
    )


def test_items_that_one_vote_may_turn_are_named_beyond_one_in_ten():
    open_, closed = [[2, 1], [1, 1], [1, 0]], [[3, 1], [2, 0], [0, 3]]
    found = looked("few_votes", ba.Labels.from_counts(open_ + closed))
    assert found.where == [0, 1, 2] and "majority of 0.50 (" in found.said
    tenth = looked("few_votes", ba.Labels.from_counts([[2, 1]] + [[3, 0]] * 9))
    assert tenth.where == [] and "0.10 (" in tenth.said
    every = looked("few_votes", ba.Labels.from_counts(open_))
    assert "majority of 1.00 (0.40 to 1.00) of" in every.said  # a share lies in its interval


@pytest.mark.parametrize(("lacking", "severity"), [(1, None), (2, "critical")])
def test_more_than_a_twentieth_of_the_items_without_prediction_is_critical(lacking, severity):
    """One of them is among the predictions without a label, another in no row of them."""
    votes = ba.Labels.from_counts([[1, 1]] * 20)
    models = ba.Predictions.from_labels({"A": [None] + [0] * (20 - lacking), "B": [1] * (21 - lacking)}, labels=[0, 1])
    scored = votes.select(votes.item_index < 21 - lacking)
    found = looked("missing", scored, every_item=votes.items, predictions=models)
    assert (found.severity, found.chance) == (severity, None)
    assert found.where == ["A"] if lacking == 1 else ["A", "B"]
    assert found.said.startswith(f"'A' predicts nothing for {lacking / 20:.2f} (")


def test_gold_that_nobody_gives_is_set_beside_what_independent_errors_give():
    """Of 7 answers 4 are gold: an item of two is missed with (3 / 7)^2, one of three with (3 / 7)^3."""
    votes = ba.Labels.from_counts([[2, 0], [0, 3], [1, 1], [0, 1]], labels=["no", "yes"])
    found = looked("against_gold", votes, gold={0: "yes", 1: "yes", 2: "yes", 3: "no"})
    expected = 2 * (3 / 7) ** 2 + (3 / 7) ** 3
    assert (found.where, found.chance) == ([0], pytest.approx(1 - np.exp(-expected)))
    assert f"nobody gives the label of gold on 1 of 3 items ({expected:.1f} expected" in found.said
    with pytest.raises(ba.InputError, match=r"gold \(gold=\) of items with two answers"):
        looked("against_gold", votes, gold={3: "no"})


def test_answers_that_change_when_an_item_comes_again_are_counted():
    """Of four repeated answers one changed, at .15 each: 1 - .85^4."""
    rows = [(item, who, "x") for item in range(2) for who in "ab" for _ in range(2)]
    rows[-1] = (1, "b", "y")
    table = pd.DataFrame([*rows, (2, "a", "x")], columns=["item", "annotator", "label"])
    found = looked("repeats", ba.Labels.from_long(table, duplicates="keep"))
    assert (found.where, found.chance) == ([1], pytest.approx(1 - 0.85**4))
    assert "gave another answer in 0.25 (" in found.said
    several = table.assign(label=[*"xyxyxyxyx"])  # choices of one answer
    with pytest.raises(ba.InputError, match="items that an annotator answered twice"):
        looked("repeats", ba.Labels.from_long(several, duplicates="keep"))


def test_an_annotator_of_one_answer_is_as_likely_as_the_root_of_its_share():
    """Of 20 answers each, 30 of 40 are a: all of them a with (3 / 4)^10, of two annotators."""
    said = np.column_stack([["a"] * 20, ["a"] * 10 + ["b"] * 10])
    found = looked("one_answer", ba.Labels.from_matrix(said, annotators=["idle", "other"]))
    assert found.chance == pytest.approx(2 * 0.75**10)
    with pytest.raises(ba.InputError, match="answers that differ"):  # all give one: nothing tells who is idle
        looked("one_answer", ba.Labels.from_matrix(np.full((20, 2), "a")))
    with pytest.raises(ba.InputError, match="an annotator with 20 answers"):
        looked("one_answer", ba.Labels.from_matrix(said[1:]))


def test_answers_in_a_third_of_the_usual_time_are_too_fast():
    """Twelve of twenty answers below a third of the median: a fair coin gives as many with the tail of a binomial."""
    votes = ba.Labels.from_matrix(np.tile(["a", "b"], (20, 1)), annotators=["slow", "fast"])
    seconds = np.concatenate([np.full(20, 9.0), np.full(12, 2.9), np.full(8, 9.0)])
    time = pd.DataFrame({"item": [*range(20)] * 2, "annotator": np.repeat(["slow", "fast"], 20), "time": seconds})
    assert looked("too_fast", votes, time=time).chance == pytest.approx(2 * stats.binom.sf(11, 20, 0.5))
    assert looked("too_fast", votes, time=time.assign(time=time["time"].clip(3.0))).chance == 1  # a third is not below
    fastest = looked("too_fast", votes, time=time.assign(time=np.where(time["annotator"] == "fast", 1.0, 9.0)))
    assert fastest.where == ["fast"] and "in a third of the usual 5.0 seconds" in fastest.said  # the median of both
    few = looked("too_fast", votes, time=time.assign(time=np.where(np.arange(40) < 24, 9.0, 1.0)))
    assert few.where == ["fast"] and "'fast' gives 0.80 (" in few.said


def test_labels_of_one_annotator_or_nobody_and_those_who_never_meet():
    votes = ba.Labels.from_matrix(
        [["a", "a", None, None], ["b", None, None, None], [None, None, "a", "c"], [None, None, "c", "a"]],
        labels=[*"abcd"], annotators=[*"wxyz"],
    )  # fmt: skip
    assert looked("unused", votes).where == ["b", "d"]
    apart = looked("never_meet", votes)
    assert apart.where == ["w", "x"]
    assert apart.said == "annotators form 2 groups that never meet on an item; the largest gives 0.57 of the answers"


def test_items_on_which_all_models_err_alike_are_ranked_by_the_odds_that_the_label_is_wrong():
    votes = ba.Labels.from_counts([[4, 0], [0, 4], [3, 1], [0, 3], [2, 2], [4, 0]], labels=["no", "yes"])
    models = ba.Predictions.from_labels(
        {"A": ["no", "yes", "yes", "no", "yes", "no"], "B": ["no", "yes", "yes", "no", "no", "no"]}
    )
    found = looked("all_err", votes, predictions=models)
    right = special.logit([3 / 6, 4 / 6, 20 / 23])
    odds = {2: right[0] + right[1] - 2 * right[2], 3: right[0] + right[1] - 3 * right[2]}
    assert found.where == sorted(odds, key=lambda item: -odds[item]) == [2, 3]
    likely = sum(one > 0 for one in odds.values())
    assert found.said.endswith(f"if models err independently, {likely} of these labels are likely wrong")
    assert "all 2 models give the same label against the majority of 0.33 (" in found.said
    with pytest.raises(ba.InputError, match="two models"):
        looked("all_err", votes, predictions=ba.Predictions.from_labels({"A": ["no"] * 6}, labels=["no", "yes"]))


def test_scores_that_are_no_probabilities():
    votes = ba.Labels.from_counts([[1, 1], [0, 2]])
    sound = [[0.4, 0.6], [0.5, 0.505]]
    scores = {"low": [[-0.1, 1.1], [0.5, 0.5]], "sum": [[0.4, 0.6], [0.5, 0.52]], "sound": sound}
    assert looked("no_probabilities", votes, predictions=ba.Predictions.from_scores(scores)).where == ["low", "sum"]
    for models, words in (
        (None, "predictions of models"),
        (ba.Predictions.from_labels({"A": [0, 1]}), "scores of models"),
    ):
        with pytest.raises(ba.InputError, match=words):
            looked("no_probabilities", votes, predictions=models)


def test_a_model_matches_the_votes_by_chance_where_its_kappa_is_small():
    """By loops: the share of an item's votes that are the model's label, beside how common its labels are."""
    rng = np.random.default_rng(2)
    counts = np.vstack([rng.multinomial(4, p, 1) for p in rng.dirichlet([0.6] * 3, 90)] + [np.zeros((1, 3), int)])
    votes = ba.Labels.from_counts(counts, labels=[*"abc"])
    said = {"good": counts.argmax(axis=1), "coin": rng.integers(0, 3, 91)}
    models = ba.Predictions.from_labels({m: [*np.array([*"abc"])[k]] for m, k in said.items()}, labels=[*"abc"])
    found = looked("base_rate", votes, predictions=models)
    shares, p = counts.sum(axis=0) / counts.sum(), {}
    for name, labels in said.items():
        hit = np.array([counts[i, k] / counts[i].sum() for i, k in enumerate(labels[:90])])
        chance = np.mean([shares[k] for k in labels[:90]])
        kappa, error = (hit.mean() - chance) / (1 - chance), hit.std(ddof=1) / np.sqrt(90) / (1 - chance)
        p[name] = 2 * stats.norm.cdf((kappa - 0.2) / error)
        if name == "coin":
            words = f"kappa {kappa:.2f} ({kappa - 1.96 * error:.2f} to {kappa + 1.96 * error:.2f})"
    assert p["good"] > 0.05 > p["coin"]
    assert (found.where, found.chance) == (["coin"], pytest.approx(p["coin"], rel=1e-4))
    assert found.said == f"'coin' matches the votes hardly better than chance: {words}"


@pytest.mark.parametrize("stated", [0.95, 0.35])
def test_probabilities_lie_between_those_of_a_vote_and_of_the_majority(stated):
    """By loops, on items of three votes or more: above how often the label is most frequent, or below its votes."""
    rng = np.random.default_rng(3)
    counts = np.vstack([rng.multinomial(4, p, 1) for p in rng.dirichlet([1.0] * 3, 60)] + [[2, 0, 0], [1, 1, 0]])
    top = np.where(rng.random(62) < 0.6, counts.argmax(axis=1), rng.integers(0, 3, 62))
    scores = np.full((62, 3), (1 - stated) / 2)
    scores[np.arange(62), top] = stated
    models = ba.Predictions.from_scores({"sure": scores, "flat": np.full((62, 3), 1 / 3)}, labels=[*"abc"])
    found = looked("uncalibrated", ba.Labels.from_counts(counts, labels=[*"abc"]), predictions=models)
    gaps = []
    for votes, label in zip(counts[:60], top):
        most = votes == votes.max()
        gaps.append(stated - most[label] / most.sum() if stated > 0.5 else votes[label] / votes.sum() - stated)
    gaps = np.array(gaps)
    p = 2 * stats.norm.sf((gaps.mean() - 0.05) / (gaps.std(ddof=1) / np.sqrt(60) + 1e-9))
    assert found.chance == pytest.approx(p, rel=1e-4) and p < 0.05
    assert found.where == ["sure"]
    side = "too high" if stated > 0.5 else "too low"
    assert found.said == f"the probabilities that 'sure' states are {side}, by {gaps.mean():.2f}"


def test_a_group_is_served_badly_by_a_test_of_its_annotators():
    """By loops: what each annotator's answers have of the model's, less what all answers to the item have."""
    rng = np.random.default_rng(4)
    truth, flip = rng.integers(0, 2, 40), np.repeat([0.1, 0.6], 6)
    said = np.where(rng.random((40, 12)) < flip, 1 - truth[:, None], truth[:, None])
    votes = ba.Labels.from_matrix(said, labels=[0, 1])
    people = ba.annotations.Annotators.from_table(
        pd.DataFrame({"annotator": range(12), "age": ["old"] * 6 + ["young"] * 6, "few": ["x"] * 4 + ["y"] * 8})
    )
    found = looked(
        "served_badly", votes, predictions=ba.Predictions.from_labels({"A": truth}, labels=[0, 1]), people=people
    )
    hit = said == truth[:, None]
    own = (hit - hit.mean(axis=1, keepdims=True)).mean(axis=0)
    groups = {"age young by A": own[6:], "age old by A": own[:6], "few y by A": own[4:]}  # four are too few
    p = {name: 3 * stats.ttest_1samp(values, 0, alternative="less").pvalue for name, values in groups.items()}
    assert found.chance == pytest.approx(min(p.values()))
    assert found.where == sorted((name for name in p if p[name] < 0.05), key=p.get)
    upper = stats.t.interval(0.95, 5, own[6:].mean(), stats.sem(own[6:]))[1]
    assert found.said.endswith(f"the model gives their answers less often than those of all, by {-upper:.2f} or more")
    with pytest.raises(ba.InputError, match="features of the annotators"):
        looked("served_badly", votes, predictions=ba.Predictions.from_labels({"A": truth}, labels=[0, 1]))


def test_a_careless_annotator_has_less_than_half_of_the_usual_kappa():
    """By loops over annotators: kappa with the majority of the others, and the errors of the usual one and of half."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 40)
    said = np.where(rng.random((40, 6)) < [0.9, 0.85, 0.8, 0.75, 0.9, 0.0], truth[:, None], rng.integers(0, 3, (40, 6)))
    kappa, by_chance = [], []
    for j in range(6):
        agrees = []
        for row in said:
            others = np.delete(row, j)
            rest = (others == row[j]).sum() - len(others) / 2
            agrees.append(1.0 if rest > 0 else 0.5 if rest == 0 else 0.0)
        habit = np.bincount(said[:, j], minlength=3) / 40
        by_chance.append(habit @ np.bincount(said.ravel(), minlength=3) / said.size)
        kappa.append((np.mean(agrees) - by_chance[-1]) / (1 - by_chance[-1]))
    kappa, room = np.array(kappa), 1 - np.array(by_chance)
    usual = np.median(kappa)
    error, half = (np.sqrt((1 - room + room * k) * (1 - k) / (room * 40)) for k in (usual, usual / 2))
    above = kappa >= usual
    spread = max(np.mean((kappa[above] - usual) ** 2 - error[above] ** 2), (0.15 * usual) ** 2)
    p = np.minimum(
        stats.norm.cdf((kappa - usual) / np.sqrt(error**2 + spread)) / 0.9,
        stats.norm.cdf((kappa - usual / 2) / half) / 0.1,
    )
    found = looked("careless", ba.Labels.from_matrix(said, labels=[0, 1, 2]))
    assert (found.where, found.chance) == ([5], pytest.approx(6 * p[5]))
    low, high = kappa[5] - 1.96 * half[5], kappa[5] + 1.96 * half[5]
    words = f"kappa with their majority {kappa[5]:.2f} ({low:.2f} to {high:.2f}), usual {usual:.2f} (1 like this)"
    assert found.said == f"5 answers {'against' if high < 0 else 'hardly with'} the others: {words}"
    guesses = ba.Labels.from_matrix(rng.integers(0, 3, (40, 6)), labels=[0, 1, 2])
    with pytest.raises(ba.InputError, match="annotators who agree: the usual kappa is"):
        looked("careless", guesses)


def test_two_copy_each_other_where_they_agree_beyond_their_habits_and_care():
    """By loops over pairs, each beside what its two annotators have in common with the others."""
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 60)
    said = np.where(rng.random((60, 6)) < 0.75, truth[:, None], rng.integers(0, 3, (60, 6))).astype(float)
    said[:, 1] = np.where(rng.random(60) < 0.95, said[:, 0], said[:, 1])
    said[rng.random((60, 6)) < 0.1] = np.nan
    rate = np.array([[np.mean(column[~np.isnan(column)] == k) for k in range(3)] for column in said.T])
    met, match, habit = np.zeros((3, 6, 6))
    for a, b in itertools.permutations(range(6), 2):
        met[a, b] = (~np.isnan(said[:, a]) & ~np.isnan(said[:, b])).sum()
        match[a, b] = (said[:, a] == said[:, b]).sum()
        habit[a, b] = rate[a] @ rate[b]
    beyond = (match - met * habit) / (1 - habit)
    usual, z, excess = beyond.sum() / met.sum(), {}, {}
    for a, b in itertools.combinations(range(6), 2):
        care = [(beyond[j].sum() - beyond[j, k]) / (met[j].sum() - met[j, k]) for j, k in ((a, b), (b, a))]
        expected = habit[a, b] + (1 - habit[a, b]) * min(max(care[0] * care[1] / usual, 0), 0.95)
        z[a, b] = stats.norm.isf(stats.binom.sf(match[a, b] - 1, met[a, b], expected))
        excess[a, b] = (match[a, b] - met[a, b] * expected) / (met[a, b] * (1 - expected)), expected
    scale = max(stats.median_abs_deviation([*z.values()], scale="normal"), 1)
    p = {pair: 15 * stats.norm.sf(z[pair] / scale) if excess[pair][0] > 0.5 else 1.0 for pair in z}
    found = looked("copies", ba.Labels.from_matrix(said, labels=[0, 1, 2]))
    [(one, other)] = found.where
    assert ({one, other}, found.chance) == ({0, 1}, pytest.approx(p[0, 1]))
    part = f"{match[0, 1] / met[0, 1]:.2f}"
    assert found.said.startswith(f"{one} and {other} agree on {part} (") and found.said.endswith(
        f"expected {excess[0, 1][1]:.2f}"
    )
    assert min(p.values()) == p[0, 1] < 0.05


def test_an_annotator_drifts_by_a_test_of_the_two_halves_of_the_answers():
    """By hand: agreement with most others in the first half less that in the second, in standard errors."""
    rng = np.random.default_rng(7)
    truth, right = rng.integers(0, 2, 40), np.full((40, 4), 0.9)
    right[20:, 0] = 0.2
    said = np.where(rng.random((40, 4)) < right, truth[:, None], 1 - truth[:, None])
    votes = ba.Labels.from_matrix(said, labels=[0, 1], annotators=[*"abcd"])
    when = pd.DataFrame(
        {"item": np.tile(range(40), 4), "annotator": np.repeat([*"abcd"], 40), "when": np.tile(range(40), 4)}
    )
    agrees = np.array([
        [1.0 if (np.delete(row, j) == row[j]).sum() > 1.5 else 0.0 for j in range(4)] for row in said
    ])  # fmt: skip
    p = []
    for column in agrees.T:
        z = (column[20:].mean() - column[:20].mean()) / np.sqrt(column.var(ddof=1) * (1 / 20 + 1 / 20))
        p.append(stats.t.cdf(z, 38))
    found = looked("drifts", votes, time=when)
    assert (found.where, found.chance) == (["a"], pytest.approx(4 * min(p)))
    early, late = agrees[:20, 0].mean(), agrees[20:, 0].mean()
    words = f"agrees with most others in {early:.2f} of the first half of the answers, and in {late:.2f} of the last"
    assert found.said == f"'a' {words} (1 like this)"
    with pytest.raises(ba.InputError, match="times of its items and annotators"):
        looked("drifts", votes, time=when.assign(annotator="z"))
