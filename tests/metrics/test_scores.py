"""Scores of a posterior: golden numbers, missing predictions, few votes, sampled truths, slices, clusters, refusals."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from metrics._truths import estimate, models, one_hot, posterior, random_case
from sklearn import metrics as sk

from bayesagree import InputError, Labels, Predictions, dirichlet, evaluate, score, simulate
from bayesagree.datasets import load
from bayesagree.metrics import UserMetric
from bayesagree.metrics._scorer import Scorer
from bayesagree.metrics.registry import Metric

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "soft_labels.json").read_text())
PLUG_IN = pytest.mark.filterwarnings("ignore:.*of a point estimate is biased")


@pytest.fixture(scope="module")
def snli(public_data):
    """Votes, and roberta_base_0 at temperatures 1 and 2 beside the shares themselves and the other models."""
    dataset = load("chaosnli-snli")
    labels, given = dataset.annotations, dataset.predictions
    p = given.scores.astype(float)
    p /= p.sum(axis=-1, keepdims=True)
    flat = np.sqrt(p[0])
    counts = labels.counts()
    tables = {"T1": p[0], "T2": flat / flat.sum(axis=1, keepdims=True), "oracle": counts / 100}
    tables |= dict(zip(given.models.tolist(), p))
    return labels, Predictions.from_scores(tables, items=labels.items.tolist(), labels=labels.categories.tolist())


def shares(labels, order):
    counts = labels.counts()[:, order]
    return estimate(counts / counts.sum(axis=1, keepdims=True), labels.items, labels.categories[order])


@PLUG_IN
@pytest.mark.parametrize("ties", ["last", "first"])
def test_golden_chaosnli(snli, ties):
    labels, predictions = snli
    order = np.arange(3)[::-1] if ties == "last" else np.arange(3)
    truth = shares(labels, order)
    for name, expected in GOLDEN[ties].items():
        if name == "accuracy":  # labels that tie share the item: the mean of what the two rules give
            expected = np.mean([GOLDEN[rule][name] for rule in ("first", "last")], axis=0)
        found = score(truth, predictions, name).sel(model=["T1", "T2"]).values.ravel()
        np.testing.assert_allclose(found, expected, atol=6e-7, err_msg=name)


@PLUG_IN
def test_golden_other_models_and_the_perfect_one(snli):
    labels, predictions = snli
    truth = shares(labels, np.arange(3))
    for name, expected in GOLDEN["oracle"].items():
        assert score(truth, predictions, name).sel(model="oracle").item() == pytest.approx(expected, abs=6e-7), name
    found = score(truth, predictions, "total_variation").squeeze()
    for model, expected in GOLDEN["total_variation"].items():
        assert found.sel(model=model).item() == pytest.approx(expected, abs=6e-7), model


def test_plug_ins_warn():
    truth, given = estimate([[0.5, 0.5]]), models([[[0.4, 0.6]]])
    with pytest.warns(UserWarning, match="biased with few votes"):
        score(truth, given, "total_variation")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(truth, given, "cross_entropy")


def test_missing_predictions_are_misses():
    truth = np.array([[0, 1, 1, 0]])
    hard = Predictions.from_labels({"A": [0, 1, None, 1]}, labels=[0, 1])
    as_third = np.array([0, 1, 2, 1])
    for name, function in {
        "accuracy": sk.accuracy_score,
        "recall_macro": lambda t, y: sk.recall_score(t, y, labels=[0, 1], average="macro"),
        "precision_macro": lambda t, y: sk.precision_score(t, y, labels=[0, 1], average="macro"),
        "f1_micro": lambda t, y: sk.f1_score(t, y, labels=[0, 1], average="micro"),
        "matthews_corrcoef": sk.matthews_corrcoef,
        "cohen_kappa": sk.cohen_kappa_score,
    }.items():
        value = score(one_hot(truth, 2), hard, name, missing="wrong").item()
        assert value == pytest.approx(function(truth[0], as_third), abs=1e-12), name


@pytest.mark.parametrize("kind", ["draws", "estimate"])
def test_missing_predictions_are_refused_left_out_or_wrong(kind):
    counts = np.array([[9, 0], [0, 9], [9, 0], [0, 9]] * 5)
    votes = Labels.from_counts(counts, labels=["no", "yes"])
    predicted = np.array(["no", "yes"] * 10, object)
    predicted[[0, 3]] = None
    predicted[5] = "no"
    models = Predictions.from_labels({"A": predicted, "B": ["no", "yes"] * 10}, labels=["no", "yes"])
    share = xr.DataArray(counts / 9, {"item": votes.items, "category": votes.categories}, ("item", "category"))
    truth, metric = dirichlet(votes, draws=50, random_seed=1) if kind == "draws" else share, "accuracy"
    with pytest.raises(InputError, match="model 'A' has no prediction for 2 of 20 items: 0, 3"):
        score(truth, models, metric)
    mean = {
        m: score(truth, models, metric, missing=m, random_seed=1).mean(("chain", "draw")) for m in ("skip", "wrong")
    }
    close = {"abs": 0.01 if kind == "draws" else 1e-9}
    assert mean["skip"].sel(model="A").item() == pytest.approx(17 / 18, **close)
    assert mean["wrong"].sel(model="A").item() == pytest.approx(17 / 20, **close)
    assert mean["skip"].sel(model="B").item() == pytest.approx(1, **close)


@pytest.fixture(scope="module")
def case():
    return simulate.labelled_test_set(random_seed=1)


@pytest.fixture(scope="module")
def truth(case):
    return dirichlet(case.labels, draws=50, random_seed=1)


def test_functions_see_the_same_draws(case):
    few = dirichlet(case.labels, draws=5, random_seed=1)
    by_name = score(few, case.predictions, "f1_macro")
    by_function = score(few, case.predictions, lambda t, y: sk.f1_score(t, y, average="macro"))
    np.testing.assert_allclose(by_name, by_function, atol=1e-12)
    assert score(few, case.predictions, "sklearn.metrics:zero_one_loss").name == "zero_one_loss"
    auc = UserMetric(lambda t, p: sk.roc_auc_score(np.eye(4)[t], p), takes="scores", name="auc")
    expected = score(few, case.predictions, "roc_auc_ovr")
    np.testing.assert_allclose(score(few, case.predictions, auc), expected, atol=1e-12)


def test_a_sampled_truth_is_another_annotator(case):
    tree = dirichlet(case.labels, draws=500, random_seed=1)
    sampled = score(tree, case.predictions, "accuracy", truth_is="sampled", random_seed=2)
    expected = score(tree, case.predictions, "agreement")
    gap = (sampled - expected).mean(("chain", "draw"))
    error = (sampled - expected).std() / np.sqrt(2000)
    assert (np.abs(gap) < 5 * error).all()
    again = score(tree, case.predictions, "accuracy", truth_is="sampled", random_seed=2)
    np.testing.assert_array_equal(sampled, again)
    with pytest.raises(InputError, match="one label"):
        score(tree, case.predictions, "set_2_accuracy", truth_is="sampled")


@pytest.mark.parametrize(
    "name",
    ["accuracy", "overlap_2", "f1_macro", "expected_calibration_error", "roc_auc_ovr", "soft_brier", "total_variation"],
)
def test_slices_are_scores_of_their_items(case, truth, name):
    language = {item: "de" if item % 3 else "en" for item in case.labels.items.tolist()}
    found = score(truth, case.predictions, name, by=language)
    assert found.dims == ("chain", "draw", "slice", "side", "model")
    inside = np.flatnonzero([language[i] == "en" for i in case.labels.items.tolist()])
    part = posterior(truth["posterior"]["plausibility"].values[:, :, inside])
    few = Predictions.from_scores(
        {m: case.predictions.scores[k][inside] for k, m in enumerate(case.predictions.models)}
    )
    np.testing.assert_allclose(found.sel(slice="en", side="slice"), score(part, few, name), atol=1e-12)
    np.testing.assert_allclose(found.sel(slice="en", side="rest"), found.sel(slice="de", side="slice"), atol=1e-12)
    gap = found.sel(side="slice") - found.sel(side="rest")
    np.testing.assert_allclose(found.sel(side="difference"), gap, atol=1e-12)


def test_clusters_are_resampled_as_a_whole(case, truth):
    alone = {item: item for item in case.labels.items.tolist()}
    pairs = {item: item // 10 for item in case.labels.items.tolist()}
    # Ten copies of one item are one item: the spread is that of a tenth of the items.
    spread = [
        score(truth, case.predictions, "accuracy", cluster=c, random_seed=1).std(("chain", "draw"))
        for c in (alone, pairs)
    ]
    assert (spread[1] > 0).all()
    weighted = score(truth, case.predictions, "roc_auc_ovr", cluster=pairs, random_seed=1)
    plain = score(truth, case.predictions, "roc_auc_ovr")
    assert (weighted.std(("chain", "draw")) > plain.std(("chain", "draw"))).all()
    function = score(truth, case.predictions, sk.accuracy_score, cluster=alone, random_seed=1)
    np.testing.assert_allclose(function.std(("chain", "draw")), spread[0], rtol=0.35)


def test_a_function_gets_whole_clusters_drawn_with_replacement():
    """Every item of a cluster is predicted as it, so that counts of predictions tell how often it was drawn."""
    size = np.array([1, 2, 3, 6])
    of_item = np.repeat(np.arange(4), size)
    votes = Labels.from_counts(np.ones((12, 4), int), labels=range(4))
    models = Predictions.from_labels({"A": of_item}, labels=range(4))
    drawn = []

    def counted(true, predicted):
        drawn.append(np.bincount(predicted, minlength=4))
        return 0.0

    kept = dirichlet(votes, draws=200, chains=1, random_seed=1)
    score(kept, models, counted, random_seed=1, cluster=dict(enumerate(of_item.tolist())))
    times = np.array(drawn) / size
    assert len(drawn) == 200
    assert (times == times.round()).all()
    assert (times.sum(axis=1) == 4).all()
    # Four draws of one of four: one in the mean, of variance 3/4.
    np.testing.assert_allclose(times.mean(axis=0), 1, atol=4.5 * np.sqrt(0.75 / 200))
    np.testing.assert_allclose(times.var(axis=0), 0.75, rtol=0.5)


def test_weighted_curves_repeat_items():
    """An item of weight 2 is two items."""
    truth, p = random_case(5, n_draws=3, n_items=9, n_labels=3, ties=True)
    times = np.random.default_rng(1).integers(1, 4, 9)

    class Weights:
        def all_rows(self):
            return np.repeat(times[:, None].astype(float), 3, axis=1)

    asked = [Metric.named("roc_auc_ovr")]
    repeat = np.repeat(np.arange(9), times)
    few, whole = Scorer(models(p), asked), Scorer(models(p[:, repeat]), asked)
    sums, label = np.empty((0, few.n_models, 3)), truth.T.astype(np.int16)
    found = few.finish(sums, 9, label, np.arange(9), Weights())
    expected = whole.finish(sums, 9, label[repeat], np.arange(repeat.size), None)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("wrong", ["f1", "roc_auc", "recall[7]", "nothing", "no.such.module:f", 3])
def test_refused(case, truth, wrong):
    with pytest.raises(InputError):
        score(truth, case.predictions, wrong)


def test_refused_arguments(case, truth):
    for wrong in ({"truth_is": "gold"}, {"by": [1, 2]}, {"by": {0: "a"}}, {"cluster": [None] * 400}):
        with pytest.raises(InputError):
            score(truth, case.predictions, "accuracy", **wrong)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("acuracy", "accuracy"), ("acc", "accuracy"), ("auc", "roc_auc"), ("kappa", "cohen_kappa"), ("f1-score", "f1"),
     ("ece", "expected_calibration_error_10"), ("averageoverlap", "average_overlap_3"), ("recal[yes]", "recall[yes]"),
     ("f1macro", "f1_macro")],
)  # fmt: skip
def test_an_unknown_metric_is_answered_by_the_nearest_name(wrong, near):
    with pytest.raises(InputError, match=re.escape(f"metric {wrong!r} is not known; did you mean {near!r}?")):
        Metric.named(wrong)


def test_top_1_accuracy_is_accuracy(case, truth):
    assert Metric.named("top_1_accuracy") == Metric.named("accuracy")
    found = score(truth, case.predictions, "top_1_accuracy")
    assert found.name == "accuracy"
    found = evaluate(case.labels, case.predictions, plausibility="dirichlet", metrics=["top_1_accuracy"], draws=9)
    assert list(found["posterior"].data_vars) == ["accuracy"]
