"""`evaluate` under the informed posterior: each model without its own output, beside the full fit and labels alone."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, Predictions, compare, evaluate, informed_dirichlet, top_k_accuracy
from bayesagree.simulate import labelled_test_set

SHORT = {"draws": 40, "chains": 2, "seed": 1}


@pytest.fixture(scope="module")
def test_set():
    return labelled_test_set(n_items=200, per_item=3, n_labels=3, spread=0.5, seed=2)


@pytest.fixture(scope="module")
def result(test_set):
    return evaluate(test_set.labels, test_set.predictions, plausibility="informed_dirichlet", **SHORT)


def test_groups_say_under_which_posterior(result):
    assert result.attrs["model"] == "informed_dirichlet"
    assert "well-annotated truth" in result.attrs["settings"]
    for group in ("posterior", "full_fit", "annotations_only"):
        assert result[group]["top_1_accuracy"].dims == ("chain", "draw", "reliability", "model")


def test_each_model_is_scored_without_its_own_output(test_set, result):
    for model in ("A", "B", "C"):
        truth = informed_dirichlet(test_set.labels, test_set.predictions, exclude=model, top_labels=1, **SHORT)
        score = top_k_accuracy(truth, test_set.predictions).sel(model=model)
        np.testing.assert_allclose(result["posterior"]["top_1_accuracy"].sel(model=model)[:, :, 0], score)
    truth = informed_dirichlet(test_set.labels, test_set.predictions, top_labels=1, **SHORT)
    np.testing.assert_allclose(
        result["full_fit"]["top_1_accuracy"][:, :, 0], top_k_accuracy(truth, test_set.predictions)
    )


def test_labels_alone_are_the_dirichlet(test_set, result):
    alone = evaluate(test_set.labels, test_set.predictions, **SHORT)
    assert "annotations prove" in alone.attrs["settings"]
    np.testing.assert_array_equal(result["annotations_only"]["top_1_accuracy"], alone["posterior"]["top_1_accuracy"])


def test_differences_are_those_of_the_full_fit(result):
    found = compare(result, metric="top_1_accuracy")
    full = result["full_fit"]["top_1_accuracy"].mean(("chain", "draw", "reliability"))
    np.testing.assert_allclose(found["difference"].sel(model="A", other_model="B"), full[0] - full[1])
    own = result["posterior"]["top_1_accuracy"].mean(("chain", "draw", "reliability"))
    np.testing.assert_allclose(found["score"], own)


def test_a_single_model_informs_its_own_score(test_set):
    one = Predictions.from_scores({"A": test_set.predictions.scores[0]})
    tree = evaluate(test_set.labels, one, plausibility="informed_dirichlet", **SHORT)
    np.testing.assert_array_equal(tree["posterior"]["top_1_accuracy"], tree["full_fit"]["top_1_accuracy"])


def test_unvoted_items_are_scored(test_set):
    labels = test_set.labels
    voted = labels.select(labels.item_index < 50)
    tree = evaluate(voted, test_set.predictions, plausibility="informed_dirichlet", items="bootstrap", **SHORT)
    assert tree["certainty"].sizes["item"] == 200
    assert tree["variance"]["top_1_accuracy"].dims == ("part", "reliability", "model")


def test_interrupted_runs_go_on(test_set, result, tmp_path):
    path = tmp_path / "scores.nc"
    tree = evaluate(test_set.labels, test_set.predictions, plausibility="informed_dirichlet", to=path, **SHORT)
    np.testing.assert_array_equal(tree["posterior"]["top_1_accuracy"], result["posterior"]["top_1_accuracy"])


def test_exclude_is_refused(test_set):
    with pytest.raises(InputError, match="leaves each model out"):
        evaluate(test_set.labels, test_set.predictions, plausibility="informed_dirichlet", exclude="A", **SHORT)
    with pytest.raises(InputError, match="labels and no predictions"):
        few = Predictions.from_labels({"A": [0]}, items=[0], labels=[0, 1, 2])
        evaluate(Labels.from_counts([[1, 0, 0], [1, 0, 0]]), few, plausibility="informed_dirichlet", **SHORT)
