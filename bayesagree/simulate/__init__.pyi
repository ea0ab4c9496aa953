from ._bounded_ratings import SimulatedRatings, ratings
from ._crowd_labels import CrowdLabels, crowd_labels
from ._crowdsourced_binary import CrowdsourcedBinary, annotator_quality_regions, crowdsourced_binary
from ._labelled_test_set import LabelledTestSet, labelled_test_set, noisy_models
from ._partial_rankings import RankedTestSet, rankings
from ._systems import simulated_systems
from ._toy_classes import ToyClasses, toy_classes

__all__ = [
    "CrowdLabels",
    "CrowdsourcedBinary",
    "LabelledTestSet",
    "RankedTestSet",
    "SimulatedRatings",
    "ToyClasses",
    "annotator_quality_regions",
    "crowd_labels",
    "crowdsourced_binary",
    "labelled_test_set",
    "noisy_models",
    "rankings",
    "ratings",
    "simulated_systems",
    "toy_classes",
]
