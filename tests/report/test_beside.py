"""What stands beside the scores of a report has the numbers of the package."""

import _conformal
import numpy as np
import pytest

from bayesagree import Labels, Predictions, alternative_annotator_test, annotate_next
from bayesagree.conformal import cross_sets, set_coverage
from bayesagree.planning import value_of_votes
from bayesagree.report.beside import replacement_results
from bayesagree.report.data import report_data
from bayesagree.report.page import render
from bayesagree.report.settings import Case, ReportSettings
from bayesagree.report.views import replacement

FEW = ReportSettings(draws=300, chains=1, random_seed=3, plausibility="dirichlet")


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 60)
    said = np.where(rng.random((60, 4)) < 0.85, truth[:, None], 1 - truth[:, None])
    good = np.where(rng.random(60) < 0.9, truth, 1 - truth)
    return (
        Labels.from_matrix(said, annotators=[*"uvwx"], labels=[0, 1]),
        Predictions.from_labels({"coin": rng.integers(0, 2, 60), "good": good}, labels=[0, 1]),
    )


@pytest.fixture(scope="module")
def data(case):
    return report_data(*case, **vars(FEW))


def test_replacement_is_the_alternative_annotator_test(case, data):
    found = alternative_annotator_test(*case, draws=300, chains=1, random_seed=3)
    table = data.replacement.set_index("model")
    assert table.index.tolist() == ["good", "coin"]  # the best first
    for name in ("advantage", "winning_rate", "prob_new_annotator"):
        assert table[name].to_dict() == found[name].to_series().to_dict()
    [shown] = replacement(data)
    assert "one of 4 annotators" in shown.parts[0]
    assert [row[4] for row in shown.parts[1].rows] == ["yes", "no"]


def test_further_votes_are_worth_what_the_stopping_rule_says(case, data):
    worth = value_of_votes(*case, plausibility="dirichlet").set_index("votes")
    table = data.further_votes.table.set_index("votes")
    assert table.index[0] == 0
    assert table.index[-1] == worth.index[-1]
    np.testing.assert_array_equal(table["prob_right"], worth.loc[table.index, "prob_right"])
    assert data.further_votes.models == ("good", "coin")
    how = {"goal": "decision", "plausibility": "dirichlet", "random_seed": 3}
    expected = annotate_next(*case, n=15, **how)["item"].astype(str).tolist()
    assert data.further_votes.items["item"].astype(str).tolist() == expected


def test_no_section_where_there_is_nothing_to_say(case):
    labels, models = case
    said = labels.label_index.reshape(60, 4)[:20]
    first = Labels.from_matrix(said, annotators=[*"uvwx"], labels=[0, 1])
    short = Predictions.from_labels({"A": said[:, 0]}, labels=[0, 1])
    assert report_data(first, short, **vars(FEW)).replacement is None  # twenty items an annotator
    assert report_data(Labels.from_counts(labels.counts()), models, **vars(FEW)).replacement is None  # no names
    alone = report_data(labels, Predictions.from_labels({"A": models.hard_labels()[0]}, labels=[0, 1]), **vars(FEW))
    assert alone.further_votes is None  # one model
    twins = Predictions.from_labels({m: models.hard_labels()[0] for m in "AB"}, labels=[0, 1])
    assert report_data(labels, twins, **vars(FEW)).further_votes is None  # they never differ


def test_a_model_without_an_answer_somewhere_replaces_nobody(case):
    labels, models = case
    codes = [models.categories[of].tolist() for of in models.hard_labels()]
    whole = Predictions.from_labels(dict(zip(models.models, codes)), labels=[0, 1])
    assert replacement_results(Case(labels, whole, FEW)) is not None
    codes[0][3] = None
    gap = Predictions.from_labels(dict(zip(models.models, codes)), labels=[0, 1])
    assert replacement_results(Case(labels, gap, FEW)) is None


def test_prediction_sets_have_the_numbers_of_their_functions():
    truth, predictions = _conformal.items(60, n_labels=3)
    shares = truth.values / truth.values.sum(axis=1, keepdims=True)
    labels = Labels.from_counts(np.random.default_rng(1).multinomial(5, shares))
    data = report_data(labels, predictions, **vars(FEW))
    sets = cross_sets(labels, predictions, random_seed=3)
    assert data.sets.equals(set_coverage(labels, sets))
    assert 'id="sets"' in render(data)
    logits = Predictions.from_scores({"A": 2 * predictions.scores[0]})
    assert report_data(labels, logits, **vars(FEW)).sets is None
    few, scores = labels.select(labels.item_index < 30), {"A": predictions.scores[0, :30]}
    assert report_data(few, Predictions.from_scores(scores), **vars(FEW)).sets is None
