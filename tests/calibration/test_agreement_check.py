"""How often does the check of agreement fire on crowds that do not err independently, and on one that does?"""

import numpy as np
import pytest
from calibration._crowds import crowd

from bayesagree import dawid_skene, simulate
from bayesagree.predictive.annotator_checks import agreement_check

REPLICATIONS, SIZES = 20, (100, 300, 1000)


def copying(chance):
    """Three labels, 70 % right; everybody copies the first annotator of the item with this chance."""
    return lambda seed, **size: crowd(np.random.default_rng(seed), copying=chance, **size)[0]


def pair(chance):
    """The second annotator of the crowd copies the first one with this chance."""
    return lambda seed, **size: crowd(np.random.default_rng(seed), pair=chance, **size)[0]


def ambiguous(seed, *, n_items, n_annotators, per_item):
    """Items have plausible labels instead of one true one, Dirichlet(1/3, 1/3, 1/3), and everybody reads their own."""
    return simulate.crowd_labels(
        n_items=n_items, n_annotators=n_annotators, n_labels=3, labels_per_item=per_item, ambiguity=1.0, seed=seed
    ).labels


CROWDS = {
    "independent": copying(0.0),
    "copy another, one in five": copying(0.2),
    "copy another, two in five": copying(0.4),
    "copy another, seven in ten": copying(0.7),
    "one pair copies, half": pair(0.5),
    "one pair copies, nine in ten": pair(0.9),
    "read ambiguous items differently": ambiguous,
}
FEW = ("independent", "copy another, two in five", "copy another, seven in ten")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize(
    ("who", "n_annotators", "per_item"),
    [*((who, 10, 5) for who in CROWDS), *((who, 5, 3) for who in FEW)],
)
def test_how_often_it_fires(who, n_annotators, per_item, calibration):
    for n_items in SIZES:
        p_values = np.empty((REPLICATIONS, 4))
        for seed in range(REPLICATIONS):
            labels = CROWDS[who](seed, n_items=n_items, n_annotators=n_annotators, per_item=per_item)
            tree = dawid_skene(labels, variant="full", draws=100, chains=2, seed=seed)
            p_values[seed] = agreement_check(labels, tree, seed=seed)["p_value"].values
        calibration.power(
            "agreement_check", who, f"{n_annotators} annotators, {per_item} an item, {n_items} items",
            dict(zip(("mean", "variance", "histogram", "pair"), p_values.T.tolist())), sound=who == "independent",
        )  # fmt: skip
