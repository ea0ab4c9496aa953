"""What holds for every metric that is a sum or a mean over items; `test_oracles` has the value of each."""

import numpy as np
import pytest
import xarray as xr
from metrics._cases import Case, case_of, name_of, numbers, soft

from bayesagree import score
from bayesagree.inference.top_labels import number_draws, truth_draws
from bayesagree.metrics import per_item
from bayesagree.metrics._scorer import Scorer
from bayesagree.metrics.records import Whole
from bayesagree.metrics.registry import METRICS, Metric

SUMMED = [name for name, of in METRICS.items() if not (isinstance(of.kind, Whole) or of.runs)]
# Means over items of what each item has.
MEANS = ["top_{}_accuracy", "overlap_{}", "accuracy", "log_loss", "brier", "total_variation", "soft_brier"]


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

    def sums(items, weights):
        truth, scorer = picked(case.truth, items), Scorer(predicted(case, items, [0, 1]), [metric])
        full = scorer.needs_plausibility
        draws = number_draws(truth) if scorer.numeric else truth_draws(truth, metric.depth, plausibility=full)
        return scorer, scorer.sums(draws.read(slice(0, items.size)), [weights])[0]

    scorer, found = sums(every, np.repeat(times[:, None], 2, axis=1).astype(float))
    _, expected = sums(np.repeat(every, times), None)
    np.testing.assert_allclose(*(scorer.finish(one, times.sum()) for one in (found, expected)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("pattern", MEANS)
def test_score_is_the_mean_over_the_items(pattern):
    case, name = case_of(METRICS[pattern]), name_of(METRICS[pattern])
    expected = score(case.truth, case.models, name).mean(("chain", "draw"))
    np.testing.assert_allclose(per_item(case.truth, case.models, metric=name).mean("item"), expected, rtol=1e-12)
