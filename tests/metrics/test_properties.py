"""What holds for every metric that is a sum or a mean over items; `test_oracles` has the value of each."""

import numpy as np
import pytest
import xarray as xr
from metrics._cases import Case, case_of, name_of, numbers, soft

from bayesagree import score
from bayesagree.metrics import per_item
from bayesagree.metrics._scorer import Scorer, draws_for
from bayesagree.metrics.records import Whole
from bayesagree.metrics.registry import METRICS, Metric

SUMMED = [name for name, of in METRICS.items() if not (isinstance(of.kind, Whole) or of.runs)]
# Means over items of what each item has.
MEANS = ["top_{}_accuracy", "kendall_tau_{}", "accuracy", "log_loss", "brier", "total_variation", "soft_brier"]


def picked(truth: xr.DataTree, items: np.ndarray) -> xr.DataTree:
    """Return some items of a posterior, numbered anew."""
    posterior = truth["posterior"].to_dataset().isel(item=items).assign_coords(item=np.arange(items.size))
    found = xr.DataTree.from_dict({"posterior": posterior})
    found.attrs = truth.attrs
    return found


def predicted(case: Case, items: np.ndarray, models: list[int]):
    """Return predictions of some models for some items, numbered anew."""
    given = case.given[models][:, items]
    return soft(given) if given.shape[2] < 10 else numbers(given)


@pytest.mark.parametrize("pattern", SUMMED)
def test_an_item_of_weight_two_is_two_items(pattern):
    metric, case = Metric.named(name_of(METRICS[pattern])), case_of(METRICS[pattern])
    every = np.arange(case.given.shape[1])
    times = np.random.default_rng(4).integers(1, 4, every.size)

    def block(items):
        how = {"truth_is": "top", "threshold": None, "random_seed": 1, "numeric": metric.record.needs == "numbers"}
        return draws_for(metric, picked(case.truth, items), **how).read(slice(0, items.size))

    scorer = Scorer(predicted(case, every, [0, 1]), [metric])
    weights = np.repeat(times[:, None], 2, axis=1).astype(float)
    found = scorer.finish(scorer.sums(block(every), weights), weights.sum(axis=0))
    twice = np.repeat(every, times)
    expected = Scorer(predicted(case, twice, [0, 1]), [metric])
    expected = expected.finish(expected.sums(block(twice)), twice.size)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("pattern", MEANS)
def test_score_is_the_mean_over_the_items(pattern):
    case, name = case_of(METRICS[pattern]), name_of(METRICS[pattern])
    expected = score(case.truth, case.models, name).mean(("chain", "draw"))
    np.testing.assert_allclose(per_item(case.truth, case.models, metric=name).mean("item"), expected, rtol=1e-12)
