"""Groups of annotators that several tests score."""

import numpy as np
import pandas as pd
import pytest

from bayesagree import Labels, Predictions, Ratings
from bayesagree.annotations.annotators import Annotators
from bayesagree.subjective.performance import group_performance


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


@pytest.fixture
def errors():
    """Give the absolute errors of two models on ratings of 24 annotators in three groups."""
    rng = np.random.default_rng(8)
    ratings = Ratings.from_matrix(rng.integers(1, 6, (30, 24)), scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(24), "g": np.repeat(list("xyz"), [3, 9, 12])}))
    models = {name: pd.Series(rng.normal(3, sd, 30), index=range(30)) for name, sd in (("A", 0.5), ("B", 1.5))}
    return group_performance(ratings, models, people, by=["g"])
