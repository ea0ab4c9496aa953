"""Coverage of the label-level AUC interval, and what it does not cover."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import binom

from bayesagree.metrics.concordant_pairs import ScoreOrder
from bayesagree.metrics.posterior_auc import auc_posterior
from studies.binary_crowds import crowdsourced_binary

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*items without labels:UserWarning", "ignore:. annotators are too few:UserWarning"
)

LAST = -1
"""The most disturbed of the two simulated models: h = .45."""


@dataclass(frozen=True)
class Crowd:
    """A crowd, and how many runs the interval is tried in."""

    labels_per_item: float
    labels_per_annotator: float
    mean_tpr: float = 0.8
    mean_fpr: float = 0.2
    n_items: int = 1000

    def problem(self, random_seed):
        return crowdsourced_binary(
            n_items=self.n_items,
            n_models=2,
            labels_per_item=self.labels_per_item,
            labels_per_annotator=self.labels_per_annotator,
            mean_tpr=self.mean_tpr,
            mean_fpr=self.mean_fpr,
            random_seed=random_seed,
        )

    def population(self):
        """AUC of labels from infinitely many items and annotators, within about 4e-4 (400,000 items)."""
        few = {"labels_per_item": 2, "labels_per_annotator": 200_000}  # whose labels are not looked at
        problem = crowdsourced_binary(n_items=400_000, n_models=2, **few, random_seed=1)
        share = self.mean_fpr + problem.plausibility * (self.mean_tpr - self.mean_fpr)
        return ScoreOrder(problem.scores[[LAST]]).weighted(share, 1 - share)[0]


def narrowest(draws, prob=0.95):
    ordered = np.sort(draws, axis=None)
    inside = int(np.ceil(prob * ordered.size))
    width = ordered[inside - 1 :] - ordered[: ordered.size - inside + 1]
    first = int(np.argmin(width))
    return ordered[first], ordered[first + inside - 1]


def coverage(crowd, target, runs, *, draws=1000, first_seed=100):
    """Return the share of runs whose 95 % HDI holds the target."""
    hits = 0
    for random_seed in range(first_seed, first_seed + runs):
        problem = crowd.problem(random_seed)
        tree = auc_posterior(problem.labels, problem.predictions, draws=draws, chains=1, random_seed=random_seed)
        lower, upper = narrowest(tree["posterior/auc"].values[..., LAST])
        hits += lower <= target <= upper
    return hits / runs


@pytest.mark.parametrize(("n_items", "labels_per_item"), [(15, 3), (30, 3), (300, 3), (300, 15)])
def test_label_level_interval_covers(n_items, labels_per_item):
    crowd = Crowd(labels_per_item, 3, n_items=n_items)
    runs = 150
    found = coverage(crowd, crowd.population(), runs, draws=300)
    low, high = binom.ppf([0.001, 0.999], runs, 0.95) / runs
    assert low <= found <= high


@pytest.mark.slow
@pytest.mark.parametrize("labels_per_item", [3, 15, 45])
@pytest.mark.parametrize("first_seed", [1000, 50_000])
def test_label_level_interval_covers_in_1000_runs(labels_per_item, first_seed):
    crowd = Crowd(labels_per_item, 3)
    found = coverage(crowd, crowd.population(), 1000, draws=4000, first_seed=first_seed)
    assert 0.93 <= found <= 0.97
