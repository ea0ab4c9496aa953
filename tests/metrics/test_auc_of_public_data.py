"""Real crowds with known truth: how well the crowd's labels alone rank four and five models.

On cifar10h people hardly ever disagree: the truth is one label, the majority finds it, and the shares of positive
labels differ by slips. On chaosnli-snli people disagree about most items. The published ranking of the methods (PGT
first) comes from a simulation of the second kind, and holds there only.
"""

import numpy as np
import pytest

from bayesagree.annotations import Labels
from bayesagree.datasets import load
from bayesagree.metrics.concordant_pairs import ScoreOrder
from bayesagree.metrics.crowd_auc import auc

pytestmark = pytest.mark.usefixtures("public_data")


def gold_labels(dataset):
    crowd = dataset.annotations
    gold = dataset.gold.reindex(crowd.items).to_numpy()
    return Labels.from_counts((gold[:, None] == crowd.labels).astype(int), items=crowd.items, labels=crowd.labels)


def swap_error(areas, gold):
    """Mean over labels of the share of pairs of models ranked wrongly."""
    return 1 - np.mean([
        ScoreOrder(areas.sel(category=k).values[None]).graded(gold.sel(category=k).values)[0]
        for k in gold.category.values
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("name", "dgt_at_most", "pgt_within"), [("cifar10h", 0.2, (0.6, 0.8)), ("chaosnli-snli", 0.2, (0.0, 0.2))]
)
def test_ranking_models_without_gold(name, dgt_at_most, pgt_within):
    dataset = load(name)
    gold = auc(gold_labels(dataset), dataset.predictions, method="dgt", random_seed=0)
    dgt, pgt = (auc(dataset.annotations, dataset.predictions, method=m, random_seed=1) for m in ("dgt", "pgt"))
    assert swap_error(dgt, gold) <= dgt_at_most
    assert pgt_within[0] <= swap_error(pgt, gold) <= pgt_within[1]
