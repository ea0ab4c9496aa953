import itertools
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bayesagree import (
    InputError,
    Labels,
    Predictions,
    Rankings,
    Ratings,
    dirichlet,
    majority_vote,
    normal_inverse_gamma,
)
from bayesagree.draws.blocks import DrawBlock
from bayesagree.metrics import (
    accuracy_given_risk,
    annotator_overlap,
    average_overlap,
    expected_top_k_accuracy,
    kendall_tau,
    overlap,
    partial_average_overlap,
    per_item,
    score,
    set_accuracy,
    spearman_footrule,
    top_k_accuracy,
)
from bayesagree.metrics._scorer import Scorer
from bayesagree.metrics.registry import METRICS, Metric
from bayesagree.plausibility import irn

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "stutz.json").read_text())


def order_scores(order):
    """Scores that put the labels in a given order."""
    scores = np.empty(len(order))
    scores[list(order)] = -np.arange(len(order), dtype=float)
    return scores


def estimate(orders):
    """A point estimate that puts the labels of each item in a given order."""
    values = np.array([np.exp(order_scores(o)) for o in orders])
    return xr.DataArray(
        values / values.sum(axis=1, keepdims=True),
        dims=("item", "category"),
        coords={"item": range(len(orders)), "category": range(len(orders[0]))},
    )


def models(*orders):
    return Predictions.from_scores({f"m{i}": order_scores(o)[None] for i, o in enumerate(orders)})


@pytest.mark.parametrize("case", GOLDEN["average_overlap"]["cases"])
def test_golden_average_overlap(case):
    value = average_overlap(estimate([case["truth"]]), models(case["predicted"]), k=case["depth"])
    assert float(value.squeeze()) == pytest.approx(case["value"])


@pytest.mark.parametrize("case", GOLDEN["partial_average_overlap"]["cases"])
def test_golden_partial_average_overlap(case):
    key = np.full(4, -10.0)
    for place, block in enumerate(case["predicted"]):
        key[block] = -place
    rankings = Rankings.from_blocks([[case["annotated"]]], labels=4)
    for name in ("plain", "normalised"):
        value = partial_average_overlap(
            rankings, Predictions.from_scores({"A": key[None]}), k=case["depth"], normalise=name == "normalised"
        )
        assert float(value.squeeze()) == pytest.approx(case[name], abs=1e-7)


def brute(truth, predicted, name, k):
    """Every metric of two orders, from its definition."""
    t, c = list(truth[:k]), list(predicted[:k])
    if name == "top":
        return float(truth[0] in c)
    if name == "set":
        return float(set(t) == set(c))
    if name == "overlap":
        return len(set(t) & set(c)) / k
    if name == "average":
        return np.mean([len(set(truth[:j]) & set(predicted[:j])) / j for j in range(1, k + 1)])
    distance = kendall_lists if name == "kendall" else footrule_lists
    n = len(truth)
    worst = max(distance(t, list(other[:k])) for other in itertools.permutations(range(n)))
    return 1 - distance(t, c) / worst if worst else 1.0


def kendall_lists(a, b):
    """Fagin et al. (2003), the four cases with penalty 1/2."""
    total = 0.0
    for i, j in itertools.combinations(sorted(set(a) | set(b)), 2):
        if {i, j} <= set(a) and {i, j} <= set(b):
            total += (a.index(i) < a.index(j)) != (b.index(i) < b.index(j))
        elif {i, j} <= set(a) or {i, j} <= set(b):
            both, other = (a, b) if {i, j} <= set(a) else (b, a)
            inside = {i, j} & set(other)
            if not inside:
                total += 0.5
            else:
                (x,) = inside
                total += both.index(x) > both.index(j if x == i else i)
        else:
            total += 1
    return total


def footrule_lists(a, b):
    place = lambda values, x: values.index(x) if x in values else len(values)  # noqa: E731
    return float(sum(abs(place(a, x) - place(b, x)) for x in set(a) | set(b)))


