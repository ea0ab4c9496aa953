"""The check of independent errors."""

import numpy as np
from blind._crowds import simulated

from bayesagree.annotations.predictions import Predictions
from bayesagree.blind.independence import independence_check
from bayesagree.simulate._systems import simulated_systems


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
