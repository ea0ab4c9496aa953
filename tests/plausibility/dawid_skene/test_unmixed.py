"""Chains that disagree: they are named, and nothing above them gives one number."""

import warnings

import pytest

import bayesagree as ba
from bayesagree.plausibility.dawid_skene._results import disagreement, require_mixed


@pytest.fixture(scope="module")
def apart():
    """Two chains of a crowd, in one of which annotator 0 and item 1 are another matter."""
    labels = ba.simulate.crowd_labels(n_items=20, n_annotators=4, random_seed=1).labels
    tree = ba.dawid_skene(labels, variant="full", draws=120, thin=1, random_seed=1)
    diagnostics = tree["diagnostics"].to_dataset(inherit=False).copy(deep=True)
    for name, r_hat in {"prevalence[0]": 1.7, "label_probability[1]": 2.0, "accuracy[0]": 1.9}.items():
        diagnostics["r_hat"].loc[{"parameter": name}] = r_hat
    tree["diagnostics"] = type(tree)(diagnostics)
    return tree


def test_the_message_names_items_and_annotators_that_differ(apart):
    said = disagreement(apart)
    assert said is not None
    assert "'prevalence[0]', 'label_probability[1]', 'accuracy[0]' (r_hat up to 2.00)" in said
    with pytest.raises(ba.ConvergenceError, match="allow_unmixed=True"):
        require_mixed(apart)


@pytest.mark.long
def test_an_evaluation_under_chains_that_disagree_is_refused():
    """Items of several truths, and too few sweeps to get away from a start with one truth each."""
    labels = ba.simulate.crowd_labels(n_items=300, n_labels=3, labels_per_item=5, ambiguity=1.0, random_seed=4).labels
    models = ba.Predictions.from_labels({"A": [0] * 300}, items=labels.items, labels=labels.categories.tolist())
    how = {"plausibility": "dawid_skene", "draws": 100, "chains": 4, "random_seed": 1, "tune": 1, "thin": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ba.ConvergenceError, match="chains disagree"):
            ba.evaluate(labels, models, **how)
        tree = ba.evaluate(labels, models, **how, allow_unmixed=True)
    assert "accuracy" in tree["posterior"]