FUNCTIONS = {
    "top": lambda t, p, k: top_k_accuracy(t, p, k=k),
    "set": lambda t, p, k: set_accuracy(t, p, k=k),
    "overlap": lambda t, p, k: overlap(t, p, k=k),
    "average": lambda t, p, k: average_overlap(t, p, k=k),
    "kendall": lambda t, p, k: kendall_tau(t, p, k=k),
    "footrule": lambda t, p, k: spearman_footrule(t, p, k=k),
}


@given(st.permutations(range(5)), st.permutations(range(5)), st.integers(1, 5), st.sampled_from(list(FUNCTIONS)))
@settings(max_examples=150, deadline=None)
def test_against_the_definition(truth, predicted, k, name):
    value = float(FUNCTIONS[name](estimate([truth]), models(predicted), k).squeeze())
    assert value == pytest.approx(brute(truth, predicted, name, k), abs=1e-12)


@pytest.mark.parametrize(("n_labels", "n_different"), [(6, 5), (40, 300)])
@pytest.mark.parametrize("weighted", [False, True])
def test_draws_scored_together_are_the_draws_scored_one_by_one(n_labels, n_different, weighted):
    """Draws that repeat a few lists of labels, and draws that hardly repeat any."""
    rng = np.random.default_rng(n_labels)
    lists = np.array([rng.permutation(n_labels)[:4] for _ in range(n_different)])
    top = lists[rng.integers(0, n_different, (3, 200))].astype(np.int16)
    given = Predictions.from_scores({m: rng.random((3, n_labels)) for m in "AB"})
    names = (
        "top_2_accuracy",
        "set_2_accuracy",
        "overlap_3",
        "average_overlap_4",
        "kendall_tau_3",
        "spearman_footrule_4",
    )
    scorer = Scorer(given, [Metric.named(name) for name in names])
    weights = rng.random((3, 200)) if weighted else None
    together = scorer.score(DrawBlock(slice(0, 3), top), weights)
    one_by_one = [
        scorer.score(DrawBlock(slice(0, 3), top[:, [s]]), None if weights is None else weights[:, [s]])
        for s in range(200)
    ]
    for name in ("total", "weighted"):
        expected = np.concatenate([getattr(scores, name) for scores in one_by_one], axis=2)
        np.testing.assert_allclose(getattr(together, name), expected, rtol=1e-13)
    for name in ("square", "item"):
        np.testing.assert_allclose(getattr(together, name), sum(getattr(s, name) for s in one_by_one), rtol=1e-12)


@given(st.permutations(range(6)), st.permutations(range(6)))
@settings(max_examples=40, deadline=None)
def test_complete_lists_give_the_classic_correlations(truth, predicted):
    places = [np.argsort(o) for o in (truth, predicted)]
    tau = stats.kendalltau(*places).statistic
    assert float(kendall_tau(estimate([truth]), models(predicted), k=6).squeeze()) == pytest.approx((tau + 1) / 2)
    footrule = np.abs(places[0] - places[1]).sum()
    value = float(spearman_footrule(estimate([truth]), models(predicted), k=6).squeeze())
    assert value == pytest.approx(1 - footrule / 18)


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(0)
    labels = Labels.from_counts(rng.integers(0, 4, (80, 6)))
    predictions = Predictions.from_scores({"A": rng.normal(size=(80, 6)), "B": rng.normal(size=(80, 6))})
    return labels, predictions


def test_mean_over_draws_equals_the_sum_of_exact_certainties(crowd):
    labels, predictions = crowd
    tree = dirichlet(labels, draws=4000, seed=1, top_labels=1)
    for k in (1, 3, 6):
        draws = top_k_accuracy(tree, predictions, k=k)
        exact = expected_top_k_accuracy(tree, predictions, k=k)
        error = draws.std(("chain", "draw")) / np.sqrt(16_000)
        assert (np.abs(draws.mean(("chain", "draw")) - exact) <= 4.5 * error + 1e-12).all()


def test_per_draw_and_per_item_are_two_means_of_one_table(crowd):
    labels, predictions = crowd
    tree = dirichlet(labels, draws=50, seed=1)
    for name, metric in (("top_2_accuracy", top_k_accuracy(tree, predictions, k=2)),
                         ("average_overlap_3", average_overlap(tree, predictions)),
                         ("kendall_tau_3", kendall_tau(tree, predictions))):  # fmt: skip
        by_item = per_item(tree, predictions, metric=name)
        np.testing.assert_allclose(by_item.mean("item"), metric.mean(("chain", "draw")), atol=1e-12)


