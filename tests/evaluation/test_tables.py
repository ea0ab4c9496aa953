"""Tables of an evaluation hold what `compare` and `pairwise` say."""

import numpy as np
import pytest
import xarray as xr

from bayesagree import compare, evaluate, pairwise
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.evaluation import tables


@pytest.fixture(scope="module")
def tree():
    given = labelled_test_set(n_items=30, random_seed=1)
    metrics = ("accuracy", "set_2_accuracy")
    return evaluate(
        given.labels, given.predictions, plausibility="dirichlet", reliability=[1, 3], metrics=metrics, draws=50,
        random_seed=1,
    )  # fmt: skip


def test_scores_and_intervals_are_those_of_compare(tree):
    found, rows = tables.score_intervals(tree), tables.score_table(tree)
    assert len(rows) == 2 * 2 * 3
    for (metric, level), part in rows.groupby(["metric", "reliability"]):
        known = compare(tree, metric, reliability=level)
        here = found.sel(metric=metric, reliability=level, model=known.index.tolist())
        for name in ("score", "lower", "upper"):
            np.testing.assert_allclose(here[name], known[name])
            np.testing.assert_allclose(part[name], known[name])
        assert part["score"].is_monotonic_decreasing


def test_pairs_are_those_of_pairwise(tree):
    pairs = tables.pair_table(tree)
    assert len(pairs) == 2 * 2 * 6
    for row in pairs.to_dict("records"):
        known = pairwise(tree, row["metric"], reliability=row["reliability"])
        known = known.sel(model=row["model"], other_model=row["other_model"])
        assert all(row[name] == float(known[name]) for name in ("prob_better", "difference", "lower", "upper"))


def test_a_model_without_a_score_is_neither_better_nor_worse():
    draws = xr.DataArray(np.full((1, 20, 2), 0.5), dims=("chain", "draw", "model"), coords={"model": ["a", "b"]})
    draws[:, :, 1] = np.nan
    table, pairs = compare(draws), pairwise(draws)
    assert table["score"].isna().tolist() == [False, True]
    assert np.isnan(table["prob_better"]).all() and np.isnan(pairs["prob_better"]).all()
