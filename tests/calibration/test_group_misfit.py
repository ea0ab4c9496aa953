"""Groups whose annotators break the assumptions of the group models: where do they fail, and do replicates say so?

The group models take annotators of a group as draws from one distribution whose spread all groups share, and each
annotator's labels as independent tries: that many annotators label the same few items is not known to them.
"""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Annotators, Labels, Predictions, group_posterior
from bayesagree.annotations.groups import Groups
from bayesagree.predictive.checks import with_posterior_predictive
from bayesagree.subjective.group_model import group_counts

pytestmark = pytest.mark.slow
WORLDS, SIZES, ALARM = 60, [8, 30, 30, 30], 0.01


def fitted(agrees, group, seed):
    """Fit agreement with the model, (item, annotator), missing -1; return draws of the group means, and replicates."""
    labels = Labels.from_matrix(np.array([None, "no", "yes"], dtype=object)[agrees + 1], labels=["no", "yes"])
    people = Annotators.from_table(pd.DataFrame({"annotator": labels.annotators, "g": group.astype(str)}))
    model = Predictions.from_labels({"A": ["yes"] * len(agrees)}, labels=["no", "yes"])
    counts = group_counts(labels, model, Groups.by_features(labels, people, ["g"]))
    tree = group_posterior(labels, model, people, by=["g"], draws=250, seed=seed)
    drawn = with_posterior_predictive(tree, counts, seed=seed)
    replicates = drawn["posterior_predictive"].to_dataset()["agree"].values.reshape(1000, -1) / counts.total[0]
    performance = tree["posterior"].to_dataset()["performance"].values.reshape(1000, -1)
    return performance, counts.agree[0] / counts.total[0], replicates, counts.group


def spread_p_value(observed, replicates, group):
    """Compare the standard deviation within each group with that of the replicates; two sides, all groups together."""
    worst = 1.0
    for g in np.unique(group):
        larger = (replicates[:, group == g].std(axis=1) >= observed[group == g].std()).mean()
        worst = min(worst, 2 * min(larger, 1 - larger) * (group.max() + 1))
    return worst


def simulated(world):
    """Return how often the 95 % interval of each group held the truth 0.7, and how often replicates are unlike."""
    held, noticed = [], []
    for seed in range(WORLDS):
        performance, observed, replicates, group = world(np.random.default_rng(seed), seed)
        low, high = np.quantile(performance, [0.025, 0.975], axis=0)
        held.append((low < 0.7) & (high > 0.7))
        noticed.append(spread_p_value(observed, replicates, group) < ALARM)
    return np.mean(held, axis=0), float(np.mean(noticed))


def as_assumed(rng, seed):
    group = np.repeat(np.arange(4), SIZES)
    rate = rng.beta(14, 6, group.size)
    return fitted((rng.random((20, group.size)) < rate).astype(int), group, seed)


def camps(rng, seed):
    """The first group has two camps; the annotators of the others are alike."""
    group = np.repeat(np.arange(4), SIZES)
    rate = np.where(group == 0, rng.choice([0.45, 0.95], group.size), 0.7)
    return fitted((rng.random((20, group.size)) < rate).astype(int), group, seed)


def few_items(rng, seed):
    """Every group labels ten items of its own, and people agree or disagree with the model on the same items."""
    group = np.repeat(np.arange(4), 20)
    chance = rng.beta(1.4, 0.6, (40, 1))
    agrees = (rng.random((40, group.size)) < chance).astype(int)
    agrees[np.arange(40)[:, None] // 10 != group] = -1
    return fitted(agrees, group, seed)


def test_the_check_is_silent_where_the_model_holds():
    held, noticed = simulated(as_assumed)
    assert (held > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / WORLDS)).all()
    assert noticed < ALARM + 3.5 * np.sqrt(ALARM / WORLDS)


@pytest.mark.parametrize(
    ("model", "who", "world", "first"),
    [
        ("group_posterior", "two camps in one group of eight, others alike", camps, True),
        ("group_posterior", "every group labels ten items of its own, easy or hard for all", few_items, False),
    ],
)
def test_groups_that_are_not_as_assumed(model, who, world, first, calibration):
    held, noticed = simulated(world)
    which, share = ("its interval of 95 %", held[0]) if first else ("intervals of 95 %", held.mean())
    calibration.recovery(
        model, who, error=f"{which} held the truth in {share:.2f} of {WORLDS} sets",
        diagnostic=f"spread within groups against replicates: p < {ALARM:g} in {noticed:.2f}", noticed=noticed > 0.5,
    )  # fmt: skip
