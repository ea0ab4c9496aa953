"""Every kind of metric through `evaluate`: the same numbers as `score` of the same posterior."""

import numpy as np
import pytest

from bayesagree import (
    InputError,
    Labels,
    Predictions,
    compare,
    dawid_skene,
    dirichlet,
    evaluate,
    pairwise,
    score,
    simulate,
)
from bayesagree.evaluation.tables import score_intervals
from bayesagree.inference.results import settings_of
from bayesagree.metrics import accuracy_given_risk
from bayesagree.plausibility.dawid_skene._results import CHOSEN

METRICS = [
    "f1_macro", "log_loss", "expected_calibration_error", "roc_auc_ovr", "accuracy", "soft_brier",
    "total_variation", "sklearn.metrics:zero_one_loss",
]  # fmt: skip


@pytest.fixture(scope="module")
def case():
    given = simulate.labelled_test_set(n_items=130, random_seed=3)
    p = np.exp(given.predictions.scores.astype(float))
    p /= p.sum(axis=-1, keepdims=True)
    names = {"items": given.labels.items.tolist(), "labels": given.labels.categories.tolist()}
    return given.labels, Predictions.from_scores(dict(zip(given.predictions.models.tolist(), p)), **names)


def values(tree, name):
    return tree["posterior"][name]


