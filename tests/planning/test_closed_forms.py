"""Sample sizes with a formula: published forms, and variance components against simulation."""

import numpy as np
import pytest

from bayesagree.errors import InputError
from bayesagree.planning import best_annotators_per_item, items_for_icc, raters_for_reliability, two_stage_variance
from bayesagree.planning.closed_forms import TwoStage


@pytest.mark.parametrize(("icc", "k", "width", "n"), [(0.8, 3, 0.2, 36), (0.5, 2, 0.2, 218), (0.9, 2, 0.1, 57)])
def test_bonett_by_hand(icc, k, width, n):
    # 8 z^2 (1 - r)^2 (1 + (k - 1) r)^2 / (k (k - 1) w^2) + 1 with z = 1.959964, worked out on paper.
    assert items_for_icc(icc, k, width) == n


@pytest.mark.parametrize(("reliability", "k"), [(0.2, 7), (0.5, 3), (0.7, 1)])
def test_spearman_brown_inverts(reliability, k):
    target = k * reliability / (1 + (k - 1) * reliability)
    assert raters_for_reliability(reliability, target) == pytest.approx(k, rel=1e-12)


def test_the_best_number_of_annotators_beats_its_neighbours():
    variances, item_cost, label_cost, budget = TwoStage(0.05, 0.18), 12.0, 1.5, 6000
    best = best_annotators_per_item(variances, item_cost=item_cost, label_cost=label_cost)
    assert best == pytest.approx(np.sqrt(8 * 0.18 / 0.05))

    def variance(n):
        return variances.variance(budget / (item_cost + n * label_cost), n)

    assert variance(best) < min(variance(best - 0.1), variance(best + 0.1))
    assert best_annotators_per_item(variances, item_cost=0, label_cost=1) == 1


def test_variance_components_are_unbiased():
    rng = np.random.default_rng(1)
    rate = rng.beta(2, 3, (400, 300))
    votes = rng.integers(1, 6, rate.shape)
    found = [two_stage_variance(s, n) for s, n in zip(rng.binomial(votes, rate), votes)]
    between, within = np.array(found).T
    for estimates, truth in ((between, 2 * 3 / (25 * 6)), (within, 0.4 * 0.6 - 0.04)):
        assert abs(estimates.mean() - truth) < 4 * estimates.std() / np.sqrt(estimates.size)


def test_what_has_no_answer_is_refused():
    with pytest.raises(InputError, match="annotate some items twice"):
        two_stage_variance([1, 0, 1], [1, 1, 1])
    with pytest.raises(InputError, match="items do not differ"):
        best_annotators_per_item(TwoStage(0.0, 0.2), item_cost=1, label_cost=1)
    with pytest.raises(InputError, match="two ratings"):
        items_for_icc(0.5, 1, 0.2)
    with pytest.raises(InputError, match="target=1"):
        raters_for_reliability(0.5, 1)
