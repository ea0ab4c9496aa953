"""Mixed membership: gold as an expert's label."""

import numpy as np
import pytest

from bayesagree.annotations import Labels
from bayesagree.datasets.simulate import crowd_labels
from bayesagree.plausibility.dawid_skene.model import dawid_skene_model
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_gold_is_an_experts_label():
    labels = crowd_labels(n_items=30, n_annotators=4, n_labels=3, labels_per_item=4, random_seed=3).labels
    matrix = np.full((31, 4), np.nan)  # nobody labelled the last item
    matrix[labels.item_index, labels.annotator_index] = labels.label_index
    options = {"variant": "mixed_membership", "draws": 100, "chains": 2, "tune": 200, "thin": 2, "random_seed": 1}
    tree = dawid_skene(Labels.from_matrix(matrix, labels=[0, 1, 2]), gold={0: 2, 30: 1}, **options)  # type: ignore[arg-type]
    posterior = tree["posterior"].to_dataset()
    shape = posterior["ambiguity"] * posterior["prevalence"]
    expected = ((shape + np.eye(3)[1]) / (posterior["ambiguity"] + 1)).mean(("chain", "draw"))
    probability = tree["derived"].to_dataset()["label_probability"]
    np.testing.assert_allclose(probability.sel(item=30), expected, rtol=1e-9)
    blind = dawid_skene(Labels.from_matrix(matrix[:30], labels=[0, 1, 2]), **options)  # type: ignore[arg-type]
    assert float(probability.sel(item=0, category=2)) > float(
        blind["derived"]["label_probability"].sel(item=0, category=2)
    )
    assert posterior["confusion"].shape == (2, 100, 4, 3, 3)


def test_the_model_takes_gold_of_the_first_label_as_of_the_others():
    labels = Labels.from_matrix([[0, 1], [1, 1], [0, 0]], labels=[0, 1])
    for gold, parts in ((None, 0), ({0: 0}, 1), ({0: 1}, 1)):
        model = dawid_skene_model(labels, variant="mixed_membership", gold=gold)
        assert sum(potential.name == "log_gold" for potential in model.potentials) == parts
