"""The matrix of error correlations."""

import numpy as np
import pytest

from bayesagree import Labels
from bayesagree.judges import effective_judges
from bayesagree.plots import plot_error_correlation


def test_cells_are_the_mean_correlations_and_a_faultless_judge_has_none():
    truth = np.arange(40) % 2
    wrong = np.column_stack([np.arange(40) % 5 == 0, np.arange(40) % 4 == 0, np.zeros(40, bool)])
    judges = Labels.from_matrix(np.where(wrong, 1 - truth[:, None], truth[:, None]), annotators=[*"abc"], labels=[0, 1])
    with pytest.warns(UserWarning, match="judges 'c' err on fewer than 5 items"):
        tree = effective_judges(judges, dict(enumerate(truth)), draws=100, chains=1, seed=1)
    panel = plot_error_correlation(tree)
    mean = tree["posterior"]["correlation"].mean(("chain", "draw")).values
    cells = {tuple(int(x) for x in text.get_position()): text.get_text() for text in panel.texts}
    assert cells[1, 0] == f"{mean[0, 1]:.2f}"
    assert cells[2, 2] == ""
    assert panel.get_title().startswith("worth ")
