"""The spread of groups against chance."""

import numpy as np
import pandas as pd

from bayesagree.annotations.annotators import Annotators
from bayesagree.subjective.dispersion import dispersion_null
from bayesagree.subjective.performance import group_performance


def test_spread_beyond_chance(uneven):
    labels, models, people = uneven
    null = dispersion_null(group_performance(labels, models, people, by=["gender"]), seed=1)
    assert null["biased"].values.all()
    assert (null["excess_spread"] < null["spread"]).all()
    rng = np.random.default_rng(1)
    mixed = Annotators.from_table(pd.DataFrame({"annotator": range(40), "gender": rng.permutation(["f", "m"] * 20)}))
    null = dispersion_null(group_performance(labels, models, mixed, by=["gender"]), seed=1)
    assert not null["biased"].values.any()
