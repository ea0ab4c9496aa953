"""Draws that are no distributions are refused by every score, not by `evaluate` alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr

from bayesagree import Labels, Predictions, dirichlet, score
from bayesagree.errors import InputError
from bayesagree.plausibility.certainty import annotation_certainty, label_certainty

VOTES = [[3, 1, 0], [1, 1, 2]]
MODELS = Predictions.from_labels({"A": [0, 2]}, labels=range(3))


def percents() -> xr.DataTree:
    tree = dirichlet(Labels.from_counts(VOTES), prior=1.0, draws=20, random_seed=1)
    given = tree["posterior"].to_dataset()
    return tree.assign(posterior=xr.DataTree(given.assign(plausibility=100 * given["plausibility"])))


@pytest.mark.parametrize("use", [lambda tree: score(tree, MODELS, "accuracy"), annotation_certainty, label_certainty])
def test_percents_are_refused(use: Callable[[xr.DataTree], Any]) -> None:
    with pytest.raises(InputError, match="the plausibilities of item 0 sum to 100 or are negative"):
        use(percents())


def test_draws_of_dirichlet_are_distributions() -> None:
    tree = dirichlet(Labels.from_counts(VOTES), prior=1.0, draws=20, random_seed=1)
    assert np.isfinite(score(tree, MODELS, "accuracy")).all()
