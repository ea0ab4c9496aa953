"""What stands beside the scores of a report has the numbers of the package."""

import numpy as np
import pytest

from bayesagree import Labels, Predictions, annotate_next
from bayesagree.planning import value_of_votes
from bayesagree.report.data import report_data
from bayesagree.report.settings import ReportSettings

FEW = ReportSettings(draws=50, chains=1, random_seed=3, plausibility="dirichlet")


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


def test_further_votes_are_worth_what_the_stopping_rule_says(case, data):
    worth = value_of_votes(*case, plausibility="dirichlet").set_index("votes")
    found = data.further_votes
    table = found.set_index("votes")
    assert table.index[0] == 0
    assert table.index[-1] == worth.index[-1]
    np.testing.assert_array_equal(table["prob_right"], worth.loc[table.index, "prob_right"])
    assert found.attrs["models"] == ["good", "coin"]
    how = {"goal": "decision", "plausibility": "dirichlet", "random_seed": 3}
    expected = annotate_next(*case, n=15, **how)["item"].astype(str).tolist()
    assert list(map(str, found.attrs["items"])) == expected


def test_no_section_where_there_is_nothing_to_say(case):
    labels, models = case
    alone = report_data(labels, Predictions.from_labels({"A": models.hard_labels()[0]}, labels=[0, 1]), **vars(FEW))
    assert alone.further_votes is None  # one model
    twins = Predictions.from_labels({m: models.hard_labels()[0] for m in "AB"}, labels=[0, 1])
    assert report_data(labels, twins, **vars(FEW)).further_votes is None  # they never differ
