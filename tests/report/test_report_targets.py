"""What the scores of a report mean: estimates of a well-annotated truth, or that of these annotations alone."""

import numpy as np
import pytest

from bayesagree import Predictions, evaluate, score
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.plausibility.votes import shared_wins
from bayesagree.report.data import report_data
from bayesagree.report.page import render
from bayesagree.report.settings import ReportSettings

INFORMED = ReportSettings("informed_dirichlet", draws=40, chains=2)
METRIC = "accuracy"


@pytest.fixture(scope="module")
def few():
    return labelled_test_set(n_items=120, per_item=3, n_labels=3, spread=0.5, random_seed=2)


@pytest.fixture(scope="module")
def informed(few):
    return report_data(few.labels, few.predictions, **vars(INFORMED))


def test_scores_are_those_of_the_informed_evaluation(few, informed):
    asked = {
        "plausibility": "informed_dirichlet",
        "another_annotator": True,
        "draws": 40,
        "chains": 2,
        "random_seed": 1,
    }
    tree = evaluate(few.labels, few.predictions, **asked)
    found = informed.scores.table, informed.scores.labels_only
    for name, table, line in zip(("posterior", "annotations_only"), found, informed.scores.ceiling, strict=True):
        expected = tree[name][METRIC].mean(("chain", "draw"))
        np.testing.assert_allclose(
            table["score"].sel(metric=METRIC).isel(reliability=0), expected.sel(model=few.predictions.models)
        )
        np.testing.assert_allclose(
            line["score"].sel(metric=METRIC).isel(reliability=0), expected.sel(model=["another annotator"])
        )
    by_label = tree["certainty"].to_dataset()["label_certainty"]
    np.testing.assert_allclose(informed.certainty[0], by_label.max("category"))


def test_items_without_annotations_are_part_of_the_report(few):
    voted = few.labels.select(few.labels.item_index < 50)
    found = report_data(voted, few.predictions, **vars(INFORMED))
    assert found.certainty.sizes["item"] == 120
    assert any("70 of 120 items have predictions and no annotations" in said for said in found.warnings)
    render(found)
    shown = Predictions.from_scores(
        {m: s[:50] for m, s in zip("ABC", few.predictions.scores)},
        items=few.predictions.items[:50].tolist(), labels=few.predictions.categories.tolist(),
    )  # fmt: skip
    vote = score(shared_wins(voted), shown, "accuracy").squeeze(("chain", "draw"))
    np.testing.assert_allclose(found.scores.table["plug_in"].sel(metric=METRIC), vote)
