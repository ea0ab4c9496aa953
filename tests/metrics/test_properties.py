"""What holds for every metric: order, names and copies of items, labels and models change nothing."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics._cases import Case, case_of, name_of, numbers, soft

from bayesagree import evaluate, score
from bayesagree.metrics import per_item
from bayesagree.metrics._scorer import Scorer, draws_for
from bayesagree.metrics.records import Whole
from bayesagree.metrics.registry import METRICS, Metric

SUMMED = [pattern for pattern, record in METRICS.items() if not isinstance(record.kind, Whole)]
LABELS = {pattern: record for pattern, record in METRICS.items() if record.needs != "numbers"}
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pattern", METRICS)
def test_order_and_copies_of_items_and_models_change_nothing(pattern):
    record, rng = METRICS[pattern], np.random.default_rng(3)
    case, name = case_of(record), name_of(record)
    every = np.arange(case.given.shape[1])
    plain = score(picked(case.truth, every), predicted(case, every, [0, 1]), name).values
    low, high = record.bounds
    assert (plain >= low).all() and (plain <= high).all()
    order = rng.permutation(every)
    found = score(picked(case.truth, order), predicted(case, order, [1, 0, 1]), name).values
    np.testing.assert_allclose(found, plain[:, :, [1, 0, 1]], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found[:, :, 0], found[:, :, 2])
    twice = np.repeat(every, 2)
    found = score(picked(case.truth, twice), predicted(case, twice, [0, 1]), name).values
    np.testing.assert_allclose(found, plain, rtol=1e-9, atol=1e-9)


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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pattern", LABELS)
def test_order_of_labels_changes_nothing(pattern):
    record = METRICS[pattern]
    case, name = case_of(record), name_of(record)
    if record.ordered:
        order = np.arange(case.given.shape[2])[::-1]  # the scale turned round
    else:
        order = np.roll(np.arange(case.given.shape[2]), 1) if case.given.shape[2] > 2 else np.arange(2)
    posterior = case.truth["posterior"].to_dataset().isel(category=order)
    names = order
    if record.ordered:
        posterior = posterior.assign_coords(category=np.arange(order.size))
        names = np.arange(order.size)
    turned = xr.DataTree.from_dict({"posterior": posterior})
    turned.attrs = case.truth.attrs
    found = score(turned, soft(case.given[:, :, order], labels=names.tolist()), name)
    np.testing.assert_allclose(found, score(case.truth, case.models, name), rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("pattern", LABELS)
def test_a_model_that_is_the_truth_has_the_best_score(pattern):
    record = METRICS[pattern]
    case, name = case_of(record), name_of(record)
    one_label = record.against == "label"
    given = np.eye(case.drawn.shape[2])[case.drawn[0].argmax(axis=1)] if one_label else case.drawn[0]
    found = score(case.truth, soft(np.stack([given, *case.given])), name).values[0, 0]
    assert np.isfinite(found).all()
    if record.pattern in ("agreement", "cross_entropy"):  # the best value depends on the truth
        assert (record.higher_is_better == (found[0] >= found[1:])).all()
    elif record.pattern == "entropy_difference":
        assert abs(found[0]) < 1e-3
    else:
        best = record.bounds[int(record.higher_is_better)]
        assert found[0] == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize("pattern", MEANS)
def test_score_is_the_mean_over_the_items(pattern):
    case, name = case_of(METRICS[pattern]), name_of(METRICS[pattern])
    expected = score(case.truth, case.models, name).mean(("chain", "draw"))
    np.testing.assert_allclose(per_item(case.truth, case.models, metric=name).mean("item"), expected, rtol=1e-12)


@settings(max_examples=10, deadline=None)
@given(random_seed=st.integers(0, 2**32 - 1))
def test_metrics_scored_together_are_those_scored_alone(random_seed):
    rng = np.random.default_rng(random_seed)
    case = case_of(METRICS["accuracy"])
    names = [
        name_of(METRICS[pattern]) for pattern in rng.choice([*MEANS, "f{}_macro", "roc_auc_ovo"], 4, replace=False)
    ]
    tree = evaluate(case_labels(), case.models, plausibility=case.truth, metrics=names)
    for name in names:
        found = tree["posterior"][name].transpose("chain", "draw", "model")
        np.testing.assert_allclose(found, score(case.truth, case.models, name), rtol=1e-9)


def case_labels():
    """The votes of the case of three labels: any, for the truth is given."""
    from bayesagree import Labels

    return Labels.from_counts(np.ones((30, 3), int), labels=range(3), ordered=True)
