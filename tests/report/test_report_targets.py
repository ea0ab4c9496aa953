"""What the scores of a report mean: estimates of a well-annotated truth, or what these annotations prove."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bayesagree import InputError, Labels, Predictions, evaluate, informed_dirichlet, label_certainty
from bayesagree.metrics import top_k_accuracy
from bayesagree.plausibility.votes import majority_vote
from bayesagree.report.data import report_data
from bayesagree.report.headlines import headlines
from bayesagree.report.methods import methods_paragraph
from bayesagree.report.page import render
from bayesagree.report.settings import ReportSettings
from bayesagree.simulate import labelled_test_set

INFORMED = ReportSettings("informed_dirichlet", draws=40, chains=2)
METRIC = "top_1_accuracy"
ESTIMATE = "score against a well-annotated truth (estimate)"
PROVEN = "score that these annotations prove"


@pytest.fixture(scope="module")
def few():
    return labelled_test_set(n_items=120, per_item=3, n_labels=3, spread=0.5, seed=2)


@pytest.fixture(scope="module")
def informed(few):
    return report_data(few.labels, few.predictions, settings=INFORMED)


def sentence(data, part):
    [found] = [text for text in headlines(data) if part in text]
    return found


def test_scores_are_those_of_the_informed_evaluation(few, informed):
    asked = {"plausibility": "informed_dirichlet", "further_annotator": True, "draws": 40, "chains": 2, "seed": 1}
    tree = evaluate(few.labels, few.predictions, **asked)
    groups = {"posterior": informed.scores.table, **informed.scores.beside}
    assert set(groups) == {"posterior", "annotations_only", "full_fit"}
    for name, table in groups.items():
        expected = tree[name][METRIC].mean(("chain", "draw"))
        np.testing.assert_allclose(table["score"].sel(metric=METRIC), expected.sel(model=few.predictions.models))
        ceiling = informed.scores.ceiling[name]["score"].sel(metric=METRIC)
        np.testing.assert_allclose(ceiling, expected.sel(model=["a further annotator"]))
    truth = informed_dirichlet(few.labels, few.predictions, draws=40, chains=2, seed=1, top_labels=1)
    np.testing.assert_allclose(informed.certainty[0], label_certainty(truth).max("category"))


def test_the_estimate_leads_and_what_annotations_prove_is_beside_it(informed):
    best = informed.scores.comparison[METRIC]["model"].values[0]
    first, beside = sentence(informed, ESTIMATE), sentence(informed, f"The {PROVEN} is")
    said = headlines(informed)
    assert said.index(first) + 1 == said.index(beside)
    own = informed.scores.table["score"].sel(metric=METRIC, model=best).item()
    proven = informed.scores.beside["annotations_only"]["score"].sel(metric=METRIC, model=best).item()
    assert f"of {best} is {own:.3f} (" in first
    assert f"The {PROVEN} is {proven:.3f} (" in beside
    assert "the difference is what" in beside
    assert not any("Votes are few" in text for text in said)


def test_the_page_shows_the_targets_as_columns(informed):
    page = render(informed)
    head = re.search(rf'id="scores-{METRIC}".*?</thead>', page, re.DOTALL)[0]
    names = re.findall(r"disabled>([^<]+)<", head)
    assert names == ["Model", "Plug-in", "Estimate", "Annotations prove", "With own output"]
    assert f"<strong>{ESTIMATE}</strong>" in page
    assert f'<th scope="row">Score</th><td>{ESTIMATE}</td>' in page
    assert "annotators count as exchangeable" in page
    assert "against one truth that every model informs" in page


def test_methods_say_whose_output_informed_the_truth(few, informed):
    assert "did not see its own output" in methods_paragraph(informed)
    one = Predictions.from_scores({"A": few.predictions.scores[0]})
    found = report_data(few.labels, one, settings=INFORMED)
    assert "The predictions of the only model inform the truth" in methods_paragraph(found)


def test_a_pair_whose_order_the_comparison_turns_is_named_in_its_order(informed):
    comparison = informed.scores.comparison[METRIC].copy(deep=True)
    first, second = comparison["model"].values[:2]
    comparison["prob_better"].loc[{"model": first, "other_model": second}] = 0.02
    comparison["prob_better"].loc[{"model": second, "other_model": first}] = 0.98
    turned = replace(informed, scores=replace(informed.scores, comparison={METRIC: comparison}))
    assert headlines(turned)[0].startswith(
        f"Model {second} is better than {first} on these items with probability 0.98"
    )


def test_items_without_annotations_are_part_of_the_report(few):
    voted = few.labels.select(few.labels.item_index < 50)
    found = report_data(voted, few.predictions, settings=INFORMED)
    assert found.certainty.sizes["item"] == 120
    assert "70 of these items" in sentence(found, "have predictions and no annotations")
    render(found)
    shown = Predictions.from_scores(
        {m: s[:50] for m, s in zip("ABC", few.predictions.scores)},
        items=few.predictions.items[:50].tolist(), labels=few.predictions.categories.tolist(),
    )  # fmt: skip
    vote = top_k_accuracy(majority_vote(voted), shown).squeeze(("chain", "draw"))
    np.testing.assert_allclose(found.scores.table["plug_in"].sel(metric=METRIC), vote)


def test_without_predictions_there_is_nothing_to_learn_from(few):
    with pytest.raises(InputError, match="learns from predictions; give them"):
        report_data(few.labels, settings=INFORMED)


def test_the_default_is_the_estimate_with_its_reason(few):
    found = report_data(few.labels, few.predictions, settings=ReportSettings(draws=40))
    assert found.settings.plausibility == "informed_dirichlet"
    assert "Votes and predictions together estimate the score" in render(found)


def test_labels_alone_show_what_annotations_prove_and_point_to_the_estimate(few):
    found = report_data(few.labels, few.predictions, settings=ReportSettings("dirichlet", draws=40))
    assert found.scores.beside == {}
    assert found.scores.prior_share == pytest.approx(0.25)
    assert f": the {PROVEN}." in sentence(found, "annotators' uncertainty is taken into account")
    assert "25 % of the weight" in sentence(found, "--plausibility informed_dirichlet estimates")
    assert f"<strong>{PROVEN}</strong> at the reference reliability" in render(found)
    assert not any("Votes are few" in text for text in headlines(report_data(few.labels)))


def test_many_votes_need_no_note():
    votes, models = Labels.from_counts([[20, 10], [5, 25]]), Predictions.from_labels({"A": [0, 1]}, labels=[0, 1])
    found = report_data(votes, models, settings=ReportSettings(draws=20))
    assert not any("Votes are few" in text for text in headlines(found))
