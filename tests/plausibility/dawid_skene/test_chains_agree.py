"""Chains that start apart end together: on a crowd of the shape where they did not, and from reversed names."""

import numpy as np
import pytest

from bayesagree.annotations import Labels
from bayesagree.plausibility.dawid_skene import posterior
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene


def ordered_crowd(n_items: int, random_seed: int) -> Labels:
    """Five ordered labels, one of them rare, five each of 177 annotators, a few of whom gave most of the labels."""
    rng = np.random.default_rng(random_seed)
    truth = rng.choice(5, n_items, p=[0.32, 0.3, 0.22, 0.14, 0.02])
    activity = rng.pareto(1.0, 177) + 0.05
    sharpness, bias = rng.gamma(3, 0.5, 177), rng.normal(0, 0.4, 177)
    distance = np.abs(np.arange(5)[:, None] - np.arange(5) + bias[:, None, None])
    confusion = np.exp(-sharpness[:, None, None] * distance)
    confusion /= confusion.sum(axis=2, keepdims=True)
    given = np.full((n_items, 177), np.nan)
    for item, label in enumerate(truth):
        for annotator in rng.choice(177, 5, replace=False, p=activity / activity.sum()):
            given[item, annotator] = rng.choice(5, p=confusion[annotator, label])
    return Labels.from_matrix(given, labels=list(range(5)))


@pytest.mark.long
@pytest.mark.parametrize("variant", ["full", "one_coin", "class_conditional", "hierarchical", "mixed_membership"])
def test_chains_agree_on_ordered_labels_with_a_rare_one(variant):
    tree = dawid_skene(ordered_crowd(300, random_seed=1), variant=variant, draws=400, confusion=False, random_seed=1)
    found = tree["diagnostics"].to_dataset()
    # The worst of a hundred parameters; 1.05 is the aim for a thousand draws.
    assert float(found["r_hat"].max()) < 1.1


@pytest.mark.parametrize("draws", [100, 101])
def test_chains_that_go_on_are_those_that_were_as_long_from_the_start(monkeypatch, draws):
    rng = np.random.default_rng(1)
    crowd = Labels.from_matrix((rng.random((30, 4)) < np.where(np.arange(30) % 2, 0.8, 0.2)[:, None]).astype(int))
    how = {"variant": "full", "draws": draws, "chains": 2, "random_seed": 1, "confusion": False}
    expected = dawid_skene(crowd, thin=4, **how)
    monkeypatch.setattr(posterior, "LARGEST_R_HAT", 0.0)
    monkeypatch.setattr(posterior, "LONGEST", 4)
    found = dawid_skene(crowd, **how)
    for name in ("plausibility", "prevalence"):
        # Of an odd number of draws the last of the first run is not one of every second.
        kept = slice(draws // 4) if draws % 2 else slice(None)
        same = found["posterior"][name].values[:, kept], expected["posterior"][name].values[:, kept]
        np.testing.assert_array_equal(*same)
    np.testing.assert_allclose(found["derived"]["label_probability"].sum("category"), 1)
    apart = found["derived"]["label_probability"] - found["posterior"]["plausibility"].mean(("chain", "draw"))
    assert float(np.abs(apart).max()) < 4 * 0.5 / np.sqrt(2 * draws / 4)
