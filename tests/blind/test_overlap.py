"""The overlap of what systems call positive."""

import numpy as np
import pytest

from bayesagree.annotations.predictions import Predictions
from bayesagree.blind.overlap import jaccard_overlap


def test_overlap_by_sets():
    said = {"a": [1, 1, 0, None, 1], "b": [1, 0, 0, 1, 1], "c": [0, 0, 0, 0, None]}
    overlap = jaccard_overlap(Predictions.from_labels(said))
    assert overlap.sel(model="a", other_model="b").item() == pytest.approx(2 / 3)
    assert overlap.sel(model="a", other_model="c").item() == 0
    assert np.isnan(overlap.sel(model="c", other_model="c").item())
    assert overlap.sel(model="a", other_model="a").item() == 1
    three = jaccard_overlap(Predictions.from_labels({"a": ["x", "y"], "b": ["x", "z"]}))
    assert three.sel(model="a", other_model="b").item() == pytest.approx(1 / 3)
