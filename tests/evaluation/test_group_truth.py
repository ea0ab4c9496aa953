"""Scores against the truth of each group: streams, kept draws and one group alone agree."""

import numpy as np
import pytest
from _groups import labels_of

from bayesagree import (
    InputError,
    Predictions,
    annotation_certainty,
    compare,
    conformalize,
    evaluate,
    group_dirichlet,
    score,
)
from bayesagree.plausibility import GroupDirichlet

RNG = np.random.default_rng(1)
YES = RNG.random(90)
COUNTS = RNG.binomial(4, np.stack([YES, YES, 1 - YES]))
LABELS, MEMBERS = labels_of(np.stack([4 - COUNTS, COUNTS], axis=2), "ghi")
MODELS = Predictions.from_scores({"A": np.stack([1 - YES, YES], 1), "B": np.tile([0.4, 0.6], (90, 1))}, labels=[0, 1])
HOW = {"draws": 50, "chains": 2, "random_seed": 3}


@pytest.fixture(scope="module")
def tree():
    return group_dirichlet(LABELS, groups=MEMBERS, **HOW)


def test_one_row_per_group(tree):
    metrics = ["accuracy", "total_variation"]
    with pytest.warns(UserWarning, match="4.0 votes per group and item: scores .* come out too low"):
        found = evaluate(LABELS, MODELS, plausibility=tree, metrics=metrics)
    with pytest.warns(UserWarning, match="4.0 votes per group and item"):
        streamed = evaluate(LABELS, MODELS, plausibility=GroupDirichlet(MEMBERS), metrics=metrics, **HOW)
    for name in metrics:
        values = found["posterior"][name]
        assert values.dims == ("chain", "draw", "group", "model")
        np.testing.assert_allclose(streamed["posterior"][name].values, values.values, rtol=1e-12)
        np.testing.assert_allclose(score(tree, MODELS, name).values, values.values, rtol=1e-12)
        difference = found["differences"][name].sel(group="i", other_group="g").values
        np.testing.assert_allclose(difference, (values.sel(group="i") - values.sel(group="g")).values, atol=1e-12)
        np.testing.assert_allclose(found["worst_served"][name].sum("group"), 1)
    assert found["worst_served"]["accuracy"].sel(group="i", model="A").item() > 0.99


def test_certainty_of_each_group(tree):
    certainty = annotation_certainty(tree)
    assert certainty.dims == ("group", "item")
    np.testing.assert_array_equal(certainty.sel(group="h"), annotation_certainty(tree.sel(group="h")))


@pytest.mark.filterwarnings("ignore:.* votes per group and item:UserWarning")
def test_refusals(tree):
    with pytest.raises(InputError, match=r"truth\.sel"):
        conformalize(tree, MODELS)
    with pytest.raises(InputError, match=r"result\.sel"):
        compare(evaluate(LABELS, MODELS, plausibility=tree), metric="accuracy")
