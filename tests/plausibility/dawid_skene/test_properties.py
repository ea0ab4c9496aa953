"""What must hold of every variant, whatever the data: other names, another order, items without votes."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, dawid_skene
from bayesagree.datasets.simulate import crowd_labels

VARIANTS = ["full", "one_coin", "class_conditional", "hierarchical", "mixed_membership", "ordered", "votes"]
MATRIX = crowd_labels(n_items=12, n_annotators=4, n_labels=3, random_seed=5).labels.to_matrix().to_numpy(float)
# Many short chains side by side cost the least.
FEW = {"draws": 50, "chains": 20, "tune": 100, "thin": 1}


def labels_of(matrix):
    return Labels.from_matrix(matrix, labels=[0, 1, 2], ordered=True)


@cache
def drawn(variant):
    return dawid_skene(labels_of(MATRIX), variant=variant, **FEW, random_seed=1)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_names_orders_and_empty_items_change_nothing(variant):
    """Labels renamed, items and annotators in another order, and an item more that nobody labelled."""
    rng = np.random.default_rng(2)
    items, people = rng.permutation(12), rng.permutation(4)
    name = np.array([2, 1, 0]) if variant == "ordered" else rng.permutation(3)  # an order may be reversed alone
    known = ~np.isnan(MATRIX)
    renamed = np.where(known, name[np.where(known, MATRIX, 0).astype(int)], np.nan)
    other = labels_of(np.vstack([renamed[items][:, people], np.full(4, np.nan)]))
    tree = dawid_skene(other, variant=variant, **FEW, random_seed=2)
    before, after = (of["derived"]["label_probability"].values for of in (drawn(variant), tree))
    gap = np.abs(after[:12][:, name] - before[items])
    # Conditional expectations of a hundred effective draws at least, of each of two runs.
    assert gap.max() < 0.25
    assert gap.mean() < 0.04
    accuracy = [of["posterior"]["accuracy"].mean(("chain", "draw")).values for of in (drawn(variant), tree)]
    np.testing.assert_allclose(accuracy[1], accuracy[0][people], atol=0.12)
    if variant not in ("votes", "ordered"):
        prevalence = tree["posterior"]["prevalence"].mean(("chain", "draw"))
        np.testing.assert_allclose(after[12], prevalence, atol=0.03)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_results_are_probabilities_that_belong_together(variant):
    posterior = drawn(variant)["posterior"].to_dataset()
    for name, last in (("plausibility", "category"), ("confusion", "observed_category"), ("prevalence", "category")):
        np.testing.assert_allclose(posterior[name].sum(last), 1, atol=2e-6)
    difference = posterior["plausibility"].mean(("chain", "draw")) - drawn(variant)["derived"]["label_probability"]
    assert float(np.abs(difference).max()) < 0.25
    assert float(np.abs(difference).mean()) < 0.02
    right = (posterior["confusion"] * np.eye(3)[None, None, None]).sum("observed_category")
    expected = (right * posterior["prevalence"]).sum("category")
    np.testing.assert_allclose(posterior["accuracy"], expected.transpose(*posterior["accuracy"].dims), atol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_same_seed_same_draws_whatever_the_row_order(variant):
    table = labels_of(MATRIX).to_long()
    options = {"variant": variant, "draws": 10, "chains": 2, "tune": 10, "thin": 1, "random_seed": 9}
    one, other = (
        dawid_skene(Labels.from_long(rows, labels=[0, 1, 2], ordered=True), **options)["posterior"].to_dataset()
        for rows in (table, table.sample(frac=1, random_state=2))
    )
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])
    assert not np.array_equal(*one["prevalence"].values)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_an_annotator_who_reverses_the_others_is_the_worst(variant):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 30)
    matrix = np.where(rng.random((30, 4)) < 0.85, truth[:, None], rng.integers(0, 3, (30, 4))).astype(float)
    matrix[:, 3] = 2 - truth + (truth == 1) * rng.choice([-1, 1], 30)
    tree = dawid_skene(labels_of(matrix), variant=variant, **FEW, random_seed=3)
    accuracy = tree["posterior"]["accuracy"].mean(("chain", "draw")).values
    assert accuracy.argmin() == 3
    assert (tree["derived"]["label_probability"].values.argmax(axis=1) == truth).mean() > 0.8


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_repeated_labels_are_judgments_of_their_own():
    """Twice the same vote of each annotator is surer than once."""
    rows = pd.DataFrame([(0, "a", 0), (0, "b", 1), (1, "a", 1), (1, "b", 1)], columns=["item", "annotator", "label"])
    twice = Labels.from_long(pd.concat([rows, rows]), labels=[0, 1], duplicates="keep")
    how = {"variant": "full", "draws": 500, "random_seed": 1}
    one, two = (dawid_skene(of, **how)["derived"]["label_probability"][1, 1] for of in (Labels.from_long(rows), twice))
    assert two > one + 0.02
