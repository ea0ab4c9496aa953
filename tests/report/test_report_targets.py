"""What the scores of a report mean: estimates of a well-annotated truth, or that of these annotations alone."""

import numpy as np
import pytest
from _report import said, sentence

from bayesagree import Labels, Predictions, evaluate
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.metrics import top_k_accuracy
from bayesagree.plausibility.votes import majority_vote
from bayesagree.report.data import report_data
from bayesagree.report.page import methods_paragraph, render
from bayesagree.report.panel import contenders, panel
from bayesagree.report.settings import ReportSettings

INFORMED = ReportSettings("informed_dirichlet", draws=40, chains=2)
METRIC = "top_1_accuracy"
ESTIMATE = "score against a well-annotated truth (estimate)"
ALONE = "score from these annotations alone"


@pytest.fixture(scope="module")
def few():
    return labelled_test_set(n_items=120, per_item=3, n_labels=3, spread=0.5, seed=2)


@pytest.fixture(scope="module")
def informed(few):
    return report_data(few.labels, few.predictions, settings=INFORMED)


def test_scores_are_those_of_the_informed_evaluation(few, informed):
    asked = {"plausibility": "informed_dirichlet", "another_annotator": True, "draws": 40, "chains": 2, "seed": 1}
    tree = evaluate(few.labels, few.predictions, **asked)
    found = informed.scores.table, informed.scores.labels_only
    for name, table, line in zip(("posterior", "annotations_only"), found, informed.scores.ceiling, strict=True):
        expected = tree[name][METRIC].mean(("chain", "draw"))
        np.testing.assert_allclose(table["score"].sel(metric=METRIC), expected.sel(model=few.predictions.models))
        np.testing.assert_allclose(line["score"].sel(metric=METRIC), expected.sel(model=["another annotator"]))
    by_label = tree["certainty"].to_dataset()["label_certainty"]
    np.testing.assert_allclose(informed.certainty[0], by_label.max("category"))


def test_the_estimate_leads_and_the_labels_alone_are_beside_it(informed):
    best = contenders(informed.scores.comparison[METRIC])[0]
    answer = panel(informed)[1]
    own = informed.scores.table["score"].sel(metric=METRIC, model=best).item()
    alone = informed.scores.labels_only["score"].sel(metric=METRIC, model=best).item()
    assert (answer.question.striptags(), answer.number) == (
        f"How good is {best} against many annotators?",
        f"{own:.3f}",
    )
    assert answer.beside[0][:2] == ("By the labels alone", f"{alone:.3f}")
    assert not any("Votes are few" in text for text in said(informed))


@pytest.mark.filterwarnings("ignore:models 'copy' are not independent")
def test_a_model_that_is_left_out_is_named():
    rng = np.random.default_rng(3)
    truth = rng.dirichlet(np.full(3, 0.7), 300)
    counts = rng.multinomial(3, truth)
    models = Predictions.from_scores({"honest": 0.6 * truth + 0.4 * rng.dirichlet(np.ones(3), 300), "copy": counts / 3})
    found = report_data(Labels.from_counts(counts), models, settings=INFORMED)
    assert "The predictions of the models, but those of copy, inform the truth" in methods_paragraph(found)
    assert "one truth that not every model informs" in str(panel(found)[0])
    assert "The predictions of &#39;copy&#39; inform no truth" in render(found)


def test_items_without_annotations_are_part_of_the_report(few):
    voted = few.labels.select(few.labels.item_index < 50)
    found = report_data(voted, few.predictions, settings=INFORMED)
    assert found.certainty.sizes["item"] == 120
    assert "70 items" in sentence(found, "have predictions and no annotations")
    render(found)
    shown = Predictions.from_scores(
        {m: s[:50] for m, s in zip("ABC", few.predictions.scores)},
        items=few.predictions.items[:50].tolist(), labels=few.predictions.categories.tolist(),
    )  # fmt: skip
    vote = top_k_accuracy(majority_vote(voted), shown).squeeze(("chain", "draw"))
    np.testing.assert_allclose(found.scores.table["plug_in"].sel(metric=METRIC), vote)


def test_labels_alone_are_no_estimate(few):
    found = report_data(few.labels, few.predictions, settings=ReportSettings("dirichlet", draws=40))
    assert found.scores.labels_only is None
    assert found.scores.prior_share == pytest.approx(0.25)
    answer = panel(found)[1]
    assert f"The {ALONE}" in answer.method
    assert "this is not an estimate of the score against many annotators" in str(answer)
    assert not any("Votes are few" in text for text in said(report_data(few.labels)))
