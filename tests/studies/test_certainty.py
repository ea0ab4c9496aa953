"""Certainty across reliabilities, the toy problem, sets of different sizes (Stutz et al.)."""

import itertools

import numpy as np
import pytest

from bayesagree import InputError, Labels, Predictions, annotation_certainty, dirichlet, score
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.metrics import UserMetric
from studies.certainty import certainty_by_reliability
from studies.top_k import kendall_tau, spearman_footrule, top_k_in_top_m


def test_certainty_is_that_of_the_posterior_at_each_reliability():
    votes = Labels.from_counts([[4, 1, 0], [2, 2, 1], [0, 0, 5]])
    found = certainty_by_reliability(votes, reliability=(1, 5), gold={0: 0, 2: 1}, draws=300, random_seed=1)
    tree = dirichlet(votes, reliability=5, draws=300, random_seed=1)
    np.testing.assert_allclose(found["certainty"].sel(reliability=5), annotation_certainty(tree), atol=0.04)
    gold = found["gold_certainty"].sel(reliability=5).values
    assert gold[0] > 0.9
    assert gold[2] < 0.05
    assert np.isnan(gold[1])


@pytest.fixture(scope="module")
def problem():
    given = labelled_test_set(n_items=15, random_seed=1)
    return dirichlet(given.labels, draws=50, chains=2, random_seed=1), given.predictions


def test_sets_of_different_sizes_equal_a_direct_count(problem):
    truth, models = problem
    drawn = truth["posterior"]["plausibility"].transpose("chain", "draw", "item", "category").values
    wanted = np.argsort(-drawn, axis=-1)[..., :2]
    for m in (1, 2, 3):
        shares = np.stack([np.isin(wanted, []) for _ in models.models], axis=-2).astype(float).mean(axis=-1)
        for j, sets in enumerate(models.top_labels(m)):
            inside = np.stack([np.isin(wanted[:, :, i], sets[i]) for i in range(15)], axis=2)
            shares[..., j] = inside.mean(axis=-1)
        np.testing.assert_allclose(top_k_in_top_m(truth, models, k=2, m=m), shares.mean(axis=2))


def test_special_cases_have_names_of_their_own(problem):
    truth, models = problem
    np.testing.assert_allclose(top_k_in_top_m(truth, models, k=1, m=2), score(truth, models, "top_2_accuracy"))
    np.testing.assert_allclose(top_k_in_top_m(truth, models, k=2, m=2), score(truth, models, "overlap_2"))
    np.testing.assert_allclose(
        top_k_in_top_m(truth, models, k=2, m=2, whole=True), score(truth, models, "set_2_accuracy")
    )
    with pytest.raises(InputError):
        top_k_in_top_m(truth, Predictions.from_labels({"A": [0] * 15}), k=9)


def fagin(a: list[int], b: list[int]) -> float:
    """Fagin et al. (2003), the four cases with penalty 1/2."""
    total = 0.0
    for i, j in itertools.combinations(sorted({*a, *b}), 2):
        if {i, j} <= {*a} and {i, j} <= {*b}:
            total += (a.index(i) < a.index(j)) != (b.index(i) < b.index(j))
        elif {i, j} <= {*a} or {i, j} <= {*b}:
            both, other = (a, b) if {i, j} <= {*a} else (b, a)
            inside = {i, j} & {*other}
            if not inside:
                total += 0.5
            else:
                (x,) = inside
                total += both.index(x) > both.index(j if x == i else i)
        else:
            total += 1
    return total


def footrule(a: list[int], b: list[int]) -> float:
    """Displacement of every label, place k + 1 where a list lacks it."""
    place = lambda values, x: values.index(x) if x in values else len(values)  # noqa: E731
    return float(sum(abs(place(a, x) - place(b, x)) for x in {*a, *b}))


def test_orders_of_best_labels_equal_the_four_cases(problem):
    truth, models = problem
    drawn = truth["posterior"]["plausibility"].transpose("chain", "draw", "item", "category").values[0, 0]
    for name, distance in ((kendall_tau, fagin), (spearman_footrule, footrule)):
        orders = [np.argsort(-table, axis=1, kind="stable") for table in (drawn, models.scores[0])]
        for k in (1, 2, 3):
            pairs = [(t[:k].tolist(), c[:k].tolist()) for t, c in zip(*orders)]
            worst = max(distance(pairs[0][0], [*other[:k]]) for other in itertools.permutations(orders[0][0].tolist()))
            expected = 1 - np.mean([distance(*pair) for pair in pairs]) / worst
            metric = UserMetric(lambda q, p, k=k, name=name: name(q, p, k), "plausibilities", "order")
            assert score(truth, models, metric)[0, 0, 0].item() == pytest.approx(expected)
