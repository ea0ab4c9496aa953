"""Seeded generators of annotations and predictions whose truth is known; tests, docs and studies share them."""

from bayesagree.simulate._bounded_ratings import SimulatedRatings, ratings
from bayesagree.simulate._crowd_labels import CrowdLabels, crowd_labels
from bayesagree.simulate._crowdsourced_binary import (
    CrowdsourcedBinary,
    annotator_quality_regions,
    crowdsourced_binary,
)
from bayesagree.simulate._labelled_test_set import LabelledTestSet, labelled_test_set, noisy_models
from bayesagree.simulate._partial_rankings import RankedTestSet, rankings
from bayesagree.simulate._systems import simulated_systems

__all__ = [
    "CrowdLabels",
    "CrowdsourcedBinary",
    "LabelledTestSet",
    "RankedTestSet",
    "SimulatedRatings",
    "annotator_quality_regions",
    "crowd_labels",
    "crowdsourced_binary",
    "labelled_test_set",
    "noisy_models",
    "rankings",
    "ratings",
    "simulated_systems",
]
