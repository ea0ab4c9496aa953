"""Figures of the studies show the numbers that they are given."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, annotation_certainty, dirichlet
from bayesagree.agreement import annotator_agreement
from bayesagree.plausibility.certainty import expected_risk, risk_certainty
from studies.certainty_figures import plot_certainty_by_agreement, plot_risk


def test_certainty_by_agreement_says_the_correlation():
    votes = Labels.from_counts([[4, 0, 0], [3, 1, 0], [2, 2, 1], [1, 1, 2]])
    certainty, agreement = annotation_certainty(dirichlet(votes, seed=1), exact=True), annotator_agreement(votes)
    correlation = np.corrcoef(agreement.values, certainty.values)[0, 1]
    assert plot_certainty_by_agreement(certainty, agreement).get_title() == f"4 items, correlation {correlation:.2f}"
    with pytest.raises(InputError, match="three or more"):
        plot_certainty_by_agreement(certainty, agreement[:2])


def test_expected_risk_is_no_larger_than_the_largest():
    tree = dirichlet(Labels.from_counts([[4, 0, 1], [3, 1, 0]]), draws=50, seed=1)
    risk = {0: 0, 1: 1, 2: 2}
    panels = plot_risk(annotation_certainty(tree, exact=True), risk_certainty(tree, risk), expected_risk(tree, risk))
    assert 0 < panels[0, 1].lines[0].get_ydata().max() <= 2
