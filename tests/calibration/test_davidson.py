"""Simulation-based calibration of strengths from comparisons: every effect drawn from its prior, every variant."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Comparisons, davidson
from bayesagree.comparisons._cells import outcome_probabilities

# Twenty trajectories apart, draws of the slowest parameter, the spread of strengths, are nearly independent.
DRAWS, THIN = 29, 20
MODELS, ANNOTATORS, ITEMS, GAMES = 4, 3, 6, 60
COMMON = {"ties": "common", "order": "common", "discrimination": None}
BY_ANNOTATOR = {"ties": "annotator", "order": "annotator", "discrimination": "annotator"}
VARIANTS = {"common": COMMON, "annotators": BY_ANNOTATOR, "items": COMMON | {"item_effects": True}}
SIZES = [
    (20, "common", 1),
    (20, "annotators", 2),
    *(pytest.param(500, name, 3, marks=pytest.mark.slow) for name in VARIANTS),
]


def drawn(variant, rng):
    """Return comparisons of a world and its parameters, by name."""
    by = variant["ties"] == "annotator"
    sd = abs(rng.normal())
    strength = sd * rng.normal(size=MODELS)
    items = abs(0.5 * rng.normal()) * rng.normal(size=(MODELS, ITEMS)) * variant.get("item_effects", False)
    tie, order = rng.normal(), 1.5 * rng.normal()
    truth = {"strength": (strength - strength.mean())[0], "average_tie": tie, "average_order": order}
    tie = tie + by * abs(rng.normal()) * rng.normal(size=ANNOTATORS)
    order = order + by * abs(0.5 * rng.normal()) * rng.normal(size=ANNOTATORS)
    log_slope = by * abs(0.5 * rng.normal()) * rng.normal(size=ANNOTATORS)
    log_slope = log_slope - log_slope.mean()
    truth["strength_sd"] = sd
    if by:
        truth |= {"tie": tie[0], "order": order[0], "discrimination": np.exp(log_slope[0])}
    left = rng.integers(0, MODELS, GAMES)
    right = (left + rng.integers(1, MODELS, GAMES)) % MODELS
    who, what = rng.integers(0, ANNOTATORS, GAMES), rng.integers(0, ITEMS, GAMES)
    quality = strength[left] + items[left, what] - strength[right] - items[right, what]
    chance = outcome_probabilities(np.exp(log_slope[who]) * quality + order[who], np.exp(tie[who]))
    outcome = (rng.random(GAMES) > np.cumsum(np.stack(chance), axis=0)).sum(axis=0)
    words = np.array(["left", "right", "tie"])[np.minimum(outcome, 2)]
    table = {"left": left, "right": right, "winner": words, "who": who, "what": what}
    return pd.DataFrame(table), truth


@pytest.mark.parametrize(("n", "name", "random_seed"), SIZES)
def test_ranks_of_the_truth_are_uniform(calibration, n, name, random_seed):
    variant, rng = VARIANTS[name], np.random.default_rng(random_seed)
    ranks = []
    while len(ranks) < n:
        table, truth = drawn(variant, rng)
        games = Comparisons.from_long(table, annotator="who", item="what")
        if games.models.size < MODELS or games.annotators.size < ANNOTATORS:
            continue  # whether all are seen does not depend on the parameters
        tree = davidson(games, **variant, draws=DRAWS * THIN, chains=1, random_seed=len(ranks))
        posterior = tree["posterior"].to_dataset().isel(chain=0, draw=slice(None, None, THIN))
        drawn_values = {key: posterior[key].values.reshape(DRAWS, -1)[:, 0] for key in truth}
        ranks.append([(drawn_values[key] < truth[key]).sum() for key in truth])
    for key, rank in zip(truth, np.array(ranks).T):
        calibration.uniform("davidson", f"{name}, {key}", rank, DRAWS + 1)
