"""Groups of annotators that several tests score."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, Predictions
from bayesagree.annotations.annotators import Annotators


@pytest.fixture
def four():
    """Give four annotators in two groups and one unknown, three items, two models."""
    labels = Labels.from_matrix([list("aabba"), list("abbab"), list("aaabb")], annotators=list("vwxyz"))
    people = Annotators.from_table(
        pd.DataFrame({"annotator": list("vwxyq"), "gender": ["f", "f", "m", "m", "x"], "age": [20, 20, 20, None, 30]})
    )
    models = Predictions.from_labels({"A": list("aaa"), "B": list("abb")}, labels=["a", "b"])
    return labels, people, models


@pytest.fixture(scope="module")
def uneven():
    """Give labels of 40 annotators, with whom a model agrees at 0.9 (group f) or 0.6 (group m)."""
    rng = np.random.default_rng(2)
    cells = (rng.random((60, 40)) < np.where(np.arange(40) < 20, 0.9, 0.6)).astype(int)
    labels = Labels.from_matrix(cells, labels=[0, 1])
    people = Annotators.from_table(pd.DataFrame({"annotator": range(40), "gender": ["f"] * 20 + ["m"] * 20}))
    models = Predictions.from_labels({"A": [1] * 60, "B": [0] * 60}, labels=[0, 1])
    return labels, models, people
