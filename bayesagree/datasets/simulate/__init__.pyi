from ._annotations import CrowdLabels, RankedTestSet, SimulatedRatings, crowd_labels, rankings, ratings
from ._test_sets import (
    CrowdsourcedBinary,
    LabelledTestSet,
    crowdsourced_binary,
    labelled_test_set,
    noisy_models,
    simulated_systems,
)

__all__ = [
    "CrowdLabels",
    "CrowdsourcedBinary",
    "LabelledTestSet",
    "RankedTestSet",
    "SimulatedRatings",
    "crowd_labels",
    "crowdsourced_binary",
    "labelled_test_set",
    "noisy_models",
    "rankings",
    "ratings",
    "simulated_systems",
]
