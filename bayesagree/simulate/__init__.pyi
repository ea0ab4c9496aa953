from ._bounded_ratings import SimulatedRatings, ratings
from ._crowd_labels import CrowdLabels, crowd_labels
from ._crowdsourced_binary import CrowdsourcedBinary, crowdsourced_binary
from ._partial_rankings import RankedTestSet, rankings
from ._test_sets import LabelledTestSet, labelled_test_set, noisy_models, simulated_systems

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
