import numpy as np
import pytest

from bayesagree.annotations.predictions import Predictions
from bayesagree.blind.scores import blind_scores
from bayesagree.metrics.hard_labels import hard_label_scores
from studies.blind_cases import blind_case
from studies.blind_experiment import blind_experiment, jaccard_overlap
from studies.paired_tests import copeland_rank, paired_t_test, paired_terms
from studies.rank_correlation import correlation, williams_test
from studies.systems import simulated_systems


@pytest.fixture(scope="module")
def systems():
    return simulated_systems(n_items=400, accuracies=(0.6, 0.65, 0.7, 0.8, 0.85, 0.9), missing=0.1, random_seed=1)


@pytest.fixture(scope="module")
def tree(systems):
    methods = ("majority", "em", "round_robin", "sampling")
    gold = dict(enumerate(systems.truth))
    return blind_experiment(systems.predictions, gold=gold, methods=methods, draws=200, random_seed=2)


def test_scores_are_those_of_the_single_functions(tree, systems):
    estimated = tree["estimated"].to_dataset()
    for method in ("majority", "round_robin", "sampling"):
        for metric in ("accuracy", "precision"):
            alone = blind_scores(systems.predictions, method=method, metric=metric, sets=200, random_seed=2)
            np.testing.assert_array_equal(estimated["score"].sel(estimator=method, metric=metric), alone)
    assert (estimated["lower"] <= estimated["upper"]).all()
    np.testing.assert_allclose(estimated["prob_best"].sum("model"), 1)


def test_actual_ranks_are_copelands_over_paired_t_tests(tree, systems):
    actual, codes = tree["actual"].to_dataset(), systems.predictions.hard_labels()
    for metric in ("accuracy", "recall", "specificity"):
        score = hard_label_scores(systems.predictions, dict(enumerate(systems.truth)), metric=metric)
        _, p = paired_t_test(paired_terms(systems.truth, codes, metric, 1))
        np.testing.assert_array_equal(actual["score"].sel(metric=metric), score)
        np.testing.assert_array_equal(actual["rank"].sel(metric=metric), copeland_rank(score, p < 0.05))


def test_correlations_are_of_scores_and_of_ranks(tree):
    methods, estimated, actual = (tree[g].to_dataset() for g in ("methods", "estimated", "actual"))
    here = {"metric": "accuracy"}
    scores = [estimated["score"].sel(estimator=m, **here) for m in ("sampling", "em")]
    gold = actual["score"].sel(here)
    r = [correlation(s, gold, measure="pearson") for s in scores]
    found = methods.sel(metric="accuracy", measure="pearson", estimator="sampling")
    assert found["correlation"].item() == pytest.approx(r[0])
    p = williams_test(*r, correlation(*scores, measure="pearson"), 6)[1]
    assert found["p_value"].item() == pytest.approx(p)
    kendall = correlation(estimated["rank"].sel(estimator="em", **here), actual["rank"].sel(here))
    assert methods["correlation"].sel(estimator="em", measure="kendall", **here).item() == pytest.approx(kendall)


def test_a_system_without_gold_has_no_part_in_ranks_and_tests(systems):
    """Williams' test counted it: on trec2011-teams both stars were false."""
    codes = systems.predictions.hard_labels()
    said = {f"s{m}": [int(k) if k >= 0 else None for k in row] for m, row in enumerate(codes)}
    said["late"] = [None] * 200 + said["s0"][200:]
    gold = {i: int(k) for i, k in enumerate(systems.truth[:200])}
    tree = blind_experiment(
        Predictions.from_labels(said),
        gold=gold,
        methods=["em", "sampling"],
        metrics=["accuracy"],
        draws=50,
        random_seed=1,
    )
    judged = [f"s{m}" for m in range(6)]
    found = tree.sel(model=judged)
    estimated, actual = (found[g]["score"].sel(metric="accuracy") for g in ("estimated", "actual"))
    em, sampling = (estimated.sel(estimator=m) for m in ("em", "sampling"))
    r = [correlation(*pair, measure="pearson") for pair in ((sampling, actual), (em, actual), (sampling, em))]
    p_value = tree["methods"]["p_value"].sel(estimator="sampling", metric="accuracy", measure="pearson")
    assert p_value.item() == pytest.approx(williams_test(*r, 6)[1])
    assert tree["actual"]["rank"].max() <= 6


def test_sampling_on_human_objects_ranks_as_the_gold_does(public_data):
    case = blind_case("human-objects/edge", random_seed=1)
    crowd = case.crowd.annotators[np.unique(case.crowd.annotator_index)]
    everybody = [*case.predictions.models.tolist(), *crowd.tolist()]
    assert len(everybody) == len(set(everybody)) == 10  # nobody is a system and of the crowd
    tree = blind_experiment(
        case.predictions, gold=case.gold, methods=["sampling", "em"], metrics=("accuracy",), draws=1000, random_seed=1
    )
    rank = tree["estimated"]["rank"].sel(metric="accuracy")
    np.testing.assert_array_equal(rank.sel(estimator="sampling"), [1, 1, 1, 4, 4])
    kendall = tree["methods"]["correlation"].sel(metric="accuracy", measure="kendall", estimator="sampling")
    assert kendall.item() == pytest.approx(0.93, abs=0.005)


def test_no_blind_method_finds_the_best_team(public_data):
    """Team 3 stands far above the others by the NIST gold; by the other teams' labels it does not."""
    case = blind_case("trec2011-teams")
    with pytest.warns(UserWarning, match="accuracy of 'team 13' does not exist"):
        actual = hard_label_scores(case.predictions, case.gold).dropna("model")
    assert actual.idxmax("model").item() == "team 3"
    for method in ("majority", "em", "round_robin", "sampling"):
        scores = blind_scores(case.predictions, method=method, sets=100, random_seed=1).sel(model=actual.model)
        assert scores.idxmax("model").item() != "team 3"
        assert correlation(scores, actual, measure="pearson") < 0.5


def test_overlap_by_sets():
    labels = {"a": [1, 1, 0, None, 1], "b": [1, 0, 0, 1, 1], "c": [0, 0, 0, 0, None]}
    overlap = jaccard_overlap(Predictions.from_labels(labels))
    assert overlap.sel(model="a", other_model="b").item() == pytest.approx(2 / 3)
    assert overlap.sel(model="a", other_model="c").item() == 0
    assert np.isnan(overlap.sel(model="c", other_model="c").item())
    assert overlap.sel(model="a", other_model="a").item() == 1
    three = jaccard_overlap(Predictions.from_labels({"a": ["x", "y"], "b": ["x", "z"]}))
    assert three.sel(model="a", other_model="b").item() == pytest.approx(1 / 3)
