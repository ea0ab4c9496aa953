"""Tables 2 to 9 and figure 2 of Jung and Lease, from one experiment."""

import itertools
import warnings

import numpy as np
import pytest

from bayesagree.datasets.simulate import simulated_systems
from studies.blind_experiment import blind_experiment, methods_group
from studies.blind_tables import blind_table, vote_quality
from studies.rank_correlation import MEASURES, correlation, williams_test


@pytest.fixture(scope="module")
def systems():
    return simulated_systems(n_items=150, accuracies=(0.55, 0.6, 0.7, 0.75, 0.85, 0.9), random_seed=1)


@pytest.fixture(scope="module")
def gold(systems):
    return dict(enumerate(systems.truth.tolist()))


@pytest.fixture(scope="module")
def tree(systems, gold):
    methods = ["majority", "em", "sampling"]
    return blind_experiment(
        systems.predictions, gold=gold, methods=methods, correction="hotelling", draws=50, random_seed=1
    )


def test_methods_by_family_and_hotelling_s_test(tree):
    ranks = blind_table(tree, 5)
    assert ranks.index.tolist() == [
        ("combine & score", "majority"), ("combine & score", "em"), ("score & combine", "sampling")
    ]  # fmt: skip
    assert ranks["swap_rate", "accuracy"].between(1, 3).all()  # swap rates are tested too
    estimated, actual = tree["estimated"]["score"].sel(metric="recall"), tree["actual"]["score"].sel(metric="recall")
    x, y, z = actual.values, estimated.sel(estimator="majority").values, estimated.sel(estimator="em").values
    r = [correlation(*pair, measure="pearson") for pair in ((x, y), (x, z), (y, z))]
    p = tree["methods"]["p_value"].sel(estimator="majority", metric="recall", measure="pearson").item()
    assert p == pytest.approx(williams_test(*r, 6, correction="hotelling")[1])
    assert blind_table(tree, 6)["pearson", "recall"].iloc[0].startswith(f"{r[0]:.2f}")
    swaps = tree["methods"]["correlation"].sel(measure="swap_rate", metric="recall").values
    assert blind_table(tree, 6)["swap_rate", "recall"].iloc[2].startswith(f"{100 * swaps[2]:.1f}")


def test_a_swap_rate_is_tested_as_one_minus_twice_itself():
    systems = simulated_systems(n_items=40, accuracies=(0.5, 0.52, 0.55, 0.6, 0.62, 0.65, 0.7, 0.72), random_seed=2)
    gold = dict(enumerate(systems.truth.tolist()))
    options = {"methods": ["majority", "em", "round_robin"], "metrics": ["recall"], "draws": 50, "random_seed": 1}
    tree = blind_experiment(systems.predictions, gold=gold, significance=0.999, baseline="majority", **options)
    found = tree["methods"].to_dataset().sel(metric="recall", measure="swap_rate")
    ranks = [tree["actual"]["rank"].sel(metric="recall").values]
    ranks += [tree["estimated"]["rank"].sel(metric="recall", estimator=m).values for m in ("majority", "em")]
    r = [1 - 2 * correlation(*pair, measure="swap_rate") for pair in itertools.combinations(ranks, 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        p = williams_test(*r, 8)[1]
    assert 0 < p < 1
    assert found["p_value"].sel(estimator="em").item() == pytest.approx(p)


def test_few_swaps_are_good():
    rng = np.random.default_rng(1)
    actual = {name: np.arange(10.0)[None] for name in ("score", "rank")}
    estimates = [
        {name: (np.arange(10.0) + noise * rng.normal(size=10))[None] for name in actual} for noise in (9, 0.5, 3)
    ]
    group = methods_group(
        ("a", "b", "c"), estimates, actual, np.full((3, 1), np.nan), different=lambda p: np.ones(p.shape, bool),
        baseline="a", correction="williams",
    )  # fmt: skip
    swaps, places = (group[name][1][:, 0, MEASURES.index("swap_rate")] for name in ("correlation", "method_rank"))
    assert len(set(swaps)) == 3
    assert places[np.argsort(swaps)].tolist() == [1, 2, 3]


def test_the_vote_names_everything_at_zero_and_nothing_above_one(systems, gold):
    found = vote_quality(systems.predictions, gold, thresholds=(0, 0.3, 0.5, 0.9, 1.1), random_seed=1)
    assert found.sel(metric="recall").values[[0, -1]].tolist() == [1, 0]
    assert found.sel(metric="specificity").values[[0, -1]].tolist() == [0, 1]
    assert np.isnan(found.sel(metric="precision", threshold=1.1))
    assert (np.diff(found.sel(metric="recall")) <= 0).all()
    share = (systems.predictions.hard_labels() == 1).mean(axis=0)
    assert found.sel(metric="accuracy", threshold=0.9).item() == pytest.approx(((share >= 0.9) == systems.truth).mean())
