"""Prediction sets of the models, where their predictions are probabilities."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from bayesagree._inference.streams import Seed
from bayesagree.annotations import Annotations, Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.conformal.coverage import cross_sets, set_coverage, widest_sets

COVERAGE = 0.9
FEWEST = 40
"""Annotated items without which nothing is shown: each half calibrates the other, and fewer than nine cannot."""
_WIDEST = 10


@dataclass(frozen=True, eq=False)
class SetResults:
    """Conformal sets of the models, each half of the items calibrated on the other.

    Attributes
    ----------
    table
        Rows of `set_coverage`.
    widest
        Rows of `widest_sets`.
    """

    table: pd.DataFrame
    widest: pd.DataFrame


def set_results(annotations: Annotations, models: Predictions | None, *, seed: Seed) -> SetResults | None:
    """Compute what the report says about prediction sets; None unless labels meet probabilities on enough items."""
    if models is None or models.scores is None or not isinstance(annotations, Labels):
        return None
    voted = annotations.select(np.ones(annotations.item_index.size, bool))
    sums = models.scores.sum(axis=2)
    if voted.items.size < FEWEST or (models.scores < 0).any() or (np.abs(sums - 1) > 1e-3).any():
        return None
    sets = cross_sets(voted, models, coverage=COVERAGE, seed=seed)
    return SetResults(set_coverage(voted, sets), widest_sets(sets, most=_WIDEST))