def test_point_estimates_give_the_ordinary_metric(crowd):
    labels, predictions = crowd
    vote = majority_vote(labels, ties="first")
    hard, truth = predictions.hard_labels(), vote.values.argmax(axis=1)
    np.testing.assert_allclose(top_k_accuracy(vote, predictions).squeeze(), (hard == truth).mean(axis=1))


def test_tied_top_labels_count_in_shares():
    vote = majority_vote(Labels.from_counts([[2, 2, 1], [3, 0, 0]]))
    predictions = Predictions.from_labels({"A": [1, 0], "B": [2, 0], "C": [0, None]}, labels=[0, 1, 2])
    found = score(vote, predictions, "top_1_accuracy", missing="wrong")
    assert found.values.tolist() == [[[0.75, 0.5, 0.25]]]
    with pytest.raises(InputError, match="'C' has no prediction for 1 of 2 items: 1"):
        top_k_accuracy(vote, predictions)


def test_high_reliability_is_the_ordinary_metric_without_ties_and_shares_with_ties():
    """MATHS 2.5, limits."""
    labels = Labels.from_counts([[5, 1, 0], [0, 2, 0], [3, 3, 0]])
    predictions = Predictions.from_labels({"A": [0, 2, 1]}, labels=[0, 1, 2])
    tree = dirichlet(labels, reliability=1e8, draws=2000, seed=1, top_labels=1)
    assert per_item(tree, predictions, metric="top_1_accuracy").values[0, :2].tolist() == [1, 0]
    share = float(per_item(tree, predictions, metric="top_1_accuracy").values[0, 2])
    assert abs(share - 0.5) < 4.5 * 0.5 / np.sqrt(8000)
    vote = top_k_accuracy(majority_vote(labels), predictions)
    assert float(expected_top_k_accuracy(tree, predictions).squeeze()) == pytest.approx(float(vote.squeeze()), abs=1e-3)


def test_irn_is_a_point_estimate():
    rankings = Rankings.from_blocks([[[[1], [0]], [[1], [2]]]], labels=3)
    value = top_k_accuracy(irn(rankings), models((1, 0, 2), (0, 1, 2)))
    assert value.values.tolist() == [[[1.0, 0.0]]]


def test_accuracy_given_risk_weighs_items_by_the_probability_of_the_level():
    vote = majority_vote(Labels.from_counts([[4, 0, 0], [0, 4, 0], [0, 0, 4]]))
    values = np.broadcast_to(vote.values, (1, 10, 3, 3))
    tree = xr.DataTree.from_dict(
        {
            "/posterior": xr.Dataset(
                {"plausibility": (("chain", "draw", "item", "category"), values)}, coords=vote.coords
            )
        }
    )
    predictions = Predictions.from_labels({"A": [0, 1, 0]}, labels=[0, 1, 2])
    risk = {0: 0, 1: 2, 2: 2}
    assert np.unique(accuracy_given_risk(tree, predictions, risk, 2)).tolist() == [0.5]
    assert np.unique(accuracy_given_risk(tree, predictions, risk, 0)).tolist() == [1.0]
    with pytest.raises(InputError, match="risk level 1 is not one of"):
        accuracy_given_risk(tree, predictions, risk, 1)


