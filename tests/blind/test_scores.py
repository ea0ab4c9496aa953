import numpy as np
import pytest
from _errors_of_draws import SIGMAS

from bayesagree.annotations import Labels
from bayesagree.blind.combiners import best_threshold
from bayesagree.blind.independence import independence_check
from bayesagree.blind.overlap import jaccard_overlap
from bayesagree.blind.pseudo_gold import majority, round_robin, sampling
from bayesagree.blind.scores import (
    BLIND,
    METHODS,
    WITH_CROWD,
    blind_posterior,
    blind_scores,
    counts_per_draw,
    counts_per_set,
    make_pseudo_gold,
    mean_scores,
)
from bayesagree.blind.systems import Systems
from bayesagree.errors import InputError
from bayesagree.metrics.hard_labels import hard_label_scores
from bayesagree.predictions import Predictions
from bayesagree.simulate._systems import simulated_systems

METRICS = ("accuracy", "precision", "recall", "specificity")


def simulated(n_items=300, accuracies=(0.6, 0.7, 0.8, 0.9), n_labels=2, missing=0.0, seed=1):
    """Systems with independent errors, a crowd that is right on 85 %, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_labels, size=n_items)

    def noisy(accuracy):
        other = (truth + rng.integers(1, n_labels, size=n_items)) % n_labels
        said = np.where(rng.random(n_items) < accuracy, truth, other).astype(object)
        said[rng.random(n_items) < missing] = None
        return said

    systems = Predictions.from_labels({f"s{a:.2f}": noisy(a) for a in accuracies}, labels=range(n_labels))
    crowd = Labels.from_matrix(noisy(0.85)[:, None], labels=range(n_labels))
    return systems, crowd, dict(enumerate(truth))


def expected_by_sampling(systems, metric, positive=1):
    """Return accuracy and precision in expectation: means of the share of votes, which need no sampling."""
    codes = systems.hard_labels()
    agree = (codes[:, None] == codes[None]) & (codes[None] >= 0)
    share = agree.sum(axis=1) / np.maximum((codes >= 0).sum(axis=0), 1)
    counts = codes >= 0 if metric == "accuracy" else codes == positive
    return np.array([share[m, counts[m]].mean() for m in range(codes.shape[0])])


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("metric", ["accuracy", "precision"])
def test_sampling_equals_its_closed_form(metric, missing):
    systems, _, _ = simulated(missing=missing)
    sets = 2000
    scores = blind_scores(systems, method="sampling", metric=metric, sets=sets, seed=3)
    codes = systems.hard_labels()
    n = np.array([(row >= 0).sum() if metric == "accuracy" else (row == 1).sum() for row in codes])
    error = 0.5 / np.sqrt(n * sets)  # largest possible: every item is a fair coin
    assert (np.abs(scores.values - expected_by_sampling(systems, metric)) < SIGMAS * error).all()


def test_sampling_without_the_system_itself_equals_its_closed_form():
    systems, _, _ = simulated(missing=0.3)
    codes, sets = systems.hard_labels(), 2000
    scores = blind_scores(systems, method="sampling", leave_one_out=True, sets=sets, seed=4).values
    for m in range(4):
        others = np.delete(codes, m, axis=0)
        judged = (codes[m] >= 0) & (others >= 0).any(axis=0)
        votes = ((others == codes[m]) & (others >= 0)).sum(axis=0)[judged] / (others >= 0).sum(axis=0)[judged]
        assert abs(scores[m] - votes.mean()) < SIGMAS * 0.5 / np.sqrt(judged.sum() * sets)


def test_sets_mix_the_systems_evenly():
    systems = Predictions.from_labels({"a": [0, 1, None], "b": [1, 1, None], "c": [None, 1, None]}, labels=[0, 1])
    drawn = sampling(Systems.of(systems, None, None, 0), sets=4000, seed=1)
    assert abs(drawn[:, 0].mean() - 0.5) < SIGMAS * 0.5 / np.sqrt(4000)
    assert (drawn[:, 1] == 1).all()
    assert (drawn[:, 2] == -1).all()


@pytest.mark.parametrize("metric", METRICS)
def test_round_robin_is_the_mean_over_the_others(metric):
    systems, _, _ = simulated(missing=0.2)
    codes = systems.hard_labels()
    expected = []
    for m in range(4):
        scores = []
        for g in set(range(4)) - {m}:
            gold = {i: int(k) for i, k in enumerate(codes[g]) if k >= 0}
            scores.append(hard_label_scores(systems, gold, metric=metric).values[m])
        expected.append(np.mean(scores))
    np.testing.assert_allclose(blind_scores(systems, method="round_robin", metric=metric).values, expected)
    assert round_robin(Systems.of(systems, None, None, 0)).shape == (4, 4, 300)


def test_majority_by_threshold():
    systems, _, _ = simulated(missing=0.2)
    everything = blind_scores(systems, method="majority", metric="precision", threshold=0)
    assert (everything == 1).all()
    with pytest.warns(UserWarning, match="every gold item has the label"):
        assert np.isnan(blind_scores(systems, method="majority", metric="specificity", threshold=0)).all()
    with pytest.warns(UserWarning, match="no gold item has the label"):
        assert np.isnan(blind_scores(systems, method="majority", metric="recall", threshold=1.01)).all()
    specificity = blind_scores(systems, method="majority", metric="specificity", threshold=1.01)
    negative = [(row[row >= 0] == 0).mean() for row in systems.hard_labels()]
    np.testing.assert_allclose(specificity, negative)


def test_votes_at_threshold_zero_have_recall_one_and_above_one_specificity_one():
    systems, _, truth = simulated()
    inside = Systems.of(systems, None, None, 0)
    for threshold, metric in ((0.0, "recall"), (1.01, "specificity")):
        said = Predictions.from_labels({"votes": majority(inside, threshold=threshold)[0]}, labels=[0, 1])
        assert hard_label_scores(said, truth, metric=metric).item() == 1.0


def test_ties_of_the_majority_fall_evenly():
    systems = Predictions.from_labels({"a": np.zeros(4000, int), "b": np.ones(4000, int)})
    share = majority(Systems.of(systems, None, None, 0), seed=1).mean()
    assert abs(share - 0.5) < SIGMAS * 0.5 / np.sqrt(4000)


def test_threshold_that_scores_best_by_brute_force():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 200)
    positive_votes = rng.binomial(5, np.where(truth == 1, 0.9, 0.5))  # biased to the positive label
    counts = np.stack([5 - positive_votes, positive_votes], axis=1)
    accuracy = {t: ((positive_votes >= t) == truth).mean() for t in range(1, 6)}
    assert best_threshold(counts, truth, "accuracy", 1) == max(accuracy, key=accuracy.get) / 5
    for metric in METRICS:
        chosen = positive_votes >= 5 * best_threshold(counts, truth, metric, 1) - 1e-9
        assert 0 < chosen.mean() < 1


@pytest.mark.parametrize(
    ("method", "leave_one_out"), [(m, False) for m in METHODS] + [(m, True) for m in (*BLIND, "naive_bayes")]
)
def test_order_of_systems_and_items_changes_nothing(method, leave_one_out):
    systems, crowd, _ = simulated(n_items=60, missing=0.2)
    rng = np.random.default_rng(6)
    models, items = rng.permutation(4), rng.permutation(60)
    shuffled = Predictions.from_labels(
        {systems.models[m]: [None if k < 0 else k for k in systems.hard_labels()[m, items]] for m in models},
        items=items.tolist(), labels=[0, 1],
    )  # fmt: skip
    options = {"method": method, "leave_one_out": leave_one_out, "sets": 30, "crowd": crowd, "seed": 7}
    a, b = blind_scores(systems, **options), blind_scores(shuffled, **options)
    assert a.model.values.tolist() == systems.models.tolist()
    np.testing.assert_array_equal(a.values, b.sel(model=a.model).values)
    np.testing.assert_array_equal(a.values, blind_scores(systems, **options).values)


@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("round_robin", "sampling")])
def test_consensus_ranks_systems_of_independent_errors_as_the_truth_does(method, n_labels):
    systems, crowd, truth = simulated(n_labels=n_labels, accuracies=(0.5, 0.6, 0.7, 0.8, 0.9))
    if method == "calibrated_majority" and n_labels > 2:
        with pytest.raises(InputError, match="needs two labels"):
            blind_scores(systems, method=method, crowd=crowd)
        return
    for metric in ("accuracy", "recall"):
        scores = blind_scores(systems, method=method, metric=metric, crowd=crowd, sets=40, seed=8)
        actual = hard_label_scores(systems, truth, metric=metric)
        assert np.corrcoef(scores, actual)[0, 1] > 0.95


def test_direct_evaluation_is_the_score_against_the_crowd():
    systems, crowd, _ = simulated()
    majority_of_crowd = dict(enumerate(crowd.counts().argmax(axis=1)))
    for metric in METRICS:
        direct = blind_scores(systems, method="direct", metric=metric, crowd=crowd)
        np.testing.assert_array_equal(direct, hard_label_scores(systems, majority_of_crowd, metric=metric))


@pytest.mark.parametrize("method", WITH_CROWD[:-1])
def test_combiners_never_see_the_crowd_label_of_the_item_they_label(method):
    """Systems that know nothing and a random crowd: a combiner that saw its own test set would agree with it."""
    rng = np.random.default_rng(9)
    systems = Predictions.from_labels({f"s{j:02}": rng.integers(0, 2, 200) for j in range(20)})
    crowd = Labels.from_matrix(rng.integers(0, 2, (200, 1)))
    gold = make_pseudo_gold(Systems.of(systems, crowd, None, 1), method, seed=1).sets[0]
    agreement = (gold == crowd.label_index).mean()
    assert abs(agreement - 0.5) < SIGMAS * 0.5 / np.sqrt(200)


@pytest.mark.parametrize("method", ["majority", "sampling"])
def test_own_vote_flatters_and_leave_one_out_takes_it_away(method):
    """Of three guessing systems none agrees with the others more than by chance."""
    rng = np.random.default_rng(10)
    systems = Predictions.from_labels({k: rng.integers(0, 2, 2000) for k in "abc"})
    alone = blind_scores(systems, method=method, leave_one_out=True, sets=200, seed=1).values
    together = blind_scores(systems, method=method, sets=200, seed=1).values
    assert together.mean() > 0.6
    assert (np.abs(alone - 0.5) < SIGMAS * 0.5 / np.sqrt(2000)).all()


def test_posterior_draws_follow_the_score():
    systems, crowd, _ = simulated(missing=0.1)
    for method in ("majority", "round_robin", "sampling", "glm"):
        tree = blind_posterior(systems, method=method, crowd=crowd, metrics=METRICS, draws=250, seed=2)
        for metric in METRICS:
            draws = tree["posterior"][metric].values.reshape(1000, 4)
            score = blind_scores(systems, method=method, metric=metric, crowd=crowd, seed=2).values
            # The bootstrap mean of a ratio is biased by O(1/n).
            assert (np.abs(draws.mean(axis=0) - score) < SIGMAS * draws.std(axis=0) / np.sqrt(1000) + 2 / 300).all()


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_draws_of_sampling_spread_as_its_score_does(leave_one_out):
    """One gold set a draw made them three times as wide, and all systems tied."""
    options = {"method": "sampling", "leave_one_out": leave_one_out}
    scores, widths = [], []
    for seed in range(40):
        systems, _, _ = simulated(n_items=200, accuracies=(0.6, 0.7, 0.8, 0.85, 0.9), seed=seed)
        scores.append(blind_scores(systems, **options, sets=400, seed=1).values)
        if seed < 4:
            tree = blind_posterior(systems, **options, metrics=("accuracy",), draws=100, seed=1)
            widths.append(tree["posterior"]["accuracy"].std(("chain", "draw")).values)
    ratio = np.mean(widths, axis=0) / np.std(scores, axis=0, ddof=1)
    # Forty data sets know a standard deviation to 11 %, five systems share them.
    assert (np.abs(np.log(ratio)) < SIGMAS * 0.115).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_soft_sets_of_sampling_are_the_mean_over_sets(metric, leave_one_out):
    systems, _, _ = simulated(missing=0.2)
    inside = Systems.of(systems, None, None, 0)
    gold = make_pseudo_gold(inside, "sampling", leave_one_out=leave_one_out, sets=3000, seed=5)
    soft = mean_scores(counts_per_draw(gold, inside, 1, "fixed", 0), metric, 1)[0]
    hard = mean_scores(counts_per_set(gold, inside), metric, 1)[0]
    # Monte-Carlo error of the mean over sets, and O(1/n) of a mean of ratios.
    assert (np.abs(soft - hard) < SIGMAS * 0.5 / np.sqrt(100 * 3000) + 1 / 300).all()


def test_calibrated_majority_has_one_threshold_for_all_metrics():
    systems, crowd, _ = simulated(n_items=400, accuracies=(0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9), seed=4)
    inside = Systems.of(systems, crowd, None, 1)
    for metric in METRICS:
        own = blind_scores(systems, method="calibrated_majority", metric=metric, crowd=crowd, seed=1)
        gold = make_pseudo_gold(inside, "calibrated_majority", calibrate_for="accuracy", seed=1)
        expected = mean_scores(counts_per_set(gold, inside), metric, 1)[0]
        np.testing.assert_array_equal(own, expected)
    each = blind_scores(
        systems, method="calibrated_majority", metric="recall", crowd=crowd, calibrate_for="each", seed=1
    )
    gold = make_pseudo_gold(inside, "calibrated_majority", calibrate_for="recall", seed=1)
    np.testing.assert_array_equal(each, mean_scores(counts_per_set(gold, inside), "recall", 1)[0])


@pytest.mark.parametrize("threshold", [float("nan"), -0.1])
def test_a_threshold_that_is_no_share_is_refused(threshold):
    systems, _, _ = simulated(n_items=20)
    with pytest.raises(InputError, match="threshold="):
        blind_scores(systems, method="majority", threshold=threshold)


def test_fixed_items_leave_only_the_uncertainty_of_the_truth():
    systems, _, _ = simulated()
    fixed = blind_posterior(systems, method="majority", items="fixed", metrics=("accuracy",), draws=20, seed=1)
    assert np.ptp(fixed["posterior"]["accuracy"].values.reshape(80, 4), axis=0).max() == 0
    truth = blind_posterior(systems, items="fixed", metrics=("accuracy",), draws=100, seed=1)
    more = blind_posterior(systems, items="bootstrap", metrics=("accuracy",), draws=100, seed=1)
    spread = [t["posterior"]["accuracy"].std(("chain", "draw")).values for t in (truth, more)]
    assert (spread[0] > 0).all()
    assert (spread[1] > spread[0]).all()


def test_independence_check_sees_shared_errors_and_nothing_else():
    systems, _, truth = simulated(n_items=600, accuracies=(0.65, 0.7, 0.75, 0.8, 0.85), missing=0.1)
    assert float(independence_check(systems, seed=1)["p_value"]) > 0.05
    codes = {m: [None if k < 0 else k for k in row] for m, row in zip(systems.models, systems.hard_labels())}
    rng = np.random.default_rng(11)
    leader = codes["s0.65"]
    codes["follower"] = [k if rng.random() < 0.7 else t for k, t in zip(leader, truth.values())]
    check = independence_check(Predictions.from_labels(codes), seed=1)
    assert float(check["p_value"]) < 0.05
    assert check["excess"].sel(model="follower").idxmax("other_model").item() == "s0.65"
    assert np.isnan(np.diagonal(check["excess"])).all()


def test_independence_check_allows_for_few_items_of_each_label():
    systems = simulated_systems(n_items=160, n_labels=16, accuracies=(0.75, 0.82, 0.88, 0.9, 0.93), seed=1)
    assert float(independence_check(systems.predictions, seed=1)["p_value"]) > 0.05


def test_overlap_by_sets():
    said = {"a": [1, 1, 0, None, 1], "b": [1, 0, 0, 1, 1], "c": [0, 0, 0, 0, None]}
    overlap = jaccard_overlap(Predictions.from_labels(said))
    assert overlap.sel(model="a", other_model="b").item() == pytest.approx(2 / 3)
    assert overlap.sel(model="a", other_model="c").item() == 0
    assert np.isnan(overlap.sel(model="c", other_model="c").item())
    assert overlap.sel(model="a", other_model="a").item() == 1
    three = jaccard_overlap(Predictions.from_labels({"a": ["x", "y"], "b": ["x", "z"]}))
    assert three.sel(model="a", other_model="b").item() == pytest.approx(1 / 3)


def test_errors():
    systems, crowd, _ = simulated(n_items=20)
    alone = Predictions.from_labels({"a": [0, 1]})
    with pytest.raises(InputError, match="there is one system"):
        blind_scores(alone)
    with pytest.raises(InputError, match="only the label"):
        blind_scores(Predictions.from_labels({"a": [1, 1], "b": [1, 1]}))
    with pytest.raises(InputError, match="method='vote' is not one of"):
        blind_scores(systems, method="vote")
    with pytest.raises(InputError, match="learns from crowd labels"):
        blind_scores(systems, method="glm")
    with pytest.raises(InputError, match="crowd uses labels that the predictions do not have: 'x'"):
        blind_scores(systems, method="direct", crowd=Labels.from_matrix([["x"]] * 20))
    with pytest.raises(InputError, match="labelled none of the predicted items"):
        blind_scores(systems, method="direct", crowd=Labels.from_matrix([[0], [1]], items=["p", "q"]))
    few = Labels.from_matrix([[0], [1]], labels=[0, 1])
    with pytest.raises(InputError, match="2 items have both crowd and system labels"):
        blind_scores(systems, method="svm", crowd=few)
    with pytest.raises(InputError, match="items='some'"):
        blind_posterior(systems, method="em", items="some")
    with pytest.raises(InputError, match="sets=0"):
        blind_scores(systems, method="sampling", sets=0)
    assert set(BLIND) | set(WITH_CROWD) == set(METHODS)
    assert blind_scores(systems, method="direct", crowd=crowd).sizes == {"model": 4}
