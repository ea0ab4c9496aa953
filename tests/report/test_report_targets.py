"""What the scores of a report mean: estimates of a well-annotated truth, or that of these annotations alone."""

import numpy as np
import pytest

from bayesagree import Predictions, evaluate, score
from bayesagree.plausibility.votes import shared_wins

METRIC = "accuracy"


@pytest.mark.filterwarnings("ignore:10 of 60 items")
def test_scores_are_those_of_the_informed_evaluation(informed):
    votes, models, data = informed
    tree = evaluate(votes, models, another_annotator=True, draws=20, chains=2, random_seed=1)
    found = data.scores.table, data.scores.labels_only
    for name, table in zip(("posterior", "annotations_only"), found, strict=True):
        expected = tree[name][METRIC].mean(("chain", "draw"))
        shown = table["score"].sel(metric=METRIC).isel(reliability=0)
        np.testing.assert_allclose(shown.sel(model=expected["model"]), expected)
    by_label = tree["certainty"].to_dataset()["label_certainty"]
    np.testing.assert_allclose(data.certainty[0], by_label.max("category"))


def test_items_without_annotations_are_part_of_the_report(informed):
    votes, models, data = informed
    assert data.certainty.sizes["item"] == 60
    assert any("10 of 60 items have predictions and no annotations" in said for said in data.warnings)
    said = dict(zip(models.models.tolist(), models.categories[models.hard_labels()[:, :50]].tolist()))
    shown = Predictions.from_labels(said, items=models.items[:50].tolist(), labels=models.categories.tolist())
    vote = score(shared_wins(votes), shown, "accuracy").squeeze(("chain", "draw"))
    np.testing.assert_allclose(data.scores.plug_in.sel(metric=METRIC), vote)