def test_it_is_score_on_the_same_draws(case):
    labels, models = case
    tree = evaluate(labels, models, plausibility="dirichlet", metrics=METRICS, draws=15, chains=2, random_seed=5)
    truth = dirichlet(labels, draws=15, chains=2, random_seed=5)
    for name in METRICS:
        known = score(truth, models, name)
        np.testing.assert_allclose(values(tree, known.name), known, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("variant", ["full", pytest.param("auto", marks=pytest.mark.long)])
def test_dawid_skene_is_scored_on_the_draws_of_the_chosen_variant(case, variant):
    labels, models = case
    how = {"variant": variant, "draws": 15, "chains": 2, "random_seed": 5}
    names = ["f1_macro", "jensen_shannon"]
    tree = evaluate(labels, models, plausibility="dawid_skene", metrics=names, truth_is="sampled", **how)
    truth = dawid_skene(labels, **how)
    made, drawn = settings_of(tree), settings_of(truth)
    assert variant == "full" or {key: made[key] for key in CHOSEN} == {key: drawn[key] for key in CHOSEN}
    for name in names:
        known = score(truth, models, name, truth_is="sampled", random_seed=5)
        np.testing.assert_allclose(values(tree, name), known, atol=1e-12)


def test_one_slice_of_all_items_is_refused(case):
    """Its rest would be rows of NaN without a reason."""
    with pytest.raises(InputError, match="by= puts all items into one slice, 'web': there is no rest; leave it out"):
        evaluate(*case, by=["web"] * 130, plausibility="dirichlet", draws=15)


def test_scores_by_risk_are_those_of_the_level_alone(case):
    """Of unanimous items the level is known: the scores are those of `score` on these items."""
    labels = Labels.from_counts(40 * np.eye(4, dtype=int)[np.arange(130) % 4])
    risk, how = {0: "low", 1: "high", 2: "low", 3: "high"}, {"draws": 15, "chains": 2, "random_seed": 5}
    names = ["top_2_accuracy", "log_loss"]
    tree = evaluate(labels, case[1], plausibility="dirichlet", metrics=names, risk=risk, **how)
    truth = dirichlet(labels, draws=15, chains=2, random_seed=5)
    for name in names:
        of = score(truth, case[1], name, by=np.arange(130) % 2).sel(side="slice")
        for level, code in (("low", 0), ("high", 1)):
            found = values(tree, f"{name}_given_risk[{level}]")
            np.testing.assert_allclose(found, of.sel(slice=code), atol=1e-12)
    found = accuracy_given_risk(truth, case[1], risk, "high", k=2)
    np.testing.assert_allclose(found, values(tree, "top_2_accuracy_given_risk[high]"), atol=1e-12)
    never = Predictions.from_labels({"A": np.zeros(130, int)})  # names no label of the level
    tree = evaluate(labels, never, plausibility="dirichlet", metrics=["accuracy"], risk=risk, **how)
    assert not values(tree, "accuracy_given_risk[high]").any()
    for nothing in (None, np.nan):
        with pytest.raises(InputError, match="no risk level for label 3"):
            evaluate(labels, case[1], plausibility="dirichlet", metrics=["accuracy"], risk=risk | {3: nothing})
    with pytest.raises(InputError, match="means over items, which f1_macro is not"):
        evaluate(labels, case[1], plausibility="dirichlet", metrics=["f1_macro"], risk=risk)
    with pytest.raises(InputError, match=r"risk= needs all items at once"):
        evaluate(iter([(labels, case[1])]), risk=risk)


def test_slices_and_clusters_are_those_of_score(case):
    labels, models = case
    by, cluster = np.arange(130) % 3, np.arange(130) // 5
    how = {"by": by, "cluster": cluster}
    names = ["f1_macro", "roc_auc_ovr", "total_variation"]
    tree = evaluate(
        labels,
        models,
        plausibility="dirichlet",
        metrics=names,
        items="bootstrap",
        draws=15,
        chains=2,
        random_seed=5,
        **how,
    )
    truth = dirichlet(labels, draws=15, chains=2, random_seed=5)
    for name in names:
        known = score(truth, models, name, random_seed=5, **how)
        found = tree["slices"][name]
        assert found.dims == known.dims
        np.testing.assert_allclose(found, known, atol=1e-12, err_msg=name)
    assert (tree["variance"]["f1_macro"].sel(part="total") > 0).all()
    with pytest.raises(InputError, match="items='bootstrap'"):
        evaluate(labels, models, cluster=cluster)
    with pytest.raises(InputError, match=r"into 2 clusters .0, 1.: what is resampled together needs 3 or more"):
        evaluate(labels, models, items="bootstrap", cluster=np.arange(130) % 2)


def test_compare_knows_where_lower_is_better(case):
    labels, models = case
    tree = evaluate(labels, models, plausibility="dirichlet", metrics=["log_loss", "accuracy"], draws=50, random_seed=1)
    loss, right = pairwise(tree, "log_loss"), pairwise(tree, "accuracy")
    table = compare(tree, "log_loss")
    assert table["score"].is_monotonic_increasing and table["prob_best"].is_monotonic_decreasing
    assert loss["rank_probability"].sel(rank=1).values.argmax() == 0
    assert loss["prob_better"].isel(model=0).mean() > 0.5
    assert (loss.attrs["higher_is_better"], right.attrs["higher_is_better"]) == (0, 1)
    pair = {"model": "A", "other_model": "B"}
    gap = table["score"]["A"] - table["score"]["B"]
    assert loss["difference"].sel(pair).item() == pytest.approx(gap)


@pytest.mark.filterwarnings("ignore:.*does not exist in")
def test_draws_without_an_item_of_a_risk_level_have_no_part_in_its_score():
    votes = Labels.from_counts([[3, 1, 0], [1, 2, 0], [2, 2, 1], [4, 0, 0]])
    models = Predictions.from_labels({"A": [0, 1, 2, 0], "B": [0, 0, 0, 1]}, labels=[0, 1, 2])
    how = {"plausibility": "dirichlet", "draws": 100, "random_seed": 1}
    tree = evaluate(votes, models, risk={0: "low", 1: "low", 2: "high"}, **how)
    name = "accuracy_given_risk[high]"
    known = values(tree, name).stack(sample=("chain", "draw")).dropna("sample")
    assert 0 < known.sizes["sample"] < 400
    table = compare(tree, name)
    assert table["score"].to_dict() == pytest.approx(known.mean("sample").to_series().to_dict())
    found = score_intervals(tree).sel(metric=name, reliability=1.0).to_dataframe()
    for end in ("score", "lower", "upper"):
        np.testing.assert_allclose(found.loc[table.index, end], table[end])