@given(st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_item_and_model_order_change_nothing(crowd_random):
    rng = np.random.default_rng(crowd_random.randint(0, 10**6))
    truth, scores = rng.random((9, 4)), rng.normal(size=(3, 9, 4))
    items, order = rng.permutation(9), rng.permutation(3)
    names = [f"m{i}" for i in range(3)]
    point = xr.DataArray(truth, dims=("item", "category"), coords={"item": range(9), "category": range(4)})
    plain = average_overlap(point, Predictions.from_scores(dict(zip(names, scores))))
    shuffled = Predictions.from_scores({names[m]: scores[m][items] for m in order}, items=items.tolist())
    np.testing.assert_allclose(average_overlap(point, shuffled).sel(model=names), plain, atol=1e-12)


def test_metric_names():
    assert Metric.named("average_overlap") == Metric.named("average_overlap_3")
    assert Metric.named("top_10_accuracy").name == "top_10_accuracy"
    for wrong in ("top_0_accuracy", "accurate", "top_K_accuracy", "overlap_-1"):
        with pytest.raises(InputError, match=f"metric '{wrong}' is not known.* Use top_K_accuracy"):
            Metric.named(wrong)


def test_depth_beyond_the_labels_is_refused():
    with pytest.raises(InputError, match="the top 4 labels do not exist: there are 3"):
        overlap(estimate([(0, 1, 2)]), models((0, 1, 2)), k=4)


def test_partial_average_overlap_is_the_mean_over_annotators():
    rankings = Rankings.from_blocks([[[[0]], [[1]], [[2]]]], labels=3)
    scores = Predictions.from_scores({"A": [[3.0, 2.0, 1.0]]})
    each = [
        partial_average_overlap(Rankings.from_blocks([[[[label]]]], labels=3), scores, k=2).item() for label in range(3)
    ]
    assert len(set(each)) == 3
    assert partial_average_overlap(rankings, scores, k=2).item() == pytest.approx(np.mean(each))


def test_equal_partial_rankings_overlap_wholly_by_default():
    rankings = Rankings.from_blocks([[[[0], [1, 2]]]], labels=5)
    same = Predictions.from_scores({"A": [[3, 2, 2, 0, 0.0]]})
    assert partial_average_overlap(rankings, same, k=3).item() == pytest.approx(1)
    assert partial_average_overlap(rankings, same, k=3, normalise=False).item() == pytest.approx(0.9167, abs=5e-5)


def test_overlap_of_annotators_is_that_of_each_pair_as_a_model():
    blocks = [[[[0], [1, 2]], [[1, 0]], [[3], [0], [2]]], [[[0]], [[4, 1]]], [[[2]]]]
    rankings = Rankings.from_blocks(blocks, labels=5)
    with pytest.warns(UserWarning, match="1 items have one ranking"):
        found = annotator_overlap(rankings, k=3)
    for i, item in enumerate(blocks[:2]):
        pairs = []
        for a, b in itertools.combinations(item, 2):
            key = np.full(5, -10.0)
            for place, tied in enumerate(a):
                key[tied] = -place
            one = Rankings.from_blocks([[b]], labels=5)
            pairs.append(partial_average_overlap(one, Predictions.from_scores({"A": key[None]}), k=3).item())
        assert found.values[i] == pytest.approx(np.mean(pairs))
    assert np.isnan(found.values[2])


RANK = {pattern: record for pattern, record in METRICS.items() if record.family == "rank"}


@pytest.mark.parametrize("record", RANK.values(), ids=RANK)
def test_records_state_the_range_and_the_direction(record):
    name = record.pattern.format(2)
    orders = [*itertools.permutations(range(4))]
    scores = per_item(estimate([(0, 1, 2, 3)]), models(*orders), metric=name).squeeze()
    assert (scores.min(), scores.max()) == record.bounds
    assert scores[orders.index((0, 1, 2, 3))] == record.bounds[int(record.higher_is_better)]
    assert record.meaning.format(k=2)
    assert record.title.format(2)


def test_every_metric_takes_ratings_with_a_threshold():
    ratings = Ratings.from_matrix([[1, 2, 2], [5, 4, 5], [1, 1, 5]], scale=(1, 5), step=1)
    tree = normal_inverse_gamma(ratings, draws=50, seed=1)
    predictions = Predictions.from_labels({"A": ["below", "at_or_above", "below"]})
    score = top_k_accuracy(tree, predictions, threshold=3)
    for metric in (set_accuracy, overlap, average_overlap, kendall_tau, spearman_footrule):
        np.testing.assert_array_equal(metric(tree, predictions, k=1, threshold=3), score)
    exact = expected_top_k_accuracy(tree, predictions, threshold=3)
    assert abs(float(score.mean() - exact.squeeze())) < 4.5 * float(score.std()) / np.sqrt(200)
    high = accuracy_given_risk(tree, predictions, {"below": 0, "at_or_above": 1}, 1, threshold=3)
    assert high.dims == ("chain", "draw", "model")
